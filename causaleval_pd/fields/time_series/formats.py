"""Formats of lagged graphs: arrays and objects of other tools, tables and mappings of links, recognised or named."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing
from ...contract.checks import check_choice, check_known, check_number, check_whole, refuse_masked, shown
from ...contract.encoding import AmbiguousEncodingError
from ...graphs.edge_marks import MARKS, MARKS_OF_WORD, marks_of
from ...graphs.formats.edge_list import edge_columns, refuse_unread
from ...graphs.formats.graph_text import is_tetrad, read_tetrad
from ...graphs.kernels.planes import CIRCLE
from ...graphs.node_names import node_name
from ...graphs.weights import as_floats, is_rank, refuse_numbers
from .cells import (
    CODE_OF_SIGN,
    DIRECTED,
    KINDS,
    MAX_LAG,
    TURNED,
    UNDIRECTED,
    LaggedGraph,
    Links,
    code,
    codes_of_tails,
    collect,
    is_plain,
    links_to_t,
    read_lagged_text,
)

__all__ = ["ENCODINGS", "WEIGHTS", "Reading", "Weights", "read", "read_weights"]


@dataclass(frozen=True)
class Reading:
    """Options of reading; see `lagged_column`."""

    encoding: str | None = None
    kind: str | None = None
    min_lag: int | None = None
    max_lag: int | None = None
    first_lag: int | None = None
    threshold: float | None = None
    alpha: float | None = None
    conflict: str = "raise"

    def __post_init__(self) -> None:
        if self.encoding is not None:
            check_known(self.encoding, ENCODINGS, "encoding of lagged graphs")
        check_choice(self.kind, (*KINDS, None), "kind")
        check_choice(self.conflict, ("raise", "circle"), "conflict")
        for name, most in (("min_lag", 1), ("first_lag", 1), ("max_lag", MAX_LAG)):
            if getattr(self, name) is not None:
                check_whole(getattr(self, name), name, most=most)
        if self.threshold is not None and self.alpha is not None:
            raise ValueError("pass threshold= for weights or alpha= for p-values, not both")
        for name, interval in (("threshold", "[0, inf)"), ("alpha", "(0, 1)")):
            if getattr(self, name) is not None:
                check_number(getattr(self, name), name, interval)

    @property
    def cuts(self) -> bool:
        """Whether links are weights above a threshold or p-values up to a level; else numbers are 0 and 1."""
        return self.threshold is not None or self.alpha is not None

    @property
    def changes_graphs(self) -> bool:
        """Whether options state the class or the searched lags, also of graphs that are read already."""
        return (self.kind, self.min_lag, self.max_lag) != (None, None, None)

    def check_cut(self, found: str, *, p_values: bool) -> None:
        """Refuse to cut p-values as weights are cut, and weights as p-values."""
        if p_values and self.alpha is None:
            raise ValueError(f"found {found}, which are p-values: small ones are links; pass alpha=, not threshold=")
        if not p_values and self.alpha is not None:
            raise ValueError(f"found {found}, which are weights: large ones are links; pass threshold=, not alpha=")

    def present(self, values: Any) -> NDArray[np.bool_]:
        """Return which numbers are links."""
        numbers = as_array(values)
        if numbers.dtype == bool:
            return numbers
        if not np.isfinite(numbers).all():
            place = tuple(np.argwhere(~np.isfinite(numbers))[0].tolist())
            raise ValueError(
                f"found {float(numbers[place])} in cell {place}; a missing number is neither a link nor none: lags "
                "that were not searched are left out by min_lag= and max_lag="
            )
        if self.alpha is not None:
            if ((numbers < 0) | (numbers > 1)).any():
                raise ValueError("alpha= expects p-values between 0 and 1; cut weights by threshold=")
            return np.asarray(numbers <= self.alpha)
        if self.threshold is not None:
            return np.asarray(np.abs(numbers) > self.threshold)
        if not np.isin(numbers, (0, 1)).all():
            raise ValueError(
                "found weights or p-values; links are those of an absolute weight above threshold= (0 keeps every "
                "number that is not 0), or of a p-value up to alpha="
            )
        return numbers != 0

    def graph(self, links: Links, nodes: list[str] | None) -> LaggedGraph:
        """Make a graph of the links of a cell; `nodes` are all variables, where they are given."""
        n_lags, d, _ = links.codes.shape
        names = links.names
        if names is None:
            names = [str(i) for i in range(d)] if nodes is None else nodes
            if len(names) != d:
                raise ValueError(f"found an array for {d} variables, but nodes= has {len(names)} names")
        every = names if nodes is None else nodes
        unknown, lacking = ([x for x in some if x not in others] for some, others in ((names, every), (every, names)))
        if unknown or (lacking and not links.is_open):
            difference = f"no {unknown[0]!r}" if unknown else f"also {lacking[0]!r}"
            raise ValueError(f"has the variables {names[:10]}, but nodes= has {difference}")
        max_lag = n_lags - 1 if self.max_lag is None else self.max_lag
        beyond = np.argwhere(links.codes[max_lag + 1 :])
        if len(beyond):
            lag, i, j = beyond[0].tolist()
            raise ValueError(
                f"has the link {names[i]!r} -> {names[j]!r} at lag {lag + max_lag + 1}, beyond max_lag={max_lag}"
            )
        at = np.array([every.index(name) for name in names], int)
        codes = np.zeros((max_lag + 1, len(every), len(every)), np.uint8)
        codes[:n_lags, at[:, None], at] = links.codes[: max_lag + 1]
        return LaggedGraph.of(every, codes, links.min_lag if self.min_lag is None else self.min_lag, self.kind)


def as_array(values: Any) -> NDArray[Any]:
    """Return numbers as an array, and refuse other values and rows of different lengths."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"found a {type(values).__name__} whose rows do not form an array: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, found dtype {array.dtype}")
    return array


def as_numbers(column: pd.Series, what: str) -> NDArray[np.float64]:
    """Return a column of a table as numbers, missing ones as NaN."""
    try:
        numbers = pd.to_numeric(column)
        if numbers.dtype.kind == "c":
            raise TypeError("they are complex")
        return numbers.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must hold numbers: {error}") from None


def check_lag(lag: Any, where: str) -> int:
    """Return a lag as an integer; it counts steps back, so that it is not negative."""
    if isinstance(lag, (bool, np.bool_)) or is_missing(lag) or lag not in range(MAX_LAG + 1):
        raise ValueError(f"{where}: a lag is a whole number from 0 to {MAX_LAG:,}, found {shown(lag)}")
    return int(lag)


def is_strings(value: Any) -> bool:
    """Return whether a cell is an array of strings with an axis of lags."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.ndim == 3


def read_tigramite(value: Any, names: list[str] | None, how: Reading) -> Links:
    """Read strings (d, d, L + 1); `o-o` at lag 0 is undirected in a graph without other circles, unless a ts_pag."""
    graph = np.asarray(value)
    if graph.dtype.kind != "U" or graph.ndim != 3 or graph.shape[0] != graph.shape[1] or not graph.shape[2]:
        raise ValueError(
            f"found an array of dtype {graph.dtype} and shape {graph.shape}, expected strings of shape (d, d, lags + 1)"
        )
    first = how.first_lag or 0
    codes = np.zeros((first + graph.shape[2], *graph.shape[:2]), np.uint8)
    for sign in np.unique(graph).tolist():
        cells = graph == sign
        try:
            codes[first:][cells.transpose(2, 0, 1)] = code_of_string(sign, how.conflict)
        except ValueError as error:
            raise ValueError(f"cell {tuple(np.argwhere(cells)[0].tolist())}: {error}") from None
    if how.kind != "ts_pag":
        lines = codes.copy()
        lines[0][codes[0] == CODE_OF_SIGN["o-o"]] = UNDIRECTED
        if is_plain(lines):
            codes = lines
    return Links(None, codes, first)


def code_of_string(sign: str, conflict: str = "raise") -> int:
    """Return the code of a string of tigramite, as '-->'; 0 of the empty one."""
    plain = sign.replace("x", "o") if conflict == "circle" else sign
    if not plain or plain in MARKS:
        return code(*MARKS[plain]) if plain else 0
    why = ""
    if "x" in sign:
        why = "; the orientations of this link conflict: pass conflict='circle' to read conflicting marks as circles"
    elif "+" in sign:
        why = "; '->' and '<->' of two variables are two links, which a cell cannot hold"
    raise ValueError(f"found {sign!r}, expected '' or one of {', '.join(map(repr, MARKS))}{why}")


def write_tigramite(codes: NDArray[np.uint8], *, lines: bool) -> NDArray[Any]:
    """Return codes (L + 1, d, d) as strings (d, d, L + 1); undirected links are "---" with `lines`, else "o-o"."""
    words = np.full(16, "", "<U3")
    for sign, marks in MARKS.items():
        words[code(*marks)] = sign
    words[UNDIRECTED] = "---" if lines else "o-o"
    return np.asarray(words[codes.transpose(1, 2, 0)])


def is_table(value: Any) -> bool:
    """Return whether a cell is a table of links, a mapping of its columns, or the path of a CSV file."""
    is_columns = isinstance(value, (pd.DataFrame, Mapping)) and "lag" in value and edge_columns(value) is not None
    return is_columns or isinstance(value, os.PathLike)


def read_table(value: Any, names: list[str] | None, how: Reading) -> Links:
    """Read links, one per row: source, target, lag, and a link ("->") or a weight where the table has these."""
    table = _read_csv(value) if isinstance(value, os.PathLike) else value
    if isinstance(table, Mapping):
        table = pd.DataFrame({str(name): list(values) for name, values in table.items()})
    weights = [name for name in ("weight", "p", "pvalue", "p_value") if name in table.columns]
    source, target, _ = edge_columns(table.columns) or ("source", "target", "")
    lacking = [name for name in (source, target, "lag") if name not in table.columns]
    if lacking:
        raise ValueError(f"a table of links lacks {', '.join(lacking)}; its columns: {list(table.columns)}")
    refuse_unread(table, (source, target, "link"), ["lag", *weights], explain=_explain_numbers)
    if len(weights) > 1:
        raise ValueError(f"a table of links has the columns {' and '.join(weights)}; leave one of them")
    if how.cuts and not weights:
        raise ValueError("threshold= and alpha= need a column 'weight' or 'p' in the table of links")
    numbers, present = np.ones(len(table)), np.ones(len(table), bool)
    if weights:
        how.check_cut(f"the column {weights[0]!r} of a table of links", p_values=weights[0] != "weight")
        numbers = as_numbers(table[weights[0]], f"column {weights[0]!r} of a table of links")
        present = how.present(numbers)
    signs = table["link"].tolist() if "link" in table.columns else ["->"] * len(table)

    def links() -> Iterator[tuple[Hashable, Hashable, int, int]]:
        known: dict[tuple[str, str, int, int], float] = {}
        columns = [table[name].tolist() for name in (source, target, "lag")]
        rows = zip(*columns, signs, present, numbers.tolist(), strict=True)
        for number, (cause, effect, lag, sign, is_link, weight) in enumerate(rows):
            if is_missing(cause) or is_missing(effect):
                raise ValueError(f"link {number}: the source or the target is missing")
            marks = marks_of(sign)
            if is_link and marks is None:
                raise ValueError(f"link {number}: found the link {sign!r}, expected one of {', '.join(CODE_OF_SIGN)}")
            step, of_link = check_lag(lag, f"link {number}"), code(*marks) if marks else 0
            first = known.setdefault((node_name(cause), node_name(effect), step, of_link), weight)
            if not step:
                # the same link, seen from its other end
                known[node_name(effect), node_name(cause), step, int(TURNED[of_link])] = first
            if first != weight:
                raise ValueError(
                    f"link {number}: found {cause} {sign} {effect} at lag {step} twice, with {weights[0]} {first} "
                    f"and {weight}; keep one"
                )
            # a link that is cut was searched for all the same
            yield cause, effect, step, of_link if is_link else 0

    return collect(links())


def _explain_numbers(table: pd.DataFrame, names: Sequence[Hashable], read: Sequence[Hashable]) -> str:
    """Return a message for columns of numbers in a table of links."""
    name, first = names[0], table[names[0]].dropna().iloc[0]
    message = (
        f"found numbers in the column {name!r} of a table of links (first {first!s:.20}), which a graph does not keep; "
        "drop the column if every row is a link"
    )
    if is_rank(name):
        middle = as_floats(table[name]).median()
        return f"{message}, or keep the first ranks, as table[table[{name!r}] <= {middle:.0f}].drop(columns={name!r})"
    return f"{message}, or call it 'weight' and pass threshold=, or 'p' and pass alpha="


def _read_csv(path: Any) -> pd.DataFrame:
    try:
        return pd.read_csv(path)
    except pd.errors.EmptyDataError:
        raise ValueError(
            f"the file {os.fspath(path)!r} is empty; write a graph without links as the header source,target,lag, and "
            "a failed run as a missing value (None)"
        ) from None


def is_link_dict(value: Any) -> bool:
    """Return whether a cell is a dict of effects with lists of ((cause, -lag), ...), as tigramite has them."""
    if not isinstance(value, Mapping) or not value:
        return False
    return all(
        isinstance(links, (list, tuple, Mapping)) and all(isinstance(entry, tuple) and entry for entry in links)
        for links in value.values()
    )


def read_link_dict(value: Any, names: list[str] | None, how: Reading) -> Links:
    """Read links of tigramite by effect, or parents, or `{effect: {(cause, -lag): "-->"}}`, over names or positions."""

    def named(label: Any) -> Any:
        if names is None or not isinstance(label, (int, np.integer)):
            return label
        if not 0 <= label < len(names):
            raise ValueError(f"found variable {label}, but nodes= has {len(names)} names")
        return names[label]

    def links() -> Iterator[tuple[Hashable, Hashable, int, int]]:
        for effect, entries in value.items():
            if not isinstance(entries, (list, tuple, Mapping)):
                raise ValueError(f"effect {effect!r}: expected a list of ((cause, -lag), ...), found {shown(entries)}")
            for entry in entries:
                place, *weights = entry if isinstance(entry, tuple) and entry else (None,)
                # parents are listed without coefficients, as the keys of mappings are
                if isinstance(entries, Mapping) or (len(weights) == 1 and not isinstance(place, tuple)):
                    place, weights = entry, []
                if not (isinstance(place, tuple) and len(place) == 2):
                    raise ValueError(f"effect {effect!r}: expected ((cause, -lag), ...), found {shown(entry)}")
                cause, step = place
                if not isinstance(step, (int, np.integer)) or step > 0:
                    raise ValueError(
                        f"effect {effect!r}: the link from {cause!r} has the step {step!r}, expected 0, -1, ..."
                    )
                number = code_of_string(str(entries[entry])) if isinstance(entries, Mapping) else DIRECTED
                if weights and not isinstance(weights[0], (int, float, np.integer, np.floating)):
                    raise ValueError(f"effect {effect!r}: expected a coefficient, found {shown(weights[0])}")
                if weights:
                    how.check_cut(f"coefficients of the effect {effect!r}", p_values=False)
                    if not (how.present(weights[:1])[0] if how.cuts else weights[0] != 0):
                        number = 0
                yield named(cause), named(effect), check_lag(-step, f"effect {effect!r}"), number

    return collect(links(), [(name, 0) for name in (*(names or ()), *map(named, value))])


_LAGGED_ROW = re.compile(r"L(\d+)\.(.+)", re.DOTALL)
_LAG_NODE = re.compile(r"(.+)_lag(\d+)", re.DOTALL)
_TETRAD_NODE = re.compile(r"(.+):(\d+)", re.DOTALL)


def read_tetrad_lags(value: Any, names: list[str] | None, how: Reading) -> Links:
    """Read Tetrad's text of a graph over nodes X, X:1, ... (X at t, t - 1)."""
    graph = read_tetrad(value)
    labels = [str(label) for label in graph.labels or ()]
    parts = [_TETRAD_NODE.fullmatch(label) for label in labels]
    places = [(x[1], int(x[2])) if x else (label, 0) for x, label in zip(parts, labels, strict=True)]
    return collect(links_to_t(places, graph.ends, copies=True), places)


def _nodes(value: Any) -> list[Any]:
    """Return the nodes of a graph object as those of networkx, none where the cell is not one."""
    if isinstance(value, pd.DataFrame) or not (hasattr(value, "nodes") and hasattr(value, "edges")):
        return []
    nodes = value.nodes() if callable(value.nodes) else value.nodes
    return list(nodes) if isinstance(nodes, Iterable) else []


def _place(node: Any) -> tuple[Hashable, int] | None:
    """Return variable and lag of a node X_lag1, as causalnex has them, or (X, -1), as pywhy-graphs; None of others."""
    if isinstance(node, str):
        parts = _LAG_NODE.fullmatch(node)
        return (parts[1], int(parts[2])) if parts else None
    is_time = isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], (int, np.integer)) and node[1] <= 0
    return (node[0], -int(node[1])) if is_time else None


def is_over_time(value: Any) -> bool:
    """Return whether a cell is a graph object whose nodes are variables at lags."""
    nodes = _nodes(value)
    return bool(nodes) and None not in map(_place, nodes)


def read_over_time(value: Any, names: list[str] | None, how: Reading) -> Links:
    """Read a graph over variables at lags; edges of type "circle" are marks at their second node."""
    at = {node: i for i, node in enumerate(_nodes(value))}
    edges = value.edges() if callable(value.edges) else value.edges
    if not isinstance(edges, dict):
        links = []
        for a, b, data in value.edges(data=True):
            refuse_numbers([data], ("weight",))
            if "weight" in data:
                how.check_cut("the attribute 'weight' of edges", p_values=False)
            # an edge without a weight is a link, unless weights are cut
            if how.present([data.get("weight", np.nan if how.cuts else 1)])[0]:
                links.append((a, b))
        edges = {"directed" if value.is_directed() else "undirected": links}
    unknown = [kind for kind, some in edges.items() if kind not in (*MARKS_OF_WORD, "circle") and len(some)]
    if unknown:
        raise ValueError(f"found {unknown[0]} edges, expected {', '.join(MARKS_OF_WORD)} and circle")
    circles = {(at[a], at[b]) for a, b in edges.get("circle", ())}
    ends = [
        (at[a], at[b], CIRCLE if (at[b], at[a]) in circles else at_a, CIRCLE if (at[a], at[b]) in circles else at_b)
        for kind, (at_a, at_b) in MARKS_OF_WORD.items()
        for a, b in edges.get(kind, ())
    ]
    joined = {pair for a, b, _, _ in ends for pair in ((a, b), (b, a))}
    ends += [(*pair, CIRCLE, CIRCLE) for pair in circles - joined]
    places = [place for place in map(_place, at) if place]
    # graphs of pywhy-graphs repeat their edges at all times
    return collect(links_to_t(places, ends, copies=not isinstance(next(iter(at)), str)), places)


class Weights(NamedTuple):
    """Numbers of all links between variables, as weights or p-values."""

    #: names of the variables; None where the cell has none
    names: list[str] | None
    #: (lags, d, d): number of the link i at t - lag -> j at t in cell (lag - min_lag, i, j)
    values: NDArray[Any]
    #: lag of the first numbers
    min_lag: int = 0


def is_var(value: Any) -> bool:
    """Return whether a cell is a result of statsmodels' VAR, or its table of parameters or p-values."""
    if isinstance(value, pd.DataFrame):
        return any(_LAGGED_ROW.fullmatch(str(label)) for label in value.index)
    return all(hasattr(value, name) for name in ("k_ar", "names", "params", "pvalues"))


def var_weights(value: Any, *, p_values: bool) -> Weights:
    """Read parameters or p-values of a VAR: a row "L2.X" is the cause X at t - 2, a column the effect."""
    if not isinstance(value, pd.DataFrame):
        numbers = np.asarray(value.pvalues if p_values else value.params)
        labels = [f"L{lag}.{name}" for lag in range(1, value.k_ar + 1) for name in value.names]
        # rows of constants and trends stand first
        value = pd.DataFrame(numbers[len(numbers) - len(labels) :], index=labels, columns=list(value.names))
    columns = [str(name) for name in value.columns]
    parts = [_LAGGED_ROW.fullmatch(str(label)) for label in value.index]
    rows = {(int(x[1]), x[2]): i for i, x in enumerate(parts) if x and x[2] in columns}
    wanted = list(product(range(1, max((lag for lag, _ in rows), default=1) + 1), columns))
    lacking = [f"L{lag}.{name}" for lag, name in wanted if (lag, name) not in rows]
    if lacking or not columns:
        raise ValueError(
            f"the rows of a VAR are named 'L1.{columns[0] if columns else 'X'}' and so on for every variable; "
            f"lacking: {', '.join(lacking[:5]) or 'all'}"
        )
    numbers = np.stack([as_numbers(value.iloc[:, i], f"column {name!r}") for i, name in enumerate(columns)], axis=1)
    return Weights(columns, numbers[[rows[place] for place in wanted]].reshape(-1, len(columns), len(columns)), 1)


def is_pair(value: Any) -> bool:
    """Return whether a cell is a pair, as (W, A) of DYNOTEARS is."""
    return isinstance(value, (tuple, list)) and len(value) == 2


def dynotears_weights(value: Any) -> Weights:
    """Read the matrices (W, A) of DYNOTEARS: W (d, d) and A (lags d, d) below one another have (cause, effect)."""
    within, lagged = (np.atleast_2d(as_array(one)) for one in value)
    d = len(within)
    if within.shape != (d, d) or not d or lagged.shape[1:] != (d,) or len(lagged) % d:
        raise ValueError(
            f"found W of shape {within.shape} and A of shape {lagged.shape}, expected (d, d), (lags * d, d)"
        )
    return Weights(None, np.concatenate([within[None], lagged.reshape(-1, d, d)]))


#: axes of arrays of numbers
AXES = ("cause,effect,lag", "effect,cause,lag", "lag,cause,effect", "lag,effect,cause")
#: axes of formats of arrays, and the lag of the first slice as tools have it, None where `first_lag` must tell
_ARRAYS: dict[str, tuple[str, int | None]] = {
    "VARLiNGAM": ("lag,effect,cause", 0),
    "statsmodels coefs": ("lag,effect,cause", 1),
    "CausalRivers": ("effect,cause,lag", 1),
    **{axes: (axes, None) for axes in AXES},
}
#: formats of numbers that may be p-values; those of others are weights
_P_VALUES = ("statsmodels VAR", *AXES)
#: formats of numbers
WEIGHTS = ("statsmodels VAR", "DYNOTEARS", *_ARRAYS)


def _weights(encoding: str, cell: Any, first_lag: int | None, *, p_values: bool) -> Weights:
    """Read the numbers of a cell in a format of numbers."""
    if encoding not in _ARRAYS:
        return var_weights(cell, p_values=p_values) if encoding == "statsmodels VAR" else dynotears_weights(cell)
    axes, first = _ARRAYS[encoding]
    order = [axes.split(",").index(axis) for axis in ("lag", "cause", "effect")]
    array = as_array(getattr(cell, "adjacency_matrices_", cell))
    if array.ndim != 3 or array.shape[order[1]] != array.shape[order[2]]:
        raise ValueError(
            f"found an array of shape {array.shape}, expected ({axes}) with as many causes as effects; another "
            "encoding= may name its axes, and labels (d, d), which have no lags, are graphs: read them by graph_column"
        )
    first = first if first_lag is None else first_lag
    if first not in (0, 1):
        raise ValueError(
            f"encoding={axes!r} names the axes; pass first_lag=0 if the first slice along the lags holds "
            f"contemporaneous links, or first_lag=1 if it holds lag 1; found {first_lag!r}"
        )
    return Weights(None, array.transpose(order), first)


def _read_numbers(encoding: str, cell: Any, names: list[str] | None, how: Reading) -> Links:
    """Read the links of a format of numbers, an arc from the row at t - lag to the column at t each."""
    if encoding == "statsmodels VAR" and not (how.cuts or isinstance(cell, pd.DataFrame)):
        raise ValueError("a VAR has every link; pass alpha= to keep p-values up to it, or threshold= for weights")
    if encoding not in _P_VALUES:
        how.check_cut(f"numbers of {encoding}", p_values=False)
    variables, values, min_lag = _weights(encoding, cell, how.first_lag, p_values=how.alpha is not None)
    if not min_lag + len(values):
        raise ValueError(f"found an array of shape {values.shape}, without lags")
    if encoding in AXES and not min_lag and how.cuts:
        # tests and weights of a variable on itself at the same time mean nothing
        values = values.copy()
        np.einsum("ii->i", values[0])[:] = how.alpha is not None
    codes = np.zeros((min_lag + len(values), *values.shape[1:]), np.uint8)
    codes[min_lag:] = how.present(values) * np.uint8(DIRECTED)
    codes[:1] = codes_of_tails(codes[:1] > 0)
    return Links(variables, codes, min_lag)


class Format(NamedTuple):
    """How cells of a format are read and recognised."""

    #: `read(cell, names, how)`
    read: Callable[[Any, list[str] | None, Reading], Links]
    #: whether a cell is in the format, where none is named
    recognises: Callable[[Any], bool] | None = None
    #: what is read if the format is named, for messages, and whether a cell is that; default what is recognised
    expected: str = ""
    fits: Callable[[Any], bool] | None = None


#: in the order in which they are recognised
ENCODINGS: dict[str, Format] = {
    "tigramite": Format(read_tigramite, is_strings),
    "Tetrad text": Format(
        read_tetrad_lags, lambda cell: isinstance(cell, str) and is_tetrad(cell), "a text with the line 'Graph Nodes:'"
    ),
    "text": Format(lambda cell, names, how: read_lagged_text(cell), lambda cell: isinstance(cell, str), "strings"),
    "link table": Format(
        read_table,
        is_table,
        "a DataFrame, a mapping of columns or a path",
        lambda cell: isinstance(cell, (pd.DataFrame, Mapping, os.PathLike)),
    ),
    "statsmodels VAR": Format(
        partial(_read_numbers, "statsmodels VAR"),
        is_var,
        "the result of statsmodels' VAR(...).fit(), or its params or pvalues as a table with rows 'L1.X'; read coefs "
        "by encoding='statsmodels coefs'",
    ),
    "tigramite links": Format(read_link_dict, is_link_dict, "a mapping", lambda cell: isinstance(cell, Mapping)),
    "causalnex": Format(read_over_time, is_over_time, "a graph over nodes 'X_lag1'"),
    "pywhy-graphs": Format(read_over_time, is_over_time, "a graph over nodes (name, -lag)"),
    "DYNOTEARS": Format(partial(_read_numbers, "DYNOTEARS"), None, "the pair (W, A)", is_pair),
    **{name: Format(partial(_read_numbers, name)) for name in _ARRAYS},
}
ENCODINGS["VARLiNGAM"] = Format(partial(_read_numbers, "VARLiNGAM"), lambda cell: hasattr(cell, "adjacency_matrices_"))


def read(cell: Any, names: list[str] | None, how: Reading) -> Links:
    """Read a cell in the format that is named, or that its type shows."""
    name = find_encoding(cell, how.encoding)
    _check_first_lag(name, cell, how.first_lag)
    return ENCODINGS[name].read(cell, names, how)


def read_weights(cell: Any, encoding: str | None, first_lag: int | None, *, p_values: bool) -> Weights:
    """Read the numbers of a cell in the format that is named, or that its type shows."""
    name = find_encoding(cell, encoding)
    if name not in WEIGHTS:
        raise TypeError(f"found {_described(cell)}, which has no scores of all links; expected {', '.join(WEIGHTS)}")
    _check_first_lag(name, cell, first_lag)
    if p_values and name not in _P_VALUES:
        raise ValueError(
            f"found numbers of {name}, which are weights; name the axes of p-values, or leave out p_values=True"
        )
    return _weights(name, cell, first_lag, p_values=p_values)


def _check_first_lag(name: str, cell: Any, first_lag: int | None) -> None:
    """Refuse `first_lag` for cells that are no array of slices, or a model that has the lags of its slices."""
    is_model = name == "VARLiNGAM" and hasattr(cell, "adjacency_matrices_")
    if first_lag is not None and (is_model or name not in ("tigramite", *_ARRAYS)):
        raise ValueError(
            f"found first_lag={first_lag} with a cell in the format {name!r}, which names its lags; leave out "
            "first_lag="
        )


def find_encoding(cell: Any, named: str | None) -> str:
    """Return the name of a cell's format, or raise an error that lists the formats; refuse masked values."""
    for array in cell if isinstance(cell, (list, tuple)) else [cell]:
        of_marks = isinstance(array, np.ndarray) and array.dtype.kind == "U"
        expected, fill = ("a mark", "''") if of_marks else ("a number", "0")
        refuse_masked(array, expected, f"array.filled({fill}) where no link is meant")
    if named:
        form = ENCODINGS[named]
        fits = form.fits or form.recognises
        if form.expected and fits and not fits(cell):
            raise TypeError(f"encoding={named!r} reads {form.expected}, found {_described(cell)}")
        return named
    for name, form in ENCODINGS.items():
        if form.recognises and form.recognises(cell):
            return name
    if isinstance(cell, (np.ndarray, list, tuple)):
        raise AmbiguousEncodingError(
            f"found {_described(cell)}; the axes of arrays differ from tool to tool: pass encoding= as one of "
            f"{', '.join(map(repr, ENCODINGS))}"
        )
    if isinstance(cell, pd.DataFrame):
        raise TypeError(
            f"found a DataFrame with the columns {list(cell.columns)!r:.80}, expected a table of links with source, "
            "target and lag"
        )
    if isinstance(cell, Mapping) and is_strings(cell.get("graph")):
        raise TypeError("found a mapping with the value 'graph', as results of tigramite are; pass results['graph']")
    raise TypeError(f"found {type(cell).__name__}, which is not a lagged graph in a known format; see lagged_column")


def _described(cell: Any) -> str:
    if isinstance(cell, np.ndarray):
        return f"an array of dtype {cell.dtype} and shape {cell.shape}"
    if isinstance(cell, (list, tuple)):
        return f"a {type(cell).__name__} of {len(cell)}"
    nodes = _nodes(cell)
    return f"a {type(cell).__name__}" + (f" with the nodes {nodes[:3]!r:.60}" if nodes else "")
