"""Metric: a function of pairs that carries its spec; the registry of metrics, and the metrics of one call."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import NUMBERS, check_choice, enumerated, nearest, shown
from .field import FIELDS, get_field
from .law import CLOSED_FORMS
from .options import Convention, metric_docstring
from .pairs import ANY_KIND, PairError, Pairs
from .registry import Registry

Direction = Literal["minimize", "maximize", "zero"]

METRICS: Registry[Metric] = Registry("metric", "causaleval_pd.metrics", "list_metrics()")


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A function of aligned pairs together with what tables, tests and figures must know about it.

    Call it with two cells for one number, or with a `Pairs` object for one number per pair.

    Attributes
    ----------
    name : str
        Identifier; the column it fills.
    function : callable
        `function(pairs, **options)` returning one float64 a pair.
    long_name, field, kinds, truth_kinds, direction, range, optimum, symmetric
        As `metric` declares them.
    closed_form, reference, costly, dtype, of_truth, dims, conventions, instead, log_scale
        As `metric` declares them.
    options : mapping
        Options fixed by `tweak`.
    component : Component or None
        Where this metric is one coordinate of a metric with further dimensions: which.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.shd.long_name, ce.shd.direction, ce.shd.range
    ('structural Hamming distance', 'minimize', (0.0, inf))
    >>> ce.shd("A -> B; B -> C", "A -> B; C -> B")
    1.0
    """

    name: str
    function: Callable[..., NDArray[Any]]
    long_name: str
    field: str
    kinds: tuple[str, ...]
    direction: Direction | None
    range: tuple[float, float]
    optimum: float
    symmetric: bool
    closed_form: str | None = None
    reference: str = ""
    costly: bool = False
    dtype: str | tuple[str, ...] = "float64"
    of_truth: bool = False
    truth_kinds: tuple[str, ...] = ()
    dims: Mapping[str, tuple[str | int, ...] | None] = dataclass_field(default_factory=lambda: MappingProxyType({}))
    options: Mapping[str, Any] = dataclass_field(default_factory=lambda: MappingProxyType({}))
    component: Component | None = None
    conventions: tuple[Convention, ...] = ()
    instead: tuple[str, ...] = ()
    log_scale: bool = False

    def __post_init__(self) -> None:
        # doctest, help() and inspect treat the metric as the function it is
        vars(self).update(__wrapped__=self.function, __name__=self.name, __qualname__=self.name)
        vars(self).update(__module__=self.function.__module__, __doc__=metric_docstring(self))

    @property
    def zero_division(self) -> bool:
        """Whether the metric can be 0/0, and so takes `zero_division=`."""
        return "zero_division" in inspect.signature(self.function).parameters

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the metric does not have, and what 0/0 cannot be."""
        defaults = {name: x.default for name, x in list(inspect.signature(self.function).parameters.items())[1:]}
        for name, value in options.items():
            if name not in defaults:
                hint = f"{nearest(name, defaults)}its options: {', '.join(defaults) or 'none'}"
                raise ValueError(f"{self.name} has no option {name!r}; {hint}")
            # a misspelled convention is named before cells are refused because it is missing
            further = [x.value for x in self.conventions if x.option == name]
            if further and value not in [defaults[name], *further]:
                known = " or ".join(map(repr, [defaults[name], *further]))
                raise ValueError(f"{name} must be {known}, found {shown(value)}")
        zero_division = options.get("zero_division", 0.0)
        if not isinstance(zero_division, NUMBERS):
            raise ValueError(f"zero_division must be a number or NaN, found {shown(zero_division)}")

    def kinds_line(self) -> str:
        """Describe the kinds of cell that the metric is defined for."""
        if not self.truth_kinds:
            return f"{' or '.join(self.kinds)} as estimate, without a truth"
        if self.truth_kinds == self.kinds:
            return enumerated(self.kinds, "and")
        return f"{' or '.join(self.truth_kinds)} as truth with {' or '.join(self.kinds)} as estimate"

    def spec_line(self) -> str:
        """Describe direction, range and optimum in one line, which also ends the docstring's prose."""
        low, high = (f"{x:g}" for x in self.range)
        aim = f"to {self.direction}" if self.direction in ("minimize", "maximize") else "closest to 0 is best"
        if self.direction is None:
            return f"A description without better or worse, in [{low}, {high}]."
        best = f"with optimum {self.optimum:g}" if np.isfinite(self.optimum) else "without a best value"
        return f"A metric {aim}, in [{low}, {high}], {best}."

    def refused(self, pairs: Pairs, options: Mapping[str, Any] | None = None) -> NDArray[np.bool_]:
        """Return which pairs hold cells that the metric is not defined for; without a truth it asks nothing of it."""
        fixed = self.options if options is None else options
        further = tuple(kind for x in self.conventions if fixed.get(x.option) == x.value for kind in x.kinds)
        kinds = self.kinds + further
        truth_kinds = kinds if self.truth_kinds == self.kinds else self.truth_kinds
        asked = truth_kinds or ANY_KIND
        return pairs.remember(("refused", kinds, asked), lambda: pairs.refused(kinds, asked))

    def what_applies(self, refused: Sequence[Pairs]) -> str:
        """Return a hint "; use ..." of conventions and other metrics for pairs that this metric refuses, or nothing."""
        n = sum(pairs.n for pairs in refused)
        remedies: dict[tuple[int, str], list[str]] = {}
        for x in [self, *(METRICS[name] for name in self.instead if name in METRICS)]:
            most = n - sum(int(x.refused(pairs).sum()) for pairs in refused)
            if most:
                remedies.setdefault((most, ""), []).append(repr(x.name))
            for option, value, _, meaning in x.conventions:
                taken = n - sum(int(x.refused(pairs, {**x.options, option: value}).sum()) for pairs in refused)
                if taken > most:
                    call = f"ce.tweak({x.name!r}, {option}={value!r})"
                    remedies.setdefault((taken, f" ({meaning})"), []).append(call)
        words = []
        for (taken, meaning), names in remedies.items():
            words.append(f"{enumerated(names, 'or')}{f' for {taken} of them' if taken < n else ''}{meaning}")
        return f"; use {'; or '.join(words)}" if words else ""

    def __call__(self, truth: Any, estimate: Any = None, **options: Any) -> Any:
        """Score one (truth, estimate) pair of cells, or every pair of a `Pairs`."""
        if options:
            self.check_options(options)
        options = {**self.options, **options}
        if isinstance(truth, Pairs):
            return np.asarray(self.function(truth, **options))
        if self.truth_kinds and (truth is None or estimate is None):
            side = "truth" if truth is None else "estimate"
            raise TypeError(f"{self.name} needs a truth and an estimate, found None as the {side}")
        pairs = get_field(self.field).pair(truth, estimate)
        if self.refused(pairs, options).any():
            raise ValueError(
                f"{self.name} applies to {self.kinds_line()}, but {pairs.describe(0)}{self.what_applies([pairs])}"
            )
        value = np.asarray(self.function(pairs, **options))[0]
        return value if self.dims else value.item()

    def of_taken(
        self, pairs: Pairs, compute: Callable[[Pairs], NDArray[Any]] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the values of the pairs that the metric takes, NaN for the others, and which it takes."""
        taken = ~self.refused(pairs)
        while taken.any() or not pairs.n:  # a metric checks its options also where there are no pairs
            at = np.flatnonzero(taken)
            try:
                if len(at) == pairs.n:
                    return np.asarray((compute or self)(pairs), np.float64), taken
                values = np.full(pairs.n, np.nan)
                values[at] = (compute or self)(pairs.take(at))
                return values, taken
            except PairError as error:
                taken[at[error.positions]] = False
        return np.full(pairs.n, np.nan), taken

    def __repr__(self) -> str:
        fixed = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"<metric {self.name}{fixed}: {self.direction}, field {self.field}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.component is not None:
            return component, tuple(self.component)
        if METRICS.get(self.name) is self:
            return get_metric, (self.name,)
        return _restore, (self.function.__name__, self.name, dict(self.options), self.long_name)


Coordinates = tuple[str | int, ...]


class Component(NamedTuple):
    """A metric with further dimensions, the labels of all of them, and one place among these."""

    whole: Metric
    labels: tuple[Coordinates, ...]
    place: tuple[int, ...]


#: of a direction that is not stated
_UNSTATED: Any = "unstated"


def metric(
    function: None = None,
    /,
    *,
    direction: Direction | None = _UNSTATED,
    optimum: float = math.nan,
    field: str = "graph",
    kinds: Iterable[str] | None = None,
    range: tuple[float, float] | None = None,
    long_name: str | None = None,
    symmetric: bool = False,
    closed_form: str | None = None,
    reference: str = "",
    costly: bool = False,
    dtype: str | tuple[str, ...] = "float64",
    of_truth: bool = False,
    truth_kinds: Iterable[str] | None = None,
    dims: Mapping[str, Iterable[str | int] | None] | None = None,
    conventions: Iterable[Convention] = (),
    instead: Iterable[str] = (),
    log_scale: bool = False,
) -> Callable[[Callable[..., NDArray[Any]]], Metric]:
    """Turn a function of two graphs, or of many pairs at once, into a registered `Metric`.

    A function with two arguments, `(truth, estimate)`, gets two `Graph` objects over the same nodes, and returns a
    number. A function with one argument, `(pairs)`, gets aligned pairs of its field, and returns an array with a number
    per pair, which is faster. Both return NaN where the metric is undefined.

    Parameters
    ----------
    function : None
        Not an argument: it is there for the message that explains `@ce.metric` without its parentheses.
    direction : {"minimize", "maximize", "zero"} or None
        What is good; None describes without judging.
    optimum : float
        Value of a perfect estimate.
    field : str
        Field of the cells.
    kinds : iterable of str, optional
        Kinds of cell the metric is defined for; with `truth_kinds`, of the estimate. Default all of the field, as all
        classes of graphs, where the field names them.
    range : tuple of float, optional
        Smallest and largest possible value, which values are checked by. Default from the optimum to infinity where the
        metric is minimized, up to the optimum where it is maximized, and unlimited elsewhere.
    long_name : str, optional
        Label of axes and tables; default the function's name in words.
    symmetric : bool
        Whether truth and estimate may change places.
    closed_form : str, optional
        Name of a closed-form rule (see `list_closed_forms`), by which null models compute moments or laws without
        drawing; the function is probed for what the rule demands.
    reference : str
        DOI of the definition.
    costly : bool
        Compute once per distinct pair rather than once per row.
    dtype : str or tuple of str
        "float64", "boolean", or the words of a categorical result.
    of_truth : bool
        Depends on the truth alone, so that it is known for failed runs too.
    truth_kinds : iterable of str, optional
        Kinds of truth, where they are others than the estimate's; empty for a metric that needs no truth.
    dims : mapping, optional
        Further dimensions: the function then returns an array of shape `(n, *sizes)`. Names map to labels, or to None
        where the data decide how many positions 0, 1, ... there are (lags). Tables have one column per coordinate,
        cubes the dimensions.
    conventions : iterable of Convention
        Options by which the metric takes further kinds; without them these are refused.
    instead : iterable of str
        Metrics to suggest for kinds that this one refuses.
    log_scale : bool
        Whether to compare values with controls by their logarithms, as p-values that may be tiny.

    Returns
    -------
    callable
        A decorator that returns the `Metric`.

    Raises
    ------
    ValueError
        If the name is taken or is not an identifier, the field or the direction is unknown, the range is not two
        ordered numbers, or the function contradicts its closed form. When the metric is computed: if a value is
        outside the range, or another one when the same pair is scored again.
    TypeError
        If kinds are one text instead of a sequence, or the function takes other arguments. When the metric is computed:
        if a value is not a number.

    Examples
    --------
    >>> from causaleval_pd.contract.metric import METRICS, metric
    >>> @metric(direction="minimize", optimum=0)
    ... def edge_count_error(truth, estimate):
    ...     return abs(truth.n_edges - estimate.n_edges)
    >>> edge_count_error("A -> B; B -> C", "A -> B; C")  # doctest: +SKIP
    1.0
    >>> del METRICS["edge_count_error"]
    """
    if direction is _UNSTATED:
        named = getattr(function, "__name__", "my_metric")
        raise TypeError(
            f"metric needs to know what is good: write @ce.metric(direction='minimize', optimum=0) above the line "
            f"def {named}(truth, estimate), or direction='maximize'"
        )
    check_choice(direction, (*get_args(Direction), None), "direction")
    if range is None:
        low = optimum if direction == "minimize" and not math.isnan(optimum) else -math.inf
        range = (low, optimum if direction == "maximize" and not math.isnan(optimum) else math.inf)
    if kinds is None:
        kinds = get_field(field).kinds
        if not kinds:
            raise TypeError(f"kinds must name the kinds of cell of field {field!r} that the metric is defined for")
    if not (isinstance(range, Sequence) and not isinstance(range, str) and len(range) == 2 and range[0] < range[1]):
        raise ValueError(f"range must be two ordered numbers, found {range!r}")
    several: dict[str, Any] = {"kinds": kinds, "truth_kinds": truth_kinds, "instead": instead}
    several |= {f"labels of dimension {dim!r}": labels for dim, labels in (dims or {}).items()}
    for name, words in several.items():
        if isinstance(words, str):
            raise TypeError(f"{name} must be a sequence, found {words!r}; write ({words!r},)")
    kinds = tuple(kinds)
    limits = (float(range[0]), float(range[1]))
    given_dims = {dim: labels if labels is None else tuple(labels) for dim, labels in (dims or {}).items()}

    def register(function: Callable[..., NDArray[Any]]) -> Metric:
        if not function.__name__.isidentifier():
            raise ValueError(f"a metric has the name of its function, found {function.__name__!r}; define it by def")
        is_own = function.__module__.startswith("causaleval_pd.")
        # a closed form probes the function with counts alone
        is_plain = is_own or closed_form is not None
        of_pairs = function if is_plain else function_of_pairs(function, limits, has_dims=bool(given_dims))
        made = Metric(
            name=function.__name__,
            function=of_pairs,
            long_name=function.__name__.replace("_", " ") if long_name is None else long_name,
            field=field,
            kinds=kinds,
            direction=direction,
            range=limits,
            optimum=float(optimum),
            symmetric=symmetric,
            closed_form=closed_form,
            reference=reference,
            costly=costly,
            dtype=dtype,
            of_truth=of_truth,
            truth_kinds=tuple(kinds if truth_kinds is None else truth_kinds),
            dims=MappingProxyType(given_dims),
            conventions=tuple(conventions),
            instead=tuple(instead),
            log_scale=log_scale,
        )
        # those of the package are probed by its tests, which keeps its import short
        if not is_own:
            get_field(field)
            probe_closed_form(made)
        return METRICS.add(made.name, made)

    return register


def probe_closed_form(made: Metric) -> None:
    """Refuse a metric that contradicts the closed-form rule it names: its "exact" results would be wrong."""
    if made.closed_form is None:
        return
    rule = CLOSED_FORMS.find(made.closed_form)
    if rule.field != made.field:
        raise ValueError(f"{made.name}: closed form {rule.name!r} is for field {rule.field!r}, not {made.field!r}")
    try:
        fault = rule.probe and rule.probe(lambda stand_in: np.asarray(made.function(stand_in), np.float64))
    except AttributeError as error:
        fault = f"its function reads {error.name!r}, which the counts of this rule do not have"
    if fault:
        raise ValueError(
            f"{made.name} names closed_form={rule.name!r}, but {fault}; leave closed_form out, so that its null "
            "distribution is simulated"
        )


def _restore(base: str, name: str, options: dict[str, Any], long_name: str) -> Metric:
    """Rebuild a tweaked metric in another process from its registered base."""
    return replace(get_metric(base), name=name, options=MappingProxyType(options), long_name=long_name)


def get_metric(name: str | Metric) -> Metric:
    """Return the metric called `name` (a `Metric` passes through).

    Parameters
    ----------
    name : str or Metric
        Registered name, or a metric (a tweak, for example).

    Returns
    -------
    Metric
        The metric.

    Raises
    ------
    ValueError
        If no metric has that name; the message names the nearest.
    TypeError
        If `name` is neither.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.get_metric("shd").direction
    'minimize'
    """
    if isinstance(name, Metric):
        return name
    if callable(name) and not isinstance(name, type):
        raise TypeError(
            f"a metric is a name or a Metric, found the function {getattr(name, '__name__', name)!r}; declare it by "
            "@ce.metric(direction='minimize', optimum=0) above its def, and pass it then"
        )
    if not isinstance(name, str):
        raise TypeError(f"a metric is a name or a Metric, found {type(name).__name__}: {name!r}")
    return METRICS.find(name)


def list_metrics(field: str | None = None) -> pd.DataFrame:
    """Return the registered metrics with their specs, one per row: field by field, the usual ones first.

    Parameters
    ----------
    field : str, optional
        Only metrics of this field.

    Returns
    -------
    DataFrame
        Indexed by name: long_name, field, usual (whether many studies report it), kinds, truth_kinds, direction, low,
        high, optimum, dims, symmetric, zero_division, closed_form, costly, reference.

    Raises
    ------
    ValueError
        If the field is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_metrics("graph")[["usual", "direction"]].head(3)
                         usual direction
    name
    shd                   True  minimize
    adjacency_precision   True  maximize
    adjacency_recall      True  maximize
    """
    if field is not None:
        get_field(field)
    table = METRICS.table(
        *("long_name", "field", "kinds", "truth_kinds", "direction", "optimum", "dims", "symmetric", "zero_division"),
        *("closed_form", "costly", "reference"),
    )
    table.insert(5, "low", [m.range[0] for m in METRICS.values()])
    table.insert(6, "high", [m.range[1] for m in METRICS.values()])
    usual: dict[str, bool] = {}
    for owner in FIELDS.every():
        names = [m.name for m in METRICS.values() if m.field == owner.name]
        first = [name for name in owner.usual_metrics or owner.default_metrics if name in names]
        usual |= dict.fromkeys(first, True) | {name: False for name in names if name not in first}
    table = table.loc[list(usual)]
    table.insert(2, "usual", list(usual.values()))
    # a field may have no metrics of its own
    return cast(pd.DataFrame, table if field is None else table[table["field"] == field])


def metric_set(*metrics: str | Metric, **renamed: str | Metric) -> tuple[Metric, ...]:
    """Collect metrics of one call, some under another name.

    Parameters
    ----------
    *metrics : str or Metric
        Metrics that keep their names.
    **renamed : str or Metric
        New name = metric.

    Returns
    -------
    tuple of Metric
        What `evaluate` and the other verbs take as `metrics`.

    Raises
    ------
    ValueError
        If a metric is unknown or two have the same name.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> [m.name for m in ce.metric_set("shd", doubled=ce.tweak("shd", reversal_cost=2))]
    ['shd', 'doubled']
    """
    chosen = [get_metric(m) for m in metrics]
    chosen += [replace(get_metric(m), name=name) for name, m in renamed.items()]
    names = [m.name for m in chosen]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"metrics must have different names, found twice: {', '.join(repeated)}; rename one by tweak(name=)"
        )
    return tuple(chosen)


def tweak(base: str | Metric, /, *, name: str | None = None, **options: Any) -> Metric:
    """Fix options of a metric, under its own name or a new one. The result is not registered.

    Parameters
    ----------
    base : str or Metric
        Metric to start from.
    name : str, optional
        Name of the new metric; default the base's.
    **options
        Keywords of the metric's function.

    Returns
    -------
    Metric
        The metric with these options fixed.

    Raises
    ------
    ValueError
        If the metric has no such option, or the name is not an identifier.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> doubled = ce.tweak("shd", reversal_cost=2, name="shd_double")
    >>> ce.shd("A -> B", "B -> A"), doubled("A -> B", "B -> A")
    (1.0, 2.0)
    """
    base = get_metric(base)
    base.check_options(options)
    name = base.name if name is None else name
    if not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"a metric's name must be an identifier (it becomes a column), found {name!r}")
    return replace(base, name=name, options=MappingProxyType({**base.options, **options}))


def bind_zero_division(metric: Metric, value: float) -> Metric:
    """Fix what 0/0 is, unless the metric has no 0/0 or a tweak has fixed it already."""
    open_to_it = metric.zero_division and "zero_division" not in metric.options
    return tweak(metric, zero_division=value) if open_to_it else metric


def component(metric: Metric, labels: tuple[Coordinates, ...], place: tuple[int, ...]) -> Metric:
    """Return the metric of one coordinate; all components of a metric share one evaluation of their pairs."""
    sizes = tuple(len(x) for x in labels)

    @functools.wraps(metric.function)
    def function(pairs: Any, **options: Any) -> NDArray[Any]:
        key = (metric.name, sizes, tuple(sorted(options.items(), key=str)))
        values = pairs.remember(key, lambda: _padded(metric, pairs, options, sizes))
        return np.asarray(values[(slice(None), *place)])

    chosen = tuple(x[i] for x, i in zip(labels, place, strict=True))
    part = Component(metric, labels, place)
    coordinate = ", ".join(f"{dim} {label}" for dim, label in zip(metric.dims, chosen, strict=True))
    return replace(
        metric,
        name="_".join([metric.name, *map(str, chosen)]),
        long_name=f"{metric.long_name} ({coordinate})",
        function=function,
        dims=MappingProxyType({}),
        component=part,
    )


def _padded(metric: Metric, pairs: Any, options: dict[str, Any], sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Evaluate the whole metric; coordinates that these pairs do not have are NaN."""
    values = np.asarray(metric.function(pairs, **options), np.float64)
    if values.shape == (pairs.n, *sizes):
        return values
    if values.ndim != len(sizes) + 1 or len(values) != pairs.n or any(np.greater(values.shape[1:], sizes)):
        raise ValueError(
            f"{metric.name} returned an array of shape {values.shape} for {pairs.n} pairs; its dimensions are "
            f"{', '.join(metric.dims)} of sizes {sizes}"
        )
    padded = np.full((pairs.n, *sizes), np.nan)
    padded[tuple(slice(n) for n in values.shape)] = values
    return padded


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

    def compute(pairs: Pairs, options: dict[str, Any]) -> Values:
        result = _of_cells(function, pairs, options) if len(needed) == 2 else function(pairs, **options)
        values = np.asarray(result)
        # the sizes of further dimensions are checked where they are laid out
        deepest = 9 if has_dims else 1
        if values.dtype.kind not in "biuf" or not 1 <= values.ndim <= deepest or len(values) != pairs.n:
            what, shape = _kind(values if values.ndim else result), f"({pairs.n}, k)" if has_dims else f"({pairs.n},)"
            raise TypeError(f"the metric {name!r} returned {what}, expected an array {shape} of numbers, one per pair")
        return values.astype(np.float64, copy=False)

    @functools.wraps(function)
    def checked(pairs: Pairs, **options: Any) -> Values:
        values = compute(pairs, options)
        (low, high), slack = limits, _ROUNDING * (1 + np.abs(values))
        wrong = np.argwhere((values < low - slack) | (values > high + slack))
        if len(wrong):
            value = values[tuple(wrong[0])]
            raise ValueError(
                f"the metric {name!r} returned {value:g}, outside its range ({low:g}, {high:g}), for "
                f"{_described(pairs, int(wrong[0, 0]))}; mend the function, or declare its range= in ce.metric"
            )
        if pairs.n:
            again = compute(pairs.take(slice(0, 1)), options)
            if not np.allclose(values[:1], again, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True):
                raise ValueError(
                    f"the metric {name!r} returned {values[0]} and then {again[0]} for the same pair "
                    f"({_described(pairs, 0)}); the value of a pair depends on this pair alone, not on chance, other "
                    "pairs or earlier calls"
                )
        return values

    first = inspect.Parameter("pairs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    checked.__signature__ = inspect.Signature([first, *parameters[len(needed) :]])  # type: ignore[attr-defined]
    return checked


def _of_cells(function: Callable[..., Any], pairs: Pairs, options: dict[str, Any]) -> Values:
    """Call a function of (truth, estimate) for each pair."""
    values = np.empty(pairs.n)
    for k in range(pairs.n):
        try:
            value = function(*pairs.cells(k), **options)
        except Exception as error:
            error.add_note(f"in the metric {function.__name__!r}, of {_described(pairs, k)}")
            raise
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if not isinstance(value, (*NUMBERS, np.bool_)):
            missing = "; return float('nan') where it is undefined" if value is None else ""
            raise TypeError(f"the metric {function.__name__!r} returned {_kind(value)}, expected a number{missing}")
        values[k] = value
    return values


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
