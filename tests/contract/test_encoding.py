"""Encodings: the list of all, and toy formats that are registered, read in every way, and removed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.encoding import ENCODINGS, Edges, Encoding, Matrix, register_encoding
from causaleval_pd.graphs.column import coerce_graphs, is_graph_column


@dataclass
class Path:
    """A toy class: a path along its nodes."""

    nodes: tuple[str, ...]


def read_path(cell: Path | str) -> Edges:
    names = tuple(cell.split(">")) if isinstance(cell, str) else cell.nodes
    return Edges.from_arcs(names, [(i, i + 1) for i in range(len(names) - 1)], is_open=True)


def explain_endpoints(matrix: np.ndarray, names: Any) -> str:
    i, j = np.argwhere(matrix > 3)[0]
    return f"found {matrix[i, j]} in cell ({names[i]!r}, {names[j]!r}), expected 0, 2 or 3"


PARTS = {"tool": "toys", "meaning": "a path", "mark": "i stands before j", "example": "a>b"}
TEXT_OR_PATH = Encoding(
    name="toy", cells="toy path", read=read_path, types=(Path, str), recognise=lambda x: not str(x).count("-"), **PARTS
)
CODES = Encoding(
    name="toy codes",
    cells="matrix of toy codes",
    read=lambda cell: Matrix(None, cell),
    types=(np.ndarray,),
    by_name=True,
    # 2 is an arrow and 3 a tail at the column's node
    codes={(2, 3): (2, 1), (3, 2): (1, 2), (3, 3): (1, 1)},
    explain=explain_endpoints,
    **PARTS,
)


@pytest.fixture
def toys() -> Iterator[None]:
    for toy in (TEXT_OR_PATH, CODES):
        assert register_encoding(toy) is toy
    yield
    for toy in (TEXT_OR_PATH, CODES):
        del ENCODINGS[toy.name]


def strings(column: pd.Series) -> list[str]:
    return column.graph.to_strings().tolist()


def test_list() -> None:
    found = ce.list_encodings()
    assert {"causal-learn", "column->row", "edge list", "edge string", "networkx", "packed", "row->column"} <= {
        *found.index
    }
    assert found.index.is_unique and found.index.is_monotonic_increasing
    assert found.columns.tolist() == ["tool", "cells", "meaning", "mark", "example", "by_name"]
    assert (found.drop(columns="by_name").map(len) > 0).all(axis=None)
    assert {"column->row", "row->column", "pcalg amat.pag", "bnmetrics"} <= {*found.index[found["by_name"]]}
    assert not found.loc[["networkx", "dagitty", "Tetrad text", "tigramite"], "by_name"].any()


@pytest.mark.usefixtures("toys")
def test_a_toy_is_listed_and_its_name_is_taken() -> None:
    assert ce.list_encodings().loc["toy", "tool"] == "toys"
    with pytest.raises(ValueError, match="an? encoding called 'toy' is already registered"):
        register_encoding(replace(TEXT_OR_PATH, read=str))


@pytest.mark.usefixtures("toys")
def test_a_toy_is_read_by_name() -> None:
    column = ce.graph_column(["b>a", None, "a", "b>a"], nodes=["a", "b", "c"], encoding="toy")
    assert strings(column) == ["b -> a; c", np.nan, "a; b; c", "b -> a; c"]
    assert ce.as_graph(Path(("x", "y")), encoding="toy") == ce.as_graph("x -> y")


@pytest.mark.usefixtures("toys")
def test_a_toy_is_recognised_by_type_and_content() -> None:
    cells = [Path(("x", "y")), "y>x", "x -- y", [("x", "y")]]
    column = ce.graph_column(cells, nodes=["x", "y"])
    assert strings(column) == ["x -> y", "y -> x", "x -- y", "x -> y"]
    pd.testing.assert_series_equal(coerce_graphs(pd.Series(cells)), column)
    assert is_graph_column(pd.Series([Path(("x",))]))
    table = pd.DataFrame({"truth": ["a -> b"], "estimate": [Path(("a", "b"))]})
    assert table.ceval.evaluate(["shd"])["shd"].tolist() == [0]


@pytest.mark.usefixtures("toys")
def test_codes_are_decoded_as_stacks_and_written() -> None:
    stack = np.array([[[0, 2], [3, 0]], [[0, 3], [3, 0]], [[0, 0], [0, 0]]])
    column = ce.graph_column(stack, nodes=["a", "b"], encoding="toy codes")
    assert strings(column) == ["a -> b", "a -- b", "a; b"]
    assert column.graph.to_numpy(encoding="toy codes").tolist() == stack.tolist()


def test_codes_have_mirror_images() -> None:
    with pytest.raises(ValueError, match=r"codes of 'toy codes' have no mirror image of \(2, 3\): \(2, 1\); add it"):
        replace(CODES, codes={(2, 3): (2, 1)})


@pytest.mark.usefixtures("toys")
def test_messages_derive_from_the_registry() -> None:
    with pytest.raises(ValueError, match=r"^row 1 .*: found 9 in cell \('b', 'a'\), expected 0, 2 or 3$"):
        ce.graph_column(np.array([[[0, 2], [3, 0]], [[0, 0], [9, 0]]]), nodes=["a", "b"], encoding="toy codes")
    with pytest.raises(ValueError, match="row 0 .* an edge from 'a' to itself; graphs have no self loops"):
        ce.graph_column([3 * np.eye(2, dtype=int)], nodes=["a", "b"], encoding="toy codes")
    message = (
        r"in 2 ways; .*encoding='pcalg amat.pag'\) if an edge.*, which reads '0 -> 1', as with 'MXM', 'toy codes'; "
        r"with graph_column\(..., encoding='bnmetrics'\) .* which reads '0 o-> 1'"
    )
    with pytest.raises(ce.AmbiguousEncodingError, match=message):
        ce.as_graph(np.array([[0, 2], [3, 0]]))
    with pytest.raises(TypeError, match=r"expected a graph: .*, toy path, matrix of toy codes, or missing"):
        ce.as_graph(3)
    with pytest.raises(ValueError, match=r"unknown encoding 'toi'; did you mean 'toy'\?"):
        ce.as_graph("a", encoding="toi")
    with pytest.raises(TypeError, match="encoding must be the name of an encoding, or one per row, found 3"):
        ce.as_graph("a", encoding=3)  # type: ignore[arg-type]


def test_toys_leave_nothing_behind() -> None:
    assert not {"toy", "toy codes"} & set(ENCODINGS)
    with pytest.raises(TypeError, match="found .*Path, expected a graph"):
        ce.as_graph(Path(("x", "y")))
