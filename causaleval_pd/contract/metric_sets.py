"""Metrics of one call: chosen by name, renamed, with options fixed, by component where they have further dimensions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import check_type
from .metric import Component, Metric, get_metric
from .pairs import Batch


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


Labels = tuple[str | int, ...]


def with_components(metric: Metric, batches: Iterable[Batch]) -> tuple[Metric, ...]:
    """Return the metric itself, or one metric `{metric}_{label}` per coordinate where it has further dimensions."""
    if not metric.dims:
        return (metric,)
    labels = _all_labels(metric, batches)
    return tuple(component(metric, labels, place) for place in itertools.product(*(range(len(x)) for x in labels)))


def _all_labels(metric: Metric, batches: Iterable[Batch]) -> tuple[Labels, ...]:
    """Return the labels of every dimension; open ones are as long as the longest result."""
    declared = tuple(metric.dims.values())
    if None not in declared:
        return tuple(tuple(labels) for labels in declared if labels is not None)
    sizes = [0 if labels is None else len(labels) for labels in declared]
    for batch in batches:
        # the length of an open dimension is that of a batch: its pairs have one signature
        lengths = np.asarray(metric(batch.pairs.take(slice(0, 1)))).shape[1:]
        if len(lengths) != len(sizes):
            raise ValueError(
                f"{metric.name} declares the dimensions {', '.join(metric.dims)}, but returned an array of shape "
                f"{(1, *lengths)} for one pair"
            )
        sizes = [max(size, n) for size, n in zip(sizes, lengths, strict=True)]
    return tuple(
        tuple(range(size)) if labels is None else tuple(labels) for labels, size in zip(declared, sizes, strict=True)
    )


def component(metric: Metric, labels: tuple[Labels, ...], place: tuple[int, ...]) -> Metric:
    """Return the metric of one coordinate; all components of a metric share one evaluation of their pairs."""
    sizes = tuple(len(x) for x in labels)

    @functools.wraps(metric.function)
    def function(pairs: Any, **options: Any) -> NDArray[Any]:
        key = (metric.name, sizes, tuple(sorted(options.items(), key=str)))
        values = pairs.remember(key, lambda: _padded(metric, pairs, options, sizes))
        return np.asarray(values[(slice(None), *place)])

    chosen = tuple(x[i] for x, i in zip(labels, place, strict=True))
    part = Component(metric, labels, place, component)
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
