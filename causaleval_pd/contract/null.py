"""Null models: how controls are matched to rows, drawn, and replaced by closed forms where mathematics has them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import name_row
from .context import Context
from .field import FIELDS, get_field
from .law import ClosedForm
from .metric import Metric
from .pairs import Pairs


class Listing(NamedTuple):
    """All controls of rows, equally likely, in an order that all rows share: draw r of `controls` is the r-th of n."""

    n: int
    controls: Controls


class Controls(ABC):
    """Matched controls of one batch of pairs; a null model must define `draw`, and may define the rest."""

    #: the observed pairs, of the field's own type
    pairs: Any
    #: bytes that one drawn control takes while it is scored, roughly; decides how many are drawn at once
    cost: int = 1000
    #: nanoseconds that drawing one control takes, roughly, as a mean over the rows; decides on units of work
    work: float = 10_000.0
    #: all joint relabellings one by one, where the model has one for all rows, and they are few
    listing: Listing | None = None

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, one word per row."""
        return np.full(self.pairs.n, "control", object)

    @abstractmethod
    def draw(self, start: int, count: int) -> Pairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the metric's exact moments or law under the model, or None where it must be simulated."""
        return None


#: `known(metric)` returns the closed form of a metric's controls, or None
Known = Callable[[Metric], ClosedForm | None]


def no_closed_form(metric: Metric) -> ClosedForm | None:
    """Return None: every metric is simulated."""
    return None


@dataclass(frozen=True, eq=False)
class DrawnControls(Controls):
    """Controls that a function draws."""

    pairs: Any
    #: class of the controls, one word for all rows or for each
    words: str | NDArray[np.object_]
    #: `drawn(start, count)` returns rows x count pairs, a row's draws together
    drawn: Callable[[int, int], Any]
    known: Known = no_closed_form
    cost: int = 1000
    work: float = 10_000.0
    listing: Listing | None = None

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, one word per row."""
        return np.full(self.pairs.n, self.words, object)

    def draw(self, start: int, count: int) -> Any:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        return self.drawn(start, count)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the metric's exact moments or law under the model, or None."""
        return self.known(metric)


def draw_stream(key: int, draw: int) -> np.random.Generator:
    """Return the generator of one draw of a key; counter-based, so that it needs none of the draws before it."""
    return np.random.Generator(np.random.Philox(key=key + (draw << 64)))


def custom_draws(
    function: Callable[[Any, np.random.Generator], Any], estimates: Iterable[Any], keys: Any, start: int, count: int
) -> Iterator[tuple[int, Any, Any]]:
    """Yield the position of a row, its estimate, and what a user's function draws for it, a row's draws together."""
    for position, (estimate, key) in enumerate(zip(estimates, keys.tolist(), strict=True)):
        for number in range(start, start + count):
            yield position, estimate, function(estimate, draw_stream(key, number))


@dataclass(frozen=True)
class Matching:
    """What a null model may match controls to, aligned with the rows of the table."""

    #: canonical columns
    truth: pd.Series
    estimate: pd.Series
    #: (n,): class of the controls as the user stated it
    control_kind: NDArray[np.object_] | None
    #: (n,): number of the row's stratum, -1 outside any
    stratum: NDArray[np.int64] | None
    #: the user's further options of the null model
    options: Mapping[str, Any]
    #: the rows' extra inputs, where the user gave any
    context: Context | None = None
    #: result of the null model's `prepare` for this table
    prepared: Any = None
    #: (n,): number of the row's cluster, whose rows are relabelled alike; None: rows one by one
    cluster: NDArray[np.int64] | None = None
    #: the metrics that are controlled, where they are known
    metrics: tuple[Metric, ...] = ()
    #: (n,): names of the rows' random streams, for models that draw several rows together
    keys: NDArray[np.uint64] | None = None

    def where(self, row: int, side: str = "estimate") -> str:
        """Name a row in a message, by the label and the column of the user's table."""
        cells = getattr(self, side)
        return name_row(row, cells.index, cells.name)


#: `controls(matching, rows, pairs, keys)`: the controls of one batch, whose rows have these random keys
MakeControls = Callable[[Matching, NDArray[np.int64], Any, NDArray[np.uint64]], Controls]
#: the same for one table
Matcher = Callable[[NDArray[np.int64], Any, NDArray[np.uint64]], Controls]


@dataclass(frozen=True)
class Null:
    """A null model: functions that draw or list controls, and what they match of an estimate.

    Attributes
    ----------
    name : str
        Name used by `null=`.
    long_name : str
        Sentence fragment for tables and captions.
    controls : callable
        `controls(matching, rows, pairs, keys)` makes the controls of one batch: `matching` holds the table's columns,
        `rows` the positions of the batch's rows in it, `pairs` their aligned cells, `keys` their random streams.
    prepare : callable or None
        `prepare(matching)` computes once a table what all batches need (and refuses bad options); it is then
        `matching.prepared`.
    estimated : bool
        True if the law of a row's controls is estimated from the stratum's other rows: rows have a p of their own, but
        their draws are not exchangeable with their estimate row by row.
    published : callable or None
        Controls of one truth from an estimate's published numbers, `published(model, truth, key, **numbers,
        options=...)`.
    reference : bool
        True for a point of reference rather than a random guess, so that nothing has a p-value (but see `worse`).
    options : mapping
        The options that it takes, with their defaults.
    label_invariant : bool
        Whether a relabelled control is as likely as the control, so that estimates that follow the model can be tested
        by relabelling them.
    joint : bool
        Whether the model relabels estimates by a permutation that depends on the row's key and the number of the draw
        alone: rows with one key are then relabelled jointly. A field has one such model at most.
    together : Null or None
        The model that draws the rows of a cluster jointly, in strata that repeat one, instead of relabelling them; it
        finds the clusters in `matching.cluster`.
    worse : bool
        For a point of reference that estimates should not fall behind, such as calibrated probabilities: p of a row is
        then the probability of a control at least as bad, and there is no skill.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> edges = ce.structure.GRAPHS.nulls["edges"]
    >>> isinstance(edges, ce.Null), dict(edges.options)
    (True, {'permute': True, 'bidirected': 'matched'})
    """

    name: str
    long_name: str
    controls: MakeControls
    prepare: Callable[[Matching], Any] | None = None
    published: Callable[..., Controls] | None = None
    reference: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    label_invariant: bool = False
    joint: bool = False
    worse: bool = False
    estimated: bool = False
    together: Null | None = None

    def by_cluster(self, relabelling: Null | None) -> Null | None:
        """Return the model that draws rows of a cluster jointly, None without one; `relabelling` is the field's."""
        # with permute=False the names of the nodes are their causal order
        relabels = self.label_invariant and bool(self.options.get("permute", True)) and not self.reference
        return self.together or (relabelling if relabels else None)

    def match(self, matching: Matching) -> Matcher:
        """Prepare a table, and return the function that makes the controls of its batches."""
        if self.prepare is not None:
            matching = replace(matching, prepared=self.prepare(matching))
        return partial(self.controls, matching)


def register_null(field: str, new: Null) -> Null:
    """Register a null model of a field and return it, so that `null=` finds it by name.

    Parameters
    ----------
    field : str
        Name of a registered field.
    new : Null
        The null model.

    Raises
    ------
    ValueError
        If the field is unknown or has a null model of that name.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> from causaleval_pd.contract.null import Null
    >>> graphs = ce.structure.GRAPHS.nulls
    >>> same = Null("same", "the estimate itself", graphs["permutation"].controls)
    >>> ce.register_null("graph", same).name
    'same'
    >>> del graphs["same"]
    """
    model: Null = get_field(field).nulls.add(new.name, new)
    return model


def list_nulls(field: str | None = None) -> pd.DataFrame:
    """Return the registered null models, one per row.

    Parameters
    ----------
    field : str, optional
        Only null models of this field.

    Returns
    -------
    DataFrame
        Indexed by field and name: long_name, default (used for `null=None`), reference (no random guess, so without
        p-values; "calibrated" has those of controls at least as bad), options with their defaults.

    Raises
    ------
    ValueError
        If the field is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_nulls("graph").loc[("graph", "edges"), "long_name"]
    "random graphs with the estimate's class and number of edges"
    """
    fields = list(FIELDS.every()) if field is None else [get_field(field)]
    rows = []
    for owner in fields:
        for model in owner.nulls.every():
            options = ", ".join(f"{name}={value!r}" for name, value in model.options.items())
            is_default = model.name == owner.default_null
            rows.append((owner.name, model.name, model.long_name, is_default, model.reference, options))
    columns = ["field", "name", "long_name", "default", "reference", "options"]
    return pd.DataFrame(rows, columns=columns).set_index(["field", "name"])
