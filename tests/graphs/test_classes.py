"""Graph classes against brute force over all graphs on up to four nodes; classes that foreign cells declare."""

from collections import defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from references.declared import declared, declared_kind

import causaleval_pd as ce
from causaleval_pd.graphs import classes, faults, pairs
from causaleval_pd.graphs.kernels.planes import CPDAG, DAG, DIGRAPH, PDAG, matrices_from_planes, planes_from_arcs


@cache
def all_graphs(d: int) -> np.ndarray:
    """All 4^(d(d-1)/2) graphs as matrices of marks."""
    pairs = list(combinations(range(d), 2))
    codes = np.arange(4 ** len(pairs))
    marks = np.zeros((len(codes), d, d), dtype=bool)
    for k, (i, j) in enumerate(pairs):
        marks[:, i, j] = codes >> 2 * k & 1
        marks[:, j, i] = codes >> (2 * k + 1) & 1
    return marks


def v_structures(marks: np.ndarray) -> frozenset[tuple[int, int, int]]:
    directed, adjacent = marks & ~marks.T, marks | marks.T
    return frozenset(
        (i, k, j)
        for k in range(len(marks))
        for i, j in combinations(np.flatnonzero(directed[:, k]).tolist(), 2)
        if not adjacent[i, j]
    )


def equivalence_class(marks: np.ndarray) -> tuple[bytes, frozenset[tuple[int, int, int]]]:
    return (marks | marks.T).tobytes(), v_structures(marks)


@cache
def all_dags(d: int) -> list[np.ndarray]:
    plain = [m for m in all_graphs(d) if not (m & m.T).any()]
    return [m for m in plain if nx.is_directed_acyclic_graph(nx.DiGraph(m.astype(int)))]


@cache
def all_cpdags(d: int) -> dict[object, np.ndarray]:
    """CPDAG by class: a mark is in it if a member has it."""
    members = defaultdict(list)
    for dag in all_dags(d):
        members[equivalence_class(dag)].append(dag)
    return {key: np.logical_or.reduce(dags) for key, dags in members.items()}


def planes_of(marks: np.ndarray) -> np.ndarray:
    return planes_from_arcs(len(marks), marks.shape[1], *np.nonzero(marks))


def test_number_of_graphs() -> None:
    assert [len(all_dags(d)) for d in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert [len(all_cpdags(d)) for d in (1, 2, 3, 4)] == [1, 2, 11, 185]


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_kinds_of_all_graphs(d: int) -> None:
    graphs = all_graphs(d)
    dags = {m.tobytes() for m in all_dags(d)}
    cpdags = {m.tobytes() for m in all_cpdags(d).values()}
    expected = [
        DAG if m.tobytes() in dags else CPDAG if m.tobytes() in cpdags else PDAG if (m & m.T).any() else DIGRAPH
        for m in graphs
    ]
    planes = planes_of(graphs)
    assert classes.infer_kinds(planes, d).tolist() == expected
    assert classes.is_dag(planes, d).tolist() == [m.tobytes() in dags for m in graphs]
    assert classes.is_cpdag(planes, d).tolist() == [m.tobytes() in cpdags for m in graphs]
    for kind, members in ((DAG, dags), (CPDAG, cpdags)):
        wrong = classes.not_in_class(planes, d, np.full(len(graphs), kind, np.uint8))
        assert wrong.tolist() == [m.tobytes() not in members for m in graphs]
    assert not classes.not_in_class(planes, d, np.full(len(graphs), PDAG, np.uint8)).any()
    wrong = classes.not_in_class(planes, d, np.full(len(graphs), DIGRAPH, np.uint8))
    assert wrong.tolist() == [bool((m & m.T).any()) for m in graphs]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_acyclicity_walks_directed_edges_only(d: int) -> None:
    graphs = all_graphs(d)
    expected = [nx.is_directed_acyclic_graph(nx.DiGraph((m & ~m.T).astype(int))) for m in graphs]
    assert classes.is_acyclic(planes_of(graphs), d).tolist() == expected


@pytest.mark.parametrize("d", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_cpdag_of_dags_and_of_pdags(d: int) -> None:
    cpdags, dags = all_cpdags(d), np.array(all_dags(d))
    expected = np.array([cpdags[equivalence_class(m)] for m in dags])
    found, none = classes.to_cpdags(planes_of(dags), d, np.full(len(dags), DAG, np.uint8))
    assert not none.any()
    np.testing.assert_array_equal(matrices_from_planes(found, d), expected)
    # a pdag's consistent extensions: same skeleton and v-structures, its directed edges kept
    for pdag in all_graphs(d)[:: 1 if d < 4 else 7]:
        keys = {
            equivalence_class(m)
            for m in dags
            if equivalence_class(m) == equivalence_class(pdag) and not (m & ~pdag).any()
        }
        completed, extends = classes.class_cpdag(planes_of(pdag[None]), d)
        assert extends[0] == bool(keys)
        if keys:
            assert len(keys) == 1
            np.testing.assert_array_equal(matrices_from_planes(completed, d)[0], cpdags[keys.pop()])
    copy = planes_of(expected)
    np.testing.assert_array_equal(classes.to_cpdags(copy, d, np.full(len(copy), CPDAG, np.uint8))[0], copy)


def test_skeletons() -> None:
    cycle = np.zeros((3, 4, 4), dtype=bool)
    cycle[0, [0, 1, 2, 3], [1, 2, 3, 0]] = True  # undirected four-cycle: no DAG without v-structures
    cycle[1, 0, 1] = True
    planes, kinds = classes.to_skeletons(planes_of(cycle), 4)
    np.testing.assert_array_equal(matrices_from_planes(planes, 4), cycle | cycle.transpose(0, 2, 1))
    assert kinds.tolist() == [PDAG, CPDAG, CPDAG]


@pytest.mark.parametrize(
    ("arcs", "kind", "message"),
    [
        ([(0, 1), (1, 0)], DAG, "declared a dag, but has the undirected edge A -- B; orient it"),
        ([(0, 1), (1, 2), (2, 0)], DAG,
         "declared a dag, but has the directed cycle .*; mend the graph, or declare it a digraph"),
        ([(0, 1), (1, 2), (2, 0)], CPDAG, "declared a cpdag, but has the directed cycle"),
        ([(0, 1), (1, 2), (2, 0), (0, 3), (3, 0)], CPDAG, "directed cycle .*; mend the graph, or declare it a pdag"),
        ([(0, 1), (1, 0)], DIGRAPH,
         "declared a digraph, but has the undirected edge A -- B .two opposite arcs are one"),
        ([(0, 1)], CPDAG,
         "has A -> B where the CPDAG of its equivalence class has A -- B; declare it a pdag, or use its"),
        ([(0, 1), (2, 1), (1, 3), (3, 1)], CPDAG, "has B -- D where the CPDAG of its equivalence class has B -> D"),
        ([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)], CPDAG,
         "no DAG has its skeleton, directed edges and v-structures"),
    ],
)  # fmt: skip
def test_explanations(arcs: list[tuple[int, int]], kind: int, message: str) -> None:
    source, target = np.array(arcs).T
    planes = planes_from_arcs(1, 4, np.zeros_like(source), source, target)
    names = ("A", "B", "C", "D")
    assert classes.not_in_class(planes, 4, np.array([kind], np.uint8))[0]
    with pytest.raises(ValueError, match=message):
        raise ValueError(faults.explain_kind(planes[0], names, kind))


@pytest.mark.parametrize("most_bytes", [2**31 - 1, 0], ids=["rows", "digests"])
@pytest.mark.parametrize("shape", [(200, 3), (40, 100), (0, 2), (1, 1)])
def test_distinct_rows(shape, most_bytes, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_BYTES", most_bytes)
    cells = np.random.default_rng(0).integers(0, 3, shape).astype(np.uint64) * np.uint64(2**62)
    cells[::3] = cells[:1]
    first, inverse = pairs.distinct_rows(cells)
    np.testing.assert_array_equal(cells[first][inverse], cells)
    assert len(first) == len(np.unique(cells, axis=0))
    assert first.tolist() == sorted(first), "as they appear"


TRUTH = "A -> B; B -> C; A -> C"
CYCLE = "A -> B; B -> C; C -> A"
NOT_A_CPDAG = "A -> B; B -> C; A -- C"


def foreign_table(*cells: bytes, tmp_path: Path | None = None) -> pd.DataFrame:
    """A table whose estimates, TRUTH first, come from elsewhere, perhaps from a file."""
    estimate = pd.Series([ce.as_graph(TRUTH).to_bytes(), *cells], dtype=pd.ArrowDtype(pa.large_binary()))
    table = pd.DataFrame({"truth": ce.graph_column([TRUTH] * len(estimate)), "estimate": estimate})
    if tmp_path is None:
        return table
    table.to_parquet(tmp_path / "t.parquet")
    return pd.read_parquet(tmp_path / "t.parquet")


@pytest.mark.parametrize("cell", [declared(CYCLE, 0), declared(TRUTH, 1), declared(NOT_A_CPDAG, 1)], ids=declared_kind)
@pytest.mark.parametrize(
    "metric", ["shd_cpdag", "parent_aid", "separation_parent", "sid_lower", "top_order_divergence"]
)
def test_metrics_that_rely_on_classes_check_those_of_packed_cells(metric: str, cell: bytes, tmp_path: Path) -> None:
    table = foreign_table(cell, tmp_path=tmp_path)
    kind = declared_kind(cell)
    for _ in range(2):  # a column that was found wrong stays wrong
        with pytest.raises(ValueError, match=rf"row 1 \(index 1\).* declared a {kind}, which it is not"):
            ce.evaluate(table, [metric])
    assert ce.evaluate(table, [metric], invalid="nan")[metric].isna().tolist() == [False, True]
    assert ce.evaluate(table.iloc[:1], [metric])[metric].notna().all()


def test_metrics_of_edges_do_not_ask_for_classes() -> None:
    assert ce.evaluate(foreign_table(declared(CYCLE, 0)), ["shd"])["shd"].tolist() == [0, 1]


@pytest.mark.parametrize("null", ["edges", "permutation"])
def test_null_models_that_keep_classes_check_them(null: str) -> None:
    table = foreign_table(declared(CYCLE, 0))
    with pytest.raises(ValueError, match="row 1 .*: the estimate is declared a dag, which it is not; graph_column"):
        ce.with_controls(table, ["shd"], null=null, n_draws=20, rng=1)
    mended = table.assign(estimate=ce.graph_column(table["estimate"].graph.to_strings()))
    found = ce.with_controls(mended, ["shd"], null=null, n_draws=20, rng=1)
    assert found["control_kind"].tolist() == ["dag", "digraph"]


def test_conversions_check_classes() -> None:
    column = foreign_table(declared(CYCLE, 0))["estimate"]
    for convert in (column.graph.cpdag, column.graph.to_graphs, column.graph.to_networkx):
        with pytest.raises(ValueError, match=r"row 1 .*the graph is declared a dag, but has the directed cycle"):
            convert()
    assert column.graph.n_edges.tolist() == [3, 3]


def test_a_checked_column_is_checked_again_after_a_cell_was_replaced() -> None:
    table = foreign_table(ce.as_graph(TRUTH).to_bytes())
    ce.evaluate(table, ["shd_cpdag"])
    table.loc[1, "estimate"] = declared(CYCLE, 0)
    with pytest.raises(ValueError, match="declared a dag, which it is not"):
        ce.evaluate(table, ["shd_cpdag"])


def test_views_chunks_and_objects_are_read() -> None:
    cells = [ce.as_graph(text).to_bytes() for text in (TRUTH, CYCLE)] + [None]
    expected = ce.graph_column(cells).graph.to_strings()
    chunked = pa.chunked_array([cells[:1], cells[1:]], type=pa.large_binary())
    columns = [pd.Series(cells, dtype=pd.ArrowDtype(pa.binary())), pd.Series(pd.arrays.ArrowExtensionArray(chunked))]
    if hasattr(pa, "binary_view"):  # since pyarrow 16
        views = pa.chunked_array([cells[:1], cells[1:]], type=pa.binary_view())
        columns += [
            pd.Series(cells, dtype=pd.ArrowDtype(pa.binary_view())),
            pd.Series(pd.arrays.ArrowExtensionArray(views)),
        ]
    for column in columns:
        pd.testing.assert_series_equal(column.graph.to_strings(), expected)
        pd.testing.assert_series_equal(ce.graph_column(column), ce.graph_column(cells))
    pd.testing.assert_series_equal(ce.graph_column(pd.Series(cells, dtype=object)), ce.graph_column(cells))
