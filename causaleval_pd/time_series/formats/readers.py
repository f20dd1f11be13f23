"""The formats of lagged graphs by name, how a cell's format is recognised, and what options of reading do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import refuse_masked
from ...contract.encoding import AmbiguousEncodingError
from ..cells.lagged_graph import LaggedGraph
from . import arrays, objects, tables
from .links import Links, Presence, Weights

__all__ = ["ENCODINGS", "WEIGHTS", "Presence", "Reading", "check_masks", "find_weights", "read"]


@dataclass(frozen=True)
class Reading:
    """Options of reading; see `lagged_column`."""

    encoding: str | None
    kind: str | None
    min_lag: int | None
    max_lag: int | None
    first_lag: int | None
    presence: Presence
    conflict: str

    def graph(
        self, names: list[str], codes: NDArray[np.uint8], min_lag: int, nodes: list[str] | None, *, is_open: bool
    ) -> LaggedGraph:
        """Make a graph of codes whose variables are `names`; `nodes` are all of them, where they are given."""
        if nodes is not None:
            unknown = [name for name in names if name not in nodes]
            lacking = [name for name in nodes if name not in names]
            if unknown or (lacking and not is_open):
                raise ValueError(
                    f"has the variables {names[:10]}, but nodes= has "
                    + (f"no {unknown[0]!r}" if unknown else f"also {lacking[0]!r}")
                )
            at = [nodes.index(name) for name in names]
            wide = np.zeros((len(codes), len(nodes), len(nodes)), np.uint8)
            wide[:, np.array(at, int)[:, None], np.array(at, int)] = codes
            names, codes = nodes, wide
        max_lag = len(codes) - 1 if self.max_lag is None else self.max_lag
        beyond = np.argwhere(codes[max_lag + 1 :])
        if len(beyond):
            lag, i, j = beyond[0].tolist()
            raise ValueError(
                f"has the link {names[i]!r} -> {names[j]!r} at lag {lag + max_lag + 1}, beyond max_lag={max_lag}"
            )
        searched = np.zeros((max_lag + 1, *codes.shape[1:]), np.uint8)
        searched[: len(codes)] = codes[: max_lag + 1]
        lowest = min_lag if self.min_lag is None else self.min_lag
        return LaggedGraph.of(names, searched, lowest, self.kind)


#: `read(cell, names, reading)` by the name of the format
Read = Callable[[Any, list[str] | None, Reading], Links]

ENCODINGS: dict[str, Read] = {
    "text": lambda cell, names, how: _not_text(cell),
    "tigramite": lambda cell, names, how: arrays.read_tigramite(
        cell, conflict=how.conflict, circles=how.kind == "ts_pag"
    ),
    "tigramite links": lambda cell, names, how: tables.read_link_dict(cell, names, how.presence),
    "VARLiNGAM": lambda cell, names, how: objects.varlingam_weights(cell, names).links(how.presence),
    "statsmodels VAR": lambda cell, names, how: objects.read_var(cell, how.presence),
    "statsmodels coefs": lambda cell, names, how: objects.coefs_weights(cell, names).links(how.presence),
    "causalnex": lambda cell, names, how: objects.read_causalnex(cell, how.presence),
    "DYNOTEARS": lambda cell, names, how: objects.dynotears_weights(cell, names).links(how.presence),
    "pywhy-graphs": lambda cell, names, how: objects.read_stationary(cell),
    "CausalRivers": lambda cell, names, how: objects.causal_rivers_weights(cell, names).links(how.presence),
    "link table": lambda cell, names, how: tables.read_table(cell, how.presence),
}


def _with_axes(axes: str) -> Read:
    return lambda cell, names, how: arrays.read_numbers(cell, axes, how.first_lag, how.presence)


ENCODINGS |= {axes: _with_axes(axes) for axes in arrays.AXES}

#: `weights(cell, names, first_lag, p_values)` of formats of numbers
ReadWeights = Callable[[Any, list[str] | None, int | None, bool], Weights]

WEIGHTS: dict[str, ReadWeights] = {
    "VARLiNGAM": lambda cell, names, first, p: objects.varlingam_weights(cell, names),
    "statsmodels VAR": lambda cell, names, first, p: objects.var_weights(cell, p_values=p),
    "statsmodels coefs": lambda cell, names, first, p: objects.coefs_weights(cell, names),
    "DYNOTEARS": lambda cell, names, first, p: objects.dynotears_weights(cell, names),
    "CausalRivers": lambda cell, names, first, p: objects.causal_rivers_weights(cell, names),
}


def _weights_with_axes(axes: str) -> ReadWeights:
    return lambda cell, names, first, p: arrays.axes_weights(cell, axes, first)


WEIGHTS |= {axes: _weights_with_axes(axes) for axes in arrays.AXES}

#: formats that are recognised by their cells
_RECOGNISED: dict[str, Callable[[Any], bool]] = {
    "tigramite": arrays.is_strings,
    "link table": lambda cell: tables.is_table(cell) or tables.is_path(cell),
    "statsmodels VAR": objects.is_var,
    "tigramite links": tables.is_link_dict,
    "VARLiNGAM": objects.is_varlingam,
    "causalnex": objects.is_lagged_networkx,
    "pywhy-graphs": objects.is_stationary_graph,
}


#: what a format that is named reads, where a cell is not an array
_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "link table": (
        "a DataFrame, a mapping of columns or a path",
        lambda cell: isinstance(cell, (pd.DataFrame, Mapping)) or tables.is_path(cell),
    ),
    "tigramite links": ("a mapping", lambda cell: isinstance(cell, Mapping)),
    "causalnex": ("a networkx graph", objects.has_edges),
    "pywhy-graphs": ("a graph", objects.is_stationary_graph),
}


def read(cell: Any, names: list[str] | None, how: Reading) -> Links:
    """Read a cell in the format that is named, or that its type shows."""
    check_masks(cell)
    encoding = how.encoding or find_encoding(cell)
    expected, fits = _TYPES.get(encoding, ("", lambda cell: True))
    if not fits(cell):
        raise TypeError(f"encoding={encoding!r} reads {expected}, found {_described(cell)}")
    return ENCODINGS[encoding](cell, names, how)


def check_masks(cell: Any) -> None:
    """Refuse arrays, and sequences of arrays, with masked values."""
    for array in cell if isinstance(cell, (list, tuple)) else [cell]:
        of_marks = isinstance(array, np.ndarray) and array.dtype.kind == "U"
        expected, fill = ("a mark", "''") if of_marks else ("a number", "0")
        refuse_masked(array, expected, f"array.filled({fill}) where no link is meant")


def find_encoding(cell: Any) -> str:
    """Return the name of a cell's format, or raise an error that lists the formats."""
    for name, recognises in _RECOGNISED.items():
        if recognises(cell):
            return name
    if isinstance(cell, (np.ndarray, list, tuple)):
        raise AmbiguousEncodingError(
            f"found {_described(cell)}; the axes of arrays differ from tool to tool: pass encoding= as one of "
            f"{', '.join(map(repr, ENCODINGS))}"
        )
    raise TypeError(f"found {type(cell).__name__}, which is not a lagged graph in a known format; see lagged_column")


def find_weights(cell: Any) -> str:
    """Return the name of the format of a cell of numbers, or raise an error that lists the formats."""
    name = find_encoding(cell)
    if name not in WEIGHTS:
        raise TypeError(f"found {_described(cell)}, which has no scores of all links; expected {', '.join(WEIGHTS)}")
    return name


def _described(cell: Any) -> str:
    if isinstance(cell, np.ndarray):
        return f"an array of dtype {cell.dtype} and shape {cell.shape}"
    return f"a {type(cell).__name__}" + (f" of {len(cell)}" if isinstance(cell, (list, tuple)) else "")


def _not_text(cell: Any) -> Links:
    raise TypeError(f"encoding='text' reads strings, found {type(cell).__name__}")
