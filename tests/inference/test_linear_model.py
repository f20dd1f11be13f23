"""Linear models of cubes: against statsmodels and known tests, responses, formulas, and designs that are refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.regression.linear_model import OLS

import causaleval_pd as ce
from causaleval_pd.inference.linear_model import model, read_terms


@pytest.fixture
def study(make_cube):
    """Return a cube of two algorithms and three n on the same 12 truths, and its values."""

    def make(values=None, **kwargs):
        rng = np.random.default_rng(1)
        if values is None:
            values = rng.normal(size=(2, 3, 12)) + rng.normal(size=12) + np.array([0.0, 1.0])[:, None, None]
        return make_cube({"algorithm": ["x", "y"], "n": [10, 100, 1000]}, {"m": (values, "minimize")}, **kwargs)

    return make


def test_estimates_are_those_of_statsmodels(study):
    cube = study()
    table = cube["m"].to_dataframe().reset_index().rename(columns={"truth_id": "truth"})
    theirs = OLS.from_formula("m ~ algorithm * np.log(n)", table).fit()
    found = model(cube, "m ~ algorithm * np.log(n)")
    assert found["term"].tolist() == ["Intercept", "algorithm[T.y]", "log(n)", "algorithm[T.y]:log(n)"]
    np.testing.assert_allclose(found["estimate"], theirs.params, rtol=1e-9)
    assert found["note"].isna().all()
    assert (found[["n_runs", "n_scored"]] == 72).all(axis=None) and (found["n_clusters"] == 12).all()


def test_two_algorithms_on_the_same_truths_are_the_paired_t_test(study):
    cube = study().isel(n=[0])
    row = model(cube, "m ~ algorithm").iloc[1]
    x, y = cube["m"].isel(n=0).to_numpy()
    theirs = scipy_stats.ttest_rel(y, x)
    assert row["p_value"] == pytest.approx(theirs.pvalue)
    np.testing.assert_allclose([row["ci_low"], row["ci_high"]], theirs.confidence_interval())


def test_numbers_can_be_levels(study):
    found = model(study(), "m ~ C(n) - 1")
    assert found["term"].tolist() == ["C(n)[10]", "C(n)[100]", "C(n)[1000]"]
    np.testing.assert_allclose(found["estimate"], study()["m"].mean(["algorithm", "replicate"]))


def test_skill_and_excess_of_runs_are_responses():
    runs = ce.datasets.runs()
    cube = runs.ceval.cube(["shd", "adjacency_f1"], by=["algorithm", "n"], n_draws=20, rng=1)
    skill = (1 - cube["shd"] / cube["shd_control_loss"]).mean("replicate")
    found = cube.ceval.model("skill ~ C(n):algorithm - 1", metric="shd")
    assert found["estimate"].iloc[0] == pytest.approx(float(skill.sel(algorithm="ges", n=100)))
    assert (found["response"] == "skill").all() and (found["metric"] == "shd").all() and found["null"].notna().all()
    excess = (cube["shd"] - cube["shd_control_mean"]).mean()
    only = cube.drop_vars([x for x in cube.data_vars if x.startswith("adjacency_f1")])
    assert float(only.ceval.model("excess ~ algorithm", metric="shd")["estimate"].iloc[0]) != float(excess)
    with pytest.raises(ValueError, match="'skill' needs metric=, one of 'shd', 'adjacency_f1'"):
        cube.ceval.model("skill ~ n")


def test_failed_and_undefined_runs_are_counted(study):
    cube = study()
    values = cube["m"].to_numpy().copy()
    values[0, 0, :2] = np.nan
    status = np.ones((2, 3, 12))
    status[1, 2, 0], status[1, 1, :3] = 2, 0
    row = model(study(values, status=status), "m ~ algorithm").iloc[0]
    assert (row["n_runs"], row["n_scored"], row["n_failed"], row["n_undefined"]) == (69, 66, 1, 2)


def test_lazy_cubes_and_history(study):
    cube = study()
    pd.testing.assert_frame_equal(model(cube.chunk({"n": 1}), "m ~ algorithm"), model(cube, "m ~ algorithm"))
    made = model(cube, "m ~ n").attrs["causaleval_pd_history"][-1]
    assert (made["verb"], made["formula"]) == ("model", "m ~ n")


def test_a_coefficient_of_one_cluster_has_no_error(study):
    status = np.ones((2, 3, 12))
    status[1, :, 1:] = 0
    one = model(study(status=status), "m ~ algorithm")
    assert one["note"].tolist()[1] == "carried by one cluster: no error without it" and np.isnan(one["p_value"].iloc[1])


@pytest.mark.parametrize(
    ("formula", "change", "message"),
    [
        ("m ~ algorithm", lambda c: c.isel(algorithm=[0]), "algorithm has one level among the runs with a value, x"),
        ("m ~ n", lambda c: c.isel(n=[0]), "n has one level among the runs with a value, 10"),
        ("m ~ C(n) + n", lambda c: c, "the term n cannot be told from the terms before it"),
        ("m ~ algorithm", lambda c: c.isel(replicate=slice(0, 4)), "have 4 clusters .truths.; a model needs"),
        ("m ~ algorithm", lambda c: c.isel(replicate=slice(0, 1)), "have 1 cluster .truths.; a model needs"),
        ("m ~ algorithm", lambda c: c.assign(m=c["m"] * 0 + 3.0), "all 72 runs have the value 3"),
        ("m ~ algorithm", lambda c: c.assign(m=c["m"] * np.nan), "0 runs with a value have 0 clusters"),
        ("m ~ log(algorithm)", lambda c: c, r"log\(algorithm\) needs positive numbers"),
        ("m ~ log(n)", lambda c: c.assign_coords(n=[0, 1, 2]), r"log\(n\) needs positive numbers"),
        ("k ~ n", lambda c: c, "unknown response 'k'; known are 'skill', 'excess', 'm'"),
        ("skill ~ n", lambda c: c, "no controls"),
        ("m ~ site", lambda c: c, "unknown stratum 'site'; it is in the formula 'm ~ site'; known are"),
    ],
)
def test_what_cannot_be_fitted_is_refused(study, formula, change, message):
    cube = study()
    changed = change(cube)
    changed["m"].attrs = cube["m"].attrs
    with pytest.raises(ValueError, match=message):
        model(changed, formula)


def test_a_coefficient_that_no_cluster_changes_has_no_test(study):
    values = np.random.default_rng(3).integers(0, 5, (1, 3, 12)) / 10
    found = model(study(np.concatenate([values, values + 0.1])), "m ~ algorithm").iloc[1]
    assert found["estimate"] == pytest.approx(0.1) and found["se"] == 0 and found["note"] == "no variation"
    assert found[["statistic", "p_value", "ci_low", "ci_high"]].isna().all()


def test_values_that_terms_explain_exactly_are_refused(study):
    exact = np.broadcast_to(np.array([1.0, 4.0])[:, None, None], (2, 3, 12))
    with pytest.raises(ValueError, match="the terms explain every value exactly"):
        model(study(exact.copy()), "m ~ algorithm")
    with pytest.raises(ValueError, match="takes no further metric; leave out metric='m2'"):
        model(study(), "m ~ algorithm", metric="m2")
    with pytest.raises(TypeError, match="formula"):
        model(study(), 5)


def test_infinite_values_are_refused(study):
    values = np.random.default_rng(1).normal(size=(2, 3, 12))
    values[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="1 run with an infinite value"):
        model(study(values), "m ~ algorithm")


@pytest.mark.parametrize("name", ["group", "y", "error"])
def test_strata_may_have_any_name(name):
    runs = ce.datasets.runs().query("n == 100").rename(columns={"density": name})
    cube = runs.ceval.cube(["shd"], by=["algorithm", name], n_draws=None)
    usual = runs.rename(columns={name: "density"}).ceval.cube(["shd"], by=["algorithm", "density"], n_draws=None)
    found, expected = cube.ceval.model(f"shd ~ algorithm * {name}"), usual.ceval.model("shd ~ algorithm * density")
    np.testing.assert_allclose(found["estimate"], expected["estimate"], rtol=1e-9)


STRATA = ["algorithm", "density", "n", "n nodes"]


@pytest.mark.parametrize(
    ("terms", "read", "factors"),
    [
        ("algorithm", "x0", {"x0": ("", "algorithm")}),
        ("algorithm*density + n", "x0*x1 + x2", {"x0": ("", "algorithm"), "x1": ("", "density"), "x2": ("", "n")}),
        ("algorithm : density - 1", "x0 : x1 - 1", {"x0": ("", "algorithm"), "x1": ("", "density")}),
        ("0 + C(n)", "0 + x0", {"x0": ("C", "n")}),
        ("1 + np.log(n) + log( n )", "1 + x0 + x0", {"x0": ("log", "n")}),
        ("`n nodes`:C(n)", "x0:x1", {"x0": ("", "n nodes"), "x1": ("C", "n")}),
    ],
)
def test_terms(terms, read, factors):
    assert read_terms(terms, "y ~ " + terms, STRATA) == (read, factors)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ("__import__('os').system('ls')", "unknown stratum '__import__'"),
        ("algorithm.__class__", "unknown stratum '__class__'"),
        ("exp(n)", "unknown stratum 'exp'; it is in the formula"),
        ("n ** 2", "cannot be read; formulas take names of strata"),
        ("C(n", "unknown stratum 'C'"), ("C(log(n))", "unknown stratum 'C'"), ("n[0]", "cannot be read"),
        ("n + 2", "cannot be read"), ("(n + density)", "cannot be read"), ("n; density", "cannot be read"),
        ("algoritm", "unknown stratum 'algoritm'; it is in the formula"),
        ("n density", "cannot be read"), ("n - density", "cannot be read"), ("n *", "cannot be read"),
        ("n + + density", "cannot be read"), ("1", "has no term; name strata: algorithm, density"),
        ("n + (1|truth)", "errors allow for clusters in every model"),
    ],
)  # fmt: skip
def test_other_terms_are_refused(terms, message):
    with pytest.raises(ValueError, match=message):
        read_terms(terms, "y ~ " + terms, STRATA)


@pytest.mark.parametrize("formula", ["m", "~ n", "m ~ n ~ n", "", "m ~"])
def test_a_formula_needs_a_response_and_terms(study, formula):
    with pytest.raises(ValueError, match="needs a response"):
        model(study(), formula)
