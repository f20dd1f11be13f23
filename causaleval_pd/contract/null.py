"""What a null model gives the spine: drawn controls, and closed forms where mathematics has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .context import Context
    from .metric import Metric
    from .pairs import Pairs
from .law import ClosedForm


class Controls(Protocol):
    """Matched controls of one batch of pairs."""

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly: the mean over the rows."""

    def draw(self, start: int, count: int) -> Pairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return what is known of the metric's null distribution, or None."""


@dataclass(frozen=True)
class Matching:
    """What a null model may match controls to, aligned with the rows of the table.

    Attributes
    ----------
    truth, estimate : Series
        Canonical columns.
    control_kind : (n,) object or None
        Class of the controls as the user stated it.
    stratum : (n,) int or None
        Number of the row's stratum, -1 outside any.
    options : mapping
        The user's further options of the null model.
    context : Context or None
        The rows' extra inputs, where the user gave any.
    """

    truth: pd.Series
    estimate: pd.Series
    control_kind: NDArray[np.object_] | None
    stratum: NDArray[np.int64] | None
    options: Mapping[str, Any]
    context: Context | None = None


#: from the rows and the pairs of one batch and the rows' random keys to their controls
Matcher = Callable[[NDArray[np.int64], "Pairs", NDArray[np.uint64]], Controls]


@dataclass(frozen=True)
class Null:
    """A null model.

    Attributes
    ----------
    name : str
        Name used by `null=`.
    long_name : str
        Sentence fragment for tables and captions.
    match : callable
        From the table's columns (`Matching`) to a function that makes the controls of one batch.
    by_stratum : bool
        True if controls depend on the stratum's other rows, so that rows have no p of their own.
    published : callable or None
        Controls of one truth from an estimate's published numbers, `published(truth, key, **numbers, options=...)`.
    reference : bool
        True for a point of reference that is no random guess, so that nothing has a p-value.
    options : mapping
        The options that it takes, with their defaults.
    """

    name: str
    long_name: str
    match: Callable[[Matching], Matcher]
    by_stratum: bool = False
    published: Callable[..., Controls] | None = None
    reference: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ChosenNull:
    """A null model as a user asks for it; see `null_model`.

    Attributes
    ----------
    model : str or callable
        Name of a model, or a function that draws controls.
    name : str
        Name in results.
    options : mapping
        The model's options that differ from the defaults.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> chosen = ce.null_model("orientation", orientation_law="uniform")
    >>> isinstance(chosen, ce.ChosenNull), chosen.name, dict(chosen.options)
    (True, 'orientation', {'orientation_law': 'uniform'})
    """

    model: str | Callable[..., Any]
    name: str
    options: Mapping[str, Any]


#: what `null=` takes
NullLike = str | Callable[..., Any] | ChosenNull
Nulls = NullLike | Sequence[NullLike] | None


def null_model(model: NullLike, *, name: str | None = None, **options: Any) -> ChosenNull:
    """Choose a null model together with its options, or make one of a function.

    Parameters
    ----------
    model : str or callable
        Name of one of the field's null models; or `model(estimate, rng)`, which returns one random control for an
        estimate from a numpy Generator.
    name : str, optional
        Name in results; default the model's.
    **options
        The model's options.

    Returns
    -------
    ChosenNull
        What `null=` takes; two of them need different names in one list.

    Raises
    ------
    TypeError
        If `model` is neither, or a function is given options.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().head(3)
    >>> null = ce.null_model("orientation", orientation_law="uniform", name="uniform_orientation")
    >>> ce.with_controls(runs, ["shd"], null=null, n_draws=20, rng=7)["control_null"].unique().tolist()
    ['uniform_orientation']
    """
    if isinstance(model, ChosenNull):
        return replace(model, name=name or model.name, options={**model.options, **options})
    if callable(model):
        if options:
            raise TypeError(
                f"a function takes no options here, found {', '.join(options)}; bind them by functools.partial"
            )
        return ChosenNull(model, name or str(getattr(model, "__name__", type(model).__name__)), {})
    if not isinstance(model, str):
        raise TypeError(
            f"null must be a name, a function or ce.null_model(...), found {type(model).__name__}: {model!r}"
        )
    return ChosenNull(model, name or model, options)
