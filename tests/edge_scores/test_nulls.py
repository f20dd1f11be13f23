"""Null models of scores: laws against all rankings and relabellings, published numbers, refusals."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import causaleval_pd as ce
from causaleval_pd.contract.null import Matching
from causaleval_pd.fields.edge_scores.kernels import collect
from causaleval_pd.fields.edge_scores.laws import average_precision_mean, make_ties, mixture_tails, rank_sum, variance
from causaleval_pd.fields.edge_scores.nulls import relabelled_moments

NAMES = list("ABCD")


def weighted_dag(rng, d=4, share=0.6):
    order = rng.permutation(d)
    weights = np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < share), 1)
    return weights[np.ix_(order, order)]


def table(matrices, truth="A -> B; B -> C; D", **settings):
    column = ce.score_column(matrices, nodes=NAMES, encoding="row->column", kind="weight", **settings)
    return pd.DataFrame({"truth": [truth] * len(column), "estimate": column})


def drawn(frame, null, n_draws):
    """Return the matrices of the controls of a table's first row."""
    model = ce.edge_scores.SCORES.nulls[null]
    frame = frame.assign(truth=ce.graph_column(frame["truth"]))
    matching = Matching(frame["truth"], frame["estimate"], None, None, model.options)
    [(rows, pairs)] = ce.edge_scores.SCORES.batches(frame["truth"], frame["estimate"], None)
    keys = np.arange(1, len(rows) + 1, dtype=np.uint64)
    return model.match(matching)(rows, pairs, keys).draw(0, n_draws).estimate.values[:n_draws]


def test_shuffled_scores_fall_on_every_slot():
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[2, 3], matrix[3, 2] = 3, 2, np.nan
    found = drawn(table([matrix]), "ranking", 4000)
    assert np.isnan(found[:, 3, 2]).all(), "pairs without score stay"
    counts = Counter(map(tuple, np.argwhere(found == 3)[:, 1:].tolist()))
    assert len(counts) == 11
    expected = 4000 / 11
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 30  # 10 degrees of freedom, p of .001
    assert (found[:, range(4), range(4)] == 0).all()


def test_symmetric_scores_stay_symmetric():
    matrix = np.triu(np.arange(16).reshape(4, 4), 1)
    found = drawn(table([matrix + matrix.T]), "ranking", 200)
    np.testing.assert_array_equal(found, found.transpose(0, 2, 1))
    assert len({tuple(x[np.triu_indices(4, 1)]) for x in found}) > 150


def test_random_scores_of_a_dag_are_weights_of_random_dags():
    rng = np.random.default_rng(4)
    matrix = weighted_dag(rng)
    found = drawn(table([matrix]), "random_scores", 3000)
    support = found != 0
    assert not (support & support.transpose(0, 2, 1)).any()
    assert all((np.sort(x[x != 0]) == np.sort(matrix[matrix != 0])).all() for x in found[:50])
    powers = support.astype(int)
    for _ in range(4):
        powers = (powers @ support.astype(int) > 0).astype(int)
    assert not powers.any(), "no cycles"
    share = support.mean(axis=0)[~np.eye(4, dtype=bool)]
    np.testing.assert_allclose(share, share.mean(), atol=5 * np.sqrt(0.25 / 3000))


def test_scores_in_one_direction_only_do_not_stay_where_they_are():
    """No order can turn a pair that is scored in one direction: all scores are shuffled over the scored pairs."""
    matrix = np.full((4, 4), np.nan)
    matrix[0, 1:], matrix[range(4), range(4)] = [2, -1, 0], 0
    found = drawn(table([matrix]), "random_scores", 3000)
    assert (np.isnan(found) == np.isnan(matrix)).all()
    counts = Counter(map(tuple, found[:, 0, 1:].tolist()))
    assert set(counts) == set(itertools.permutations([2.0, -1.0, 0.0]))
    assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("weights", [[2.0], [2.0, -1.0]])
def test_random_scores_have_the_law_of_orders_and_pairs(weights):
    """A random order, random pairs for the weights, directed along it, and the weights dealt out at random."""
    matrix, law = np.zeros((4, 4)), Counter()
    matrix[0, 1 : 1 + len(weights)] = weights
    for order in itertools.permutations(range(4)):
        for chosen in itertools.permutations(itertools.combinations(range(4), 2), len(weights)):
            dealt = np.zeros((4, 4))
            for (a, b), weight in zip(chosen, weights, strict=True):
                dealt[(a, b) if order[a] < order[b] else (b, a)] = weight
            law[dealt.tobytes()] += 1
    found = Counter((x + 0.0).tobytes() for x in drawn(table([matrix]), "random_scores", 6000))
    assert set(found) == set(law)
    assert chisquare([found[x] for x in law], [6000 * n / law.total() for n in law.values()]).pvalue > 1e-3


@pytest.mark.filterwarnings("ignore:.*have symmetric scores")
def test_the_default_depends_on_the_support():
    rng = np.random.default_rng(5)
    dag, dense = weighted_dag(rng), rng.normal(size=(4, 4))
    frame = table([dag, dense, dag + dag.T])
    found = frame.ceval.with_controls(["auroc"], rng=1, n_draws=50)
    assert found["control_kind"].tolist() == ["relabelled", "shuffled", "shuffled"]
    assert found["auroc_p_method"].tolist() == ["exact"] * 3, "few nodes are listed"
    alone = frame.head(1).ceval.with_controls(["auroc"], null="permutation", rng=1)
    assert alone["auroc_p"][0] == found["auroc_p"][0]
    shuffled = frame.ceval.with_controls(["auroc"], null="ranking", rng=1)
    assert shuffled["auroc_p"][1] == found["auroc_p"][1]


@pytest.mark.slow
def test_draws_do_not_depend_on_order_and_engine():
    rng = np.random.default_rng(6)
    frame = table([rng.normal(size=(4, 4)), weighted_dag(rng), rng.normal(size=(4, 4))])
    settings = {"rng": 3, "n_draws": 40, "method": "simulate"}
    one = frame.ceval.with_controls(["auroc", "best_shd"], **settings)
    with ce.set_options(engine="threads", n_jobs=2):
        other = frame.iloc[::-1].ceval.with_controls(["auroc", "best_shd"], **settings)
    pd.testing.assert_frame_equal(one, other.sort_index())
    exact = frame.ceval.with_controls(["auroc"], rng=3)
    near = frame.ceval.with_controls(["auroc"], rng=3, n_draws=4000, method="simulate")
    np.testing.assert_allclose(exact["auroc_p"], near["auroc_p"], atol=0.035)


def test_cubes_and_verbs_take_scores():
    rng = np.random.default_rng(7)
    frame = table([rng.normal(size=(4, 4)) for _ in range(12)])
    frame["truth"] = ["A -> B; B -> C; D", "D -> A; C", "A -> D; B -> D; C -> D"] * 4
    frame["truth"] = ce.graph_column(frame["truth"], nodes=NAMES)
    frame["algorithm"] = ["a"] * 6 + ["b"] * 6
    cube = frame.ceval.cube(["auroc", "average_precision"], by=["algorithm"], n_draws=60, rng=1, null="permutation")
    tests = cube.ceval.summary("auroc", columns="full")
    assert len(tests) == 2 and tests["p_value"].between(0, 1).all()
    assert len(cube.ceval.compare("algorithm", metrics=["auroc"], columns="full")) == 1
    placebo = frame.ceval.placebo(rng=1)
    assert len(placebo) == 12 and placebo["estimate"].score.n_scored.eq(12).all()
    graphs = frame.assign(estimate=frame["estimate"].score.top_k(3)).ceval.evaluate(["shd"])
    assert graphs["shd"].notna().all()


@pytest.mark.slow
def test_scores_are_shuffled_over_the_universe_of_the_metric():
    rng = np.random.default_rng(8)
    frame = table([rng.normal(size=(4, 4)) for _ in range(3)])
    for options in ({"sources": ["A", "B"]}, {"universe": "beeline_sources"}, {"universe": "unordered"}):
        metric = ce.tweak("auroc", **options)
        named = frame.ceval.with_controls([metric], null=ce.null_model("ranking", **options), rng=1)
        assert named["auroc_p_method"].eq("exact").all()
        for null in ("ranking", None):
            found = frame.ceval.with_controls([metric, "best_shd"], null=null, rng=1)
            assert found["auroc_p"].tolist() == named["auroc_p"].tolist(), (options, null)
        drawn = frame.ceval.with_controls([metric], rng=1, method="simulate", n_draws=2000)
        np.testing.assert_allclose(drawn["auroc_p"], named["auroc_p"], atol=0.06)


def test_universes_that_controls_do_not_have_are_refused():
    rng = np.random.default_rng(8)
    metric = ce.tweak("auroc", sources=["A", "B"])
    frame = table([rng.normal(size=(4, 4))])
    for settings in ({"null": "permutation"}, {"null": "permutation", "method": "simulate"}, {"null": "random_scores"}):
        with pytest.raises(ValueError, match=r"null_model\('ranking', sources=\['A', 'B'\]\)"):
            frame.ceval.with_controls([metric], rng=1, **settings)
    other = ce.tweak("auroc", sources=["A"], name="auroc_of_a")
    with pytest.raises(ValueError, match="auroc and auroc_of_a have different candidates.*a call each"):
        frame.ceval.with_controls([metric, other], null="ranking", rng=1)
    with pytest.raises(ValueError, match="auroc has candidates over which null='ranking' does not shuffle"):
        frame.ceval.with_controls(["auroc"], null=ce.null_model("ranking", sources=["A"]), rng=1)
    with pytest.raises(ValueError, match="auroc has candidates"):
        frame.ceval.with_controls([metric], null=ce.null_model("ranking", sources=["A"]), method="simulate", rng=1)


@pytest.mark.slow
def test_guessers_keep_the_level():
    """Random scores under `ranking`, weights of random DAGs under the default: p is not smaller than uniform."""
    rng = np.random.default_rng(9)
    truths = ce.graph_column(
        [(weighted_dag(rng, share=0.4) != 0).astype(int) for _ in range(400)], nodes=NAMES, encoding="row->column"
    )
    for matrices, null in (
        ([rng.normal(size=(4, 4)) for _ in range(400)], "ranking"),
        ([weighted_dag(rng) for _ in range(400)], None),
    ):
        frame = table(matrices).assign(truth=truths)
        p = frame.ceval.with_controls(["auroc", "average_precision"], null=null, rng=1)
        for name in ("auroc_p", "average_precision_p"):
            known = p[name].dropna()
            for level in (0.05, 0.1, 0.3):
                assert (known <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(known))


def test_estimates_and_controls_meet_the_same_compiled_function():
    rng = np.random.default_rng(1)
    table([weighted_dag(rng) for _ in range(3)]).ceval.with_controls(["auroc"], n_draws=20, rng=1)
    assert len(collect.signatures) == 1


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


@pytest.mark.parametrize("null", ["by_support", "ranking", "permutation", "random_scores"])
@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
def test_a_row_that_a_metric_refuses_leaves_the_others_as_they_are(null, metric):
    rng = np.random.default_rng(1)
    matrices = [rng.random((5, 5)) * (1 - np.eye(5)) for _ in range(3)] + [np.triu(rng.random((5, 5)), 1)]
    truths = ["A -> B; B -> C; D; E", "A -> B; B <-> C; D; E", "A -> C; C -> D; E; B", "A -- C; C -- D; E; B"]
    runs = pd.DataFrame(
        {
            "truth": ce.graph_column(truths),
            "estimate": ce.score_column(matrices, nodes=list("ABCDE"), encoding="row->column"),
        }
    )

    def scored(table: pd.DataFrame) -> pd.DataFrame:
        table = table.ceval.with_controls(
            [metric], null=null, invalid="nan", rng=1, key=None, n_draws=50, columns="full"
        )
        return table.drop(columns=["truth", "estimate"])

    with pytest.raises(ValueError, match=rf"{metric}: row 1 \(index 1\): the truth has marks other than"):
        runs.ceval.with_controls([metric], null=null)
    together, alone = scored(runs), scored(runs.drop(index=1))
    pd.testing.assert_frame_equal(together.drop(index=1), alone)
    assert together.loc[1, [metric, f"{metric}_control_mean", f"{metric}_p"]].isna().all()
    # the metric takes the row where pairs are adjacent or not
    skeletons = ce.tweak(metric, universe="unordered")
    whole = runs.ceval.with_controls([skeletons], null=null, rng=1, n_draws=50)
    assert whole[f"{metric}_p"].notna().all()


def test_rows_that_are_refused_for_different_reasons_have_no_controls():
    truths = ["A -> B; C", "A <-> B; C", "X -> Y; A", "A -> C; B"]
    nodes = [list("ABC"), list("ABC"), list("AXY"), list("ABC")]
    matrices = list(np.random.default_rng(0).random((4, 3, 3)))
    runs = pd.DataFrame(
        {"truth": ce.graph_column(truths), "estimate": ce.score_column(matrices, nodes=nodes, encoding="row->column")}
    )
    table = runs.ceval.with_controls([ce.tweak("auroc", sources=["A", "B"])], null="ranking", invalid="nan", rng=1)
    for column in ("auroc", "auroc_control_mean", "auroc_p"):
        assert table[column].notna().tolist() == [True, False, False, True]
