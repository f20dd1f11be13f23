"""How often each test rejects when there is nothing to find, beside how often it does when there is.

1,000 tables of random guesses for every test and null model, with 1 to 100 rows a stratum, and as many as time allows
where controls are streamed. A test may reject at .01, .05 and .10 no more often than that, beyond binomial error; a
test that hardly ever rejects is conservative, not calibrated, which is why its power is looked at too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.graphs.kernels.planes import marks_from_planes
from causaleval_pd.inference.least_p import TooFewClustersError
from causaleval_pd.tables.matching import find_null

pytestmark = pytest.mark.slow

N_TABLES, N_ROWS = 1000, 100
SIZES = [1, 2, 5, 20, 100]
LEVELS = np.array([0.01, 0.05, 0.1])
NULLS = [
    "edges",
    "permutation",
    "orientation",
    "dags",
    "degree",
    "erdos_renyi",
    "scale_free",
    "small_world",
    "tiers",
    "known edges",
]
METHODS = ["randomisation", "wilcoxon", "sign", "t"]
COMPARISONS = {
    "wilcoxon": {},
    "wilcoxon, pratt": {"zero_method": "pratt"},
    "t": {},
    "sign": {},
    "sign_flip": {"n_resamples": 399, "rng": 1},
    "bootstrap": {"n_resamples": 399, "rng": 1},
    "friedman": {},
    "mcnemar": {"metrics": "good"},
    "wilcoxon, unpaired": {"paired": False},
    "t, unpaired": {"paired": False},
}


def limit(levels, n=N_TABLES):
    """Share of rejections that n valid tests exceed once in 30,000 times."""
    return stats.binom.ppf(1 - 1 / 30_000, n, levels) / n


def rates(p):
    """Share of p-values that reject at each level."""
    return np.array([(p <= level).mean() for level in LEVELS])


def random_dags(rng, n, n_edges, n_nodes=5):
    """Draw DAGs as matrices, row -> column."""
    pairs = np.triu_indices(n_nodes, 1)
    edge = rng.random((n, len(pairs[0]))).argsort(axis=1).argsort(axis=1) < np.broadcast_to(n_edges, n)[:, None]
    order = rng.random((n, n_nodes)).argsort(axis=1)
    matrices = np.zeros((n, n_nodes, n_nodes), np.int8)
    matrices[np.arange(n)[:, None], order[:, pairs[0]], order[:, pairs[1]]] = edge
    return matrices


def column(matrices):
    return ce.graph_column(matrices, encoding="row->column", nodes=list("ABCDEFG"[: matrices.shape[1]]))


def model_of(null, n_nodes):
    if null == "tiers":
        tiers = [list("ABC"[: n_nodes // 2]), list("ABCDEFG"[n_nodes // 2 : n_nodes])]
        return ce.null_model("knowledge", tiers=tiers, name=null)
    if null == "known edges":
        return ce.null_model("knowledge", required=[("A", "B")], forbidden=[("C", "D"), ("E", "A")], name=null)
    return ce.null_model(null)


def guesses_of(null, truth, base, rng, n_nodes=5):
    """Draw one graph of a null model for each row, from streams that the tests do not use."""
    field = get_field("graph")
    model = find_null(field, model_of(null, n_nodes))
    matrices = np.zeros((len(truth), n_nodes, n_nodes), np.int8)
    for rows, pairs in field.batches(truth, base, None):
        keys = rng.integers(0, 2**63, len(rows)).astype(np.uint64)
        controls = model.match(Matching(truth, base, None, None, model.options))(rows, pairs, keys)
        matrices[rows] = marks_from_planes(controls.draw(0, 1).estimate.planes, n_nodes)
    return column(matrices)


def guessed_runs(null, n_tables, n_rows, seed):
    """Tables of runs over seven nodes whose estimates are one draw of a null model themselves."""
    rng, n = np.random.default_rng(seed), n_tables * n_rows
    truth, base = (column(random_dags(rng, n, n_edges, 7)) for n_edges in (9, 8))
    estimate = guesses_of(null, truth, base, rng, 7)
    return pd.DataFrame({"truth": truth, "estimate": estimate, **places(n_rows, n_tables)})


def places(n_rows=N_ROWS, n_tables=N_TABLES):
    return {"table": np.repeat(np.arange(n_tables), n_rows), "replicate": np.tile(np.arange(n_rows), n_tables)}


@pytest.fixture(scope="module")
def graphs():
    """Truths and unrelated graphs, 100 a table."""
    rng = np.random.default_rng(1)
    n = N_TABLES * N_ROWS
    return [column(random_dags(rng, n, rng.integers(low, high, n))) for low, high in ((2, 8), (1, 9))]


def cube_of(null, truth, estimate, n_draws, **settings):
    runs = pd.DataFrame({"truth": truth, "estimate": estimate, **places()})
    # small truths repeat, but the guesses about them are independent
    given = {"by": ["table"], "replicate": "replicate", "cluster": None}
    given |= {"method": "simulate", "keep_draws": True, "rng": 7}
    return ce.cube(runs, ["shd"], null=model_of(null, 5), n_draws=n_draws, **given, **settings)


# 19 draws allow rejection at .05 and .10, and keep the slower null models short
@pytest.mark.parametrize("null", NULLS)
def test_guesses_beat_their_controls_no_more_often_than_the_level(graphs, null):
    truth, base = graphs
    n_draws = 99 if null in ("edges", "permutation", "orientation") else 19
    # combinations of the draws of a thousand strata take a minute; those of one null model show their level
    tails = "combinations" if null == "edges" else None
    cube = cube_of(null, truth, guesses_of(null, truth, base, np.random.default_rng(2)), n_draws, tails=tails)
    for b in SIZES:
        part = cube.isel(replicate=slice(b))
        for method in METHODS:
            found = rates(ce.test_controls(part, method=method)["p_value"])
            assert (found <= limit(LEVELS)).all(), (null, b, method, found)
            if b >= 20 and method in ("randomisation", "wilcoxon", "t"):
                # calibrated: not far below the level either; sums of whole numbers have ties, which count against them
                least = 0.5 if method == "randomisation" else 0.6
                assert (found[1:] >= least * LEVELS[1:]).all(), (null, b, method, found)


def test_stratum_controls_keep_the_level(graphs):
    truth, base = graphs
    for b in SIZES:
        # numbers of edges are resampled from the whole stratum, so that it is not cut but made smaller
        rows = np.flatnonzero(places()["replicate"] < b)
        runs = pd.DataFrame({"truth": truth, "estimate": base, **places()}).iloc[rows].reset_index(drop=True)
        cube = ce.cube(
            runs, ["shd"], by=["table"], replicate="replicate", null="stratum", n_draws=19, rng=7, keep_draws=True
        )
        for method in METHODS:
            found = rates(ce.test_controls(cube, method=method)["p_value"])
            assert (found <= limit(LEVELS)).all(), (b, method, found)
            if b >= 20 and method in ("randomisation", "wilcoxon", "t"):
                # conservative: controls vary in their number of edges about the mean of the estimates themselves
                assert (found[1:] >= 0.4 * LEVELS[1:]).all(), (b, method, found)


@pytest.mark.parametrize("null", NULLS)
def test_streamed_controls_keep_the_level(null):
    for b in SIZES:
        # with many rows there is time for fewer tables, and the bound is theirs
        n_tables = max(50, 1000 // max(1, b // 2))
        cube = ce.cube(
            guessed_runs(null, n_tables, b, seed=b),
            ["shd", "adjacency_f1"],
            by=["table"],
            replicate="replicate",
            null=model_of(null, 7),
            n_draws=99,
            method="simulate",
            rng=7,
            keep_draws=False,
        )
        for metric, found in cube.ceval.test_controls().groupby("metric"):
            assert len(found) == n_tables
            assert (rates(found["p_value"]) <= limit(LEVELS, n_tables)).all(), (b, metric, rates(found["p_value"]))


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("settings", [{}, {"stop_after": 6}, {"share_draws": True}], ids=str)
def test_row_p_values_keep_the_level(null, settings):
    runs, levels = guessed_runs(null, 1000, 1, seed=9), np.array([*LEVELS, 0.5])
    found = ce.with_controls(
        runs, ["shd", "adjacency_tp"], n_draws=99, null=model_of(null, 7), key="table", rng=7, **settings
    )
    # rows that share draws are not independent of one another: their bound is wider
    most = levels + (3 if settings.get("share_draws") else 1) * (limit(levels, 1000) - levels)
    for name in ("shd_p", "adjacency_tp_p"):
        assert (np.array([(found[name] <= level).mean() for level in levels]) <= most).all(), name


def test_controls_show_size_and_power():
    """With twenty rows a stratum the size comes close to the level, and better estimates are found."""
    runs, rejected = guessed_runs("edges", 300, 20, seed=1), {}
    # every third estimate is right
    better = runs.assign(estimate=runs["estimate"].where(runs["replicate"] % 3 > 0, runs["truth"]))
    for name, table in (("size", runs), ("power", better)):
        cube = ce.cube(table, ["shd"], by=["table"], replicate="replicate", n_draws=99, rng=7, keep_draws=False)
        rejected[name] = (cube.ceval.test_controls()["p_value"] <= 0.05).mean()
    assert stats.binom.ppf(1e-4, 300, 0.05) / 300 <= rejected["size"] <= limit(0.05, 300)
    assert rejected["power"] > 0.95


def test_superiority_share_is_no_test(graphs):
    cube = cube_of("edges", *graphs, 19)
    share = ce.test_controls(cube)["superiority_share"]
    # it gathers about one half and never rejects, however many rows there are
    assert (share <= 0.1).mean() == 0 and abs(share.mean() - 0.5) < 0.2


@pytest.fixture(scope="module")
def contest(graphs):
    """Three guessers, and one that knows some truths, on the same truths."""
    truth, base = graphs
    rng = np.random.default_rng(3)
    n = len(truth)
    other, third = (column(random_dags(rng, n, rng.integers(1, 9, n))) for _ in range(2))
    skilled = base.where(rng.random(n) > 0.25, truth)
    runs = [pd.DataFrame({"truth": truth, "estimate": x, **places()}) for x in (base, other, skilled, third)]
    table = pd.concat([x.assign(algorithm=name) for x, name in zip(runs, "abcd", strict=True)], ignore_index=True)
    table["good"] = (ce.evaluate(table, ["shd"])["shd"] <= 3).astype(float)
    how = {"by": ["table", "algorithm"], "replicate": "replicate", "cluster": None, "values": {"good": "maximize"}}
    return ce.cube(table, ["shd"], n_draws=None, **how)


def p_of_tables(cube, **how):
    """P-values of two levels, one per table; 1 where Wilcoxon's test is refused because it could never reject."""
    try:
        return ce.compare(cube, "algorithm", by="all", **how)["p_value"]
    except TooFewClustersError:
        assert how["test"] == "wilcoxon" and cube.sizes["replicate"] <= 5
        return np.ones(1)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_guessers_differ_no_more_often_than_the_level_and_skill_is_found(contest, name, alternative):
    how = {"metrics": "shd", "adjust": None, "alternative": alternative, "test": name.split(",")[0]}
    how |= COMPARISONS[name]
    guessers, skilled = contest.sel(algorithm=["a", "b"]), contest.sel(algorithm=["c", "b"])
    for b in SIZES:
        size = rates(p_of_tables(guessers.isel(replicate=slice(b)), **how))
        assert (size <= limit(LEVELS)).all(), (name, b, size)
    # b = 100: the test is calibrated (or nearly, where p-values are few), and it has power
    how["alternative"] = "greater" if how["metrics"] == "good" and alternative == "less" else alternative
    power = rates(p_of_tables(skilled, **how))
    assert size[1] >= 0.02 and power[1] > 0.5, (name, size, power)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign_flip"])
def test_margins_keep_the_level_at_the_margin(contest, test):
    # a is worse by exactly the margin: neither non-inferior nor equivalent
    pair = contest.sel(algorithm=["a", "b"])
    worse = pair["shd"] + 1.5 * (pair["algorithm"] == "a")
    pair = pair.drop_vars("shd_defined").assign(shd=worse.assign_attrs(pair["shd"].attrs))
    given = {"metrics": "shd", "test": test, "margin": 1.5, "n_resamples": 199, "rng": 1}
    for claim in ("non_inferior", "equivalent"):
        for b in (2, 5, 20, 100):
            found = rates(p_of_tables(pair.isel(replicate=slice(b)), alternative=claim, **given))
            assert (found <= limit(LEVELS)).all(), (claim, b, found)
        assert found[1] >= 0.03


def test_ranks_of_three_guessers_keep_the_familywise_level(contest):
    three = contest.sel(algorithm=["a", "b", "d"])
    for b in SIZES:
        part = three.isel(replicate=slice(b))
        found = {"friedman": ce.rank_test(part, "algorithm", "shd")["p_value"][::3]}
        for adjust, family in (("nemenyi", None), ("holm", "table")):
            pairs = ce.compare(part, "algorithm", "shd", by="all", test="friedman", adjust=adjust, family=family)
            found[adjust] = pairs.groupby("table")["p_adjusted"].min()
        for name, p in found.items():
            assert (rates(p) <= limit(LEVELS)).all(), (name, b, rates(p))
    assert rates(found["friedman"])[1] > 0.03
