"""What reads two planes refuses graphs of four by name: kernels, metrics, null models, conversions of columns."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.metric import METRICS
from causaleval_pd.graphs.kernels import kernels
from causaleval_pd.graphs.kernels.planes import MIXED_KINDS, arcs_from_planes, matrices_from_planes
from causaleval_pd.graphs.packing import unpack_column
from causaleval_pd.graphs.pairs import GraphBatch, GraphPairs

TEXTS = {
    "mag": "A -> B; B <-> C; D", "pag": "A o-> B; C o-> B; B -> D", "admg": "A -> B; A <-> B; C; D",
    "skeleton": "A -- B; B -- C; D", "mixed": "A o-- B; B o-> C; D",
}  # fmt: skip
DAG = "A -> B; B -> C; A -> D"


def packed(kind: str) -> pd.Series:
    return ce.graph_column([TEXTS[kind]], kind=kind)


def batch(column: pd.Series) -> GraphBatch:
    block = unpack_column(column).blocks[0]
    return GraphBatch(block.n_nodes, block.planes, block.kinds)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MIXED_KINDS)
@pytest.mark.parametrize("side", ["both", *(pytest.param(x, marks=pytest.mark.slow) for x in ("truth", "estimate"))])
def test_every_metric_refuses_by_name(kind: str, side: str) -> None:
    graph, dag = packed(kind), ce.graph_column([DAG])
    table = pd.DataFrame({"truth": dag if side == "estimate" else graph, "estimate": dag if side == "truth" else graph})
    refusing = [m for m in METRICS.every() if m.field == "graph" and kind not in (*m.kinds, *m.truth_kinds)]
    assert len(refusing) > 10
    for m in refusing:
        if side == "truth" and not m.truth_kinds:
            continue
        message = f"{m.name}\\w* applies to .* an? {kind}|{m.name}_\\S* applies to .* {kind}"
        with pytest.raises(ValueError, match=message):
            ce.evaluate(table, [m.name])
        assert ce.evaluate(table, [m.name], invalid="nan").iloc[:, 2:].isna().all(axis=None)
        if side == "both":
            with pytest.raises(ValueError, match=f"{m.name} applies to"):
                m(*[ce.as_graph(TEXTS[kind], kind=kind)] * 2)


@pytest.mark.parametrize("kind", MIXED_KINDS)
def test_null_models_of_other_graphs_refuse_by_name(kind, declare):
    @declare(kinds=("dag", *MIXED_KINDS))
    def words_of_planes(pairs: GraphPairs) -> np.ndarray:
        return np.full(pairs.n, float(pairs.estimate.planes.shape[1]))

    options = {"knowledge": {"tiers": [["A"]]}}
    graphs = packed(kind).repeat(2).reset_index(drop=True)
    table = pd.DataFrame({"truth": graphs, "estimate": graphs})
    assert ce.evaluate(table, [words_of_planes])["words_of_planes"].tolist() == [4, 4]
    names = {null.name for null in get_field("graph").nulls.every()}
    taken = {"edges", "permutation", "orientation", "oracle_skeleton", "latent_dag"}
    assert taken < names
    for name in names - taken:
        model = ce.null_model(name, **options[name]) if name in options else name
        message = f"row 0 .*: the truth is an? {kind}( graph)?, and this null|needs strata"
        with pytest.raises(ValueError, match=message):
            ce.with_controls(table, [words_of_planes], null=model, n_draws=3, rng=1)
    with pytest.raises(ValueError, match=f"is an? {kind}"):
        ce.with_controls(table, [words_of_planes], null=lambda graph, rng: graph, n_draws=3, rng=1)


def test_kernels_and_batches_refuse_four_planes() -> None:
    graphs, dags = batch(packed("mag")), batch(ce.graph_column([DAG]))
    index = np.zeros(1, int)
    module = kernels()
    single = [module.is_acyclic, module.extend_to_dag, module.dag_to_cpdag, module.degrees]
    for function in [*single, arcs_from_planes, matrices_from_planes]:
        with pytest.raises(ValueError, match="planes"):
            function(graphs.planes, 4)
    for truth, estimate in ((graphs, dags), (dags, graphs), (graphs, graphs)):
        pairs = GraphPairs(truth, estimate, index, index)
        for read in (
            lambda pairs=pairs: pairs.ancestors,
            lambda pairs=pairs: pairs.blankets,
            lambda pairs=pairs: pairs.cpdags,
            lambda pairs=pairs: pairs.adjustment_mistakes("parent"),
            lambda pairs=pairs: pairs.separation_mistakes("parent"),
            lambda pairs=pairs: pairs.sid_bounds(100),
        ):
            with pytest.raises(ValueError, match="planes|shape|has no CPDAG"):
                read()
    with pytest.raises(ValueError, match="planes"):
        graphs.degrees  # noqa: B018
    with pytest.raises(ValueError, match="planes"):
        kernels("controls").orient_uniformly(graphs.planes, 4, [0], np.zeros(1, np.uint64), 0, 1, 10)


def test_columns_of_many_kinds_are_scored_where_the_metric_applies() -> None:
    estimates = ce.graph_column([DAG, *TEXTS.values(), None, "A -> B; C; D"], kind=[None, *TEXTS, None, None])
    table = pd.DataFrame({"truth": ce.graph_column([DAG] * 8), "estimate": estimates})
    found = ce.evaluate(table, ["shd"], invalid="nan")["shd"]
    assert found.dropna().to_dict() == {0: 0, 1: 2, 3: 3, 7: 2}
    message = r"row 2 .* where truth is a dag and estimate a pag, .*'latents'.* row 4 .* skeleton; .*\(3 of 8 rows\)"
    with pytest.raises(ValueError, match=message):
        ce.evaluate(table, ["shd"])
    assert ce.evaluate(table, ["adjacency_tp"], invalid="nan")["adjacency_tp"].notna().tolist() == [
        *[True, True, False, True, True, False, False, True]
    ]
    assert estimates.graph.kind.tolist()[1:6] == list(TEXTS)


@pytest.mark.parametrize("kind", MIXED_KINDS)
def test_conversions_without_room_for_marks_are_refused(kind: str) -> None:
    for made in (packed(kind), ce.as_graph(TEXTS[kind], kind=kind)):
        graphs = made.graph if isinstance(made, pd.Series) else made
        with pytest.raises(ValueError, match="zeros and ones cannot hold the marks of a graph with latent confounders"):
            graphs.to_numpy()
        with pytest.raises(ValueError, match=f"an? {kind}"):
            graphs.cpdag()


@pytest.mark.parametrize("kind", MIXED_KINDS)
def test_networkx_graphs_hold_marks_as_types_of_edges(kind: str) -> None:
    column = packed(kind).dropna()
    written = column.graph.to_networkx()
    assert (ce.graph_column(written, kind=kind) == column).all()
    assert all("type" in data for graph in written for *_, data in graph.edges(data=True))
