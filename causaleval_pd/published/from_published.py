"""The verb that gives a printed table its controls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..contract.checks import check_known, check_number, check_type, check_whole
from ..contract.history import call, calls, metric_settings, remember
from ..contract.metric import METRICS, Metric
from ..contract.metric_sets import bind_zero_division
from ..execution.random_streams import RNGLike, resolve_seed
from ..tables.matching import check_directions
from ..tables.row_summary import skill
from ..tables.tasks import Metrics, select
from .consistency import check_values, half_units
from .controls import MEAN_METHODS, P_METHODS, Draws, Found, Printed, controls
from .printed_rows import check_names, is_metric, read_rows

__all__ = ["from_published"]


def from_published(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    constant: str | Sequence[str] = (),
    digits: int | Mapping[str, int] | None = None,
    n_draws: int = 1000,
    rng: RNGLike = None,
    level: float = 0.95,
    zero_division: float = math.nan,
) -> pd.DataFrame:
    """Add the controls' mean and p to a printed table of results, and name what is missing for an exact answer.

    Controls are random graphs with the estimates' numbers of edges, as of `null="edges"` in `with_controls`.

    Parameters
    ----------
    table : DataFrame
        A row is what a paper prints of one or more runs: a column a metric, named as in `ce.list_metrics("graph")`,
        and these columns.

        - `n_nodes`: number of nodes.
        - `true_edges`, `estimated_edges`: numbers of edges of one run, or their means over the runs, or lists of one
          number a run. An undirected edge is one edge.
        - `n_runs`: number of runs (repetitions) that the row's values are means of; 1 for a single run. Without it,
          values are means of unknown numbers of runs.
        - `kind`, optional: class of the estimates, "dag" or "cpdag"; metrics of directions need it.
        - `truth`, optional: the true graph of all runs of the row. It replaces `n_nodes` and `true_edges`, and gives
          metrics that need more than numbers their controls by simulation.
        - `<metric>_sd`, optional: standard deviation of the metric over the runs.

        Missing numbers are missing values. Further columns are kept.
    metrics : str, Metric or iterable of these, optional
        Which metrics; default every column that is named after one.
    constant : str or sequence of str
        Which of "true_edges" and "estimated_edges" are the same in every run of a row, and no means.
    digits : int or mapping of metrics to int, optional
        How many decimals were printed; default the most that a number of the column has, or of all ratios.
    n_draws : int
        Number of simulated controls, where `truth` is given and no closed form exists.
    rng : int, Generator or None
        Seed.
    level : float
        Probability between `m_control_low` and `m_control_high`.
    zero_division : float
        What the table counts 0/0 as.

    Returns
    -------
    DataFrame
        The table with columns for each metric `m`: `m_control_mean`; `m_control_low` and `m_control_high` (of single
        runs); `m_skill`; `m_p` and its Monte Carlo error `m_p_se`; `m_mean_method` ("exact", "simulated", or
        "approximate": taken at the mean number of edges, of which it is no linear function); `m_p_method`; and
        `m_needed`, which names what an exact answer would need, missing if nothing. `control_null` and `control_seed`
        end the table.

    Raises
    ------
    ValueError
        If a column has another name, or a row's numbers fit no graphs: more edges than pairs of nodes, values out of
        their range, or values that contradict one another. The message names the row.

    Notes
    -----
    p is the probability that controls, or means of as many controls as there are runs, are as good as the printed
    value or better. Printed values are rounded: p is taken at the worst value that rounds to the printed one, and
    `m_needed` gives its limits where more digits would change it. `m_p_method` is

    - "exact": the hypergeometric law of the shared adjacencies of one run;
    - "exact convolution": the law of the mean of independent runs, where the numbers of edges of every run are known;
    - "simulated": draws for one run on a known truth;
    - "normal": the normal law with the mean and variance of the controls, from ten runs on;
    - "t": a t test of the runs' mean against the controls' mean, where a standard deviation is printed, numbers of
      edges are constant and there is nothing better. It asks whether the method is better on average, assuming
      independent runs.

    p of a mean takes controls of different runs as independent. From mean numbers of edges there is no p: whether the
    mean is unusual depends on the numbers of each run. The mean of the controls is then exact if it is linear in the
    numbers of edges that vary, as the means of precision, recall and SHD are for one number of true edges; that of F1
    is not.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025. doi:10.48550/arXiv.2412.10039

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> import pandas as pd
    >>> printed = pd.DataFrame(
    ...     {"n_nodes": [5], "true_edges": [8], "estimated_edges": [7], "n_runs": [1], "adjacency_precision": [0.86]}
    ... )
    >>> found = ce.from_published(printed)
    >>> found[["adjacency_precision_control_mean", "adjacency_precision_p"]].round(4)
       adjacency_precision_control_mean  adjacency_precision_p
    0                               0.8                 0.5333
    """
    named = None if metrics is None else select(metrics)
    check_names(table, named)
    chosen = [
        bind_zero_division(m, zero_division)
        for m in (named if named is not None else [METRICS[str(x)] for x in table.columns if is_metric(x)])
    ]
    check_directions(chosen)
    for m in chosen:
        if m.field != "graph":
            raise ValueError(f"{m.name} is a metric of the field {m.field!r}; printed tables get controls of graphs")
    fixed = [constant] if isinstance(constant, str) else list(constant)
    for name in fixed:
        check_known(name, ("true_edges", "estimated_edges"), "column of constant")
    check_number(level, "level", "(0, 1)")
    places = _digits(digits, chosen)
    draws = Draws(check_whole(n_draws, "n_draws", 1), resolve_seed(rng), float(level))
    values = {m: _numbers(table, m.name) for m in chosen}
    spreads = {m: _numbers(table, f"{m.name}_sd") for m in chosen if f"{m.name}_sd" in table}
    slack = half_units(values, places)
    found: list[dict[str, Found]] = []
    for i, row in enumerate(read_rows(table, fixed)):
        check_values(row, {m: values[m][i] for m in chosen}, slack)
        printed = {
            m: Printed(values[m][i], slack[m.name], _spread(spreads, m, i, row.name, row.n_runs)) for m in chosen
        }
        found.append(controls(row, printed, draws))
    columns: dict[str, Any] = {}
    for m in chosen:
        columns |= _columns(m, values[m], [row[m.name] for row in found])
    taken = [name for name in columns if name in table]
    if taken:
        raise ValueError(f"the table has the column {taken[0]!r} already; drop or rename it")
    result = table.assign(**columns, control_null="edges", control_seed=draws.seed)
    settings = metric_settings(chosen) | {"null": ["edges"], "constant": fixed, "digits": digits, "level": draws.level}
    settings |= {"n_draws": draws.n_draws, "zero_division": zero_division, "seed": draws.seed}
    return remember(result, [*calls(table.attrs), call("from_published", settings)], table.attrs)


def _digits(digits: int | Mapping[str, int] | None, metrics: Sequence[Metric]) -> int | dict[str, int] | None:
    """Return checked numbers of decimals."""
    if digits is None:
        return None
    if not isinstance(digits, Mapping):
        return check_whole(digits, "digits", 0, 17)
    for name in digits:
        check_known(name, [m.name for m in metrics], "metric of digits")
    return {name: check_whole(x, f"digits of {name}", 0, 17) for name, x in digits.items()}


def _numbers(table: pd.DataFrame, name: str) -> list[float]:
    """Return a column of printed numbers, missing ones as NaN."""
    column = table[name]
    found = []
    for i, x in enumerate(column):
        if x is None or x is pd.NA:
            found.append(math.nan)
            continue
        number = isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)
        check_type(x if number else None, (int, float, np.integer, np.floating), "a number", f"row {i}: {name}")
        if math.isinf(x):
            raise ValueError(f"row {i}: {name} must be a finite number, found {x}")
        found.append(float(x))
    return found


def _spread(spreads: Mapping[Metric, list[float]], metric: Metric, i: int, row: str, n_runs: int | None) -> float:
    """Return the printed standard deviation of a metric, after checking it."""
    sd = spreads[metric][i] if metric in spreads else math.nan
    if sd < 0:
        raise ValueError(f"{row}: {metric.name}_sd is {sd:g}, but a standard deviation is not negative")
    if n_runs == 1 and sd > 0:
        raise ValueError(f"{row}: {metric.name}_sd is {sd:g}, but n_runs is 1; n_runs counts the runs of a row")
    return sd


def _columns(metric: Metric, values: list[float], found: list[Found]) -> dict[str, Any]:
    """Return the columns that one metric adds."""
    name = metric.name
    parts = pd.DataFrame(found, columns=list(Found._fields))
    mean = parts["mean"].to_numpy(np.float64)
    # |control - optimum| has the mean's distance only where the optimum is an end of the range
    loss = np.abs(mean - metric.optimum) if metric.optimum in metric.range else np.full(len(mean), np.nan)
    needed = ["; ".join(x) if x else None for x in parts["needed"]]
    return {
        f"{name}_control_mean": mean,
        f"{name}_control_low": parts["low"].to_numpy(np.float64),
        f"{name}_control_high": parts["high"].to_numpy(np.float64),
        f"{name}_p": parts["p"].to_numpy(np.float64),
        f"{name}_p_se": parts["p_se"].to_numpy(np.float64),
        f"{name}_skill": skill(metric, np.array(values, np.float64), loss),
        f"{name}_mean_method": pd.Categorical(parts["mean_method"], categories=MEAN_METHODS),
        f"{name}_p_method": pd.Categorical(parts["p_method"], categories=P_METHODS),
        f"{name}_needed": pd.array(needed, dtype="str"),
    }
