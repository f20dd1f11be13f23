"""Columns of packed networks: made from cells of any known format, checked, unpacked."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.cells import pack_rows, rows_of
from ....contract.checks import name_row
from ....graphs.column import graph_column, is_graph_column
from ....graphs.packing import as_packed, is_packed
from .formats import is_network, read_network
from .network import Network, check_parameters
from .pairs import Networks
from .structure import FORMAT, Structure, read_head, split_cell

__all__ = ["as_network", "network_column"]

_FIRST_CELLS = 100


def as_network(value: Any) -> Network:
    """Read one network in any format of `network_column`.

    Parameters
    ----------
    value : network
        A cell as in `network_column`.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network.

    Raises
    ------
    TypeError
        If the format is unknown.
    ValueError
        If it is not well-formed; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.as_network({"A": {"parents": [], "prob": [.3, .7]},
    ...                "B": {"parents": ["A"], "prob": [[.9, .2], [.1, .8]]}})
    DiscreteNetwork(2 nodes, 1 arcs: A -> B)
    """
    return read_network(value)


def network_column(values: Any, *, index: Any = None) -> pd.Series:
    """Make a column of packed networks.

    Parameters
    ----------
    values : Series, list or other sequence
        One network per row: `DiscreteNetwork`, `GaussianNetwork`, packed bytes, pgmpy and pyagrum networks, fitted
        networks of bnlearn as dicts (`{node: {"parents": [...], "prob": table}}`, or "coefficients" and "sd"), paths of
        BIF files. None, NaN and pd.NA stay missing.
    index : Index, optional
        Of the result; default that of `values`.

    Returns
    -------
    Series
        Canonical bytes, ``pd.ArrowDtype(pa.large_binary())``. Equal networks have equal bytes, so ``==``, ``groupby``,
        ``merge``, Parquet and dask work on the column.

    Raises
    ------
    TypeError, ValueError
        If a cell is not a well-formed network; names the row and the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": []}, {"A": [.3, .7]})
    >>> ce.network_column([network, None]).isna().tolist()
    [False, True]
    """
    column = coerce_networks(rows_of(values, index, "networks"))
    unpack_networks(column)
    return column


def coerce_networks(series: pd.Series, column: Hashable | None = None) -> pd.Series:
    """Return a column of a user's table as packed networks; `unpack_networks` checks those that are packed."""
    if is_packed(series):
        return as_packed(series)
    return pack_rows(series, lambda row, cell: read_network(cell).to_bytes(), column)


def is_network_column(series: pd.Series) -> bool:
    """Check by dtype and first cells whether a column looks like cells of `network_column`, without paths."""
    if not (is_packed(series) or series.dtype == object):
        return False
    if is_packed(series):
        series = as_packed(series)
    cells = series.dropna().iloc[:_FIRST_CELLS].tolist()
    if not cells:
        return is_packed(series)
    cell = cells[0]
    return FORMAT.holds(cell) if isinstance(cell, bytes) else is_network(cell)


def unpack_networks(series: pd.Series) -> tuple[Networks, NDArray[np.int64]]:
    """Decode and check distinct cells of canonical bytes: networks, and which of them a row holds, -1 for none."""
    codes, distinct = pd.factorize(series)
    cells = distinct.tolist()

    def where(cell: int) -> str:
        return name_row(int(np.argmax(codes == cell)), series.index, series.name)

    heads: dict[bytes, list[int]] = {}
    tails = []
    for at, cell in enumerate(cells):
        try:
            head, tail = split_cell(cell)
        except ValueError as error:
            raise ValueError(f"{where(at)}: {error}") from None
        heads.setdefault(head, []).append(at)
        tails.append(tail)
    structures: list[Structure] = []
    stacks = []
    structure, position = np.empty(len(cells), np.int64), np.empty(len(cells), np.int64)
    for head, members in heads.items():
        try:
            layout = read_head(head)
        except ValueError as error:
            raise ValueError(f"{where(members[0])}: {error}") from None
        for at in members:
            if len(tails[at]) != 8 * layout.size:
                raise ValueError(
                    f"{where(at)}: found {len(tails[at])} bytes of parameters, expected {8 * layout.size}; the cell is "
                    "damaged"
                )
        stack = np.frombuffer(b"".join(tails[at] for at in members), "<f8").reshape(len(members), layout.size)
        check_parameters(layout, stack, lambda row, members=members: where(members[row]))
        structure[members], position[members] = len(structures), np.arange(len(members))
        structures.append(layout)
        stacks.append(stack)
    return Networks(structures, stacks, structure, position), codes.astype(np.int64)


def graphs_of_networks(series: pd.Series) -> pd.Series:
    """Return the DAGs of packed networks, missing where they are; packed graphs are returned as they are."""
    if is_graph_column(series) and not is_network_column(series):
        return series
    networks, codes = unpack_networks(series)
    edges = [[(one.nodes[a], one.nodes[b]) for a, b in sorted(one.arcs)] for one in networks.structures]
    graphs = graph_column(edges, nodes=[list(one.nodes) for one in networks.structures], kind="dag")
    at = np.append(networks.structure, -1)[codes]
    taken = graphs.array.take(at, allow_fill=True)
    return pd.Series(taken, index=series.index, name=series.name)
