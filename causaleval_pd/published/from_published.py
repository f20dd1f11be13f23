"""The verb that gives a printed table its controls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..contract.checks import check_known, check_number, check_whole
from ..contract.history import call, calls, metric_settings, remember
from ..contract.metric import METRICS, Metric
from ..contract.metric_sets import bind_zero_division
from ..execution.random_streams import RNGLike, resolve_seed
from ..tables.matching import check_directions
from ..tables.row_summary import skill
from ..tables.tasks import Metrics, select
from .consistency import check_values
from .controls import MEAN_METHODS, P_METHODS, Draws, Found, Printed, controls
from .printed_numbers import PrintedNumber, decimals_of, half_unit, read_number
from .printed_rows import Row, check_names, is_metric, read_rows
from .whole_counts import check_whole_counts

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
    spread: Literal["sd", "se"] | None = None,
) -> pd.DataFrame:
    """Add the controls' mean and p to a printed table of results, and name what is missing for an exact answer.

    Controls are random graphs with the estimates' numbers of edges, as of `null="edges"` in `with_controls`.

    Parameters
    ----------
    table : DataFrame
        A row is what a paper prints of one or more runs: one column per metric, named as in `ce.list_metrics("graph")`,
        and these columns.

        - `n_nodes`: number of nodes.
        - `true_edges`, `estimated_edges`: numbers of edges of one run, or their means over the runs, or lists of one
          number a run. An undirected edge is one edge.
        - `n_runs`: number of runs (repetitions) that the row's values are means of; 1 for a single run. Without it,
          values are means of unknown numbers of runs.
        - `kind`, optional: class of the estimates, "dag" or "cpdag"; metrics of directions need it.
        - `truth`, optional: the true graph of all runs of the row. It replaces `n_nodes` and `true_edges`, and gives
          metrics that need more than numbers their controls by simulation.
        - `<metric>_sd`, optional: standard deviation of the metric over the runs; a standard error times the root of
          the number of runs.

        Numbers may be text as it is printed: "12.3 ± 1.1", "12.3 (1.1)", "85 %", in bold by Markdown or LaTeX.
        Missing numbers are missing values, "-" or "n/a". Further columns are kept.
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
    spread : {"sd", "se"}, optional
        What follows the means in text such as "12.3 ± 1.1": standard deviations of the runs, or standard errors of the
        means. By default it is not used, because tables print either.

    Returns
    -------
    DataFrame
        The table with columns for each metric `m`: `m_control_mean`; `m_control_low` and `m_control_high` (of single
        runs); `m_skill`; `m_p` and its Monte Carlo error `m_p_se`; `m_mean_method` ("exact", "simulated", or
        "approximate": the mean number of edges is rounded, or the mean is not linear in it); `m_p_method`; and
        `m_needed`, which names what an exact answer would need, missing if nothing. `control_null` and `control_seed`
        end the table.

    Raises
    ------
    ValueError
        If a column has another name, or a row's numbers fit no graphs: more edges than pairs of nodes, values out of
        their range, values that contradict one another, or means that no whole counts have. The message names the row.

    Notes
    -----
    p is the probability that controls, or means of as many controls as there are runs, are as good as the printed
    value or better. Printed values are rounded: p is taken at the worst value that rounds to the printed one, and
    `m_needed` gives its limits where more digits would change it. `m_p_method` is

    - "exact": the hypergeometric law of the shared adjacencies of one run;
    - "exact convolution": the law of the mean of independent runs, where the numbers of edges of every run are known;
    - "simulated": draws of one run, or of the mean of all runs, on a known truth; its smallest value is
      1/(n_draws + 1);
    - "normal": the normal law with the mean and variance of the controls, where there are too many runs for these;
    - "t": a t test of the runs' mean against the controls' mean, where a standard deviation is printed, numbers of
      edges are constant and there is nothing better. It asks whether the method is better on average, assuming
      independent runs. Standard deviations are taken as divided by the number of runs, not by one less, which makes p
      larger if they are not.

    p of a mean takes controls of different runs as independent. From mean numbers of edges there is no p: whether the
    mean is unusual depends on the numbers of each run. The mean of the controls is then exact if it is linear in the
    numbers of edges that vary, as the means of precision, recall and SHD are for one number of true edges; that of F1
    is not. A printed mean number of edges is exact if only one whole number of edges in all runs rounds to it, as
    13.4 in ten runs; else it is rounded.

    Means of counts, such as SHD, over n runs are multiples of 1/n, and so are means of ratios that have the same
    numbers of edges in all runs, in their steps. A printed mean to which none of these rounds is an error: 3.37 is not
    the mean of ten counts (the GRIM test [2]_). Other means of ratios, such as F1, can have any value. Nothing is
    checked where `n_runs` is missing.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025. doi:10.48550/arXiv.2412.10039
    .. [2] Brown, N. J. L., & Heathers, J. A. J. (2017). The GRIM test: A simple technique detects numerous anomalies in
       the reporting of results in psychology. Social Psychological and Personality Science 8(4).
       doi:10.1177/1948550616673876

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
    if spread is not None:
        check_known(spread, ("sd", "se"), "spread")
    cells = {m: _numbers(table, m.name) for m in chosen}
    deviations = {m: _deviations(table, m, cells[m], spread) for m in chosen}
    values = {m: [x.value for x in cells[m]] for m in chosen}
    slack = _half_units(cells, places)
    found: list[dict[str, Found]] = []
    rows = read_rows(table, fixed)
    by_row = [{m: values[m][i] for m in chosen} for i in range(len(rows))]
    slack_by_row = [{m.name: slack[m][i] for m in chosen} for i in range(len(rows))]
    for of_row in zip(rows, by_row, slack_by_row, strict=True):
        check_values(*of_row)
    check_whole_counts(rows, by_row, slack_by_row)
    for i, row in enumerate(rows):
        printed = {
            m: Printed(
                values[m][i], slack[m][i], *_deviation(row, m, deviations[m][i], spread, f"{m.name}_sd" in table)
            )
            for m in chosen
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
    settings |= {"spread": spread, "n_draws": draws.n_draws, "zero_division": zero_division, "seed": draws.seed}
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


def _numbers(table: pd.DataFrame, name: str) -> list[PrintedNumber]:
    """Return a column of printed numbers."""
    return [read_number(x, f"row {i}: {name}") for i, x in enumerate(table[name])]


def _half_units(
    cells: Mapping[Metric, Sequence[PrintedNumber]], digits: int | Mapping[str, int] | None
) -> dict[Metric, list[float]]:
    """Return half a unit of the last printed digit of each value.

    Text has all its digits. Trailing zeros are lost when numbers are read, so that a column has the most decimals that
    one of its numbers has. Ratios of one table are taken to have the same number of decimals.
    """
    own = {m: [decimals_of(x.value) if x.decimals is None else x.decimals for x in cells[m]] for m in cells}
    most = {m: max(own[m], default=0) for m in cells}
    of_ratios = max((most[m] for m in cells if math.isfinite(m.range[1])), default=0)
    found = {}
    for m, numbers in cells.items():
        given = digits.get(m.name) if isinstance(digits, Mapping) else digits
        inferred = of_ratios if math.isfinite(m.range[1]) else most[m]
        places = [inferred if x.decimals is None else x.decimals for x in numbers]
        found[m] = [half_unit(x if given is None else given) for x in places]
    return found


def _deviations(
    table: pd.DataFrame, metric: Metric, cells: Sequence[PrintedNumber], spread: str | None
) -> list[PrintedNumber]:
    """Return printed deviations over the runs: those of their own column, else those beside the values."""
    name = f"{metric.name}_sd"
    beside = [PrintedNumber(x.spread, x.spread_decimals) for x in cells]
    if name not in table:
        return beside
    if spread is not None and any(not math.isnan(x.value) for x in beside):
        raise ValueError(f"deviations of {metric.name} are in the column {name!r} and beside its values; omit spread=")
    numbers = _numbers(table, name)
    places = max((decimals_of(x.value) for x in numbers), default=0)
    return [x if x.decimals is not None else PrintedNumber(x.value, places) for x in numbers]


def _deviation(
    row: Row, metric: Metric, printed: PrintedNumber, spread: str | None, stated: bool
) -> tuple[float, float, bool]:
    """Return the standard deviation of a metric's runs, half a unit of its last digit, and whether it is unclear."""
    sd = printed.value
    if math.isnan(sd):
        return math.nan, 0.0, False
    what = f"{metric.name}_sd" if stated else f"what follows {metric.name}"
    if sd < 0:
        raise ValueError(f"{row.name}: {what} is {sd:g}, but a deviation is not negative")
    if row.n_runs == 1 and sd > 0:
        raise ValueError(f"{row.name}: {what} is {sd:g}, but n_runs is 1; n_runs counts the runs of a row")
    if not stated and spread is None:
        return math.nan, 0.0, True
    scale = math.sqrt(row.n_runs or math.nan) if spread == "se" and not stated else 1.0
    return scale * sd, scale * half_unit(printed.decimals or 0), False


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
        f"{name}_skill": skill(metric.optimum, np.array(values, np.float64), loss),
        f"{name}_mean_method": pd.Categorical(parts["mean_method"], categories=MEAN_METHODS),
        f"{name}_p_method": pd.Categorical(parts["p_method"], categories=P_METHODS),
        f"{name}_needed": pd.array(needed, dtype="str"),
    }
