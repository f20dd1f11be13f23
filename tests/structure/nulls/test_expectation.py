"""Closed forms: tails, expected metrics and variances against enumeration, scipy and the source's numbers."""

import itertools
import pathlib
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.fields.structure.nulls import laws
from causaleval_pd.fields.structure.nulls.laws import tails_and_misfit


@pytest.mark.parametrize("m", [0, 1, 3, 10])
def test_every_small_law(m):
    mt, me, x = (a.ravel() for a in np.meshgrid(range(m + 1), range(m + 1), range(-1, m + 2), indexing="ij"))
    expected = [
        float(sum(Fraction(comb(t, k) * comb(m - t, e - k), comb(m, e)) for k in range(max(0, lowest), min(t, e) + 1)))
        for t, e, lowest in zip(mt.tolist(), me.tolist(), x.tolist(), strict=True)
    ]
    found, misfit = tails_and_misfit(x, m, mt, me)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)
    assert misfit == 0  # x is -1
    fits = (x >= mt + me - m) & (x >= 0) & (x <= np.minimum(mt, me))
    assert tails_and_misfit(x[fits], m, mt[fits], me[fits])[1] == -1
    late = np.append(np.flatnonzero(fits), np.flatnonzero(~fits)[-2:])
    assert tails_and_misfit(x[late], m, mt[late], me[late])[1] == fits.sum()


@pytest.mark.slow
def test_small_tails_of_large_laws_keep_their_accuracy():
    x = np.arange(0, 301, 10)
    exact = [
        float(sum(Fraction(comb(300, k) * comb(4650, 400 - k), comb(4950, 400)) for k in range(lowest, 301)))
        for lowest in x.tolist()
    ]
    found, _ = tails_and_misfit(x, 4950, np.full(len(x), 300), np.full(len(x), 400))
    np.testing.assert_allclose(found[exact > np.float64(1e-290)], np.array(exact)[np.array(exact) > 1e-290], rtol=1e-12)


@pytest.mark.slow
def test_many_laws_agree_with_scipy(monkeypatch):
    rng = np.random.default_rng(0)
    mt, me = rng.integers(0, 191, (2, 20_000))
    x = rng.hypergeometric(mt, 190 - mt, me) + rng.integers(-3, 4, 20_000)
    expected = stats.hypergeom.sf(x - 1, 190, mt, me)
    np.testing.assert_allclose(tails_and_misfit(x, 190, mt, me)[0], expected, rtol=1e-11, atol=1e-300)
    monkeypatch.setattr(laws, "MOST_CELLS", 300)
    np.testing.assert_allclose(tails_and_misfit(x, 190, mt, me)[0], expected, rtol=1e-11, atol=1e-300)


def test_sizes_may_differ_and_broadcast():
    found = tails_and_misfit([[1], [2]], [10, 15, 10], 5, [3, 4, 6])[0]
    expected = stats.hypergeom.sf([[0], [1]], [10, 15, 10], 5, [3, 4, 6])
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert tails_and_misfit([], 10, 5, 3)[0].shape == (0,)


def _random_dags(d, m):
    """Every (skeleton, order) of the uniform skeleton x uniform order law, once each."""
    pairs = list(itertools.combinations(range(d), 2))
    for skeleton in itertools.combinations(pairs, m):
        for order in itertools.permutations(range(d)):
            yield [(i, j) if order[i] < order[j] else (j, i) for i, j in skeleton]


@pytest.mark.parametrize(
    "truth", ["A -> B; B -> C; A -> D", "A -> B; C -> B; D", "A -> B; B -> C; B -> D; A -> C", "A -- B; B -> C; D"]
)
@pytest.mark.parametrize("m", [0, 1, 3, 6])
def test_linear_metrics_by_enumeration(truth, m):
    names = list("ABCD")
    edges = "; ".join
    graphs = [edges([f"{names[i]} -> {names[j]}" for i, j in dag] + names) for dag in _random_dags(4, m)]
    found = pd.Series(graphs).value_counts()
    pairs = pd.DataFrame({"truth": truth, "estimate": found.index})
    weird = ce.tweak("shd", reversal_cost=1.7, undirected_cost=0.4, absent_undirected_cost=2, name="weird")
    metrics = ce.metric_set(
        "shd", "directed_tp", "arrowhead_fp", "directed_precision", weird, double=ce.tweak("shd", reversal_cost=2)
    )
    values = ce.evaluate(pairs, metrics)
    known = ce.control_distribution(
        truth, n_edges=m, kind="dag", metrics=metrics, method="exact" if m else "auto", n_draws=5, rng=1
    )
    for i, metric in enumerate(metrics):
        x = values[metric.name].to_numpy()
        if np.isnan(x).any():
            assert np.isnan(known["mean"][i])
            continue
        mean = np.average(x, weights=found)
        assert known["mean"][i] == pytest.approx(mean, abs=1e-12), metric.name
        if "--" not in truth:
            assert known["sd"][i] ** 2 == pytest.approx(np.average((x - mean) ** 2, weights=found), abs=1e-12), (
                metric.name
            )
            assert known["sd_method"][i] == "exact"


@pytest.mark.parametrize("zero_division", [np.nan, 0, 1])
@pytest.mark.parametrize("truth", ["A -> B; B -> C; A -> D", "A -> B; C -> B; D", "A -> B; C; D"])
@pytest.mark.parametrize("m", [0, 1, 3, 6])
def test_orientation_ratios_by_enumeration(truth, m, zero_division):
    names = list("ABCD")
    graphs = ["; ".join([f"{names[i]} -> {names[j]}" for i, j in dag] + names) for dag in _random_dags(4, m)]
    pairs = pd.DataFrame({"truth": truth, "estimate": graphs})
    metrics = [
        f"orientation_{part}" for part in ("precision", "recall", "f1", "npv", "specificity", "fdr", "for", "g1")
    ]
    with ce.set_options(zero_division=zero_division):
        values = ce.evaluate(pairs, metrics)[metrics].mean()
        known = ce.control_distribution(truth, n_edges=m, kind="dag", metrics=metrics, n_draws=5, rng=1)
    np.testing.assert_allclose(known["mean"], values, atol=1e-12)
    if not (m == 0 and np.isnan(zero_division)):
        assert (known["mean_method"] == "exact").all()


def test_variance_of_shd_at_larger_size():
    rng = np.random.default_rng(0)
    nodes = [f"X{i}" for i in range(10)]
    pairs = list(itertools.combinations(nodes, 2))
    chosen = rng.choice(len(pairs), 30, replace=False)
    truth = "; ".join(f"{pairs[i][0]} -> {pairs[i][1]}" for i in chosen)
    exact = ce.control_distribution(truth, nodes=nodes, n_edges=13, kind="dag", metrics=["shd"], n_draws=20, rng=1)
    drawn = ce.control_distribution(
        truth, nodes=nodes, n_edges=13, kind="dag", metrics=["shd"], n_draws=40_000, method="simulate", rng=1
    )
    assert exact["mean"][0] == pytest.approx(30.0)
    assert drawn["mean"][0] == pytest.approx(30.0, abs=4 * drawn["sd"][0] / 200)
    assert drawn["sd"][0] == pytest.approx(exact["sd"][0], rel=0.02)


KNOWN = pathlib.Path(__file__).parents[2] / "known_answers"


def test_the_five_node_example():
    names = ["adjacency_precision", "adjacency_recall"]
    found = ce.expected_metric(names, n_nodes=5, true_edges=8, estimated_edges=7).set_index("metric")
    np.testing.assert_allclose(
        found.loc["adjacency_precision", ["mean", "median", "low", "high"]].astype(float),
        [0.8, 6 / 7, 5 / 7, 1],
        atol=1e-14,
    )
    np.testing.assert_allclose(
        found.loc["adjacency_recall", ["mean", "median", "low", "high"]].astype(float),
        [0.7, 0.75, 0.625, 0.875],
        atol=1e-14,
    )


@pytest.mark.parametrize("margins", [((5, 5), 0.5), ((5, 10), 0.6667), ((8, 10), 0.8889), ((8, 7), 0.7467)])
def test_figure_2(margins):
    (mt, me), f1 = margins
    found = ce.expected_metric("adjacency_f1", n_nodes=5, true_edges=mt, estimated_edges=me)
    assert found["mean"][0] == pytest.approx(f1, abs=5e-5)


def test_the_whole_grid_of_closed_forms():
    grid = pd.read_csv(KNOWN / "analytic_hypergeom.csv.gz")
    margins = {"n_nodes": grid["d"], "true_edges": grid["m_true"], "estimated_edges": grid["m_est"]}
    for short in ("precision", "recall", "f1", "npv", "specificity"):
        name = f"adjacency_{short}"
        published = ce.expected_metric(name, **margins, convention="published")
        np.testing.assert_allclose(published["mean"], grid[f"{short}_mean"], atol=1e-12)
        for ours, theirs in (("median", "median"), ("low", "lwr"), ("high", "upr")):
            np.testing.assert_allclose(
                published[ours], grid[f"{short}_{theirs}"], atol=1e-12, err_msg=f"{short} {ours}"
            )
        defined = ce.expected_metric(name, **margins)["mean"]
        undefined = grid[f"{short}_median"].isna()
        assert (defined.isna() == undefined).all()
        np.testing.assert_allclose(defined[~undefined], grid.loc[~undefined, f"{short}_mean"], atol=1e-12)
    p = ce.skeleton_test(grid["tp_median"], grid["m_true"], grid["m_est"], grid["d"])
    np.testing.assert_allclose(p, grid["p_at_median"], rtol=1e-12)


def test_the_cohort_test():
    assert ce.skeleton_test(10, 30, 30, 22) == pytest.approx(0.0015632445865336076, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "adjacency_jaccard", "adjacency_mcc", "adjacency_g1", "adjacency_for", "skeleton_hd", "skeleton_p",
        "adjacency_balanced_accuracy",
    ],
)  # fmt: skip
def test_every_function_of_the_skeletons_by_enumeration(name):
    metric = ce.get_metric(name)
    pairs = list(itertools.combinations("ABCD", 2))
    for mt, me in itertools.product(range(7), repeat=2):

        def text(skeleton):
            return "; ".join([f"{a} -> {b}" for a, b in skeleton] + list("ABCD"))

        truth = text(pairs[:mt])
        table = pd.DataFrame({"truth": truth, "estimate": [text(s) for s in itertools.combinations(pairs, me)]})
        values = ce.evaluate(table, [name])[name].to_numpy()
        found = ce.expected_metric(metric, n_nodes=4, true_edges=mt, estimated_edges=me).iloc[0]
        if np.isnan(values).all():
            assert np.isnan(found["mean"])
            continue
        assert not np.isnan(values).any()
        assert found["mean"] == pytest.approx(values.mean(), abs=1e-12)
        for q, column in ((0.5, "median"), (0.025, "low"), (0.975, "high")):
            expected = np.quantile(values, q, method="inverted_cdf")
            assert found[column] == pytest.approx(expected, abs=1e-12), (mt, me, column)


def test_expected_shd_of_random_dags():
    found = ce.expected_metric(ce.tweak("shd", reversal_cost=2), n_nodes=11, true_edges=20, estimated_edges=[16, 33])
    np.testing.assert_allclose(found["mean"], [36 - 20 * 16 / 55, 53 - 20 * 33 / 55])
    assert found["median"].isna().all()


def test_margins_are_checked():
    with pytest.raises(ValueError, match="true_edges is 11, but 5 nodes have only 10 pairs"):
        ce.expected_metric("shd", n_nodes=5, true_edges=11, estimated_edges=3)
    with pytest.raises(ValueError, match="estimated_edges must hold whole numbers from 0"):
        ce.expected_metric("shd", n_nodes=5, true_edges=1, estimated_edges=-3)
    with pytest.raises(ValueError, match="orientation_recall has no closed form"):
        ce.expected_metric("orientation_recall", n_nodes=5, true_edges=1, estimated_edges=3)
    with pytest.raises(ValueError, match="tp is 4, impossible with 3 true and 5 estimated edges over 5 nodes"):
        ce.skeleton_test(4, 3, 5, 5)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        ce.expected_metric("adjacency_f1", n_nodes=5, true_edges=1, estimated_edges=3, level=95)


def test_tail_probabilities_keep_their_relative_accuracy():
    tp = np.arange(1, 60)
    ours = ce.skeleton_test(tp, 60, 300, 50)
    np.testing.assert_allclose(ours, stats.hypergeom.sf(tp - 1, 1225, 60, 300), rtol=1e-10)


def test_broadcasting_and_scalars():
    assert ce.skeleton_test([[1], [2]], [3, 4], 3, 4).shape == (2, 2)
    assert isinstance(ce.skeleton_test(1, 3, 3, 4), float)
    assert ce.skeleton_test(0, 0, 3, 4) == 1.0


TRUTH = "A -> B; B -> C; C -> D; D -> E; E -> F; F -> G; G -> H"


def test_a_fixed_order_is_that_of_the_given_nodes():
    nodes = list("HGFEDCBA")
    settings = {"kind": "dag", "metrics": ["directed_tp"], "n_draws": 500, "rng": 1, "permute": False}
    against = ce.control_distribution(TRUTH, n_edges=28, nodes=nodes, **settings)
    along = ce.control_distribution(TRUTH, n_edges=28, nodes=nodes[::-1], **settings)
    assert (against["mean"][0], along["mean"][0]) == (0.0, 7.0)
