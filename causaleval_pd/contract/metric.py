"""Metric: a function that carries its spec; the registry, tweaks and sets of metrics."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import check_type, nearest, shown
from .field import get_field
from .pairs import Pairs

Direction = Literal["minimize", "maximize", "zero"]

METRICS: dict[str, Metric] = {}
_ENTRY_POINT_GROUP = "causaleval_pd.metrics"


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A function of aligned pairs together with what tables, tests and figures must know about it.

    Call it with two cells for one number, or with a `Pairs` object for one number a pair.

    Attributes
    ----------
    name : str
        Identifier; the column it fills.
    function : callable
        `function(pairs, **options)` returning one float64 a pair.
    long_name : str
        Label of axes and tables.
    field : str
        Field whose pairs it takes.
    kinds : tuple of str
        Kinds of estimate it is defined for.
    truth_kinds : tuple of str
        Kinds of truth it is defined for.
    direction : {"minimize", "maximize", "zero"} or None
        What is good; None for a description that has no better and worse.
    range : tuple of float
        Smallest and largest possible value.
    optimum : float
        Value of a perfect estimate.
    symmetric : bool
        Whether truth and estimate may change places.
    null : str or None
        Closed form that its field knows: see the field's null models.
    reference : str
        DOI of the definition.
    costly : bool
        Computed once per distinct pair rather than once a row.
    dtype : str or tuple of str
        "float64", "boolean", or the words of a categorical result.
    of_truth : bool
        Depends on the truth alone, so that it is known for failed runs too.
    options : mapping
        Options fixed by `tweak`.

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
    null: str | None = None
    reference: str = ""
    costly: bool = False
    dtype: str | tuple[str, ...] = "float64"
    of_truth: bool = False
    truth_kinds: tuple[str, ...] = ()
    options: Mapping[str, Any] = dataclass_field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        # doctest, help() and inspect treat the metric as the function it is
        for key, value in {
            "__wrapped__": self.function,
            "__name__": self.name,
            "__qualname__": self.name,
            "__module__": self.function.__module__,
            "__doc__": self._document(),
        }.items():
            object.__setattr__(self, key, value)

    def _document(self) -> str:
        """Complete the function's docstring by what the spec knows, so that no metric repeats it."""
        text = inspect.getdoc(self.function) or f"Compute the {self.long_name}."
        head, mark, examples = text.partition("\nExamples\n--------\n")
        first = re.search(r"^\w+\n---", head, re.MULTILINE)
        prose, sections = (head[: first.start()], head[first.start() :]) if first else (head, "")
        parts = [prose.rstrip(), "", self.spec_line(), ""]
        if "Parameters\n---" not in sections:
            parts += ["Parameters", "----------", f"pairs : pairs of field {self.field!r}, or a cell"]
            parts += ["    Aligned pairs; or the true cell, followed by the estimated one."]
            if self.zero_division:
                parts += ["zero_division : float", "    What 0/0 is; default NaN."]
            parts += [""]
        if sections:
            parts += [sections.rstrip(), ""]
        if "Returns\n---" not in sections:
            parts += ["Returns", "-------", "(n,) ndarray or float", "    One value a pair.", ""]
        parts += [
            "Raises",
            "------",
            "ValueError",
            f"    If the cells are of other kinds than {self.kinds_line()}, or do not align.",
            "",
        ]
        if self.reference:
            parts += ["References", "----------", f".. [1] doi:{self.reference}", ""]
        return "\n".join(parts) + (mark + examples if mark else "")

    @property
    def zero_division(self) -> bool:
        """Whether the metric can be 0/0 and so takes `zero_division=`."""
        return "zero_division" in inspect.signature(self.function).parameters

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the metric does not have, and what 0/0 cannot be."""
        allowed = list(inspect.signature(self.function).parameters)[1:]
        for key in options:
            if key not in allowed:
                hint = f"{nearest(key, allowed)}its options: {', '.join(allowed) or 'none'}"
                raise ValueError(f"{self.name} has no option {key!r}; {hint}")
        zero_division = options.get("zero_division", 0.0)
        if not isinstance(zero_division, (int, float, np.integer, np.floating)):
            raise ValueError(f"zero_division must be a number or NaN, found {shown(zero_division)}")

    def kinds_line(self) -> str:
        """Say which kinds of cell it is defined for."""
        if self.truth_kinds == self.kinds:
            return " and ".join(filter(None, [", ".join(self.kinds[:-1]), self.kinds[-1]]))
        return f"{' or '.join(self.truth_kinds)} as truth with {' or '.join(self.kinds)} as estimate"

    def spec_line(self) -> str:
        """Say direction, range and optimum in one line (also the last line of the docstring's prose)."""
        low, high = (f"{x:g}" for x in self.range)
        aim = f"to {self.direction}" if self.direction in ("minimize", "maximize") else "closest to 0 is best"
        if self.direction is None:
            return f"A description without better or worse, in [{low}, {high}]."
        return f"A metric {aim}, in [{low}, {high}], with optimum {self.optimum:g}."

    def __call__(self, truth: Any, estimate: Any = None, **options: Any) -> Any:
        """Score one (truth, estimate) pair of cells, or every pair of a `Pairs`."""
        if options:
            self.check_options(options)
        options = {**self.options, **options}
        if isinstance(truth, Pairs):
            return np.asarray(self.function(truth, **options))
        pairs = get_field(self.field).pair(truth, estimate)
        if pairs.refused(self.kinds, self.truth_kinds).any():
            raise ValueError(f"{self.name} applies to {self.kinds_line()}, but {pairs.describe(0)}")
        return np.asarray(self.function(pairs, **options))[0].item()

    def __repr__(self) -> str:
        fixed = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"<metric {self.name}{fixed}: {self.direction}, field {self.field}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if METRICS.get(self.name) is self:
            return get_metric, (self.name,)
        return _restore, (self.function.__name__, self.name, dict(self.options), self.long_name)


def _restore(base: str, name: str, options: dict[str, Any], long_name: str) -> Metric:
    return replace(tweak(base, name=name, **options), long_name=long_name)


def metric(
    *,
    field: str,
    kinds: Iterable[str],
    direction: Direction | None,
    range: tuple[float, float],
    optimum: float = math.nan,
    long_name: str,
    symmetric: bool = False,
    null: str | None = None,
    reference: str = "",
    costly: bool = False,
    dtype: str | tuple[str, ...] = "float64",
    of_truth: bool = False,
    truth_kinds: Iterable[str] | None = None,
) -> Callable[[Callable[..., NDArray[Any]]], Metric]:
    """Turn a function of pairs into a registered `Metric`.

    Parameters
    ----------
    field : str
        Field whose pairs the function takes.
    kinds : iterable of str
        Kinds of cell the metric is defined for; with `truth_kinds`, of the estimate.
    direction : {"minimize", "maximize", "zero"} or None
        What is good; None describes without judging.
    range : tuple of float
        Smallest and largest possible value.
    optimum : float
        Value of a perfect estimate.
    long_name : str
        Label of axes and tables.
    symmetric : bool
        Whether truth and estimate may change places.
    null : str, optional
        Name of the closed form that the field's null models know.
    reference : str
        DOI of the definition.
    costly : bool
        Compute once per distinct pair.
    dtype : str or tuple of str
        "float64", "boolean", or the words of a categorical result.
    of_truth : bool
        Depends on the truth alone.
    truth_kinds : iterable of str, optional
        Kinds of truth, where they are others than the estimate's.

    Returns
    -------
    callable
        A decorator that returns the `Metric`.

    Raises
    ------
    ValueError
        If the name is taken or no identifier, the direction unknown, or the range not two ordered numbers.

    Examples
    --------
    >>> from causaleval_pd.contract.metric import METRICS, metric
    >>> @metric(field="graph", kinds=("dag",), direction="minimize", range=(0, float("inf")), optimum=0,
    ...         long_name="missing edges")
    ... def missing_edges(pairs):
    ...     return pairs.counts.fn
    >>> missing_edges("A -> B; B -> C", "A -> B; C")
    1.0
    >>> del METRICS["missing_edges"]
    """
    if direction not in ("minimize", "maximize", "zero", None):
        raise ValueError(f"direction must be 'minimize', 'maximize', 'zero' or None, found {direction!r}")
    if not (len(range) == 2 and range[0] < range[1]):
        raise ValueError(f"range must be two ordered numbers, found {range!r}")

    kinds = tuple(kinds)

    def register(function: Callable[..., NDArray[Any]]) -> Metric:
        made = Metric(
            name=function.__name__,
            function=function,
            long_name=long_name,
            field=field,
            kinds=kinds,
            direction=direction,
            range=(float(range[0]), float(range[1])),
            optimum=float(optimum),
            symmetric=symmetric,
            null=null,
            reference=reference,
            costly=costly,
            dtype=dtype,
            of_truth=of_truth,
            truth_kinds=tuple(kinds if truth_kinds is None else truth_kinds),
        )
        if made.name in METRICS:
            raise ValueError(f"a metric called {made.name!r} is already registered; choose another name")
        METRICS[made.name] = made
        return made

    return register


@functools.cache
def _read_entry_points() -> None:
    """Load third-party metrics once, when a name is not found or the list is asked for."""
    for point in entry_points(group=_ENTRY_POINT_GROUP):
        point.load()


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
        If no metric has that name; the nearest names are told.
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
    if not isinstance(name, str):
        raise TypeError(f"a metric is a name or a Metric, found {type(name).__name__}: {name!r}")
    if name not in METRICS:
        _read_entry_points()
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}; {nearest(name, METRICS)}list_metrics() shows all")
    return METRICS[name]


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


def select_metrics(metrics: Any) -> tuple[Metric, ...]:
    """Return what the argument `metrics` of a call names: one metric or several.

    Parameters
    ----------
    metrics : str, Metric or iterable of these
        What the user passed.

    Returns
    -------
    tuple of Metric
        The metrics.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If it is empty, a name is unknown, or a name is there twice.
    """
    if isinstance(metrics, (str, Metric)):
        return (get_metric(metrics),)
    check_type(metrics, Iterable, "a metric or several, by name or as Metric", "metrics")
    chosen = metric_set(*metrics)
    if not chosen:
        raise ValueError("metrics names no metric; list_metrics() shows all")
    return chosen


def tweak(base: str | Metric, *, name: str | None = None, **options: Any) -> Metric:
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
        If the metric has no such option, or the name is no identifier.

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


def list_metrics(field: str | None = None) -> pd.DataFrame:
    """Return the registered metrics with their specs, one a row.

    Parameters
    ----------
    field : str, optional
        Only metrics of this field.

    Returns
    -------
    DataFrame
        Indexed by name: long_name, field, kinds, truth_kinds, direction, low, high, optimum, symmetric, zero_division,
        null, costly, reference.

    Raises
    ------
    ValueError
        If the field is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_metrics("graph").loc["shd", "direction"]
    'minimize'
    """
    _read_entry_points()
    if field is not None:
        get_field(field)
    rows = [
        {
            "name": m.name,
            "long_name": m.long_name,
            "field": m.field,
            "kinds": ", ".join(m.kinds),
            "truth_kinds": ", ".join(m.truth_kinds),
            "direction": m.direction,
            "low": m.range[0],
            "high": m.range[1],
            "optimum": m.optimum,
            "symmetric": m.symmetric,
            "zero_division": m.zero_division,
            "null": m.null,
            "costly": m.costly,
            "reference": m.reference,
        }
        for m in METRICS.values()
        if field in (None, m.field)
    ]
    return cast(pd.DataFrame, pd.DataFrame(rows).set_index("name"))
