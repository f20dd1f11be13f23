"""How often each test rejects when there is nothing to find, beside how often it does when there is.

2,000 tables of random guesses for every test and null model, with 1 to 100 rows a stratum. A test may reject at .01,
.05 and .10 no more often than that, beyond binomial error; a test that hardly ever rejects is conservative, not
calibrated, which is why its power is looked at too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.controls import find_null
from causaleval_pd.field import get_field
from causaleval_pd.null import Matching

N_TABLES, N_ROWS, N_NODES = 2000, 100, 5
SIZES = [1, 2, 5, 20, 100]
LEVELS = np.array([0.01, 0.05, 0.1])
PAIRS = np.triu_indices(N_NODES, 1)
TIERS = ce.null_model("knowledge", tiers=[["A", "B"], ["C", "D", "E"]], name="tiers")
KNOWN_EDGES = ce.null_model("knowledge", required=[("A", "B")], forbidden=[("C", "D"), ("E", "A")], name="known edges")
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
    """Share of rejections that a valid test exceeds once in 30,000 times."""
    return levels + 4 * np.sqrt(levels * (1 - levels) / n)


def rates(p):
    """Share of p-values that reject at each level."""
    return np.array([(p <= level).mean() for level in LEVELS])


def random_dags(rng, n, n_edges):
    """Draw DAGs over five nodes as matrices, row -> column."""
    edge = rng.random((n, len(PAIRS[0]))).argsort(axis=1).argsort(axis=1) < n_edges[:, None]
    order = rng.random((n, N_NODES)).argsort(axis=1)
    matrices = np.zeros((n, N_NODES, N_NODES), np.int8)
    matrices[np.arange(n)[:, None], order[:, PAIRS[0]], order[:, PAIRS[1]]] = edge
    return matrices


def column(matrices):
    return ce.graph_column(matrices, encoding="row->column", nodes=list("ABCDE"))


def guesses_of(null, truth, base, rng):
    """Draw one graph of a null model for each row."""
    field = get_field("graph")
    model = find_null(field, null)
    matrices = np.zeros((len(truth), N_NODES, N_NODES), np.int8)
    for rows, pairs in field.batches(truth, base, None):
        keys = rng.integers(0, 2**63, len(rows)).astype(np.uint64)
        controls = model.match(Matching(truth, base, None, None, model.options))(rows, pairs, keys)
        planes = controls.draw(0, 1).estimate.planes[:, :, 0]
        marks = (planes[:, :, None] >> np.arange(len(PAIRS[0]), dtype=np.uint64)) & np.uint64(1)
        drawn = np.zeros((len(rows), N_NODES, N_NODES), np.int8)
        drawn[:, PAIRS[0], PAIRS[1]], drawn[:, PAIRS[1], PAIRS[0]] = marks[:, 0], marks[:, 1]
        matrices[rows] = drawn
    return column(matrices)


def places(n_rows=N_ROWS):
    return {"table": np.repeat(np.arange(N_TABLES), n_rows), "replicate": np.tile(np.arange(n_rows), N_TABLES)}


@pytest.fixture(scope="module")
def graphs():
    """Truths and unrelated graphs, 100 a table."""
    rng = np.random.default_rng(1)
    n = N_TABLES * N_ROWS
    return [column(random_dags(rng, n, rng.integers(low, high, n))) for low, high in ((2, 8), (1, 9))]


def cube_of(null, truth, estimate, n_draws):
    runs = pd.DataFrame({"truth": truth, "estimate": estimate, **places()})
    given = {"by": ["table"], "replicate": "replicate", "method": "simulate", "keep_draws": True, "rng": 7}
    return ce.cube(runs, ["shd"], null=null, n_draws=n_draws, **given)


# 19 draws allow rejection at .05 and .10, and keep the slower null models short
@pytest.mark.slow
@pytest.mark.parametrize(
    ("null", "n_draws"),
    [
        *(("edges", 99), ("permutation", 99), ("orientation", 99), ("dags", 19), ("degree", 19)),
        *(("erdos_renyi", 19), ("scale_free", 19), ("small_world", 19), (TIERS, 19), (KNOWN_EDGES, 19)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_guesses_beat_their_controls_no_more_often_than_the_level(graphs, null, n_draws):
    truth, base = graphs
    cube = cube_of(null, truth, guesses_of(null, truth, base, np.random.default_rng(2)), n_draws)
    for b in SIZES:
        part = cube.isel(replicate=slice(b))
        for method in METHODS:
            found = rates(ce.test_controls(part, method=method)["p_value"])
            assert (found <= limit(LEVELS)).all(), (null, b, method, found)
            if b >= 20 and method in ("randomisation", "wilcoxon", "t"):
                # calibrated: not far below the level either
                assert (found[1:] >= 0.6 * LEVELS[1:]).all(), (null, b, method, found)


@pytest.mark.slow
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
    cube = ce.cube(table, ["shd"], by=["table", "algorithm"], replicate="replicate", n_draws=None)
    good = (cube["shd"] <= 3).astype(float).assign_attrs(cube["shd"].attrs | {"direction": "maximize"})
    return cube.assign(good=good).assign_attrs(metrics='["shd", "good"]')


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_guessers_differ_no_more_often_than_the_level_and_skill_is_found(contest, name, alternative):
    how = {"metrics": "shd", "adjust": None, "alternative": alternative, "test": name.split(",")[0]} | COMPARISONS[name]
    guessers, skilled = contest.sel(algorithm=["a", "b"]), contest.sel(algorithm=["c", "b"])
    for b in SIZES:
        size = rates(ce.compare(guessers.isel(replicate=slice(b)), "algorithm", **how)["p_value"])
        assert (size <= limit(LEVELS)).all(), (name, b, size)
    # b = 100: the test is calibrated (or nearly, where p-values are few), and it has power
    how["alternative"] = "greater" if how["metrics"] == "good" and alternative == "less" else alternative
    power = rates(ce.compare(skilled, "algorithm", **how)["p_value"])
    assert size[1] >= 0.02 and power[1] > 0.5, (name, size, power)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign_flip"])
def test_margins_keep_the_level_at_the_margin(contest, test):
    # a is worse by exactly the margin: neither non-inferior nor equivalent
    pair = contest.sel(algorithm=["a", "b"])
    worse = pair["shd"] + 1.5 * (pair["algorithm"] == "a")
    pair = pair.assign(shd=worse.assign_attrs(pair["shd"].attrs))
    given = {"metrics": "shd", "test": test, "margin": 1.5, "n_resamples": 199, "rng": 1}
    for claim in ("non_inferior", "equivalent"):
        for b in (2, 5, 20, 100):
            found = rates(ce.compare(pair.isel(replicate=slice(b)), "algorithm", alternative=claim, **given)["p_value"])
            assert (found <= limit(LEVELS)).all(), (claim, b, found)
        assert found[1] >= 0.03


def test_ranks_of_three_guessers_keep_the_familywise_level(contest):
    three = contest.sel(algorithm=["a", "b", "d"])
    for b in SIZES:
        part = three.isel(replicate=slice(b))
        found = {"friedman": ce.rank_test(part, "algorithm", "shd")["p_value"][::3]}
        for adjust, family in (("nemenyi", None), ("holm", "table")):
            pairs = ce.compare(part, "algorithm", metrics="shd", test="friedman", adjust=adjust, family=family)
            found[adjust] = pairs.groupby("table")["p_adjusted"].min()
        for name, p in found.items():
            assert (rates(p) <= limit(LEVELS)).all(), (name, b, rates(p))
    assert rates(found["friedman"])[1] > 0.03
