"""Laws of shuffled scores equal all rankings, those of relabelled nodes all relabellings, and published numbers."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.edge_scores.nulls.laws import average_precision_mean, make_ties, mixture_tails, rank_sum, variance
from causaleval_pd.edge_scores.nulls.relabelling import relabelled_moments

METRICS = ["auroc", "average_precision", "precision_at_k", "early_precision_ratio"]
PROFILES = [(7, 2, [1] * 7), (8, 3, [1, 2, 1, 4]), (7, 5, [3, 1, 3]), (6, 3, [1, 1, 4]), (8, 1, [2, 6])]


def labelings(n, k, sizes):
    """Return AUROC (times 2 K (N - K)) and AP of all labelings."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    ends = np.cumsum(sizes)
    found = []
    for true in itertools.combinations(range(n), k):
        y = np.zeros(n)
        y[list(true)] = 1
        a = np.array([y[group == g].sum() for g in range(len(sizes))])
        above, b = np.cumsum(a), np.array(sizes) - a
        later = np.array([b[g + 1 :].sum() for g in range(len(sizes))])
        twice_u = (2 * a * later + a * b).sum()
        ap = (a * above / ends).sum() / k
        found.append((twice_u, ap))
    return np.array(found)


@pytest.mark.parametrize(("n", "k", "sizes"), PROFILES)
def test_laws_are_those_of_all_labelings(n, k, sizes):
    every, ties = labelings(n, k, sizes), make_ties(n, k, np.array(sizes))
    law = rank_sum(ties)
    for x in np.unique(every[:, 0]):
        assert law.above(np.array([x], int))[0] == pytest.approx(np.mean(every[:, 0] >= x), abs=1e-14)
    assert variance(ties) == pytest.approx(np.var(every[:, 0] / 2), abs=1e-12)
    assert average_precision_mean(ties) == pytest.approx(every[:, 1].mean(), abs=1e-14)


@pytest.mark.slow
def test_rankings_of_a_table_are_all_shuffles():
    """Every metric's p is the share of all 720 shuffles of six candidates that are as good."""
    rng = np.random.default_rng(1)
    slots = np.argwhere(~np.eye(3, dtype=bool))
    orders = np.array(list(itertools.permutations(range(6))))
    for trial, truth in enumerate(["A -> B; C", "A -> B; B -> C", "A -- B; C -> B"]):
        matrix = rng.normal(size=(3, 3)).round(trial)
        every = np.zeros((720, 3, 3))
        every[:, slots[:, 0], slots[:, 1]] = matrix[slots[:, 0], slots[:, 1]][orders]
        cells = ce.score_column(
            [matrix, *every], nodes=list("ABC"), encoding="row->column", kind="weight", symmetric=False
        )
        table = pd.DataFrame({"truth": [truth] * 721, "estimate": cells})
        values = table.ceval.evaluate(METRICS)
        row = table.head(1).ceval.with_controls(METRICS, null="ranking", rng=1, columns="full").iloc[0]
        for name in METRICS:
            seen, drawn = values[name][0], values[name][1:]
            assert row[f"{name}_control_mean"] == pytest.approx(drawn.mean(), abs=1e-12)
            if name == "average_precision":
                continue
            assert row[f"{name}_p"] == pytest.approx(np.mean(drawn >= seen - 1e-12), abs=1e-12)
            assert row[f"{name}_p_method"] == "exact"


def five_nodes(trial):
    rng = np.random.default_rng(trial)
    matrix = rng.normal(size=(5, 5))
    if trial % 4 == 1:
        matrix += matrix.T
    if trial % 4 == 2:
        matrix = np.triu(matrix, 1) * (rng.random((5, 5)) < 0.6)
    if trial % 4 == 3:
        matrix = matrix.round(0)
    marks = np.triu(rng.random((5, 5)) < 0.35, 1).astype(int)
    marks[0, 1] = 1
    truth = ce.graph_column([marks], encoding="row->column")
    column = ce.score_column([matrix], encoding="row->column", kind="weight", symmetric=False)
    return pd.DataFrame({"truth": truth, "estimate": column})


@pytest.mark.slow
@pytest.mark.parametrize("trial", range(4))
def test_moments_of_relabelled_nodes_are_those_of_all_relabellings(trial):
    table = five_nodes(trial)
    options = [{}, {"universe": "unordered"}, {"undirected": "none"}]
    for name, chosen in itertools.product(["auroc", "average_precision", "precision_at_k"], options):
        metric = ce.tweak(name, **chosen)
        [batch] = ce.edge_scores.SCORES.batches(table["truth"], table["estimate"], None)
        known = relabelled_moments(metric, batch.pairs)
        orders = np.array(list(itertools.permutations(range(5))))
        matrix = table["estimate"].score.to_numpy()[0]
        moved = [matrix[np.ix_(order, order)] for order in orders]
        cells = ce.score_column(moved, encoding="row->column", kind="weight", symmetric=False)
        truths = pd.Series(table["truth"].tolist() * 120, dtype=table["truth"].dtype)
        values = pd.DataFrame({"truth": truths, "estimate": cells}).ceval.evaluate([metric])[name]
        assert known.mean[0] == pytest.approx(values.mean(), abs=1e-13)
        if name != "average_precision":
            assert known.variance[0] == pytest.approx(values.var(ddof=0), abs=1e-13)
        row = table.ceval.with_controls([metric], null="permutation", rng=1).iloc[0]
        assert row[f"{name}_p"] == pytest.approx(np.mean(values >= row[name] - 1e-12), abs=1e-12)
        assert row[f"{name}_p_method"] == "exact"


@pytest.mark.slow
def test_large_laws_are_mixtures_or_normal():
    sparse = np.array([1] * 200 + [2250])
    mixture = rank_sum(make_ties(2450, 100, sparse))
    assert mixture.method == "mixture"
    tied = rank_sum(make_ties(2450, 400, np.array([7] * 350)))
    assert tied.method == "normal"
    for law, ties in ((mixture, make_ties(2450, 100, sparse)), (tied, make_ties(2450, 400, np.array([7] * 350)))):
        mean = law.tails[1:].sum() / 2
        assert mean == pytest.approx(ties.k * (ties.n - ties.k) / 2, rel=1e-3)
        assert law.tails[0] == pytest.approx(1) and (np.diff(law.tails) <= 1e-12).all()
    # one tie too large for the normal law, in the middle
    assert rank_sum(make_ties(2450, 100, np.array([1] * 700 + [1050] + [1] * 700))) is None


def test_a_mixture_agrees_with_the_exact_law():
    ties = make_ties(380, 10, np.array([1] * 20 + [360]))
    exact = rank_sum(ties)
    assert exact.method == "exact"
    # the normal law is far from these tails: .0172 where the exact one is .0501
    assert np.abs(exact.tails - 0.0501).min() < 5e-4
    parts = mixture_tails(ties)
    assert np.abs(exact.tails - parts).max() < 3e-4
