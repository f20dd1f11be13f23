"""The null model `skeleton` agrees with all controls of four nodes, keeps its level, and shows what directions add."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

NODES = list("ABCD")
PAIRS = list(itertools.combinations(range(4), 2))
TRUTH = "A -> B; B -> C; D -> C; A -> D"
IN_TRUTH = [(0, 1), (1, 2), (2, 3), (0, 3)]


def controls(n_edges: int, shared: int) -> pd.Series:
    """Return all controls as texts: sets of adjacencies along every order of the nodes."""
    others = [pair for pair in PAIRS if pair not in IN_TRUTH]
    texts = []
    for order in itertools.permutations(range(4)):
        for same in itertools.combinations(IN_TRUTH, shared):
            for further in itertools.combinations(others, n_edges - shared):
                edges = [sorted(pair, key=order.index) for pair in (*same, *further)]
                texts.append("; ".join([f"{NODES[a]} -> {NODES[b]}" for a, b in edges] + NODES))
    return pd.Series(texts)


def law(metric: str, n_edges: int, shared: int, kind: str) -> np.ndarray:
    """Return a metric of every control."""
    texts = controls(n_edges, shared)
    counts = texts.value_counts()
    estimates = ce.graph_column(counts.index.tolist())
    if kind == "cpdag":
        estimates = estimates.graph.cpdag()
    table = pd.DataFrame({"truth": ce.graph_column([TRUTH] * len(counts)), "estimate": estimates})
    return np.repeat(table.ceval.evaluate([metric])[metric].to_numpy(), counts.to_numpy())


@pytest.mark.parametrize("kind", ["dag", "cpdag"])
@pytest.mark.parametrize(("n_edges", "shared"), [(3, 1), (3, 2), (3, 3), (4, 3), (5, 4)])
def test_draws_have_the_law_of_all_controls(n_edges, shared, kind):
    n_draws = 4000
    for metric in ("shd", "directed_tp"):
        values = law(metric, n_edges, shared, kind)
        null = ce.null_model("skeleton", shared=shared)
        numbers = {"n_edges": n_edges, "kind": kind, "null": null, "n_draws": n_draws, "rng": 3}
        for value in np.unique(values):
            table = ce.control_distribution(TRUTH, observed={metric: value}, **numbers).iloc[0]
            as_good = values <= value if metric == "shd" else values >= value
            assert table["p"] == pytest.approx(as_good.mean(), abs=4 * 0.5 / n_draws**0.5)
        assert table["mean"] == pytest.approx(values.mean(), abs=4 * values.std() / n_draws**0.5 + 1e-12)


def test_metrics_of_skeletons_do_not_vary():
    estimates = ["A -> B; B -> C; A -> C; D", "A -> B; B -> C; C -> D", "A; B; C; D"]
    runs = pd.DataFrame({"truth": TRUTH, "estimate": estimates})
    scored = runs.ceval.with_controls(["adjacency_f1", "skeleton_hd"], null="skeleton", n_draws=50, rng=1)
    for metric in ("adjacency_f1", "skeleton_hd"):
        assert scored[metric].equals(scored[f"{metric}_control_mean"])
        assert (scored[f"{metric}_p"] == 1).all()


def test_means_of_shares_of_right_directions_are_a_half():
    runs = pd.DataFrame({"truth": [TRUTH], "estimate": ["A -> B; B -> C; A -> C; D"]})
    scored = runs.ceval.with_controls(["orientation_precision"], null="skeleton", n_draws=9, rng=1, columns="full")
    assert scored["orientation_precision_control_mean"].item() == 0.5
    assert scored["orientation_precision_mean_method"].item() == "exact"


def test_draws_are_those_of_the_row_in_any_order():
    runs = ce.datasets.runs().head(12)
    draws = {"null": "skeleton", "n_draws": 30, "rng": 5}
    scored = runs.ceval.with_controls(["shd"], **draws)
    backwards = runs[::-1].ceval.with_controls(["shd"], **draws)[::-1]
    assert scored["shd_p"].tolist() != scored["shd_p"].tolist()[::-1]
    np.testing.assert_array_equal(scored["shd_control_mean"], backwards["shd_control_mean"])


def _guesses(n_rows: int, rng: np.random.Generator, directions: str) -> pd.DataFrame:
    """Return truths of eight nodes beside estimates with the true skeleton and `directions`."""
    rows = []
    for _ in range(n_rows):
        order = rng.permutation(8)
        edges = [(a, b) for a, b in itertools.combinations(order, 2) if rng.random() < 0.35]
        place = rng.permutation(8) if directions == "random" else np.argsort(order)
        said = [(a, b) if place[a] < place[b] else (b, a) for a, b in edges]
        names = [f"X{i}" for i in range(8)]
        texts = ["; ".join([f"X{a} -> X{b}" for a, b in some] + names) for some in (edges, said)]
        rows.append(dict(zip(("truth", "estimate"), texts, strict=True)))
    return pd.DataFrame(rows)


def test_directions_are_judged_beyond_the_skeleton():
    for directions, verdicts in (("random", ["better", "not better"]), ("right", ["better", "better"])):
        runs = _guesses(30, np.random.default_rng(2), directions).assign(method=directions)
        cube = runs.ceval.cube(["shd"], by=["method"], null=["edges", "skeleton"], n_draws=100, rng=1)
        assert cube.ceval.summary()["verdict"].tolist() == verdicts


@pytest.mark.slow
def test_random_directions_keep_the_level():
    runs = _guesses(1500, np.random.default_rng(4), "random")
    p = runs.ceval.with_controls(["shd", "sid"], null="skeleton", n_draws=99, rng=1)[["shd_p", "sid_p"]]
    for column in p:
        for level in (0.01, 0.05, 0.2):
            assert (p[column] <= level).mean() <= level + 4 * (level * (1 - level) / len(p)) ** 0.5
        assert stats.kstest(p[column], "uniform", alternative="greater").pvalue > 1e-4


def test_numbers_that_no_estimate_has_are_refused():
    numbers = {"n_edges": 3, "kind": "dag", "observed": {"shd": 2}, "rng": 1}
    for shared, message in ((None, "needs the number"), (4, "from 1 to 3"), (0, "positive"), (1.5, "integer")):
        with pytest.raises(ValueError, match=message):
            ce.control_distribution(TRUTH, null=ce.null_model("skeleton", shared=shared), **numbers)
    runs = pd.DataFrame({"truth": [TRUTH], "estimate": ["A -> B; B -> C; C -> D"]})
    with pytest.raises(ValueError, match="published numbers"):
        runs.ceval.with_controls(["shd"], null=ce.null_model("skeleton", shared=1))
    mixed = pd.DataFrame({"truth": ["A <-> B; B -> C"], "estimate": ["A <-> B; B -> C"]})
    with pytest.raises(ValueError, match="this null model draws controls for dag"):
        mixed.ceval.with_controls(["shd"], null="skeleton")
