"""Metrics of users: functions of a truth and an estimate as functions of pairs, and checks of what they return."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import shown
from .pairs import Pairs

Values = NDArray[np.float64]
_ROUNDING = 1e-9


def function_of_pairs(
    function: Callable[..., Any], limits: tuple[float, float], *, has_dims: bool
) -> Callable[..., Values]:
    """Return a user's function, of pairs or of truth and estimate, as one of pairs; calls check its values."""
    parameters = list(inspect.signature(function).parameters.values())
    needed = [x for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD) and x.default is x.empty]
    name = function.__name__
    if len(needed) not in (1, 2) or any(x.kind is x.VAR_POSITIONAL for x in parameters):
        raise TypeError(
            f"the metric {name!r} takes {inspect.signature(function)}; a metric is a function of (truth, estimate) or "
            "of (pairs), and its options are keywords with defaults, as in (truth, estimate, *, weight=1)"
        )
    if len(needed) == 2 and has_dims:
        raise TypeError(f"the metric {name!r} has dims, and so is a function of (pairs) with an array (n, k)")
    compute = functools.partial(_of_cells, function) if len(needed) == 2 else function

    @functools.wraps(function)
    def checked(pairs: Pairs, **options: Any) -> Values:
        values = _as_values(compute(pairs, **options), pairs.n, name, has_dims=has_dims)
        _check_range(values, limits, pairs, name)
        if pairs.n:
            again = _as_values(compute(pairs.take(slice(0, 1)), **options), 1, name, has_dims=has_dims)
            if not np.allclose(values[:1], again, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True):
                raise ValueError(
                    f"the metric {name!r} returned {values[0]} and then {again[0]} for the same pair "
                    f"({_described(pairs, 0)}); the value of a pair depends on this pair alone, not on chance, other "
                    "pairs or earlier calls"
                )
        return values

    first = inspect.Parameter("pairs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    options = parameters[len(needed) :]
    checked.__signature__ = inspect.Signature([first, *options])  # type: ignore[attr-defined]
    return checked


def _of_cells(function: Callable[..., Any], pairs: Pairs, **options: Any) -> Values:
    """Call a function of (truth, estimate) for each pair."""
    values = np.empty(pairs.n)
    for k in range(pairs.n):
        try:
            found = function(*pairs.cells(k), **options)
        except Exception as error:
            error.add_note(f"in the metric {function.__name__!r}, of {_described(pairs, k)}")
            raise
        values[k] = _as_number(found, function.__name__)
    return values


def _as_number(found: Any, name: str) -> float:
    """Return what a function of (truth, estimate) returned as a number."""
    if isinstance(found, np.ndarray) and found.ndim == 0:
        found = found.item()
    if not isinstance(found, (bool, int, float, np.bool_, np.integer, np.floating)):
        missing = "; return float('nan') where it is undefined" if found is None else ""
        raise TypeError(f"the metric {name!r} returned {_kind(found)}, expected a number{missing}")
    return float(found)


def _as_values(found: Any, n: int, name: str, *, has_dims: bool) -> Values:
    """Return what a function of pairs returned as an array with a value per pair."""
    # the sizes of further dimensions are checked where they are laid out
    shape = f"({n}, k)" if has_dims else f"({n},)"
    values = np.asarray(found)
    if values.dtype.kind not in "biuf" or not 1 <= values.ndim <= (9 if has_dims else 1) or len(values) != n:
        what = _kind(values if values.ndim else found)
        raise TypeError(f"the metric {name!r} returned {what}, expected an array {shape} of numbers, one per pair")
    return values.astype(np.float64, copy=False)


def _check_range(values: Values, limits: tuple[float, float], pairs: Pairs, name: str) -> None:
    """Refuse a value outside the declared range."""
    low, high = limits
    slack = _ROUNDING * np.abs(values)
    wrong = np.argwhere((values < low - slack - _ROUNDING) | (values > high + slack + _ROUNDING))
    if len(wrong):
        value = values[tuple(wrong[0])]
        raise ValueError(
            f"the metric {name!r} returned {value:g}, outside its range ({low:g}, {high:g}), for "
            f"{_described(pairs, int(wrong[0, 0]))}; mend the function, or declare its range= in ce.metric"
        )


def _described(pairs: Pairs, position: int) -> str:
    try:
        truth, estimate = pairs.cells(position)
    except (TypeError, ValueError):
        return pairs.describe(position)
    return f"the truth {truth!r:.200} and the estimate {estimate!r:.200}"


def _kind(found: Any) -> str:
    if isinstance(found, np.ndarray):
        return f"an array of shape {found.shape} and dtype {found.dtype}"
    return "None" if found is None else f"{shown(found)} ({type(found).__name__})"
