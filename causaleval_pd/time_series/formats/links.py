"""Links as they are read: names, codes and lags of one cell, collected link by link or from arrays of numbers."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import check_number, shown
from ...graphs.node_names import node_name
from ..cells.marks import CODE_OF_SIGN, DIRECTED, MAX_LAG, SIGN_OF_CODE, TURNED, UNDIRECTED, Codes, codes_of_tails


class Links(NamedTuple):
    """One cell as it was read.

    Attributes
    ----------
    names : list of str, or None
        Names of the variables; None where the cell has none.
    codes : (max_lag + 1, d, d) uint8
        Codes of links, variables in the order of `names`.
    min_lag : int
        Smallest lag that the format searches.
    is_open : bool
        Whether variables without links may be missing from the names.
    """

    names: list[str] | None
    codes: Codes
    min_lag: int = 0
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
        found = as_array(values)
        if found.dtype == bool:
            return found
        if found.dtype.kind not in "iuf":
            raise TypeError(f"expected numbers, found dtype {found.dtype}")
        found = found.astype(np.float64)
        if not np.isfinite(found).all():
            place = tuple(np.argwhere(~np.isfinite(found))[0].tolist())
            raise ValueError(
                f"found {found[place]} in cell {place}; a missing number is neither a link nor none: lags that were "
                "not searched are left out by min_lag= and max_lag="
            )
        if self.alpha is not None:
            if ((found < 0) | (found > 1)).any():
                raise ValueError("alpha= expects p-values between 0 and 1; cut weights by threshold=")
            return np.asarray(found <= self.alpha)
        if self.threshold is not None:
            return np.asarray(np.abs(found) > self.threshold)
        if not np.isin(found, (0, 1)).all():
            raise ValueError(
                "found weights or p-values; links are those of an absolute weight above threshold= (0 keeps every "
                "number that is not 0), or of a p-value up to alpha="
            )
        return found != 0


def as_array(values: Any) -> NDArray[Any]:
    """Return numbers as an array, and refuse rows of different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"found a {type(values).__name__} whose rows do not form an array: {error}") from None


def as_numbers(column: pd.Series, what: str) -> NDArray[np.float64]:
    """Return a column of a table as numbers, missing ones as NaN."""
    try:
        found = pd.to_numeric(column)
        if found.dtype.kind == "c":
            raise TypeError("they are complex")
        return found.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must hold numbers: {error}") from None


def of_arcs(arcs: NDArray[np.bool_], names: list[str] | None, min_lag: int = 0) -> Links:
    """Make links of arrays (L + 1, d, d) with True where the source (row) at t - lag has an arc to the target at t."""
    if not len(arcs):
        raise ValueError(f"found an array of shape {arcs.shape}, without lags")
    codes = arcs * np.uint8(DIRECTED)
    codes[0] = codes_of_tails(arcs[:1])[0]
    return Links(names, codes, min_lag)


def array_of_lags(values: Any, what: str, order: tuple[int, int, int]) -> NDArray[Any]:
    """Return an array of square matrices whose axes in this order are (lag, cause, effect)."""
    found = as_array(values)
    if found.ndim != 3 or found.shape[order[1]] != found.shape[order[2]]:
        raise ValueError(f"found an array of shape {found.shape}, expected {what}")
    return found.transpose(order)


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
    """Numbers of all links between variables, as weights or p-values.

    Attributes
    ----------
    names : list of str, or None
        Names of the variables; None where the cell has none.
    values : (max_lag + 1, d, d) float
        The number of the link from i at t - lag to j at t in cell (lag, i, j); NaN at lag 0 where `min_lag` is 1.
    min_lag : int
        Smallest lag that has numbers.
    """

    names: list[str] | None
    values: NDArray[Any]
    min_lag: int = 0

    def links(self, presence: Presence) -> Links:
        """Return the links that the numbers show."""
        arcs = np.zeros(self.values.shape, np.bool_)
        arcs[self.min_lag :] = presence.of(self.values[self.min_lag :])
        return of_arcs(arcs, self.names, self.min_lag)


def from_lag_1(values: NDArray[Any], names: list[str] | None) -> Weights:
    """Return numbers (lags, d, d) of lags from 1."""
    unknown = np.full((1, *values.shape[1:]), np.nan)
    return Weights(names, np.concatenate([unknown, _floats(values)]), 1)


def _floats(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, found dtype {values.dtype}")
    return values.astype(np.float64)


class Collector:
    """Links added one by one."""

    def __init__(self, names: Iterable[str] = ()) -> None:
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
