"""Exact laws and moments against lists of all controls, draws against laws, and the size of tests."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.fields.time_series import nulls as permutation
from causaleval_pd.fields.time_series.cells import DIRECTED, TURNED
from causaleval_pd.statistics.direction import as_good
from causaleval_pd.tables.matching import find_null

MEASURES = ("tp", "precision", "recall", "f1", "hamming")


def chosen(family, links, lags=None):
    """Return metrics of some links, under names that tell them apart."""
    options = {"links": links} if lags is None else {"links": links, "lags": lags}
    return [ce.tweak(f"{family}_{x}", name=f"{family}_{links}_{x}", **options) for x in MEASURES]


LINKS = [metric for links in ("cross", "self", "all", "adjacent") for metric in chosen("lagged", links)]
SUMMARY = [metric for links in ("cross", "all") for metric in chosen("summary", links)]


def graph(links, d, max_lag, min_lag=0):
    """Make a graph of links (lag, source, target)."""
    codes = np.zeros((max_lag + 1, d, d), np.uint8)
    for lag, i, j in links:
        codes[lag, i, j] = DIRECTED
        if not lag:
            codes[0, j, i] = TURNED[DIRECTED]
    return ce.LaggedGraph(tuple("ABCDEFGH"[:d]), codes, min_lag, "ts_dag")


def slots(d, lags, own):
    return [(lag, i, j) for lag in lags for i in range(d) for j in range(d) if (i == j) == own]


def placements(d, max_lag, n_cross, n_self, *, pooled=False, by_lag=None):
    """List all placements of links; `by_lag` fixes the numbers of (cross, self) at each lag."""
    lags = range(1, max_lag + 1)
    if by_lag is not None:
        parts = [
            itertools.combinations(slots(d, [lag], own), number)
            for lag, numbers in zip(lags, by_lag, strict=True)
            for own, number in zip((False, True), numbers, strict=True)
        ]
    elif pooled:
        every = slots(d, lags, False) + slots(d, lags, True)
        parts = [itertools.combinations(every, n_cross + n_self)]
    else:
        parts = [itertools.combinations(slots(d, lags, own), n) for own, n in ((False, n_cross), (True, n_self))]
    for chosen in itertools.product(*parts):
        yield graph([link for part in chosen for link in part], d, max_lag)


def listed(truth, controls, metrics):
    """Score all controls against one truth."""
    cells = ce.lagged_column(list(controls))
    return pd.DataFrame({"truth": ce.lagged_column([truth] * len(cells)), "estimate": cells}).ceval.evaluate(metrics)


def check_law(truth, estimate, controls, metrics, null, *, method="exact", **options):
    """Compare mean and p of the null model with those of the list of controls."""
    metrics = [ce.get_metric(name) if isinstance(name, str) else name for name in metrics]
    every = listed(truth, controls, metrics)
    table = pd.DataFrame({"truth": ce.lagged_column([truth]), "estimate": ce.lagged_column([estimate])})
    found = table.ceval.with_controls(
        metrics, null=ce.null_model(null, **options), n_draws=20, rng=1, columns="full"
    ).iloc[0]
    for metric in metrics:
        name = metric.name
        values = every[name].to_numpy(float)
        kept = values[~np.isnan(values)]
        if not len(kept):
            assert np.isnan(found[f"{name}_control_mean"])
            continue
        assert found[f"{name}_control_mean"] == pytest.approx(kept.mean(), abs=1e-12), name
        assert found[f"{name}_mean_method"] == "exact", name
        if np.isnan(found[name]):
            continue
        if method == "exact":
            good = as_good(kept, found[name], direction=metric.direction, optimum=metric.optimum)
            assert found[f"{name}_p_method"] == "exact", name
            assert found[f"{name}_p"] == pytest.approx(good.mean(), abs=1e-12), name


TRUTH = graph([(1, 0, 1), (2, 0, 1), (2, 1, 0), (1, 0, 0), (3, 1, 1)], 2, 3)
SHORT = graph([(1, 0, 1), (1, 1, 0), (1, 1, 1)], 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("lags", ["union", "truth", "estimate", "shared"])
@pytest.mark.parametrize(
    ("truth", "estimate", "max_lag", "numbers"),
    [
        (TRUTH, graph([(1, 0, 1), (1, 1, 0), (1, 0, 0)], 2, 2), 2, (2, 1)),
        (SHORT, graph([(1, 0, 1), (3, 1, 0), (1, 0, 0), (2, 1, 1)], 2, 3), 3, (2, 2)),
    ],
)
def test_links_under_edges(truth, estimate, max_lag, numbers, lags):
    metrics = [metric for links in ("cross", "self", "all", "adjacent") for metric in chosen("lagged", links, lags)]
    check_law(truth, estimate, placements(2, max_lag, *numbers), metrics, "edges")


@pytest.mark.slow
def test_pooled_self_links_under_edges():
    estimate = graph([(1, 0, 1), (1, 1, 0), (1, 0, 0)], 2, 2)
    check_law(TRUTH, estimate, placements(2, 2, 2, 1, pooled=True), LINKS, "edges", self_links="pooled")


@pytest.mark.slow
def test_links_that_stay_at_their_lags_under_edges():
    estimate = graph([(1, 0, 1), (2, 1, 0), (2, 0, 1), (1, 0, 0), (3, 0, 0)], 2, 3)
    numbers = [(1, 1), (2, 0), (0, 1)]
    check_law(TRUTH, estimate, placements(2, 3, 0, 0, by_lag=numbers), LINKS, "edges", keep="lags")


@pytest.mark.slow
def test_arcs_of_summary_graphs_under_edges():
    truth = graph([(1, 0, 1), (2, 0, 1), (0, 1, 2), (1, 2, 2)], 3, 2)
    estimate = graph([(1, 0, 1), (2, 0, 1), (1, 1, 2), (2, 0, 0)], 3, 2)
    check_law(truth, estimate, placements(3, 2, 3, 1), SUMMARY, "edges")


def test_pooling_is_another_null_model():
    # P(tp >= 3) of all lagged links, with and without pooled self-links, d = 3 and 2 lags
    truth = graph([(1, 0, 1), (1, 1, 2), (2, 2, 0), (1, 0, 0), (1, 1, 1)], 3, 2)
    estimate = graph([(1, 0, 1), (1, 1, 2), (1, 0, 0), (2, 2, 2)], 3, 2)
    table = pd.DataFrame({"truth": ce.lagged_column([truth]), "estimate": ce.lagged_column([estimate])})
    every = ce.tweak("lagged_tp", links="all")
    kept, pooled = (
        table.ceval.with_controls([every], null=ce.null_model("edges", self_links=how), n_draws=20, rng=1)[
            "lagged_tp_p"
        ].item()
        for how in ("kept", "pooled")
    )
    cross, own = stats.hypergeom(12, 3, 2), stats.hypergeom(6, 2, 2)
    exact = sum(cross.pmf(a) * own.pmf(b) for a in range(4) for b in range(3) if a + b >= 3)
    assert kept == pytest.approx(exact, abs=1e-12)
    assert pooled == pytest.approx(stats.hypergeom(18, 5, 4).sf(2), abs=1e-12)
    assert kept != pytest.approx(pooled, abs=1e-4)


def all_lags(estimate):
    """List the graphs whose pairs of variables have as many lags as in the estimate."""
    lags, d = estimate.max_lag, len(estimate.nodes)
    numbers = (estimate.codes[1:] > 0).sum(axis=0)
    choices = [
        [(i, j, chosen) for chosen in itertools.combinations(range(1, lags + 1), int(numbers[i, j]))]
        for i in range(d)
        for j in range(d)
    ]
    for chosen in itertools.product(*choices):
        codes = estimate.codes.copy()
        codes[1:] = 0
        for i, j, some in chosen:
            codes[list(some), i, j] = DIRECTED
        yield ce.LaggedGraph(estimate.nodes, codes, estimate.min_lag, estimate.kind)


@pytest.mark.slow
def test_links_and_lag_errors_under_lags():
    estimate = graph([(1, 0, 1), (3, 0, 1), (2, 1, 0), (1, 0, 0), (2, 2, 1), (0, 0, 2)], 3, 3)
    truth = graph([(2, 0, 1), (2, 1, 0), (4, 1, 0), (1, 2, 2), (1, 2, 1), (0, 2, 0)], 3, 4)
    every = list(all_lags(estimate))
    assert len(every) == 3**4
    check_law(truth, estimate, every, [*LINKS, *SUMMARY, "contemporaneous_shd"], "lags")
    check_law(truth, estimate, every, ["window_shd", "lag_error"], "lags", method="mean")


def relabelled(estimate):
    """List all relabellings of a graph."""
    d = len(estimate.nodes)
    for order in itertools.permutations(range(d)):
        codes = estimate.codes[:, order][:, :, order]
        yield ce.LaggedGraph(estimate.nodes, codes, estimate.min_lag, estimate.kind)


PERMUTED_TRUTH = graph([(1, 0, 1), (2, 0, 1), (1, 2, 3), (1, 0, 0), (2, 3, 3), (0, 1, 2)], 4, 2)
PERMUTED = graph([(1, 0, 1), (1, 3, 1), (2, 2, 0), (1, 0, 0), (1, 1, 1), (2, 2, 2), (0, 0, 2), (0, 1, 2)], 4, 2)


@pytest.mark.slow
def test_every_metric_under_permutation():
    names = [*LINKS, *SUMMARY, "window_shd", "contemporaneous_shd", "lag_error"]
    check_law(PERMUTED_TRUTH, PERMUTED, relabelled(PERMUTED), names, "permutation")


@pytest.mark.parametrize("metric", [*LINKS, *SUMMARY, ce.contemporaneous_shd], ids=lambda metric: metric.name)
def test_moments_under_permutation(metric, monkeypatch):
    name = metric.name
    model = ce.time_series.LAGGED.nulls["permutation"]
    values = listed(PERMUTED_TRUTH, relabelled(PERMUTED), [metric])[name].to_numpy(float)
    monkeypatch.setattr(permutation, "MOST_LISTED", 0)
    monkeypatch.setattr("causaleval_pd.fields.structure.nulls.listed.MOST_LISTED", 0)
    truth, estimate = (ce.lagged_column([graph]) for graph in (PERMUTED_TRUTH, PERMUTED))
    from causaleval_pd.contract.null import Matching

    [batch] = ce.time_series.LAGGED.batches(truth, estimate, None)
    match = model.match(Matching(truth, estimate, None, None, {}))
    form = match(batch.rows, batch.pairs, np.zeros(1, np.uint64)).closed_form(metric)
    assert form.distribution is None or name == "contemporaneous_shd"
    assert form.mean[0] == pytest.approx(values.mean(), abs=1e-12)
    assert form.variance[0] == pytest.approx(values.var(), abs=1e-12)


@pytest.mark.parametrize(
    ("null", "controls"),
    [
        ("edges", lambda: placements(2, 2, 2, 1)),
        (ce.null_model("edges", self_links="pooled"), lambda: placements(2, 2, 2, 1, pooled=True)),
        (ce.null_model("edges", keep="lags"), lambda: placements(2, 2, 0, 0, by_lag=[(2, 1), (0, 0)])),
        ("lags", lambda: all_lags(graph([(1, 0, 1), (1, 1, 0), (1, 0, 0)], 2, 2))),
        ("permutation", lambda: relabelled(graph([(1, 0, 1), (1, 1, 0), (1, 0, 0)], 2, 2))),
    ],
)
def test_draws_are_uniform_over_the_controls(null, controls):
    from causaleval_pd.contract.null import Matching

    estimate = ce.lagged_column([graph([(1, 0, 1), (1, 1, 0), (1, 0, 0)], 2, 2)])
    [batch] = ce.time_series.LAGGED.batches(estimate, estimate, None)
    model = find_null(ce.time_series.LAGGED, null)
    match = model.match(Matching(estimate, estimate, None, None, model.options))
    drawn = match(batch.rows, batch.pairs, np.array([7], np.uint64)).draw(0, 6000).estimate.codes
    every = {graph.codes.tobytes() for graph in controls()}
    found = pd.Series([codes.tobytes() for codes in drawn]).value_counts()
    assert set(found.index) == every
    assert stats.chisquare(found).pvalue > 0.001


def test_marks_are_dealt_over_the_lags():
    """Two links of A on B, of different marks: each pair of the three lags, either mark first."""
    from causaleval_pd.contract.null import Matching

    estimate = ce.lagged_column(["A@-1 o-> B; A@-3 <-> B; B@-2 -> A"])
    [batch] = ce.time_series.LAGGED.batches(estimate, estimate, None)
    match = ce.time_series.LAGGED.nulls["lags"].match(Matching(estimate, estimate, None, None, {}))
    drawn = match(batch.rows, batch.pairs, np.array([7], np.uint64)).draw(0, 6000).estimate.codes
    own = batch.pairs.estimate.codes[0, 1:].reshape(3, 4)
    every = {(own[list(first), 1].tobytes(), lag) for first in itertools.permutations(range(3)) for lag in range(3)}
    found = pd.Series([(x[1:, 0, 1].tobytes(), int(np.flatnonzero(x[1:, 1, 0])[0])) for x in drawn]).value_counts()
    assert set(found.index) == every and len(every) == 18
    assert stats.chisquare(found).pvalue > 0.001


def test_links_of_any_marks_at_lag_0_under_edges():
    from causaleval_pd.contract.null import Matching

    truth, estimate = ce.lagged_column(["A o-> B; C"]), ce.lagged_column(["A o-> B; C; A@-1 <-> B"])
    [batch] = ce.time_series.LAGGED.batches(truth, estimate, None)
    model = ce.time_series.LAGGED.nulls["edges"]
    controls = model.match(Matching(truth, estimate, None, None, model.options))(
        batch.rows, batch.pairs, np.array([7], np.uint64)
    )
    found = pd.Series([codes[0].tobytes() for codes in controls.draw(0, 3000).estimate.codes]).value_counts()
    assert len(found) == 6 and stats.chisquare(found).pvalue > 0.001
    form = controls.closed_form(ce.contemporaneous_adjacency_precision)
    assert form.mean[0] == pytest.approx(1 / 3) and form.distribution is not None
    assert controls.closed_form(ce.contemporaneous_shd) is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:column .estimate. is missing in exactly the 3 rows:UserWarning")
def test_draws_do_not_depend_on_the_other_rows():
    cells = ce.lagged_column(["A@-1 -> B; C -> B", "A@-1 -> A; B -> C", "C@-1 -> B; A"])
    table = pd.DataFrame({"truth": cells.iloc[::-1].array, "estimate": cells}, index=[3, 8, 5])
    for null in ("edges", "lags", "permutation"):
        settings = {"null": null, "n_draws": 50, "rng": 4, "method": "simulate"}
        every = table.ceval.with_controls(["window_shd", "lagged_f1"], **settings)
        for label in table.index:
            alone = table.loc[[label]].ceval.with_controls(["window_shd", "lagged_f1"], **settings)
            pd.testing.assert_frame_equal(alone, every.loc[[label]])


@pytest.mark.slow
@pytest.mark.parametrize("null", ["edges", "permutation"])
def test_size(null):
    rng = np.random.default_rng(3)
    d, lags, n = 4, 2, 400

    def random_graph():
        cross = [slots(d, range(1, lags + 1), False)[i] for i in rng.choice(24, 5, replace=False)]
        own = [slots(d, range(1, lags + 1), True)[i] for i in rng.choice(8, 3, replace=False)]
        order = rng.permutation(d)
        at_lag_0 = [(0, int(order[0]), int(order[1])), (0, int(order[1]), int(order[2]))]
        return graph([*cross, *own, *at_lag_0], d, lags)

    table = pd.DataFrame({side: ce.lagged_column([random_graph() for _ in range(n)]) for side in ("truth", "estimate")})
    every = ce.tweak("lagged_tp", links="all")
    names = ["lagged_f1", "lagged_tp", "window_shd", "summary_f1", "contemporaneous_adjacency_f1"]
    found = table.ceval.with_controls([x if x != "lagged_tp" else every for x in names], null=null, n_draws=99, rng=5)
    for name in names:
        rejected = (found[f"{name}_p"] <= 0.05).sum()
        # valid: at most the binomial's upper limit
        assert rejected <= stats.binom.ppf(0.999, n, 0.05), name
