"""Links as tables and mappings: source, target, lag and weight; dicts of tigramite; CSV files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import shown
from ...graphs.weights import unread_numbers
from ..cells.marks import SIGN_OF_CODE
from .arrays import code_of_string
from .links import Collector, Links, Presence, as_numbers, check_lag

_COLUMNS = ("source", "target", "lag")


def is_table(value: Any) -> bool:
    """Return whether a cell is a table of links, or a mapping of its columns."""
    return isinstance(value, (pd.DataFrame, Mapping)) and set(_COLUMNS) <= set(map(str, value))


def is_path(value: Any) -> bool:
    """Return whether a cell is the path of a CSV file."""
    return isinstance(value, os.PathLike)


def read_table(value: Any, presence: Presence) -> Links:
    """Read links, one a row: source, target, lag, and a link ("->") or a weight where the table has these."""
    table = _read_csv(value) if is_path(value) else value
    if isinstance(table, Mapping):
        table = pd.DataFrame({str(name): list(values) for name, values in table.items()})
    lacking = [name for name in _COLUMNS if name not in table.columns]
    if lacking:
        raise ValueError(f"a table of links lacks {', '.join(lacking)}; its columns: {list(table.columns)}")
    weights = [name for name in ("weight", "p", "pvalue", "p_value") if name in table.columns]
    if len(weights) > 1:
        raise ValueError(f"a table of links has the columns {' and '.join(weights)}; leave one of them")
    numbers = unread_numbers(table, [*_COLUMNS, "link", *weights])
    if numbers:
        name, first = numbers[0], table[numbers[0]].dropna().iloc[0]
        raise ValueError(
            f"found numbers in the column {name!r} of a table of links (first {first!s:.20}), which a graph does not "
            "keep; drop the column if every row is a link, or call it 'weight' and pass threshold=, or 'p' and pass "
            "alpha="
        )
    kept = np.ones(len(table), bool)
    if weights:
        kept = _kept(table[weights[0]], presence)
    elif presence != Presence():
        raise ValueError("threshold= and alpha= need a column 'weight' or 'p' in the table of links")
    found, max_lag = Collector(), 0
    signs = table["link"].tolist() if "link" in table.columns else ["->"] * len(table)
    rows = zip(*(table[name].tolist() for name in _COLUMNS), signs, kept.tolist(), strict=True)
    for number, (source, target, lag, sign, keep) in enumerate(rows):
        if pd.isna(source) or pd.isna(target):
            raise ValueError(f"link {number}: the source or the target is missing")
        steps = check_lag(lag, f"link {number}")
        # a link that is cut was searched for all the same
        max_lag = max(max_lag, steps)
        found.place(source), found.place(target)
        if keep:
            found.add(source, target, steps, sign)
    return found.found(max_lag)


def _read_csv(path: Any) -> pd.DataFrame:
    try:
        return pd.read_csv(path)
    except pd.errors.EmptyDataError:
        raise ValueError(
            f"the file {os.fspath(path)!r} is empty; write a graph without links as the header source,target,lag, and "
            "a failed run as a missing value (None)"
        ) from None


def _kept(weights: pd.Series, presence: Presence) -> Any:
    """Return which rows are links; without a threshold every row is, and a weight of 0 contradicts it."""
    numbers = as_numbers(weights, f"column {weights.name!r} of a table of links")
    if presence != Presence():
        return presence.of(numbers)
    if not np.isfinite(numbers).all() or (numbers == 0).any():
        row = int(np.argmax(~np.isfinite(numbers) | (numbers == 0)))
        raise ValueError(
            f"link {row} has the weight {numbers[row]:g}; a row is a link: leave it out, or pass threshold= or alpha="
        )
    return np.ones(len(numbers), bool)


def is_link_dict(value: Any) -> bool:
    """Return whether a cell is a dict of effects with lists of ((cause, -lag), ...), as tigramite has them."""
    if not isinstance(value, Mapping) or not value:
        return False
    entries = [entry for links in value.values() if isinstance(links, (list, tuple, Mapping)) for entry in links]
    return all(isinstance(links, (list, tuple, Mapping)) for links in value.values()) and all(
        isinstance(entry, tuple) and len(entry) >= 1 for entry in entries
    )


def read_link_dict(value: Any, names: list[str] | None, presence: Presence) -> Links:
    """Read `{effect: [((cause, -lag), coefficient, function), ...]}`, or `{effect: {(cause, -lag): "-->"}}`.

    Effects and causes are names, or positions among `names`.
    """
    found, max_lag = Collector(names or ()), 0

    def named(label: Any) -> Any:
        if names is None or not isinstance(label, (int, np.integer)):
            return label
        if not 0 <= label < len(names):
            raise ValueError(f"found variable {label}, but nodes= has {len(names)} names")
        return names[label]

    for effect, links in value.items():
        found.place(named(effect))
        if not isinstance(links, (list, tuple, Mapping)):
            raise ValueError(f"effect {effect!r}: expected a list of ((cause, -lag), ...), found {shown(links)}")
        for entry in links:
            if not (isinstance(entry, tuple) and entry):
                raise ValueError(f"effect {effect!r}: expected ((cause, -lag), ...), found {shown(entry)}")
            place = entry if isinstance(links, Mapping) else entry[0]
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
            elif len(entry) > 1:
                weight = entry[1]
                if not isinstance(weight, (int, float, np.integer, np.floating)):
                    raise ValueError(f"effect {effect!r}: expected a coefficient, found {shown(weight)}")
                keep = bool(presence.of(np.array([weight]))[0]) if presence != Presence() else weight != 0
            found.place(named(cause))
            if keep:
                found.add(named(cause), named(effect), lag, sign)
    return found.found(max_lag)
