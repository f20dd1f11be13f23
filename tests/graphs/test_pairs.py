"""Blocks of graphs, pairs of them, and the classes that cells of foreign files declare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from references.declared import declared, declared_kind

import causaleval_pd as ce
from causaleval_pd.graphs import pairs


def test_distinct_rows_survive_equal_hashes(monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (200, 3)).astype(np.uint64)
    for _ in range(2):
        first, inverse = pairs.distinct_rows(cells)
        np.testing.assert_array_equal(cells[first][inverse], cells)
        assert len(first) == len(np.unique(cells, axis=0))
        monkeypatch.setattr(pairs.pd, "factorize", lambda hashed: (np.zeros(len(hashed), np.int64), hashed[:1]))


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
    with pytest.raises(ValueError, match="row 1: the estimate is declared a dag, which it is not; graph_column"):
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
    columns = [
        pd.Series(cells, dtype=pd.ArrowDtype(pa.binary())),
        pd.Series(pd.arrays.ArrowExtensionArray(chunked)),
    ]
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
