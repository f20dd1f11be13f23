"""What tables of tests share: columns, order, checks, and notes of tests that cannot reach .05."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

import causaleval_pd as ce
from causaleval_pd.cubes.summary import summary
from causaleval_pd.cubes.summary_columns import FURTHER, SHORT
from causaleval_pd.inference import compare as comparison
from causaleval_pd.inference import ranking
from causaleval_pd.inference.result_tables import directions_of, in_order, stack_tests


def compare(cube, dim, metrics=None, **how):
    return comparison.compare(cube, dim, metrics, **{"columns": "full"} | how)


TABLES = {
    (*comparison.SHORT, *comparison.FURTHER): lambda cube: compare(cube, "algorithm", by="all", adjust=None),
    (*SHORT, *FURTHER): lambda cube: summary(cube, columns="full"),
    ranking.COLUMNS: lambda cube: ranking.rank_test(cube, "algorithm", by="all"),
}


@pytest.fixture
def study(make_cube):
    """Two algorithms on truths that the densities do not share."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, (2, 2, 6)).astype(float)
    truth = np.arange(1, 13).reshape(1, 2, 6) + np.zeros((2, 1, 1), int)
    draws = rng.integers(2, 12, (2, 2, 6, 20)).astype(float)
    strata = {"algorithm": np.array(["ges", "pc"]), "density": np.array([0.2, 0.5])}
    return make_cube(strata, {"m": (values, "minimize", draws)}, truth=truth)


@pytest.mark.parametrize("columns", TABLES)
def test_tables_have_their_declared_columns_after_the_strata(study, columns):
    table = TABLES[columns](study)
    assert len(table)
    assert [name for name in table if name in columns] == list(columns)
    assert set(table) - set(columns) <= {"algorithm", "density"}


@pytest.mark.parametrize("columns", TABLES)
def test_a_further_stratum_is_a_further_column(study, columns):
    wide = study.expand_dims(n=[10, 20]).assign_attrs(strata='["n", "algorithm", "density"]')
    table, narrow = TABLES[columns](wide), TABLES[columns](study)
    assert list(table) == ["n", *narrow]
    if "note" in narrow:
        # the least possible p depends on the number of tests
        table, narrow = (
            x.assign(note=x["note"].where(~x["note"].str.startswith("p_adjusted", na=False))) for x in (table, narrow)
        )
    pd.testing.assert_frame_equal(table[table["n"] == 10].drop(columns="n").reset_index(drop=True), narrow)


@pytest.mark.slow
def test_printed_tables_show_results():
    runs = ce.datasets.runs().query("n == 100")
    cube = ce.cube(runs, ["shd"], by=["algorithm", "density"], n_draws=19, rng=1)
    for table, names in (
        (comparison.compare(cube, "algorithm"), {"comparison", "p_value", "p_adjusted"}),
        (summary(cube), {"algorithm", "metric", "p_value", "skill"}),
    ):
        # as in a terminal
        with pd.option_context("display.width", 80, "display.max_columns", 0):
            printed = str(table).splitlines()[0].split()
        assert names <= set(printed), printed


def test_strata_come_first():
    table = pd.DataFrame({"b": [1], "density": [0.2], "a": [2]})
    assert list(in_order(table, ("a", "b"))) == ["density", "a", "b"]


def test_corrections_of_a_test_are_kept():
    table = pd.DataFrame({"metric": ["m", "m"], "p_value": [0.01, 0.04]})
    for given, adjust, adjusted in (({}, "holm", [0.02, 0.04]), ({"p_adjusted": [0.5, 0.6]}, "nemenyi", [0.5, 0.6])):
        found = stack_tests([table.assign(**given)], ("metric", "p_value", "p_adjusted"), [], adjust)
        assert found["p_adjusted"].tolist() == adjusted


def test_a_metric_is_named_once(study):
    with pytest.raises(ValueError, match="metrics names 'm' twice"):
        summary(study, ["m", "m"])


@pytest.mark.slow
def test_directions_of_carried_columns_are_those_of_the_cube():
    runs = ce.datasets.runs().head(60).assign(run=range(60))
    values = {"seconds": "minimize", "run": None}
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=None, values=values)
    table = cube.ceval.compare("algorithm", metrics=["shd", "seconds", "run"], columns="full").groupby("metric").head(1)
    assert directions_of(table, {}) == ["minimize", "minimize", "none"]
    assert directions_of(table, {"seconds": "maximize"}) == ["minimize", "maximize", "none"]
    shown = ce.style(cube.ceval.summary(["shd", "seconds"], columns="full")).data["metric"]
    assert set(shown) == {"shd ↓", "seconds ↓"}
    ax = ce.plot.forest(cube.ceval.compare("algorithm", metrics="seconds", columns="full"))
    words = " ".join(" ".join(text.get_text().split()) for text in ax.texts)
    assert "◂ first is better" in words and "is not known" not in words


@pytest.fixture
def apart(make_cube):
    """Return a cube of ten algorithms that differ as much as they can, on n truths."""

    def make(n, k=10):
        values = np.arange(k)[:, None] * np.linspace(10, 11, n) ** 2
        return make_cube({"algorithm": [f"a{i}" for i in range(k)]}, {"m": (values, "minimize")})

    return make


def test_forty_five_pairs_of_ten_clusters_cannot_differ(apart):
    message = r"test='wilcoxon' needs 11 truths for 45 tests with adjust='holm', found 10: .* use test='t'$"
    with pytest.raises(ValueError, match=message):
        compare(apart(10), "algorithm", test="wilcoxon")
    assert (compare(apart(10), "algorithm", test="wilcoxon", level=0.9)["p_adjusted"] <= 0.1).all()
    enough = compare(apart(11), "algorithm", test="wilcoxon")
    assert enough["note"].isna().all() and (enough["p_adjusted"] <= 0.05).all()


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "by", "bh", None])
def test_wilcoxon_is_refused_with_the_first_number_that_suffices(apart, adjust):
    with pytest.raises(ValueError, match="found 5") as refused:
        compare(apart(5, 4), "algorithm", test="wilcoxon", adjust=adjust)
    needed = int(str(refused.value).split("needs ")[1].split()[0])
    with pytest.raises(ValueError, match=f"needs {needed} truths"):
        compare(apart(needed - 1, 4), "algorithm", test="wilcoxon", adjust=adjust)
    column = "p_adjusted" if adjust else "p_value"
    assert (compare(apart(needed, 4), "algorithm", test="wilcoxon", adjust=adjust)[column] <= 0.05).all()


def test_claims_and_corrections_decide(apart):
    less = compare(apart(5, 2), "algorithm", alternative="less", test="wilcoxon")
    assert less["note"].tolist() == ["too few clusters for an interval"]
    with pytest.raises(ValueError, match="needs 6 truths for 1 test with adjust='none', found 5"):
        compare(apart(5, 2), "algorithm", adjust="none", test="wilcoxon")


@pytest.mark.slow
def test_rows_of_several_sizes_are_corrected_together(make_cube):
    values = np.arange(2)[:, None, None] * np.linspace(10, 11, 16).reshape(2, 8) ** 2
    status = np.ones((2, 2, 8))
    status[:, 1, 5:] = 0
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2]}, {"m": (values, "minimize")}, status=status)
    table = compare(cube, "algorithm", by="all", test="wilcoxon")
    np.testing.assert_allclose(table["p_adjusted"], multipletests([2 / 2**8, 2 / 2**5], method="holm")[1])
    assert table["note"].isna().tolist() == [True, False]


def test_tests_of_means_have_no_floor(apart):
    assert compare(apart(3), "algorithm", test="t")["note"].isna().all()
    # its own correction costs nothing: 45 pairs of 10 clusters can differ
    assert compare(apart(10), "algorithm", test="max_t")["note"].isna().all()


def test_p_values_that_no_resample_reached_are_at_the_floor(apart):
    """Differences as large as can be; up to 12 clusters sign vectors are all listed, so that p is exact."""
    for test in ("wilcoxon", "t"):
        assert not compare(apart(14, 3), "algorithm", test=test)["p_at_floor"].any()
    few, many = (compare(apart(n, 3), "algorithm", test="max_t") for n in (7, 40))
    assert many["p_at_floor"].tolist() == [True] * 3 and str(many["p_at_floor"].dtype) == "boolean"
    assert (many["p_value"] == 1 / 10_000).all()
    assert not few["p_at_floor"].any()


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("test", ["t", "max_t"])
@pytest.mark.parametrize(
    "how",
    [{}, {"adjust": "none"}, {"alternative": "less"}, {"level": 0.8}, {"reference": "a0", "adjust": "bonferroni"}],
)
def test_notes_on_infinite_values_name_wilcoxon_where_it_is_not_refused(make_cube, test, k, how):
    if test == "max_t":
        how = {name: setting for name, setting in how.items() if name != "adjust"}
    advised = set()
    for n in range(2, 12):
        values = np.arange(k)[:, None] * np.linspace(10, 11, n) ** 2
        values[-1, 0] = np.inf
        cube = make_cube({"algorithm": [f"a{i}" for i in range(k)]}, {"m": (values, "minimize")})
        table = compare(cube, "algorithm", test=test, **how)
        notes = table.loc[table["p_value"].isna(), "note"]
        assert len(notes) and notes.str.startswith("no interval: infinite values").all()
        named = notes.str.contains("test='wilcoxon' ranks them beyond all others")
        try:
            compare(cube, "algorithm", test="wilcoxon", **how)
            assert named.all()
        except ValueError as refused:
            assert "whatever the data" in str(refused) and "test='t'" not in str(refused)
            assert not named.any()
        advised |= set(named)
    assert advised == {True, False}


def test_rows_that_wilcoxon_cannot_judge_do_not_name_it(make_cube):
    values = np.full((2, 2, 8), 1.0)
    values[0, :, 0] = np.inf
    status = np.ones((2, 2, 8))
    status[:, 1, 3:] = 0
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2]}, {"m": (values, "minimize")}, status=status)
    notes = compare(cube, "algorithm", by="all")["note"]
    assert notes.str.contains("wilcoxon").tolist() == [True, False]
    with pytest.raises(ValueError, match=r"whatever the data; pool strata by leaving them out of by=$"):
        compare(cube.sel(n=[2]), "algorithm", by="all", test="wilcoxon")
