"""Settings of the verbs as values: how cells are read, how controls are drawn, where the work is done."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, Literal

from ..contract.checks import check_known, check_number, check_whole, shown
from ..execution.options import get_options
from ..statistics.multiplicity import auto_draws
from .context import describe_context

Invalid = Literal["raise", "nan"]
Method = Literal["auto", "exact", "simulate"]
#: controls a row, or as many as the number of tests needs
NDraws = int | Literal["auto"]


@dataclass(frozen=True)
class Cells:
    """Which columns hold the cells, of which field, and what 0/0 is (`set_options`); see `evaluate`."""

    truth: Hashable | None = "truth"
    estimate: Hashable = "estimate"
    field: str | None = None
    context: Mapping[str, Any] | None = None
    zero_division: float = dataclass_field(default_factory=lambda: get_options()["zero_division"])

    def settings(self) -> dict[str, Any]:
        """Return the settings for the history of a result; the field that the verb settled on is not among them."""
        columns: dict[str, Any] = {"truth": self.truth, "estimate": self.estimate}
        return columns | {"context": describe_context(self.context), "zero_division": float(self.zero_division)}

    @property
    def names(self) -> dict[str, Hashable]:
        """Columns by role; the truth is left out where the call has none."""
        return {"estimate": self.estimate} if self.truth is None else {"truth": self.truth, "estimate": self.estimate}


@dataclass(frozen=True)
class Drawing:
    """How controls are drawn and summarised, the same for every row; see `with_controls`."""

    n_draws: int
    method: Method = "auto"
    level: float = 0.95
    invalid: Invalid = "raise"
    #: number of the first draws that are kept
    keep: int = 0
    #: whether draws are all controls there are, each once
    listed: bool = False
    #: whether anything else is made of draws
    summarise: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_draws", check_whole(self.n_draws, "n_draws", 1, 2**31 - 1))
        check_number(self.level, "level", "(0, 1)")
        check_known(self.method, ("auto", "exact", "simulate"), "method")

    def settings(self) -> dict[str, Any]:
        """Return the settings for the history of a result."""
        names = ("method", "level", "invalid")
        return {"n_draws": self.n_draws if self.draws else 0} | {name: getattr(self, name) for name in names}

    @property
    def draws(self) -> bool:
        """Whether outputs without a closed form are simulated."""
        return self.method in ("auto", "simulate")


def settle_draws(how: Drawing, n_draws: NDraws, n_tests: int) -> Drawing:
    """Return the settings with as many draws as `n_tests` tests need, where `n_draws` is "auto"."""
    return replace(how, n_draws=auto_draws(n_tests)) if n_draws == "auto" else how


def first_draws(n_draws: NDraws) -> int:
    """Return the number of draws by which settings are checked before the number of tests is known."""
    if isinstance(n_draws, str):
        if n_draws != "auto":
            raise ValueError(f"n_draws must be a positive integer or 'auto', found {shown(n_draws)}")
        return 1
    return check_whole(n_draws, "n_draws", 1, 2**31 - 1)


@dataclass(frozen=True)
class ChosenNull:
    """A null model as a user asks for it by `null_model`."""

    #: name of a model, or a function that draws controls
    model: str | Callable[..., Any]
    #: name in results
    name: str
    #: the model's options that differ from the defaults
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


@dataclass(frozen=True)
class NullChoice:
    """Which controls rows get: null models, random streams, classes; see `with_controls` and `cube`."""

    null: Nulls
    seed: int
    key: Hashable | Sequence[Hashable] | None = None
    control_kind: str | None = None
    best_of: Hashable | None = None

    def settings(self) -> dict[str, Any]:
        """Return the settings for the history of a result; the null models that were found are not among them."""
        names = ("seed", "key", "control_kind")
        chosen = {} if self.best_of is None else {"best_of": self.best_of}
        return {name: getattr(self, name) for name in names} | chosen
