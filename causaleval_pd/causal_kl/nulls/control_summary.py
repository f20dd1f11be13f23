"""What one estimate's value is worth against its controls: the whole account, a row a metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known
from ...contract.context import Context
from ...contract.field import get_field
from ...contract.metric import Metric
from ...contract.metric_sets import select_metrics
from ...contract.null import Matching
from ...execution.random_streams import RNGLike, resolve_seed
from ...statistics.direction import as_good, better
from ..networks.align import align
from ..networks.pairs import NetworkPairs, Networks

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
    """Describe the controls of one estimate and where it stands among them.

    Parameters
    ----------
    truth, estimate : network
        Cells as in `network_column`.
    metrics : iterable of str or Metric
        What to describe.
    null : {"dags", "edges", "permutation", "orientation", "oracle_skeleton"}
        Null model. "dags" and the orientations are enumerated where there are few (up to five nodes; up to fourteen
        edges), else drawn.
    data : DataFrame, optional
        What the controls' parameters are estimated from; default the true joint law.
    estimator : {"mle", "uniform rows", "joint"} or float, optional
        How: the estimator of the estimate.
    n_draws : int
        Controls, where they are drawn.
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
        If the networks do not align, a metric has no direction, or an option is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> table = ce.causal_kl.control_summary(truth, truth, ["ckl3"])
    >>> table[["value", "p", "median", "n_controls"]].round(4)
            value    p  median  n_controls
    metric
    ckl3      0.0  0.5  0.4394           2
    """
    nulls = get_field("network").nulls
    check_known(null, nulls, "null")
    if isinstance(n_draws, bool) or not isinstance(n_draws, (int, np.integer)) or n_draws < 1:
        raise ValueError(f"n_draws must be a positive integer, found {n_draws!r}")
    left, right = align(truth, estimate)
    zero = np.zeros(1, np.int64)
    pairs = NetworkPairs(Networks.of([left]), Networks.of([right]), zero, zero)
    context = Context(({"data": data, "estimator": estimator},), zero)
    empty = pd.Series(dtype=object)
    matching = Matching(empty, empty, None, None, {}, context)
    keys = np.array([resolve_seed(rng)], np.uint64)
    controls = nulls[null].match(matching)(zero, pairs, keys)
    rows = {}
    drawn = None
    for metric in select_metrics(metrics):
        if metric.direction is None:
            raise ValueError(f"{metric.name} has no direction, so no control can be as good")
        value = float(metric(pairs)[0])
        closed = controls.closed_form(metric)
        if closed is not None and closed.distribution is not None:
            law = closed.distribution
            number = round(1 / law.weights[0][law.weights[0] > 0].max()) if (law.weights[0] > 0).any() else 0
            values, undefined = law.values[0][law.weights[0] > 0], float(law.undefined[0])
        else:
            drawn = controls.draw(0, int(n_draws)) if drawn is None else drawn
            found = np.asarray(metric(drawn), np.float64)
            values, undefined = found[~np.isnan(found)], float(np.isnan(found).mean())
            number = len(values)
        row = _describe(metric, value, values, undefined)
        row["n_controls"], row["exact"] = number, closed is not None
        if closed is None and number:
            row["p"] = (row["p"] * number + 1) / (number + 1)
        if null == "oracle_skeleton":
            row["p"] = np.nan
        rows[metric.name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


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
        # with infinite controls the inverse of the distribution function: no mean of a finite and an infinite value
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
