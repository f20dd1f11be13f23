"""The parts that error messages share: naming a row, refusing an unknown name with the nearest known ones."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd


def name_row(row: int, index: pd.Index | None = None, column: Hashable | None = None) -> str:
    """Name a row in a message: `column 'truth', row 17 (index ('pc', 0.2))`.

    Parameters
    ----------
    row : int
        Position in the table.
    index : Index, optional
        Labels of the rows.
    column : hashable, optional
        Column that the message is about.

    Returns
    -------
    str
        The name.
    """
    prefix = "" if column is None else f"column {column!r}, "
    if index is None:
        return f"{prefix}row {row}"
    label = index[row]
    if isinstance(label, tuple):
        label = tuple(part.item() if isinstance(part, np.generic) else part for part in label)
    elif isinstance(label, np.generic):
        label = label.item()
    return f"{prefix}row {row} (index {label!r})"


def nearest(name: Any, known: Iterable[Any]) -> str:
    """Return `did you mean 'shd'? ` for a name that is nearly known, else nothing.

    Parameters
    ----------
    name : object
        What the user wrote.
    known : iterable
        What there is.

    Returns
    -------
    str
        A hint that ends in a space, or the empty string.
    """
    near = difflib.get_close_matches(str(name), [str(x) for x in known], n=3, cutoff=0.5)
    return f"did you mean {', '.join(map(repr, near))}? " if near else ""


def check_known(name: Any, known: Iterable[Any], what: str) -> None:
    """Refuse a name that is not known.

    Parameters
    ----------
    name : object
        What the user wrote.
    known : iterable
        What there is.
    what : str
        What is named: "metric", "dimension".

    Raises
    ------
    ValueError
        With the nearest names and all known ones.
    """
    known = list(known)
    if name not in known:
        raise ValueError(f"unknown {what} {name!r}; {nearest(name, known)}known are {', '.join(map(repr, known))}")
