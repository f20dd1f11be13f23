"""Metrics know themselves; tweaks, sets, registry and messages."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS, metric, probe_closed_form


def test_a_metric_is_callable_on_cells_and_on_pairs():
    from causaleval_pd.structure.field import pair

    pairs = pair("A -> B; B -> C", "B -> A; B -> C")
    assert ce.shd("A -> B; B -> C", "B -> A; B -> C") == 1.0
    assert ce.shd(pairs).tolist() == [1.0]
    assert type(ce.shd("A -> B", "A -> B")) is float


def test_scalar_calls_refuse_other_nodes_and_missing_cells():
    with pytest.raises(ValueError, match=r"truth has nodes \['A', 'B'\], estimate has \['A', 'C'\]"):
        ce.shd("A -> B", "A -> C")
    with pytest.raises(TypeError, match="needs a truth and an estimate"):
        ce.shd("A -> B")


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(ValueError, match="unknown metric 'adjacency_precison'; did you mean 'adjacency_precision'"):
        ce.get_metric("adjacency_precison")
    with pytest.raises(TypeError, match="a metric is a name or a Metric, found int"):
        ce.get_metric(3)


def test_tweak_fixes_options_and_keeps_the_base_unchanged():
    doubled = ce.tweak("shd", reversal_cost=2, name="shd_double")
    assert (doubled.name, doubled("A -> B", "B -> A"), ce.shd("A -> B", "B -> A")) == ("shd_double", 2.0, 1.0)
    assert ce.tweak("shd", reversal_cost=2).name == "shd"
    twice = ce.tweak(doubled, undirected_cost=0, name="both")
    assert dict(twice.options) == {"reversal_cost": 2, "undirected_cost": 0}
    with pytest.raises(
        ValueError, match="shd has no option 'reversal'; did you mean 'reversal_cost'. its options: reversal_cost"
    ):
        ce.tweak("shd", reversal=2)
    with pytest.raises(ValueError, match="must be an identifier"):
        ce.tweak("shd", name="my shd")


def test_metric_set_renames_and_refuses_repeats():
    chosen = ce.metric_set("shd", "skeleton_hd", double=ce.tweak("shd", reversal_cost=2))
    assert [m.name for m in chosen] == ["shd", "skeleton_hd", "double"]
    with pytest.raises(ValueError, match="found twice: shd"):
        ce.metric_set("shd", ce.tweak("shd", reversal_cost=2))


def test_registration_checks_direction_range_and_name():
    settings = dict(field="graph", kinds=("dag",), range=(0, 1), optimum=0, long_name="x")
    with pytest.raises(ValueError, match="direction must be"):
        metric(direction="down", **settings)
    with pytest.raises(ValueError, match="two ordered numbers"):
        metric(direction="minimize", **{**settings, "range": (1, 0)})

    def shd(pairs):
        return pairs.counts.tp

    with pytest.raises(ValueError, match="'shd' is already registered"):
        metric(direction="minimize", **settings)(shd)


def test_metrics_pickle_by_name_and_tweaks_by_their_options():
    assert pickle.loads(pickle.dumps(ce.shd)) is ce.shd
    doubled = pickle.loads(pickle.dumps(ce.tweak("shd", reversal_cost=2, name="double")))
    assert (doubled.name, doubled("A -> B", "B -> A")) == ("double", 2.0)


def test_every_metric_has_a_whole_spec():
    table = ce.list_metrics()
    assert len(table) >= 40
    assert table["long_name"].str.len().gt(3).all()
    for name, m in METRICS.items():
        assert name == m.name == m.function.__name__
        assert "Parameters" in m.__doc__ and "Returns" in m.__doc__ and "Examples" in m.__doc__, name
        assert m.spec_line() in m.__doc__
        if m.direction is not None:
            assert not math.isnan(m.optimum), name
            assert m.range[0] <= m.optimum <= m.range[1], name
    with pytest.raises(ValueError, match="unknown field 'graphs'"):
        ce.list_metrics("graphs")


def test_words_and_booleans_become_typed_columns():
    @metric(
        field="graph", kinds=("dag",), direction="maximize", range=(0, 1), optimum=1, long_name="same", dtype="boolean"
    )
    def same_skeleton(pairs):
        return (pairs.counts.fp + pairs.counts.fn == 0).astype(np.float64)

    @metric(field="graph", kinds=("dag",), direction=None, range=(0, 1), long_name="size", dtype=("sparse", "dense"))
    def size_word(pairs):
        return (pairs.counts.true_edges > 1).astype(np.float64)

    try:
        runs = pd.DataFrame({"truth": ["A -> B; C", "A -> B; B -> C"] * 2, "estimate": ["A -> B; C"] * 3 + [None]})
        scored = ce.evaluate(runs, ["same_skeleton", "size_word"])
    finally:
        del METRICS["same_skeleton"], METRICS["size_word"]
    assert scored["same_skeleton"].dtype == "boolean"
    assert scored["same_skeleton"].tolist() == [True, False, True, pd.NA]
    assert scored["size_word"].astype(object).tolist()[:3] == ["sparse", "dense", "sparse"]
    assert scored["size_word"].isna().tolist() == [False, False, False, True]


def test_costly_metrics_run_once_per_distinct_pair():
    seen = []

    @metric(
        field="graph", kinds=("dag",), direction="minimize", range=(0, 9), optimum=0, long_name="costly", costly=True
    )
    def costly(pairs):
        seen.append(pairs.n)
        return pairs.counts.fp + 10 * pairs.counts.fn

    try:
        runs = pd.DataFrame({"truth": ["A -> B; C", "A; B; C", "A -> B; C"], "estimate": ["A -> B; C"] * 3})
        values = ce.evaluate(runs, ["costly"])["costly"].tolist()
    finally:
        del METRICS["costly"]
    assert seen == [2]
    assert values == [0.0, 1.0, 0.0]


def test_every_metric_keeps_its_closed_form_rule():
    named = [m for m in METRICS.values() if m.closed_form is not None]
    assert len(named) > 40
    for m in named:
        probe_closed_form(m)


def register_for_graphs(function, closed_form):
    return metric(
        field="graph",
        kinds=("dag",),
        direction="minimize",
        range=(0, np.inf),
        optimum=0,
        long_name=function.__name__,
        closed_form=closed_form,
    )(function)


def test_a_metric_that_contradicts_its_closed_form_is_refused():
    def squared(pairs):
        return pairs.counts.fn**2

    with pytest.raises(ValueError, match=r"squared names closed_form='linear', but at same direction 2 it is .* units"):
        register_for_graphs(squared, "linear")
    with pytest.raises(ValueError, match=r"unknown closed form 'liner'; did you mean 'linear'"):
        register_for_graphs(squared, "liner")
    with pytest.raises(ValueError, match=r"closed form 'additive' is for field 'network', not 'graph'"):
        register_for_graphs(squared, "additive")
    assert "squared" not in METRICS

    def turned(pairs):
        return pairs.counts.reversed

    for name, fault in (("hypergeometric", "depends on their directions"), ("reversal", "with 1 right and 3 wrong")):
        with pytest.raises(ValueError, match=fault):
            register_for_graphs(turned, name)
    try:
        assert register_for_graphs(squared, None).closed_form is None
    finally:
        METRICS.pop("squared", None)

    def apart(pairs):
        return pairs.v_structures.tp

    with pytest.raises(ValueError, match="closed_form='hypergeometric', but its function reads 'v_structures', which"):
        register_for_graphs(apart, "hypergeometric")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"field": "graphs"}, "unknown field 'graphs'; did you mean 'graph'"),
        ({"kinds": "dag"}, r"kinds must be a sequence of kinds, found 'dag'; write \('dag',\)"),
        ({"truth_kinds": "dag"}, "truth_kinds must be a sequence of kinds"),
        ({"range": 1}, "range must be two ordered numbers, found 1"),
        ({"direction": "min"}, "direction must be 'minimize', 'maximize', 'zero' or None, found 'min'"),
    ],
)
def test_a_declaration_is_checked(changed, message):
    spec = {"field": "graph", "kinds": ("dag",), "direction": "minimize", "range": (0, 1), "long_name": "name"}

    def declared(pairs):
        return pairs.counts.fn

    with pytest.raises((TypeError, ValueError), match=message):
        metric(**spec | changed)(declared)
    assert "declared" not in METRICS
    with pytest.raises(ValueError, match="a metric has the name of its function, found '<lambda>'; define it by def"):
        metric(**spec)(lambda pairs: pairs.counts.fn)


@pytest.fixture
def estimated_size():
    @metric(
        field="graph",
        kinds=("dag",),
        truth_kinds=(),
        direction="minimize",
        range=(0, np.inf),
        optimum=0,
        long_name="edges of the estimate",
    )
    def estimated_size(pairs):
        return pairs.estimate.edge_counts.edges[pairs.estimate_index]

    yield estimated_size
    del METRICS["estimated_size"]


def test_graphs_are_scored_without_a_truth(estimated_size):
    estimates = pd.DataFrame({"estimate": ["A -> B; C", "A -> B; B -> C", None]})
    found = ce.evaluate(estimates, ["estimated_size"], truth=None)
    assert found["estimated_size"].tolist()[:2] == [1.0, 2.0] and found["estimated_size"].isna()[2]
    assert estimated_size(None, "A -> B") == estimated_size("A; B", "A -> B") == 1.0
    for null in ("edges", "permutation", "orientation"):
        controls = ce.with_controls(estimates, ["estimated_size"], truth=None, null=null, n_draws=20, rng=7)
        assert controls["estimated_size_control_mean"].tolist()[:2] == [1.0, 2.0]
    with pytest.raises(ValueError, match="'oracle_skeleton' keeps the truth's skeleton, and truth=None names no truth"):
        ce.with_controls(estimates, ["estimated_size"], truth=None, null="oracle_skeleton", n_draws=20, rng=7)
    with pytest.raises(ValueError, match="shd compares estimates with a truth, and truth=None names none"):
        ce.evaluate(estimates, ["estimated_size", "shd"], truth=None)
    with pytest.raises(TypeError, match="shd needs a truth and an estimate, found None as the truth"):
        ce.shd(None, "A -> B")
    with pytest.raises(ValueError, match="estimated_size applies to dag as estimate, without a truth"):
        estimated_size(None, "A -- B")
