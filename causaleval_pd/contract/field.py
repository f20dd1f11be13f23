"""Field: what a kind of cell (graphs, networks, formulas, answers) registers with the spine.

The verbs know no graphs. They ask the field of the cells to coerce a column, to align truths with estimates, and to
draw matched controls; everything else is done by metrics on `Pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import check_known
from .context import Context
from .null import Null
from .pairs import Batch, Pairs

FIELDS: dict[str, Field] = {}


@dataclass(frozen=True)
class Field:
    """A kind of cell and what the spine may ask of it.

    Attributes
    ----------
    name : str
        Name used by `field=`.
    default_metrics : tuple of str
        What `evaluate` computes when no metrics are named.
    default_null : str
        Null model used when `null=None`.
    holds : callable
        `holds(cells)` tells whether a column looks like this field's cells; a column may suit several fields.
    coerce : callable
        `coerce(cells, column)` returns the canonical column; raises where a decoding is ambiguous.
    batches : callable
        `batches(truth, estimate, context)` aligns two canonical columns by name and yields `Batch`es; rows with a
        missing cell are left out, rows that cannot be aligned raise an error that names them. The context is None
        where none was given.
    missing : callable
        `missing(cells)` tells which cells hold no estimate (a failed run).
    pair : callable
        `pair(truth, estimate)` aligns two single cells.
    identify : callable
        `identify(cells)` gives one int64 a cell, equal for equal cells, on any machine.
    nulls : mapping
        Null models by name.
    views : mapping
        Other fields whose metrics apply, with the conversion of a canonical column (a network has a graph).
    context : tuple of str
        Names of the extra inputs that `context=` may give (data, for example).
    custom_null : callable or None
        `custom_null(function, name)` makes a null model of a user's function.
    """

    name: str
    default_metrics: tuple[str, ...]
    default_null: str
    holds: Callable[[pd.Series], bool]
    coerce: Callable[[pd.Series, str], pd.Series]
    batches: Callable[[pd.Series, pd.Series, Context | None], Iterable[Batch]]
    missing: Callable[[pd.Series], NDArray[np.bool_]]
    pair: Callable[[Any, Any], Pairs]
    identify: Callable[[pd.Series], NDArray[np.int64]]
    nulls: Mapping[str, Null]
    views: Mapping[str, Callable[[pd.Series], pd.Series]] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    custom_null: Callable[[Callable[..., Any], str], Null] | None = None


def register_field(new: Field) -> Field:
    """Make `new` known to the verbs; a second field of the same name is an error.

    Parameters
    ----------
    new : Field
        The field to register.

    Returns
    -------
    Field
        The same field.

    Raises
    ------
    ValueError
        If the name is taken.
    """
    if new.name in FIELDS:
        raise ValueError(f"field {new.name!r} is already registered; choose another name")
    FIELDS[new.name] = new
    return new


def get_field(name: str) -> Field:
    """Return the registered field called `name`.

    Parameters
    ----------
    name : str
        Name of a field.

    Returns
    -------
    Field
        The field.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    check_known(name, sorted(FIELDS), "field")
    return FIELDS[name]
