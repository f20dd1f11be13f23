"""Metrics know themselves; tweaks, sets, registry and messages."""

import math
import pickle

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import FIELDS
from causaleval_pd.contract.metric import METRICS, metric


def test_a_metric_is_callable_on_cells_and_on_pairs():
    from causaleval_pd.fields.structure.field import pair

    pairs = pair("A -> B; B -> C", "B -> A; B -> C")
    assert ce.shd("A -> B; B -> C", "B -> A; B -> C") == 1.0
    assert ce.shd(pairs).tolist() == [1.0]
    assert type(ce.shd("A -> B", "A -> B")) is float


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


def test_usual_metrics_are_listed_first_in_every_field():
    table = ce.list_metrics()
    assert list(dict.fromkeys(table["field"])) == list(ce.list_fields().index.intersection(table["field"]))
    for name, of_field in table.groupby("field"):
        field = FIELDS[name]
        usual = list(field.usual_metrics or field.default_metrics)
        assert list(of_field.index[: len(usual)]) == usual == list(of_field.index[of_field["usual"]]), name
        assert set(field.default_metrics) <= set(usual)
        assert list(ce.list_metrics(name).index) == list(of_field.index)
    graph = list(ce.list_metrics("graph").index)
    assert graph[0] == "shd" and graph.index("sid") < 16 <= graph.index("adjacency_tp")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"range": "01"}, "range must be two ordered numbers, found '01'"),
        ({"field": "graphs"}, "unknown field 'graphs'; did you mean 'graph'"),
        ({"kinds": "dag"}, r"kinds must be a sequence, found 'dag'; write \('dag',\)"),
        ({"truth_kinds": "dag"}, "truth_kinds must be a sequence"),
        ({"range": 1}, "range must be two ordered numbers, found 1"),
        ({"dims": {"lag": "ab"}}, r"labels of dimension 'lag' must be a sequence, found 'ab'; write \('ab',\)"),
        ({"direction": "min"}, "direction must be 'minimize', 'maximize', 'zero' or None, found 'min'"),
        ({"range": (1, 0)}, "two ordered numbers"),
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

    def shd(pairs):
        return pairs.counts.tp

    with pytest.raises(ValueError, match="'shd' is already registered"):
        metric(**spec)(shd)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ce.shd("A -> B", "A -> C"), r"truth has nodes \['A', 'B'\], estimate has \['A', 'C'\]"),
        (lambda: ce.shd("A -> B"), "needs a truth and an estimate"),
        (lambda: ce.get_metric("adjacency_precison"), "'adjacency_precison'; did you mean 'adjacency_precision'"),
        (lambda: ce.get_metric(3), "a metric is a name or a Metric, found int"),
        (lambda: ce.list_metrics("graphs"), "unknown field 'graphs'"),
    ],
)
def test_other_cells_and_names_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_graphs_are_scored_without_a_truth(declare):
    @declare(truth_kinds=())
    def estimated_size(pairs):
        return pairs.estimate.edge_counts.edges[pairs.estimate_index]

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
