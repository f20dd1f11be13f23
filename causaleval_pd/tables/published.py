"""Controls for published results, of which the metrics and the number of edges are known but not the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_flag, check_type
from ..contract.field import FIELDS, Field, get_field
from ..contract.law import ClosedForm
from ..contract.metric import Metric, bind_zero_division
from ..execution.options import get_options
from ..execution.random_streams import RNGLike, resolve_seed, row_keys
from ..statistics.arrays import quantiles
from .history import call, metric_settings, null_settings, remember
from .matching import check_directions, find_null
from .row_summary import METHODS, RowControls, row_means, skill, summarise
from .settings import Drawing, Method, NullLike, null_model
from .simulate import simulate
from .tasks import Metrics, select


def control_distribution(
    truth: Any,
    *,
    n_edges: int,
    kind: str,
    metrics: Metrics = None,
    observed: Mapping[str, float] | float | None = None,
    n_draws: int = 1000,
    rng: RNGLike = None,
    null: NullLike = "edges",
    permute: bool = True,
    nodes: Sequence[str] | None = None,
    method: Method = "auto",
    level: float = 0.95,
) -> pd.DataFrame:
    """Describe what random guessing scores against one truth, for a published estimate whose graph is not at hand.

    Parameters
    ----------
    truth : graph
        The true graph: anything `graph_column` takes without an encoding.
    n_edges : int
        Number of edges of the estimate.
    kind : str
        Class of the controls: "dag", or "cpdag" for methods that return equivalence classes.
    metrics : str, Metric or iterable of these, optional
        What to describe; default those of `observed`, else the field's default set.
    observed : mapping or float, optional
        Published values by metric name, or the value of the only metric; they get a p-value and a skill.
    n_draws : int
        Number of simulated controls.
    rng : int, Generator or None
        Seed.
    null : str or ce.null_model(...)
        Null model; one that needs no more of an estimate than its class and number of edges, such as "edges".
    permute : bool
        Random causal order of the nodes for every control. False fixes it to `nodes`, which reproduces analyses that
        drew their graphs so, and favours truths whose edges run along that order.
    nodes : sequence of str, optional
        All nodes of the truth; their order is the causal order where `permute=False`.
    method, level
        As in `with_controls`.

    Returns
    -------
    DataFrame
        One row per metric: `metric`, `observed`, `mean`, `sd`, `median`, `low`, `high`, `p`, `p_se`, `skill`,
        `mean_method`, `sd_method`, `p_method`, `control_undefined`, `control_null`, `control_kind`, `control_seed`,
        `n_draws`.

    Raises
    ------
    ValueError
        If the truth cannot be decoded, the numbers do not fit it, a metric is unknown or has no direction, the
        null model needs the estimate itself, or `method="exact"` where no closed form exists.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> found = ce.control_distribution(
    ...     ce.datasets.sachs_truth(20), n_edges=16, kind="dag", observed={"shd": 22}, n_draws=2000, rng=7
    ... )
    >>> found[["metric", "observed", "mean", "mean_method"]].round(4)
      metric  observed     mean mean_method
    0    shd      22.0  27.2727       exact
    """
    how = Drawing(n_draws, method, level)
    values, zero_division = _observed(observed, metrics), get_options()["zero_division"]
    named = select(list(values) if metrics is None else metrics) if values or metrics is not None else ()
    field = get_field(named[0].field) if named else _published_field()
    chosen = [bind_zero_division(m, zero_division) for m in named or select(field.default_metrics)]
    check_directions(chosen)
    unused = sorted(set(values) - {m.name for m in chosen})
    if unused:
        raise ValueError(f"observed has values of {unused}, which are not among the metrics {[m.name for m in chosen]}")
    seed = resolve_seed(rng)
    model = find_null(field, null if check_flag(permute, "permute") else null_model(null, permute=False))
    if model.published is None:
        able = ", ".join(name for name, other in field.nulls.items() if other.published is not None)
        raise ValueError(
            f"null {model.name!r} needs more than an estimate's class and number of edges; from published numbers "
            f"controls are drawn by {able}"
        )
    key = row_keys(pd.DataFrame(index=[0]), None, seed)
    controls = model.published(model, truth, key, n_edges=n_edges, kind=kind, nodes=nodes, options=model.options)
    rows = []
    for m in chosen:
        closed = None if method == "simulate" else controls.closed_form(m)
        if not how.draws and (closed is None or np.isnan(closed.mean).all()):
            raise ValueError(f"{m.name} has no closed form for {kind} controls; use method='auto' to simulate")
        exact = closed is not None and closed.distribution is not None
        draws = None if exact or not how.draws else simulate([m], controls, 1, how)[m.name]
        value = np.array([values.get(m.name, np.nan)], np.float64)
        summary = summarise(m, value, closed, draws, how)
        rows.append(_describe(m, summary, closed, draws))
    table = pd.DataFrame(rows)
    for name in ("mean_method", "sd_method", "p_method"):
        table[name] = pd.Categorical(table[name], categories=METHODS)
    settings = metric_settings(chosen) | null_settings([model]) | how.settings()
    settings |= {"n_edges": n_edges, "kind": kind, "zero_division": zero_division, "permute": permute, "seed": seed}
    result = table.assign(
        control_null=model.name,
        control_kind=str(controls.kind[0]),
        control_seed=seed,
        n_draws=how.n_draws if how.draws else 0,
    )
    return remember(result, [call("control_distribution", settings)])


def _published_field() -> Field:
    """Return the field whose null models draw controls from published numbers."""
    return next(field for field in FIELDS.every() if any(null.published for null in field.nulls.values()))


def _observed(observed: Mapping[str, float] | float | None, metrics: Metrics) -> dict[str, float]:
    """Name published values by their metrics."""
    if isinstance(observed, Mapping):
        for name, value in observed.items():
            check_type(value, (int, float, np.integer, np.floating), "a number", f"observed {name}")
    if observed is None or isinstance(observed, Mapping):
        return dict(observed or {})
    check_type(observed, (int, float, np.integer, np.floating), "a number, or numbers by metric", "observed")
    named = () if metrics is None else select(metrics)
    if len(named) != 1:
        raise ValueError(
            f"observed is one number, {observed!r}, for {len(named)} metrics; name it, as in {{'shd': 22}}"
        )
    return {named[0].name: float(observed)}


def _describe(
    metric: Metric, controls: RowControls, closed: ClosedForm | None, draws: NDArray[np.float64] | None
) -> dict[str, Any]:
    """Name one metric's row of `control_distribution`."""
    median, sd, sd_method = np.array([np.nan]), np.array([np.nan]), None
    if draws is not None:
        median = quantiles(draws, [0.5])[:, 0]
        sd, sd_method = np.sqrt(row_means((draws - row_means(draws)[:, None]) ** 2)), "simulated"
    if closed is not None and closed.distribution is not None:
        median = closed.distribution.quantile(0.5)
    if closed is not None and closed.variance is not None and not np.isnan(closed.variance[0]):
        sd, sd_method = np.sqrt(closed.variance), "exact"
    return {
        "metric": metric.name,
        "observed": controls.observed[0],
        "mean": controls.mean[0],
        "sd": sd[0],
        "median": median[0],
        "low": controls.low[0],
        "high": controls.high[0],
        "p": controls.p[0],
        "p_se": controls.p_se[0],
        "skill": skill(metric.optimum, controls.observed, controls.loss)[0],
        "mean_method": _word(controls.mean_method),
        "sd_method": sd_method,
        "p_method": _word(controls.p_method),
        "control_undefined": controls.undefined[0],
    }


def _word(method: NDArray[np.int8]) -> str | None:
    """Name how the one row's number was found."""
    return METHODS[method[0]] if method[0] >= 0 else None
