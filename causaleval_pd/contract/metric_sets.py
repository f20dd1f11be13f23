"""Metrics of one call: chosen by name, renamed, with options fixed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from .checks import check_type
from .metric import Metric, get_metric


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
    """Return what the argument `metrics` of a call names: one metric or several, each once."""
    if isinstance(metrics, (str, Metric)):
        return (get_metric(metrics),)
    check_type(metrics, Iterable, "a metric or several, by name or as Metric", "metrics")
    chosen = metric_set(*metrics)
    if not chosen:
        raise ValueError("metrics names no metric; list_metrics() shows all")
    return chosen


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
    return (
        metric if not metric.zero_division or "zero_division" in metric.options else tweak(metric, zero_division=value)
    )
