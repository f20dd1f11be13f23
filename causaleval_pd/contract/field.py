"""Fields: what a kind of cell (graphs, networks, formulas, answers) registers so that all verbs take it.

The verbs do not depend on graphs. They ask the field of the cells to coerce a column, to align truths with estimates,
and for null models; everything else is done by metrics on `Pairs`.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from .context import Context
from .pairs import Batch, Pairs
from .registry import Registry

#: labels up to which all relabellings are listed (720), so that every metric has an exact law
MOST_LISTED = 6


@cache
def all_orders(n: int) -> NDArray[np.int64]:
    """Return all orders of n labels, (n!, n), in lexicographic order."""
    return np.array(list(itertools.permutations(range(n))), np.int64).reshape(math.factorial(n), n)


@dataclass(frozen=True)
class Relabelling:
    """How a field writes estimates that its joint null model has relabelled."""

    #: from pairs and the canonical truths of the same rows to the pairs' estimates as canonical cells
    cells: Callable[[Any, pd.Series], pd.Series]
    #: counts the truths' relations from an earlier to a later label, and all; None without order or direction
    forward: Callable[[pd.Series], tuple[int, int]] | None = None


FIELDS: Registry[Field] = Registry("field", "causaleval_pd.fields")


def missing_cells(cells: pd.Series) -> NDArray[np.bool_]:
    """Return which cells of a canonical column are missing (a failed run, which is not an empty cell)."""
    return cells.isna().to_numpy(bool)


def identify_cells(cells: pd.Series, contents: Callable[[bytes], bytes] = bytes) -> NDArray[np.int64]:
    """Return one number per cell of bytes or text: equal `contents` agree on any machine; missing cells are 0."""
    codes, distinct = pd.factorize(cells)
    # a list of Arrow's own: the iterator of pandas takes longer than the hashes
    texts = pa.array(distinct.array).to_pylist() if len(distinct) else []
    parts = (contents(cell if isinstance(cell, bytes) else str(cell).encode()) for cell in texts)
    digests = [hashlib.blake2b(part, digest_size=8).digest() for part in parts]
    numbers = np.frombuffer(b"".join(digests), np.int64)
    return np.append(np.where(numbers == 0, 1, numbers), 0)[codes]


@dataclass(frozen=True)
class Field:
    """A kind of cell, and what the verbs may ask of it.

    Attributes
    ----------
    name : str
        Name used by `field=`.
    default_metrics : tuple of str
        What `evaluate` computes when no metrics are named.
    default_null : str
        Null model used when `null=None`.
    holds : callable
        `holds(cells)` checks whether a column looks like this field's cells; a column may suit several fields. It gets
        columns of any dtype, and returns False where it cannot read them.
    coerce : callable
        `coerce(cells, column)` returns the canonical column; raises where a decoding is ambiguous.
    batches : callable
        `batches(truth, estimate, context)` aligns two canonical columns by name and yields batches; rows with a
        missing cell are left out, rows that cannot be aligned raise an error that names them. The context is None
        where none was given; the truth is None where the call has none (`truth=None`).
    pair : callable
        `pair(truth, estimate)` aligns two single cells.
    missing : callable
        `missing(cells)` returns which cells hold no estimate (a failed run).
    identify : callable
        `identify(cells)` gives one int64 a cell, equal for equal cells, on any machine; 0 where missing.
    truth_field : str or Field
        Field that coerces and identifies the truths, where they are cells of another field (edge scores against
        graphs), by its name, or itself where it is not registered; default this field.
    views : mapping
        Other fields whose metrics apply, with the conversion of a canonical column (a network has a graph).
    context : tuple of str
        Names of the extra inputs that `context=` may give (data, for example).
    custom_null : callable or None
        `custom_null(function, name)` makes a null model of a user's function.
    nulls : Registry
        Null models by name; `register_null` adds one.
    usual_metrics : tuple of str
        What many studies report, which `list_metrics` shows first; the default metrics where none are named.
    kinds : tuple of str
        Kinds of its cells, which metrics take that name none.
    labels : callable or None
        `labels(truths)` returns one int64 a cell, equal for truths whose labels (names of nodes or factors) can be
        exchanged by one permutation; 0 where missing. None where nothing is relabelled.
    labels_in_context : callable or None
        `labels_in_context(truths, context)` returns the same where a context may name labels besides those of the
        truths. None where it names none.
    truth_clusters : bool
        Whether runs with equal truths depend on each other; False where a truth is a single value, such as an answer,
        that unrelated rows share.
    unit : str
        Usual name of a column whose rows depend on each other, where truths are no clusters; empty without one.
    without_truth : tuple of str
        What `evaluate` computes when neither metrics nor truths are named.
    floor : str
        Metric that describes how small a p-value the joint null model can give an estimate that data judge; empty
        without one.
    relabelling : Relabelling or None
        How estimates that the joint null model has relabelled are written as cells; None where cells have no labels.
    samples : callable or None
        `samples()` makes small tables that need every kernel of the field, for `warm_up`, with the context that they
        need in `attrs["context"]`; None without kernels.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> isinstance(ce.structure.GRAPHS, ce.Field), ce.structure.GRAPHS.default_null
    (True, 'edges')
    """

    name: str
    default_metrics: tuple[str, ...]
    default_null: str
    holds: Callable[[pd.Series], bool]
    coerce: Callable[[pd.Series, str], pd.Series]
    batches: Callable[[Any, pd.Series, Context | None], Iterable[Batch]]
    pair: Callable[[Any, Any], Pairs]
    missing: Callable[[pd.Series], NDArray[np.bool_]] = missing_cells
    identify: Callable[[pd.Series], NDArray[np.int64]] = identify_cells
    truth_field: str | Field = ""
    views: Mapping[str, Callable[[pd.Series], pd.Series]] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    custom_null: Callable[[Callable[..., Any], str], Any] | None = None
    nulls: Registry[Any] = field(default_factory=lambda: Registry("null model", "causaleval_pd.nulls"))
    usual_metrics: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    labels: Callable[[pd.Series], NDArray[np.int64]] | None = None
    labels_in_context: Callable[[pd.Series, Context], NDArray[np.int64]] | None = None
    truth_clusters: bool = True
    unit: str = ""
    without_truth: tuple[str, ...] = ()
    floor: str = ""
    relabelling: Relabelling | None = None
    samples: Callable[[], Iterable[pd.DataFrame]] | None = None

    @property
    def joint_null(self) -> Any:
        """The null model that relabels the rows of one key jointly, or None."""
        return next((model for model in self.nulls.every() if model.joint), None)

    @property
    def of_truth(self) -> Field:
        """Field of the truths."""
        named = self.truth_field or self
        return get_field(named) if isinstance(named, str) else named


def register_field(new: Field) -> Field:
    """Register a field and return it, so that all verbs take its cells.

    Parameters
    ----------
    new : Field
        The field to register.

    Raises
    ------
    ValueError
        If other code has taken the name; code that runs again replaces what it registered.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> again = ce.structure.GRAPHS
    >>> ce.register_field(again)
    Traceback (most recent call last):
        ...
    ValueError: a field called 'graph' is already registered; choose another name
    """
    old = FIELDS.get(new.name)
    FIELDS.add(new.name, new)
    if old is not None:
        # null models may have been registered since, by other code
        for name, model in old.nulls.items():
            new.nulls.setdefault(name, model)
    return new


def get_field(name: str) -> Field:
    """Return the registered field called `name`."""
    return FIELDS.find(name)


def list_fields() -> pd.DataFrame:
    """Return the registered fields, one per row.

    Returns
    -------
    DataFrame
        Indexed by name: default_metrics, default_null, truth_field, views (fields whose metrics apply too), context.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_fields().loc["network", "views"]
    'graph'
    """
    table = FIELDS.table("default_metrics", "default_null", "truth_field", "views", "context")
    return table.assign(truth_field=[field.of_truth.name for field in FIELDS.every()])
