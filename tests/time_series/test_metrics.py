"""Metrics of lagged graphs: values by hand, and what must hold for all."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import causaleval_pd as ce

TRUTH = "X@-1 -> Y; X@-3 -> Z; Y@-1 -> Y; Y -> Z"
ESTIMATE = "lags 0..2: X@-1 -> Y; X@-1 -> Z; Y@-1 -> Y; X@-2 -> X; Z -> Y"
NAMES = list(ce.list_metrics("lagged").index)


def random_column(rng, n, d=3, lags=2, *, pag=False):
    names = "ABCDE"[:d]
    cells = []
    for _ in range(n):
        links = [
            f"{a}@-{lag} {rng.choice(['->', '<->', 'o->']) if pag else '->'} {b}"
            for lag in range(1, lags + 1)
            for a in names
            for b in names
            if rng.random() < 0.25
        ]
        order = rng.permutation(list(names))
        at_lag_0 = [f"{order[0]} {rng.choice(['->', 'o-o', '<->']) if pag else '->'} {order[1]}"]
        cells.append(f"lags 0..{lags}: " + "; ".join([*links, *at_lag_0, *names]))
    return ce.lagged_column(cells)


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        # the true link at lag 3 is beyond the estimate's lags
        ("lagged_recall", {}, 1 / 2),
        ("lagged_recall", {"lags": "estimate"}, 1),
        ("lagged_recall", {"lags": "shared"}, 1),
        ("lagged_fn", {"lags": "truth"}, 1),
        ("lagged_true_beyond", {}, 1),
        ("lagged_precision", {}, 1 / 2),
        ("lagged_hamming", {}, 2),
        ("lagged_precision", {"links": "self"}, 1 / 2),
        ("lagged_recall", {"links": "self"}, 1),
        ("lagged_f1", {"links": "all"}, 4 / 7),
        ("lagged_hamming", {"links": "all"}, 3),
        ("contemporaneous_shd", {}, 1),
        ("contemporaneous_adjacency_f1", {}, 1),
        ("contemporaneous_orientation_precision", {}, 0),
        ("window_shd", {}, 4),
        ("summary_tp", {}, 2),
        ("summary_fp", {"links": "all"}, 2),
        ("lag_error", {}, 1),
        ("lagged_precision", {"lags": 1}, 1 / 2),
        ("lagged_fn", {"lags": 3}, 1),
        ("lagged_hamming", {"lags": 4}, 0),
    ],
)
def test_values(name, options, value):
    assert ce.get_metric(name)(TRUTH, ESTIMATE, **options) == pytest.approx(value)


def test_more_lags_in_the_estimate():
    truth, estimate = "X@-1 -> Y", "X@-1 -> Y; X@-2 -> Y"
    assert ce.lagged_precision(truth, estimate) == 0.5
    assert ce.lagged_precision(truth, estimate, lags="truth") == 1
    assert ce.lagged_precision(truth, estimate, lags="shared") == 1
    with pytest.raises(ValueError, match="lags must be 'union'"):
        ce.lagged_precision(truth, estimate, lags="both")
    with pytest.raises(ValueError, match="lags must be"):
        ce.lagged_hamming(truth, estimate, lags=0)
    with pytest.raises(ValueError, match="links must be 'cross', 'self', 'all' or 'adjacent'"):
        ce.lagged_precision(truth, estimate, links="summary")
    with pytest.raises(ValueError, match="links must be 'cross' or 'all'"):
        ce.summary_hamming(truth, estimate, links="self")


def test_marks_of_lagged_links():
    truth, estimate = "X@-1 -> Y; X@-2 <-> Y", "X@-1 o-> Y; X@-2 <-> Y"
    assert (ce.lagged_tp(truth, estimate), ce.lagged_tp(truth, estimate, links="adjacent")) == (1, 2)
    assert (ce.lagged_hamming(truth, estimate), ce.lagged_hamming(truth, estimate, links="adjacent")) == (1, 0)
    assert ce.lag_error(truth, estimate) == 0


def test_lag_errors():
    assert np.isnan(ce.lag_error("X@-1 -> Y", "Y@-1 -> X"))
    assert np.isnan(ce.lag_error("X -> Y", "X -> Y"))
    # of X to Y: |1 - 1|, |4 - 1|; of Y to X: |2 - 3|
    assert ce.lag_error("X@-1 -> Y; Y@-3 -> X", "X@-1 -> Y; X@-4 -> Y; Y@-2 -> X") == (1.5 + 1) / 2


def test_not_searched_is_not_absent():
    truth = "X@-1 -> Y; X -> Y; Y -> Z"
    searched, not_searched = "lags 0..1: X@-1 -> Y; Z", "lags 1..1: X@-1 -> Y; Z"
    assert ce.contemporaneous_shd(truth, searched) == 2 and np.isnan(ce.contemporaneous_shd(truth, not_searched))
    assert ce.window_shd(truth, searched) == ce.window_shd(truth, not_searched) == 2


def test_views_are_scored_as_graphs():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({side: random_column(rng, 20) for side in ("truth", "estimate")})
    found = table.ceval.evaluate(["contemporaneous_shd", "contemporaneous_orientation_f1", "window_shd"])
    views = pd.DataFrame({side: table[side].lagged.contemporaneous() for side in table})
    graphs = views.ceval.evaluate(["shd", "orientation_f1"])
    np.testing.assert_array_equal(found["contemporaneous_shd"], graphs["shd"])
    np.testing.assert_array_equal(found["contemporaneous_orientation_f1"], graphs["orientation_f1"])
    last = pd.DataFrame({side: table[side].lagged.window(last=True) for side in table})
    np.testing.assert_array_equal(found["window_shd"], last.ceval.evaluate(["shd"])["shd"])


def test_lags_add_up():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"truth": random_column(rng, 20), "estimate": random_column(rng, 20, lags=3)})
    for name, links in itertools.product(["lagged_tp", "lagged_fn", "lagged_hamming"], ["cross", "self", "all"]):
        parts = [ce.tweak(name, links=links, lags=lag, name=f"{name}_{lag}") for lag in (1, 2, 3)]
        found = table.ceval.evaluate([ce.tweak(name, links=links), *parts])
        assert (found[[part.name for part in parts]].sum(axis=1) == found[name]).all()


@pytest.mark.slow
@pytest.mark.parametrize("pag", [False, True])
def test_every_metric(pag):
    metrics = [ce.get_metric(name) for name in NAMES]
    metrics = [metric for metric in metrics if not pag or "ts_pag" in metric.kinds]
    rng = np.random.default_rng(2)
    table = pd.DataFrame({side: random_column(rng, 12, pag=pag) for side in ("truth", "estimate")})

    def values(truth, estimate):
        frame = pd.DataFrame({"truth": truth.array, "estimate": estimate.array}).ceval.evaluate(metrics)
        return frame.drop(columns=["truth", "estimate"]).astype(float)

    found = values(table["truth"], table["estimate"])
    perfect = values(table["truth"], table["truth"])
    swapped = values(table["estimate"], table["truth"])
    # neither names nor other rows matter
    renamed = [
        ce.lagged_column([text.translate(str.maketrans("ABC", "CAB")) for text in side.lagged.to_strings()])
        for side in (table["truth"], table["estimate"])
    ]
    pd.testing.assert_frame_equal(values(*renamed), found)
    alone = values(table["truth"].iloc[3:4], table["estimate"].iloc[3:4])
    pd.testing.assert_frame_equal(alone, found.iloc[3:4].reset_index(drop=True))
    for metric in metrics:
        name = metric.name
        low, high = metric.range
        assert (found[name].isna() | found[name].between(low, high)).all(), name
        if metric.direction == "minimize" or metric.optimum == 1:
            assert (perfect[name].isna() | (perfect[name] == metric.optimum)).all(), name
        if metric.symmetric:
            pd.testing.assert_series_equal(swapped[name], found[name])


def test_orientations_need_graphs_without_circles():
    with pytest.raises(ValueError, match="applies to ts_dag and ts_pdag, but truth is a ts_pag"):
        ce.contemporaneous_orientation_f1("X <-> Y", "X -> Y")


@pytest.mark.parametrize("name", NAMES)
def test_graphs_without_variables_or_links(name):
    metric = ce.get_metric(name)
    for text in ("{}", "X", "X; Y", "lags 0..2: X; Y"):
        value = np.asarray(metric(text, text), float)
        assert (np.isnan(value) | (value == metric.optimum) | (value == 0)).all()


def test_a_metric_that_contradicts_its_closed_form_is_refused():
    def twice(pairs):
        return pairs.confusion("cross").tp + pairs.confusion("self").tp

    declare = ce.metric(
        field="lagged",
        kinds=("ts_dag",),
        direction="maximize",
        range=(0, np.inf),
        optimum=np.inf,
        long_name="twice",
        closed_form="links",
    )
    with pytest.raises(ValueError, match="does not compare one universe of links"):
        declare(twice)


VARIABLES = ["X", "Y", "Z"]
AXES = {"encoding": "cause,effect,lag", "first_lag": 0, "nodes": VARIABLES}
OFF = ~np.eye(3, dtype=bool)


@pytest.mark.parametrize("name", ["val_matrix", "p_matrix"])
def test_scores_of_tigramite(run, name):
    matrix = run[name]
    p_values = name == "p_matrix"
    truth = ce.lagged_column(["X@-1 -> X; X@-1 -> Y; Y@-1 -> Y; X@-2 -> Z; Z@-2 -> X; Y -> Z"])
    labels = np.zeros((3, 3))
    labels[[0, 0, 2, 1], [1, 2, 0, 2]] = 1
    graph = truth.lagged.summary(two_cycles="undirected")
    # LPCMCI has p = 0 of a variable on itself at lag 0
    ranked = -np.log10(np.maximum(matrix, 1e-300)) if p_values else np.abs(matrix)
    for how in ("max", "mean"):
        scores = ce.lagged_scores([matrix], reduce=how, p_values=p_values, **AXES)
        over = getattr(ranked[:, :, 1:], how)(axis=2)
        assert ce.auroc(graph[0], scores[0]) == pytest.approx(roc_auc_score(labels[OFF], over[OFF]))
    at_lag_2 = ce.lagged_scores([matrix], lag=2, p_values=p_values, **AXES)
    directed = ce.as_graph("X -> Z; Y")
    lag_2 = np.zeros((3, 3))
    lag_2[0, 2] = 1
    assert ce.auroc(directed, at_lag_2[0]) == pytest.approx(roc_auc_score(lag_2[OFF], ranked[:, :, 2][OFF]))
    # at lag 0 scores are of pairs, and the diagonal means nothing
    at_lag_0 = ce.lagged_scores([matrix], lag=0, p_values=p_values, **AXES)
    frame = at_lag_0.score.to_frame()
    assert len(frame) == 3 and not frame.isna().any().any()


def test_a_lag_that_was_not_searched_has_no_scores(run):
    with pytest.raises(ValueError, match="row 0.*has no scores at lag 0"):
        ce.lagged_scores([run["p_matrix"]], lag=0, min_lag=1, p_values=True, **AXES)
    with pytest.raises(ValueError, match="row 0.*has the lags up to 2, not 3"):
        ce.lagged_scores([run["p_matrix"]], lag=3, p_values=True, **AXES)


def test_scores_of_fitted_models(series):
    from statsmodels.tsa.api import VAR

    fitted = VAR(pd.DataFrame(series, columns=VARIABLES)).fit(2)
    weights = ce.lagged_scores([fitted, None], lag=1)
    assert weights.isna().tolist() == [False, True]
    np.testing.assert_allclose(weights.score.to_numpy()[0], fitted.coefs[0].T)
    p = ce.lagged_scores([fitted, fitted.pvalues], lag=2, p_values=True).score.to_numpy()
    np.testing.assert_allclose(p[0], -np.log10(fitted.pvalues.iloc[4:7].to_numpy()))
    np.testing.assert_array_equal(p[0], p[1])
    same = ce.lagged_scores([fitted.coefs], lag=1, encoding="statsmodels coefs", nodes=VARIABLES)
    assert same[0] == weights[0]
    runs = pd.DataFrame({"truth": ce.lagged_column(["X@-1 -> Y; X@-2 -> Z; Y@-1 -> Z"]).lagged.summary()})
    runs["estimate"] = ce.lagged_scores([fitted], reduce="max", p_values=True)
    assert runs.ceval.with_controls(["auroc"], n_draws=50, rng=1)["auroc"].item() > 0.8


def test_what_is_asked():
    stack = np.zeros((2, 2, 2))
    for how in ({}, {"lag": 1, "reduce": "max"}):
        with pytest.raises(ValueError, match="pass lag= for the scores at one lag, or reduce="):
            ce.lagged_scores([stack], **how)
    with pytest.raises(ValueError, match="axes of arrays differ"):
        ce.lagged_scores([stack], lag=1)
    with pytest.raises(TypeError, match="row 0.*has no scores of all links"):
        ce.lagged_scores([{"source": [], "target": [], "lag": []}], lag=1)
    with pytest.raises(ValueError, match="expects numbers between 0 and 1"):
        ce.lagged_scores([stack + 2], lag=1, p_values=True, encoding="cause,effect,lag", first_lag=0)
    with pytest.raises(ValueError, match="no lags from 1"):
        ce.lagged_scores([stack[:, :, :1]], reduce="max", encoding="cause,effect,lag", first_lag=0)
