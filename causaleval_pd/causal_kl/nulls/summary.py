"""Summarise the controls of one estimate and its place among them, a row a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.context import Context
from ...contract.field import get_field
from ...contract.metric import Metric
from ...contract.metric_sets import select_metrics
from ...contract.null import Controls, Matching
from ...contract.pairs import Pairs
from ...execution.random_streams import RNGLike, resolve_seed
from ...statistics.direction import as_good, better
from ..networks.pairs import pair

__all__ = ["control_summary"]

Floats = NDArray[np.float64]


def control_summary(
    truth: Any,
    estimate: Any,
    metrics: Iterable[str | Metric] = ("kl", "ckl1", "ckl2", "ckl3"),
    *,
    null: str = "dags",
    data: pd.DataFrame | None = None,
    estimator: Any = None,
    n_draws: int = 1000,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Summarise the controls of one estimate and its place among them.

    Parameters
    ----------
    truth, estimate : network
        Cells as in `network_column`.
    metrics : iterable of str or Metric
        Metrics with a direction.
    null : {"dags", "edges", "permutation", "orientation", "oracle_skeleton"}
        Null model. "dags" and the orientations are enumerated where there are few (up to five nodes; up to fourteen
        edges), else drawn.
    data : DataFrame, optional
        Data that the estimate's parameters, and so those of the controls, are estimated from.
    estimator : {"mle", "uniform rows", "joint"} or float
        Estimator of the estimate's parameters; "joint" takes them from the true joint law, without data.
    n_draws : int
        Number of controls, where they are drawn.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        One row a metric: `value`; `p` (share of controls as good or better, ties in full; (b + 1) / (n + 1) where
        drawn; NaN for the true skeleton, a reference and no null model); `percentile` (share better plus half the
        ties); `mean`, `sd`, `ratio` = value / mean (NaN with infinite controls, or where the mean is below 1e-9);
        `q05`, `q25`, `median`, `q75`, `q95`; `share_inf`, `share_nan` (undefined controls are left out of everything
        else); `n_controls`, `exact`.

    Raises
    ------
    ValueError
        If the networks do not align, a metric has no direction, an option is unknown, or data or estimator is missing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> table = ce.causal_kl.control_summary(truth, truth, ["ckl3"], estimator="joint")
    >>> table[["value", "p", "median", "n_controls"]].round(4)
            value    p  median  n_controls
    metric
    ckl3      0.0  0.5  0.4394           2
    """
    chosen = select_metrics(metrics)
    model = get_field("network").nulls.find(null)
    if isinstance(n_draws, bool) or not isinstance(n_draws, (int, np.integer)) or n_draws < 1:
        raise ValueError(f"n_draws must be a positive integer, found {n_draws!r}")
    pairs, zero = pair(truth, estimate), np.zeros(1, np.int64)
    context = Context(({"data": data, "estimator": estimator},), zero)
    cell = pd.Series([None], dtype=object)
    matching = Matching(cell, cell, None, None, {}, context)
    controls = model.match(matching)(zero, pairs, np.array([resolve_seed(rng)], np.uint64))
    drawn = cache(lambda: controls.draw(0, int(n_draws)))
    rows = {}
    for metric in chosen:
        if metric.direction is None:
            raise ValueError(f"{metric.name} has no direction, so no control can be as good")
        values, undefined, number, exact = _values(metric, controls, drawn)
        row = _describe(metric, float(metric(pairs)[0]), values, undefined)
        row["n_controls"], row["exact"] = number, exact
        if not exact and number:
            row["p"] = (row["p"] * number + 1) / (number + 1)
        if model.reference:
            row["p"] = np.nan
        rows[metric.name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


def _values(metric: Metric, controls: Controls, drawn: Callable[[], Pairs]) -> tuple[Floats, float, int, bool]:
    """Return the controls' defined values, the share of undefined ones, their number, and whether all are listed."""
    closed = controls.closed_form(metric)
    if closed is None or closed.distribution is None:
        found = np.asarray(metric(drawn()), np.float64)
        defined = found[~np.isnan(found)]
        return defined, float(np.isnan(found).mean()), len(defined), closed is not None
    law = closed.distribution
    reached = law.weights[0] > 0
    number = round(1 / law.weights[0][reached].max()) if reached.any() else 0
    return law.values[0][reached], float(law.undefined[0]), number, True


def _describe(metric: Metric, value: float, values: Floats, undefined: float) -> dict[str, Any]:
    """Summarise equally likely controls, infinite ones ranking worst."""
    given: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    good, strictly = (
        float(f(values, value, **given).mean()) if len(values) and not np.isnan(value) else np.nan
        for f in (as_good, better)
    )
    finite = bool(len(values)) and bool(np.isfinite(values).all())
    mean = float(values.mean()) if finite else np.nan
    limits = [np.nan] * 5
    if len(values):
        # with infinite controls invert the distribution function: no mean of a finite and an infinite value
        how: Any = "linear" if finite else "inverted_cdf"
        limits = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], method=how).tolist()
    return {
        "value": value,
        "p": good,
        "percentile": (good + strictly) / 2,
        "mean": mean,
        "sd": float(values.std()) if finite else np.nan,
        "ratio": value / mean if mean > 1e-9 else np.nan,
        **dict(zip(("q05", "q25", "median", "q75", "q95"), limits, strict=True)),
        "share_inf": float(np.isinf(values).mean()) * (1 - undefined) if len(values) else 0.0,
        "share_nan": undefined,
    }
