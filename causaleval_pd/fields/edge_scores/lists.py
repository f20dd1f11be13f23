"""Lists of scored edges as matrices: tables with one edge per row, and graphs of networkx with one number per edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import shown
from ...graphs.edge_marks import is_no_arrow
from ...graphs.formats.edge_list import columns_of
from ...graphs.node_names import node_name
from ...graphs.weights import BOOTSTRAP, as_floats, is_p_value, is_rank, refuse_groups, unread_numbers


def read_list(cell: Any) -> pd.DataFrame | None:
    """Return source, target and score of each edge of a list, nodes of a graph in `attrs`; None for other cells."""
    names = columns_of(cell)
    if names is not None:
        _refuse_marks(cell.drop(columns=list(names[:2])))
        refuse_groups(cell, names)
        columns = _of_numbers(cell, [*names, "lag"])
        return _checked(cell, list(names[:2]), columns)
    if not (hasattr(cell, "is_directed") and hasattr(cell, "is_multigraph")):
        return None
    if cell.is_multigraph():
        raise ValueError("found a multigraph; a score is of one edge between two nodes, so make it a DiGraph")
    edges = [{"from": a, "to": b} | data for a, b, data in cell.edges(data=True)]
    table = pd.DataFrame(edges, columns=None if edges else ["from", "to", "weight"])
    columns = _of_numbers(table, ["from", "to"])
    if not cell.is_directed():
        # once each way
        table = pd.concat([table, table.rename(columns={"from": "to", "to": "from"})], ignore_index=True)
    edge_table = _checked(table, ["from", "to"], columns)
    edge_table.attrs["nodes"] = [node_name(node) for node in cell.nodes]
    return edge_table


def _refuse_marks(columns: pd.DataFrame) -> None:
    """Refuse edges that are no arrow to their second node; a minus alone is the sign of an effect."""
    for name in columns:
        for number, value in enumerate(columns[name].tolist(), 1):
            if value != "-" and is_no_arrow(name, value):
                raise ValueError(
                    f"edge {number}: found {value!r:.60} in the column {name!r:.60}; a score is of an arrow from the "
                    "first node to the second: list an edge without direction once each way, and drop the column"
                )


def _shares_of_arcs(table: pd.DataFrame, columns: list[Hashable]) -> pd.DataFrame:
    """Return a table whose column share is the strength of an edge times the probability of its direction."""
    for name in columns:
        shares = as_floats(table[name])
        odd = np.flatnonzero(~shares.between(0, 1))
        if len(odd):
            value = table[name].iloc[int(odd[0])]
            raise ValueError(
                f"edge {odd[0] + 1}: found {shown(value)} in the column {name!r} beside that of "
                f"{next(other for other in columns if other != name)!r}, expected shares from 0 to 1; keep one of both"
            )
    return table.assign(share=np.prod([as_floats(table[name]) for name in columns], axis=0))


def _of_numbers(table: pd.DataFrame, read: Sequence[Hashable]) -> list[Any]:
    """Return the columns that may be scores: unlike in graphs, all of them may be 1."""
    ones = [name for name in table.columns if name not in read and pd.api.types.is_numeric_dtype(table[name])]
    return unread_numbers(table, read) or ones


def _checked(table: pd.DataFrame, ends: list[str], columns: list[Hashable]) -> pd.DataFrame:
    """Return nodes and scores of a table with one column of numbers."""
    if not columns:
        raise ValueError("found a list of edges without numbers; make it a column of graphs by graph_column")
    if {str(name).strip().lower() for name in columns} == {*BOOTSTRAP} and len(columns) == len(BOOTSTRAP):
        table, columns = _shares_of_arcs(table, columns), ["share"]
    if len(columns) > 1:
        raise ValueError(
            f"found a list of edges with the numbers {', '.join(map(repr, columns))}, expected one score per edge; "
            f"keep one, as in table[{[*ends, columns[0]]!r}]"
        )
    [name] = columns
    if is_p_value(name):
        raise ValueError(
            f"found a list of edges with the p-values {name!r}, of which small ones are likely edges; turn them, as by "
            f"table.assign(score=1 - table[{name!r}]).drop(columns={name!r})"
        )
    if is_rank(name):
        raise ValueError(
            f"found a list of edges with the ranks {name!r}, of which the first is the most likely edge; turn "
            f"them, as by table.assign(score=1 / (1 + table[{name!r}])).drop(columns={name!r}) with kind='score', or "
            "rename the column if larger numbers are more likely edges"
        )
    edge_table = pd.DataFrame({"source": table[ends[0]], "target": table[ends[1]]}).map(node_name)
    edge_table["score"] = as_floats(table[name]).to_numpy(np.float64)
    odd = np.flatnonzero(edge_table["score"].isna())
    if len(odd):
        value = table[name].iloc[int(odd[0])]
        raise ValueError(f"edge {odd[0] + 1}: found {value!r:.60} in the column {name!r}, expected a number")
    again = np.flatnonzero(edge_table.duplicated(["source", "target"]))
    if len(again):
        source, target = edge_table.iloc[int(again[0]), :2]
        raise ValueError(f"edge {again[0] + 1}: found {source} -> {target} twice in a list of edges; keep one score")
    return edge_table


def matrix_of_list(
    table: pd.DataFrame, names: tuple[str, ...] | None, kind: str | None, *, symmetric: bool
) -> pd.DataFrame:
    """Return the matrix of a list of edges, 0 where it has none; `symmetric` copies scores that stand once per pair."""
    listed = table.attrs.get("nodes") or pd.unique(table[["source", "target"]].to_numpy().ravel()).tolist()
    nodes = sorted(listed) if names is None else list(names)
    unknown = sorted({*listed} - {*nodes})
    if unknown:
        raise ValueError(f"the list has the node {unknown[0]!r}, which is not among {nodes[:10]} (nodes=)")
    n_pairs = len(nodes) * (len(nodes) - 1) // (2 if symmetric else 1)
    if kind == "score" and (table["score"] < 0).any() and len(table) < n_pairs:
        raise ValueError(
            f"found the score {table['score'].min():g} below 0 in a list that lacks some pairs, which would have the "
            "score 0; list every pair, or pass kind='weight' if the magnitude ranks edges"
        )
    matrix = table.pivot(index="source", columns="target", values="score").reindex(index=nodes, columns=nodes)
    matrix = matrix.rename_axis(index=None, columns=None)
    return (matrix.combine_first(matrix.T) if symmetric else matrix).fillna(0.0)
