"""Tests of independence: formulas, peers, and one test per pair and set."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.contract.data_sets import read_data
from causaleval_pd.fields.against_data import ci_tests
from causaleval_pd.fields.against_data.judged import Judge

RNG = np.random.default_rng(11)
NUMBERS = pd.DataFrame(RNG.normal(size=(80, 5)) @ RNG.normal(size=(5, 5)), columns=list("ABCDE"))
LEVELS = pd.DataFrame({name: RNG.integers(0, n, 400) for name, n in (("A", 2), ("B", 3), ("C", 2))})
LEVELS["D"] = (LEVELS["A"] + LEVELS["B"] + RNG.integers(0, 2, 400)) % 3


def every_statement(d):
    x, y, given = [], [], []
    for i in range(d):
        for j in range(d):
            for z in range(1 << d):
                if i != j and not z >> i & 1 and not z >> j & 1:
                    x, y, given = [*x, i], [*y, j], [*given, [bool(z >> k & 1) for k in range(d)]]
    return np.array(x), np.array(y), np.array(given)


def test_all_partial_correlations_are_those_of_inverse_matrices():
    correlations = np.corrcoef(NUMBERS.to_numpy(), rowvar=False)
    partials, variances = ci_tests.all_partials(correlations)
    x, y, given = every_statement(5)
    at = given @ (1 << np.arange(5))
    known = ci_tests.PartialCorrelations(correlations)
    known.d = 99  # beyond the table each is solved by itself
    np.testing.assert_allclose(partials[at, x, y], known.partials(x, y, given), atol=1e-12)
    np.testing.assert_allclose(np.log(variances[at, x]), known.log_variances(x, given), atol=1e-12)


def test_p_values_are_those_of_residuals():
    values = NUMBERS.to_numpy()
    x, y, given = every_statement(5)
    for test in ("fisher_z", "t"):
        p = Judge(read_data(NUMBERS, tuple("ABCDE")), test).p_values(x, y, given)
        for k in range(0, len(x), 37):
            z = np.column_stack([np.ones(80), values[:, given[k]]])
            left, right = (v - z @ np.linalg.lstsq(z, v, rcond=None)[0] for v in (values[:, x[k]], values[:, y[k]]))
            r, size = np.corrcoef(left, right)[0, 1], given[k].sum()
            if test == "fisher_z":
                wanted = 2 * stats.norm.sf(abs(np.sqrt(80 - size - 3) * np.arctanh(r)))
            else:
                wanted = 2 * stats.t.sf(abs(r) * np.sqrt((78 - size) / (1 - r**2)), 78 - size)
            assert p[k] == pytest.approx(wanted, rel=1e-8)


def test_small_p_values_are_not_zero():
    x = RNG.normal(size=1000)
    data = pd.DataFrame({"A": x, "B": x + RNG.normal(size=1000)})
    p = Judge(read_data(data, ("A", "B"))).p_values(np.array([0]), np.array([1]), np.zeros((1, 2), bool))
    assert 0 < p[0] < 1e-100


@pytest.mark.slow
@pytest.mark.parametrize(("test", "peer"), [("chi_squared", "chisq"), ("g", "gsq")])
def test_tests_of_levels_are_those_of_causal_learn(test, peer):
    from causallearn.utils.cit import CIT

    values = LEVELS.to_numpy()
    other = CIT(values, peer)
    judge = Judge(read_data(LEVELS, tuple("ABCD")), test)
    x, y, given = every_statement(4)
    found = judge.p_values(x, y, given)
    wanted = [other(i, j, np.flatnonzero(z).tolist()) for i, j, z in zip(x.tolist(), y.tolist(), given, strict=True)]
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_strata_of_many_columns_stay_apart():
    """As many as no number can count: rows that differ in the first column alone."""
    levels = np.zeros((4, 70), np.int64)
    levels[:, 0] = [0, 1, 0, 1]
    number, n = ci_tests.strata(levels, np.full(70, 2), tuple(range(70)))
    assert n == 2 and number.tolist() == [0, 1, 0, 1]


def test_strata_without_two_levels_have_no_degrees_of_freedom():
    levels = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]])
    tests = ci_tests.CountTests(levels, np.array([2, 2, 2]), ratio=False)
    p = tests.p_values(np.array([0]), np.array([1]), np.array([[False, False, True]]))
    assert p[0] == 1  # in each stratum one of the columns is constant


@pytest.mark.slow
def test_text_categories_and_truth_values_are_levels():
    words = LEVELS.assign(B=LEVELS["B"].map({0: "low", 1: "middle", 2: "high"}), A=LEVELS["A"] == 1)
    words["D"] = words["D"].astype("category")
    runs = pd.DataFrame({"estimate": ["A -> B; C -> D"]})
    names = ["separation_share", "bic", "log_likelihood", "cv_log_likelihood", "lmc_share"]
    one, other = (ce.evaluate(runs, names, truth=None, context={"data": x}) for x in (LEVELS, words))
    np.testing.assert_allclose(one[names].iloc[:, :3], other[names].iloc[:, :3])
    for metric in ("mean_abs_partial", "deviance"):
        with pytest.raises(ValueError, match=f"{metric}: row 0 .*text or categories, and this test or score needs num"):
            ce.evaluate(runs, [metric], truth=None, context={"data": words})
    with pytest.raises(ValueError, match="columns of floats, and this test or score counts integers or categories"):
        ce.evaluate(runs, ["lmc_share"], truth=None, context={"data": NUMBERS, "test": "g"})


def test_integers_are_numbers_where_the_test_says_so():
    runs = pd.DataFrame({"estimate": ["A -> B; C -> D"]})
    given = {"data": LEVELS, "test": "fisher_z"}
    as_numbers = {"data": LEVELS.astype(float)}
    one = ce.evaluate(runs, ["separation_share"], truth=None, context=given)
    with pytest.warns(UserWarning, match="floats that hold whole numbers, .*astype.int.*'test': 'fisher_z'"):
        other = ce.evaluate(runs, ["separation_share", "lmc_share"], truth=None, context=as_numbers)
    assert one["separation_share"][0] == other["separation_share"][0]
    # a named test, and metrics that test nothing, need no warning
    ce.evaluate(runs, ["separation_share"], truth=None, context=as_numbers | {"test": "fisher_z"})
    names = ["bic", "log_likelihood", "cv_log_likelihood", "deviance"]
    numbers = ce.evaluate(runs, names, truth=None, context=as_numbers)
    # likelihoods take the columns as the test does
    pd.testing.assert_frame_equal(numbers[names], ce.evaluate(runs, names, truth=None, context=given)[names])
    levels = ce.evaluate(runs, names, truth=None, context={"data": LEVELS, "test": "g"})
    assert abs(levels["bic"][0] - numbers["bic"][0]) > 1


def test_functions_with_other_arguments_are_named():
    runs = pd.DataFrame({"estimate": ["A -> B; C -> D"]})

    def marginal(x, y):
        return 0.5

    with pytest.raises(ValueError, match=r"the test marginal takes \(x, y\), and is called by test\(x, y, z\)"):
        ce.evaluate(runs, ["lmc_share"], truth=None, context={"data": NUMBERS, "test": marginal})


@pytest.mark.slow
def test_a_function_is_asked_once_a_pair_and_set():
    asked = []

    def by_rank(x, y, z):
        asked.append((frozenset((x.tobytes(), y.tobytes())), z.tobytes()))
        assert z.shape[0] == len(x)
        return float(stats.spearmanr(x, y).pvalue)

    runs = pd.DataFrame({"estimate": ["A -> B; B -> C; D; E", "B -> A; B -> C; D; E", "A -> B; C -> B; D; E"] * 3})
    given = {"data": NUMBERS, "test": by_rank}
    names = ["lmc_share", "separation_share", "fisher_c_p", "faithfulness_violations"]
    frames = {"one": NUMBERS, "two": NUMBERS + 1}
    for null, how in (("permutation", {}), ("edges", {"engine": "threads", "n_jobs": 2})):
        asked.clear()
        with ce.set_options(**how):
            ce.with_controls(runs, names, truth=None, null=null, context=given, n_draws=20, rng=3)
        assert len(set(asked)) == len(asked) > 20
    asked.clear()
    both = pd.concat([runs.assign(data=name) for name in frames], ignore_index=True)
    by = {"data": ("data", frames), "test": by_rank}
    ce.cube(both, names, by=["estimate"], truth=None, null=["permutation", "edges"], context=by, n_draws=20, rng=3)
    assert len(set(asked)) == len(asked) > 40

    def by_none(x, y, z):
        return None

    with pytest.raises(ValueError, match="test by_none returned None where a p-value in"):
        ce.evaluate(runs, ["lmc_share"], truth=None, context={"data": NUMBERS, "test": by_none})
    found = ce.evaluate(runs, ["lmc_share"], truth=None, context=given)
    assert "by_rank" in str(found.attrs)


def test_the_kernel_test_refuses_more_than_its_budget():
    runs = pd.DataFrame({"estimate": ["A -> B; C -> B"]})
    few = {"data": NUMBERS.head(60), "test": "kci"}
    assert 0 <= ce.evaluate(runs, ["lmc_share"], truth=None, context=few)["lmc_share"][0] <= 1
    many = pd.DataFrame(RNG.normal(size=(9000, 3)), columns=list("ABC"))
    with pytest.raises(ValueError, match=r"test='kci' takes about 2.* s a test of 9000 rows.*600 s.*data.sample"):
        ce.evaluate(runs, ["lmc_share"], truth=None, context={"data": many, "test": "kci"})


def test_kept_numbers_are_computed_once_in_any_order():
    seen = []

    def compute(x, y, given):
        seen.extend(zip(x.tolist(), y.tolist(), map(tuple, given.tolist()), strict=True))
        return x + 10.0 * y + 100 * given.sum(axis=1)

    kept = ci_tests.Kept(compute)
    x, y, given = every_statement(4)
    order = np.random.default_rng(0).permutation(len(x))
    found = kept.find(x[order], y[order], given[order])
    np.testing.assert_array_equal(found, (x + 10 * y + 100 * given.sum(axis=1))[order])
    np.testing.assert_array_equal(kept.find(x, y, given)[order], found)
    assert len(seen) == len(set(seen)) == len(kept) and not len(kept.find(x[:0], y[:0], given[:0]))


def test_integers_of_many_levels_are_refused_before_memory_is():
    many = pd.DataFrame(np.random.default_rng(0).integers(0, 10**9, (5000, 3)), columns=list("ABC"))
    runs = pd.DataFrame({"estimate": ["A -> C; B"]})
    for metric in ("separation_share", "bic"):
        message = f"{metric}: row 0 .*table of .* cells, more than .*; cut the columns into fewer"
        with pytest.raises(ValueError, match=message):
            ce.evaluate(runs.assign(estimate="A -> C; B -> C"), [metric], truth=None, context={"data": many})
    assert ce.evaluate(runs, ["bic"], truth=None, context={"data": many.astype(float)}).notna().all().all()
    with pytest.raises(ValueError, match="with 2000 x 4000 levels in 3 strata would fill a table of 24,000,000 cells"):
        ci_tests.check_cells(3, 2000, 4000)


@pytest.mark.parametrize("graph", ["A", "A -> B", "A; B"])
def test_graphs_of_few_nodes(graph):
    names = ["n_implied", "n_lmc", "p_floor", "lmc_share", "separation_share", "fisher_c_p", "deviance", "bic"]
    names += ["cv_log_likelihood", "pvalue_ks", "correlation_f1", "fraction_dependent_h1", "faithfulness_violations"]
    runs = pd.DataFrame({"estimate": [graph]})
    for data in (NUMBERS, LEVELS.drop(columns="D")):
        some = names if data is NUMBERS else [name for name in names if name != "deviance"]
        found = ce.evaluate(runs, some, truth=None, context={"data": data})
        assert found["bic"].notna().all()
        assert found["lmc_share"].notna().all() == (graph == "A; B") == (found["n_lmc"][0] == 2)


def test_a_column_can_name_the_test_and_the_level_of_each_row():
    runs = pd.DataFrame({"estimate": ["A -> B; B -> C; D; E"] * 4})
    runs = runs.assign(test=["fisher_z", "t"] * 2, alpha=[0.05, 0.05, 0.9, 0.9])
    given = {"data": NUMBERS, "test": "test", "alpha": "alpha"}
    found = ce.evaluate(runs, ["fisher_c_p", "lmc_share"], truth=None, context=given)
    assert found["fisher_c_p"][0] == found["fisher_c_p"][2] != found["fisher_c_p"][1] == found["fisher_c_p"][3]
    assert found["lmc_share"][0] < found["lmc_share"][2]
