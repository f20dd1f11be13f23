"""Formats of lagged graphs: arrays and objects of other tools, tables and mappings of links, recognised or named."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import check_choice, check_known, check_number, check_whole, refuse_masked, shown
from ...contract.encoding import AmbiguousEncodingError
from ...graphs.edge_marks import SHORT_SIGNS, forward, marks_of
from ...graphs.formats.edge_list import edge_columns, refuse_unread
from ...graphs.formats.graph_text import is_tetrad, read_tetrad
from ...graphs.kernels.planes import ARROW, CIRCLE, TAIL
from ...graphs.node_names import node_name
from ...graphs.weights import as_floats, is_rank, refuse_numbers
from .cells import (
    CODE_OF_SIGN,
    DIRECTED,
    KINDS,
    MAX_LAG,
    SIGN_OF_CODE,
    TURNED,
    UNDIRECTED,
    Codes,
    LaggedGraph,
    code,
    codes_of_tails,
    is_plain,
    read_lagged_text,
)

__all__ = ["ENCODINGS", "WEIGHTS", "Presence", "Reading", "check_masks", "find_weights", "read"]


class Links(NamedTuple):
    """One cell as it was read."""

    #: names of the variables; None where the cell has none
    names: list[str] | None
    #: (max_lag + 1, d, d): codes of links, variables in the order of `names`
    codes: Codes
    #: smallest lag that the format searches
    min_lag: int = 0
    #: whether variables without links may be missing from the names
    is_open: bool = False


class Presence(NamedTuple):
    """How numbers become links: above a threshold, or p-values up to a level; without either they are 0 and 1."""

    threshold: float | None = None
    alpha: float | None = None

    def check(self) -> None:
        """Refuse options that contradict each other or are not numbers."""
        if self.threshold is not None and self.alpha is not None:
            raise ValueError("pass threshold= for weights or alpha= for p-values, not both")
        if self.threshold is not None:
            check_number(self.threshold, "threshold", "[0, inf)")
        if self.alpha is not None:
            check_number(self.alpha, "alpha", "(0, 1)")

    def of(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Return which numbers are links."""
        numbers = as_array(values)
        if numbers.dtype == bool:
            return numbers
        if numbers.dtype.kind not in "iuf":
            raise TypeError(f"expected numbers, found dtype {numbers.dtype}")
        numbers = numbers.astype(np.float64)
        if not np.isfinite(numbers).all():
            place = tuple(np.argwhere(~np.isfinite(numbers))[0].tolist())
            raise ValueError(
                f"found {numbers[place]} in cell {place}; a missing number is neither a link nor none: lags that were "
                "not searched are left out by min_lag= and max_lag="
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


#: numbers are 0 and 1
UNCUT = Presence()


def as_array(values: Any) -> NDArray[Any]:
    """Return numbers as an array, and refuse rows of different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"found a {type(values).__name__} whose rows do not form an array: {error}") from None


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
    try:
        number = operator.index(lag) if not isinstance(lag, (float, np.floating)) else int(lag)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if isinstance(lag, (bool, np.bool_)) or number < 0 or number != lag or not 0 <= number <= MAX_LAG:
        raise ValueError(f"{where}: a lag is a whole number from 0 to {MAX_LAG:,}, found {shown(lag)}")
    return number


class Weights(NamedTuple):
    """Numbers of all links between variables, as weights or p-values."""

    #: names of the variables; None where the cell has none
    names: list[str] | None
    #: (max_lag + 1, d, d): number of the link i at t - lag -> j at t in cell (lag, i, j); NaN below `min_lag`
    values: NDArray[Any]
    #: smallest lag that has numbers
    min_lag: int = 0

    def links(self, presence: Presence) -> Links:
        """Return the links that the numbers show, an arc from the row at t - lag to the column at t each."""
        arcs = np.zeros(self.values.shape, np.bool_)
        arcs[self.min_lag :] = presence.of(self.values[self.min_lag :])
        if not len(arcs):
            raise ValueError(f"found an array of shape {arcs.shape}, without lags")
        codes = arcs * np.uint8(DIRECTED)
        codes[0] = codes_of_tails(arcs[:1])[0]
        return Links(self.names, codes, self.min_lag)


def stack_weights(
    value: Any, names: list[str] | None, what: str, order: tuple[int, int, int], first_lag: int = 0
) -> Weights:
    """Read an array of numbers whose axes in this order are (lag, cause, effect), the first slice of lag 0 or 1."""
    array = as_array(value)
    if array.ndim != 3 or array.shape[order[1]] != array.shape[order[2]]:
        raise ValueError(f"found an array of shape {array.shape}, expected {what}")
    values = array.transpose(order)
    if not first_lag:
        return Weights(names, values)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, found dtype {values.dtype}")
    unknown = np.full((1, *values.shape[1:]), np.nan)
    return Weights(names, np.concatenate([unknown, values.astype(np.float64)]), 1)


class Collector:
    """Links added one by one."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.position: dict[str, int] = {}
        self._links: dict[tuple[int, int, int], int] = {}
        for name in names:
            self.place(name)

    def place(self, label: Hashable) -> int:
        """Return the number of a variable."""
        return self.position.setdefault(node_name(label), len(self.position))

    def add(self, source: Hashable, target: Hashable, lag: int, sign: str) -> None:
        """Add a link; two opposite directed links at lag 0 are an undirected one."""
        i, j = self.place(source), self.place(target)
        if sign not in CODE_OF_SIGN:
            raise ValueError(f"found the link {sign!r}, expected one of {', '.join(CODE_OF_SIGN)}")
        if lag == 0 and i == j:
            raise ValueError(
                f"found a link at lag 0 from {source!r} to itself; a variable may cause itself at lags from 1 only"
            )
        self._set(lag, i, j, CODE_OF_SIGN[sign])

    def _set(self, lag: int, i: int, j: int, number: int) -> None:
        known = self._links.get((lag, i, j), number)
        if known != number:
            if lag or {known, number} != {DIRECTED, int(TURNED[DIRECTED])}:
                names = list(self.position)
                raise ValueError(
                    f"found the links {SIGN_OF_CODE[known]!r} and {SIGN_OF_CODE[number]!r} from {names[i]!r} to "
                    f"{names[j]!r} at lag {lag}, expected one"
                )
            number = UNDIRECTED
        self._links[lag, i, j] = number
        if not lag:
            self._links[0, j, i] = int(TURNED[number])

    def found(self, max_lag: int = 0, min_lag: int = 0, *, is_open: bool = True) -> Links:
        """Return the links, with as many lags as occur, at least `max_lag`."""
        d = len(self.position)
        codes = np.zeros((max([max_lag, *(lag for lag, _, _ in self._links)]) + 1, d, d), np.uint8)
        for place, number in self._links.items():
            codes[place] = number
        return Links(list(self.position), codes, min_lag, is_open)


#: axes of arrays of numbers, and the axes of (lag, cause, effect) among them
AXES = {
    "cause,effect,lag": (2, 0, 1),
    "effect,cause,lag": (2, 1, 0),
    "lag,cause,effect": (0, 1, 2),
    "lag,effect,cause": (0, 2, 1),
}
_CIRCLES = CODE_OF_SIGN["o-o"]
_LEFT, _RIGHT = {"-": 1, "<": 2, "o": 3}, {"-": 1, ">": 2, "o": 3}
#: codes of the strings of tigramite
_STRINGS = {f"{a}-{b}": code(at_a, at_b) for a, at_a in _LEFT.items() for b, at_b in _RIGHT.items()}


def is_strings(value: Any) -> bool:
    """Return whether a cell is an array of strings with an axis of lags."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.ndim == 3


def read_tigramite(value: Any, *, conflict: str, circles: bool) -> Links:
    """Read strings (d, d, L + 1); `o-o` at lag 0 is undirected in a graph without other circles, unless `circles`."""
    graph = np.asarray(value)
    if graph.dtype.kind != "U" or graph.ndim != 3 or graph.shape[0] != graph.shape[1] or not graph.shape[2]:
        raise ValueError(
            f"found an array of dtype {graph.dtype} and shape {graph.shape}, expected strings of shape (d, d, lags + 1)"
        )
    signs, place = np.unique(graph, return_inverse=True)
    codes = np.array([_code(str(sign), graph, conflict) for sign in signs], np.uint8)[place.reshape(graph.shape)]
    codes = np.ascontiguousarray(codes.transpose(2, 0, 1))
    if not circles:
        lines = codes.copy()
        lines[0][codes[0] == _CIRCLES] = UNDIRECTED
        if is_plain(lines):
            codes = lines
    return Links(None, codes)


def _code(sign: str, graph: NDArray[Any], conflict: str) -> int:
    """Return the code of a string of an array; an error names its first cell."""
    try:
        return code_of_string(sign, conflict)
    except ValueError as error:
        place = tuple(np.argwhere(graph == sign)[0].tolist())
        raise ValueError(f"cell {place}: {error}") from None


def code_of_string(sign: str, conflict: str = "raise") -> int:
    """Return the code of a string of tigramite, as '-->'; 0 of the empty one."""
    if not sign:
        return 0
    if "x" in sign and conflict == "circle":
        sign = sign.replace("x", "o")
    if sign in _STRINGS:
        return _STRINGS[sign]
    why = ""
    if "x" in sign:
        why = "; the orientations of this link conflict: pass conflict='circle' to read conflicting marks as circles"
    elif "+" in sign:
        why = "; '->' and '<->' of two variables are two links, which a cell cannot hold"
    raise ValueError(f"found {sign!r}, expected '' or one of {', '.join(map(repr, _STRINGS))}{why}")


def write_tigramite(codes: NDArray[np.uint8], *, lines: bool) -> NDArray[Any]:
    """Return codes (L + 1, d, d) as strings (d, d, L + 1); undirected links are "---" with `lines`, else "o-o"."""
    words = {number: sign for sign, number in _STRINGS.items()}
    words[UNDIRECTED] = "---" if lines else "o-o"
    table = np.array([words.get(number, "") for number in range(16)], dtype="<U3")
    return np.asarray(table[codes.transpose(1, 2, 0)])


def _axes_weights(axes: str, value: Any, names: list[str] | None, first_lag: int | None, p_values: bool) -> Weights:
    """Read an array of numbers whose axes are named; `first_lag` is the lag of its first slice, 0 or 1."""
    expected = f"{axes} with as many causes as effects; another encoding= may name these axes"
    weights = stack_weights(value, None, expected, AXES[axes], first_lag == 1)
    if first_lag not in (0, 1):
        raise ValueError(
            f"encoding={axes!r} names the axes; pass first_lag=0 if the first slice along the lags holds "
            f"contemporaneous links, or first_lag=1 if it holds lag 1; found {first_lag!r}"
        )
    return weights


_COLUMNS = ("source", "target", "lag")


def is_table(value: Any) -> bool:
    """Return whether a cell is a table of links, or a mapping of its columns."""
    return isinstance(value, (pd.DataFrame, Mapping)) and "lag" in value and edge_columns(value) is not None


def is_path(value: Any) -> bool:
    """Return whether a cell is the path of a CSV file."""
    return isinstance(value, os.PathLike)


def read_table(value: Any, presence: Presence) -> Links:
    """Read links, one per row: source, target, lag, and a link ("->") or a weight where the table has these."""
    table = _read_csv(value) if is_path(value) else value
    if isinstance(table, Mapping):
        table = pd.DataFrame({str(name): list(values) for name, values in table.items()})
    ends = edge_columns(table.columns)
    weights = [name for name in ("weight", "p", "pvalue", "p_value") if name in table.columns]
    if ends is not None:
        refuse_unread(table, (*ends[:2], "link"), ["lag", *weights], explain=_explain_numbers)
        table = table.rename(columns=dict(zip(ends[:2], _COLUMNS[:2], strict=True)))
    lacking = [name for name in _COLUMNS if name not in table.columns]
    if lacking:
        raise ValueError(f"a table of links lacks {', '.join(lacking)}; its columns: {list(table.columns)}")
    if len(weights) > 1:
        raise ValueError(f"a table of links has the columns {' and '.join(weights)}; leave one of them")
    kept = np.ones(len(table), bool)
    if weights:
        kept = presence.of(as_numbers(table[weights[0]], f"column {weights[0]!r} of a table of links"))
    elif presence != UNCUT:
        raise ValueError("threshold= and alpha= need a column 'weight' or 'p' in the table of links")
    collector, max_lag = Collector(), 0
    signs = table["link"].tolist() if "link" in table.columns else ["->"] * len(table)
    rows = zip(*(table[name].tolist() for name in _COLUMNS), signs, kept.tolist(), strict=True)
    for number, (source, target, lag, sign, keep) in enumerate(rows):
        if pd.isna(source) or pd.isna(target):
            raise ValueError(f"link {number}: the source or the target is missing")
        steps = check_lag(lag, f"link {number}")
        # a link that is cut was searched for all the same
        max_lag = max(max_lag, steps)
        collector.place(source), collector.place(target)
        if keep:
            marks = marks_of(sign)
            collector.add(source, target, steps, SHORT_SIGNS[marks] if marks else sign)
    return collector.found(max_lag)


def _explain_numbers(table: pd.DataFrame, names: Sequence[Hashable], read: Sequence[Hashable]) -> str:
    """Return a message for columns of numbers in a table of links."""
    name, first = names[0], table[names[0]].dropna().iloc[0]
    found = (
        f"found numbers in the column {name!r} of a table of links (first {first!s:.20}), which a graph does not keep"
    )
    message = f"{found}; drop the column if every row is a link"
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
    entries = [entry for links in value.values() if isinstance(links, (list, tuple, Mapping)) for entry in links]
    return all(isinstance(links, (list, tuple, Mapping)) for links in value.values()) and all(
        isinstance(entry, tuple) and len(entry) >= 1 for entry in entries
    )


def read_link_dict(value: Any, names: list[str] | None, presence: Presence) -> Links:
    """Read links of tigramite by effect, or parents, or `{effect: {(cause, -lag): "-->"}}`, over names or positions."""
    collector, max_lag = Collector(names or ()), 0

    def named(label: Any) -> Any:
        if names is None or not isinstance(label, (int, np.integer)):
            return label
        if not 0 <= label < len(names):
            raise ValueError(f"found variable {label}, but nodes= has {len(names)} names")
        return names[label]

    for effect, links in value.items():
        collector.place(named(effect))
        if not isinstance(links, (list, tuple, Mapping)):
            raise ValueError(f"effect {effect!r}: expected a list of ((cause, -lag), ...), found {shown(links)}")
        for entry in links:
            if not (isinstance(entry, tuple) and entry):
                raise ValueError(f"effect {effect!r}: expected ((cause, -lag), ...), found {shown(entry)}")
            # parents are listed without coefficients
            is_parent = len(entry) == 2 and not isinstance(entry[0], tuple)
            place = entry if isinstance(links, Mapping) or is_parent else entry[0]
            if not (isinstance(place, tuple) and len(place) == 2):
                raise ValueError(f"effect {effect!r}: expected (cause, -lag), found {shown(place)}")
            cause, step = place
            if not isinstance(step, (int, np.integer)) or step > 0:
                raise ValueError(
                    f"effect {effect!r}: the link from {cause!r} has the step {step!r}, expected 0, -1, ..."
                )
            lag = check_lag(-step, f"effect {effect!r}")
            max_lag = max(max_lag, lag)
            sign, keep = "->", True
            if isinstance(links, Mapping):
                number = code_of_string(str(links[entry]))
                sign, keep = SIGN_OF_CODE.get(number, ""), number != 0
            elif len(entry) > 1 and not is_parent:
                weight = entry[1]
                if not isinstance(weight, (int, float, np.integer, np.floating)):
                    raise ValueError(f"effect {effect!r}: expected a coefficient, found {shown(weight)}")
                keep = bool(presence.of(np.array([weight]))[0]) if presence != UNCUT else weight != 0
            collector.place(named(cause))
            if keep:
                collector.add(named(cause), named(effect), lag, sign)
    return collector.found(max_lag)


_LAGGED_ROW = re.compile(r"L(\d+)\.(.+)", re.DOTALL)
_LAG_NODE = re.compile(r"(.+)_lag(\d+)", re.DOTALL)


def is_var(value: Any) -> bool:
    """Return whether a cell is a result of statsmodels' VAR, or its table of parameters or p-values."""
    if isinstance(value, pd.DataFrame):
        return any(_LAGGED_ROW.fullmatch(str(label)) for label in value.index)
    return all(hasattr(value, name) for name in ("k_ar", "names", "params", "pvalues"))


def var_weights(value: Any, *, p_values: bool) -> Weights:
    """Read parameters or p-values of a VAR: a row "L2.X" is the cause X at t - 2, a column the effect."""
    if not isinstance(value, pd.DataFrame):
        if not is_var(value):
            raise TypeError(
                f"found {type(value).__name__}, expected the result of statsmodels' VAR(...).fit(), or its params or "
                "pvalues as a table with named rows; read coefs by encoding='statsmodels coefs'"
            )
        names, numbers = list(value.names), np.asarray(value.pvalues if p_values else value.params)
        n_trend = len(numbers) - value.k_ar * len(names)
        labels = [f"trend {i}" for i in range(n_trend)]
        labels += [f"L{lag}.{name}" for lag in range(1, value.k_ar + 1) for name in names]
        value = pd.DataFrame(numbers, index=labels, columns=names)
    columns = [str(name) for name in value.columns]
    places = {_split_row(str(label), columns): i for i, label in enumerate(value.index)}
    rows = {place: i for place, i in places.items() if place is not None}
    lags = sorted({lag for lag, _ in rows})
    lacking = [f"L{lag}.{name}" for lag in range(1, max(lags, default=0) + 1) for name in columns]
    lacking = [label for label in lacking if _split_row(label, columns) not in rows]
    if not rows or lacking:
        raise ValueError(
            f"the rows of a VAR are named 'L1.{columns[0] if columns else 'X'}' and so on for every variable; "
            f"lacking: {', '.join(lacking[:5]) or 'all'}"
        )
    weights = np.full((max(lags) + 1, len(columns), len(columns)), np.nan)
    numbers = np.stack([as_numbers(value.iloc[:, i], f"column {name!r}") for i, name in enumerate(columns)], axis=1)
    for (lag, cause), row in rows.items():
        weights[lag, columns.index(cause)] = numbers[row]
    return Weights(columns, weights, 1)


def _split_row(label: str, columns: list[str]) -> tuple[int, str] | None:
    """Return lag and cause of a row, None for a constant or a trend."""
    parts = _LAGGED_ROW.fullmatch(label)
    return (int(parts[1]), parts[2]) if parts and parts[2] in columns else None


def dynotears_weights(value: Any, names: list[str] | None) -> Weights:
    """Read the matrices (W, A) of DYNOTEARS: W (d, d) and A (lags d, d) below one another have (cause, effect)."""
    if not (isinstance(value, (tuple, list)) and len(value) == 2):
        raise ValueError("expected the pair (W, A): contemporaneous weights (d, d), lagged ones (lags * d, d)")
    within, lagged = (np.atleast_2d(as_array(one)) for one in value)
    d = len(within)
    if within.shape != (d, d) or not d or lagged.shape[1:] != (d,) or len(lagged) % d:
        raise ValueError(
            f"found W of shape {within.shape} and A of shape {lagged.shape}, expected (d, d), (lags * d, d)"
        )
    return Weights(names, np.concatenate([within[None], lagged.reshape(-1, d, d)]))


_TETRAD_NODE = re.compile(r"(.+):(\d+)", re.DOTALL)


def is_tetrad_text(value: Any) -> bool:
    """Return whether a cell is Tetrad's text of a graph."""
    return isinstance(value, str) and is_tetrad(value)


def read_tetrad_lags(value: Any) -> Links:
    """Read Tetrad's text of a graph over nodes X, X:1, ... (X at t, t - 1)."""
    graph = read_tetrad(value)
    places = []
    for label in graph.labels or ():
        parts = _TETRAD_NODE.fullmatch(str(label))
        places.append((parts[1], check_lag(int(parts[2]), f"node {label!r}")) if parts else (str(label), 0))
    return of_times(places, map(forward, graph.ends))


def of_times(places: Sequence[tuple[Hashable, int]], ends: Iterable[tuple[int, int, int, int]]) -> Links:
    """Make links of the edges of a graph over nodes (name, lag) that end at t; copies at earlier times are left out."""
    collector = Collector(name for name, _ in places)
    for edge in ends:
        a, b, at_a, at_b = edge
        i, j, at_i, at_j = edge if places[a][1] >= places[b][1] else (b, a, at_b, at_a)
        if places[j][1] == 0:
            collector.add(places[i][0], places[j][0], places[i][1], SHORT_SIGNS[at_i, at_j])
    return collector.found(max((lag for _, lag in places), default=0))


def has_edges(value: Any) -> bool:
    """Return whether a cell is a graph object with nodes, and edges with attributes as those of networkx."""
    return bool(_nodes(value)) and hasattr(value, "get_edge_data")


def is_lagged_networkx(value: Any) -> bool:
    """Return whether a cell is a networkx graph whose nodes are called X_lag1, as those of causalnex are."""
    nodes = _nodes(value)
    return bool(nodes) and all(isinstance(node, str) and _LAG_NODE.fullmatch(node) for node in nodes)


def read_causalnex(value: Any, presence: Presence) -> Links:
    """Read a networkx graph with edges X_lag1 -> Y_lag0; the name ends at the last `_lag`."""
    places = {}
    for node in _nodes(value):
        parts = _LAG_NODE.fullmatch(node) if isinstance(node, str) else None
        if parts is None:
            raise ValueError(f"found the node {node!r}, expected names such as 'X_lag1'")
        places[node] = parts[1], check_lag(int(parts[2]), f"node {node!r}")
    late = next(((a, b) for a, b in value.edges() if places[b][1]), None)
    if late is not None:
        raise ValueError(f"found the edge {late[0]!r} -> {late[1]!r}; edges end at lag 0")
    at = {node: i for i, node in enumerate(places)}
    kept = [(at[a], at[b], TAIL, ARROW) for a, b, data in value.edges(data=True) if _is_kept(data, presence)]
    return of_times(list(places.values()), kept)


def _is_kept(attributes: Mapping[str, Any], presence: Presence) -> bool:
    """Return whether an edge of networkx is a link; one without a weight is, unless weights are cut."""
    refuse_numbers([attributes], ("weight",))
    return bool(presence.of([attributes.get("weight", 1 if presence == UNCUT else np.nan)])[0])


def is_stationary_graph(value: Any) -> bool:
    """Return whether a cell is a graph whose nodes are (name, -lag), as those of pywhy-graphs are."""
    nodes = _nodes(value)
    return bool(nodes) and all(
        isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], (int, np.integer)) and node[1] <= 0
        for node in nodes
    )


#: marks at the source and the target of an edge by its type
_MARKS = {"directed": (TAIL, ARROW), "undirected": (TAIL, TAIL), "bidirected": (ARROW, ARROW)}


def read_stationary(value: Any, presence: Presence) -> Links:
    """Read a graph over nodes (name, -lag) that repeats its edges at all times; those of type "circle" are marks."""
    if not is_stationary_graph(value):
        raise ValueError("expected a graph whose nodes are (name, -lag), with lags from 0")
    nodes = _nodes(value)
    edges = value.edges() if callable(value.edges) else value.edges
    if isinstance(edges, dict):
        by_type = edges
    else:
        kept = [(a, b) for a, b, data in value.edges(data=True) if _is_kept(data, presence)]
        by_type = {"directed" if value.is_directed() else "undirected": kept}
    unknown = [kind for kind, some in by_type.items() if kind not in (*_MARKS, "circle") and len(some)]
    if unknown:
        raise ValueError(f"found {unknown[0]} edges, expected {', '.join(_MARKS)} and circle")
    # marks at the second node of (first, second)
    marks: dict[tuple[Any, Any], int] = {}
    for kind, (at_a, at_b) in _MARKS.items():
        for a, b in by_type.get(kind, ()):
            marks[a, b], marks[b, a] = at_b, marks.get((b, a), at_a) if kind == "directed" else at_a
    for a, b in by_type.get("circle", ()):
        marks[a, b] = CIRCLE
        marks.setdefault((b, a), CIRCLE)
    at = {node: i for i, node in enumerate(nodes)}
    ends = ((at[a], at[b], marks[b, a], at_b) for (a, b), at_b in marks.items())
    return of_times([(name, int(-step)) for name, step in nodes], ends)


def _nodes(value: Any) -> list[Any]:
    """Return the nodes of a graph object, none where the cell is not one."""
    nodes = getattr(value, "nodes", None)
    if nodes is None or not hasattr(value, "edges") or isinstance(value, (pd.DataFrame, np.ndarray)):
        return []
    members = nodes() if callable(nodes) else nodes
    return list(members) if isinstance(members, Iterable) else []


@dataclass(frozen=True)
class Reading:
    """Options of reading; see `lagged_column`."""

    encoding: str | None = None
    kind: str | None = None
    min_lag: int | None = None
    max_lag: int | None = None
    first_lag: int | None = None
    presence: Presence = UNCUT
    conflict: str = "raise"

    def __post_init__(self) -> None:
        if self.encoding is not None:
            check_known(self.encoding, ENCODINGS, "encoding of lagged graphs")
        check_choice(self.kind, (*KINDS, None), "kind")
        check_choice(self.conflict, ("raise", "circle"), "conflict")
        for name, most in (("min_lag", 1), ("first_lag", 1), ("max_lag", MAX_LAG)):
            if getattr(self, name) is not None:
                check_whole(getattr(self, name), name, most=most)
        self.presence.check()

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
    "text": lambda cell, names, how: Links(*read_lagged_text(cell), is_open=True),
    "tigramite": lambda cell, names, how: read_tigramite(cell, conflict=how.conflict, circles=how.kind == "ts_pag"),
    "tigramite links": lambda cell, names, how: read_link_dict(cell, names, how.presence),
    "causalnex": lambda cell, names, how: read_causalnex(cell, how.presence),
    "pywhy-graphs": lambda cell, names, how: read_stationary(cell, how.presence),
    "Tetrad text": lambda cell, names, how: read_tetrad_lags(cell),
    "link table": lambda cell, names, how: read_table(cell, how.presence),
}


#: `weights(cell, names, first_lag, p_values)` of formats of numbers
ReadWeights = Callable[[Any, list[str] | None, int | None, bool], Weights]

WEIGHTS: dict[str, ReadWeights] = {
    "VARLiNGAM": lambda cell, names, first, p: stack_weights(
        getattr(cell, "adjacency_matrices_", cell), names, "(lags + 1, d, d), adjacency_matrices_", (0, 2, 1)
    ),
    "statsmodels VAR": lambda cell, names, first, p: var_weights(cell, p_values=p),
    "statsmodels coefs": lambda cell, names, first, p: stack_weights(
        cell, names, "(lags, d, d), coefs of statsmodels' VAR", (0, 2, 1), first_lag=1
    ),
    "DYNOTEARS": lambda cell, names, first, p: dynotears_weights(cell, names),
    "CausalRivers": lambda cell, names, first, p: stack_weights(
        cell, names, "(d, d, lags) of CausalRivers; its labels (d, d) have no lags: read them as graphs", (2, 1, 0), 1
    ),
    **{axes: partial(_axes_weights, axes) for axes in AXES},
}


def _read_numbers(encoding: str, cell: Any, names: list[str] | None, how: Reading) -> Links:
    """Read the links of a format of numbers."""
    presence = how.presence
    if encoding == "statsmodels VAR" and presence == UNCUT and not isinstance(cell, pd.DataFrame) and is_var(cell):
        raise ValueError("a VAR has every link; pass alpha= to keep p-values up to it, or threshold= for weights")
    weights = WEIGHTS[encoding](cell, names, how.first_lag, presence.alpha is not None)
    if encoding in AXES and not how.first_lag and presence != UNCUT and len(weights.values):
        # tests and weights of a variable on itself at the same time mean nothing
        weights = weights._replace(values=weights.values.copy())
        np.einsum("ii->i", weights.values[0])[:] = 1 if presence.alpha is not None else 0
    return weights.links(presence)


ENCODINGS |= {name: partial(_read_numbers, name) for name in WEIGHTS}

#: formats that are recognised by their cells
_RECOGNISED: dict[str, Callable[[Any], bool]] = {
    "tigramite": is_strings,
    "Tetrad text": is_tetrad_text,
    "text": lambda cell: isinstance(cell, str),
    "link table": lambda cell: is_table(cell) or is_path(cell),
    "statsmodels VAR": is_var,
    "tigramite links": is_link_dict,
    "VARLiNGAM": lambda cell: hasattr(cell, "adjacency_matrices_"),
    "causalnex": is_lagged_networkx,
    "pywhy-graphs": is_stationary_graph,
}


#: what a format that is named reads, where a cell is not an array
_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text": ("strings", lambda cell: isinstance(cell, str)),
    "link table": (
        "a DataFrame, a mapping of columns or a path",
        lambda cell: isinstance(cell, (pd.DataFrame, Mapping)) or is_path(cell),
    ),
    "tigramite links": ("a mapping", lambda cell: isinstance(cell, Mapping)),
    "causalnex": ("a networkx graph", has_edges),
    "pywhy-graphs": ("a graph", is_stationary_graph),
    "Tetrad text": ("a text with the line 'Graph Nodes:'", is_tetrad_text),
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
    if isinstance(cell, pd.DataFrame):
        raise TypeError(
            f"found a DataFrame with the columns {list(cell.columns)!r:.80}, expected a table of links with source, "
            "target and lag"
        )
    if isinstance(cell, Mapping) and is_strings(cell.get("graph")):
        raise TypeError("found a mapping with the value 'graph', as results of tigramite are; pass results['graph']")
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
