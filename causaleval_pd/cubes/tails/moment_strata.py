"""P-values of strata by the exact moments of their rows: Pearson's type III law of a sum of independent scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contract.law import Moments
from ...contract.metric import Metric
from ...statistics.tails.lattice import common_step
from ...statistics.tails.pearson_type_iii import upper_tail
from ...tables.row_summary import FAR_OUT, LEAST_VALUES
from ..schema import LAW_STATISTICS
from ..strata import Grid
from .exact_strata import RowLaw, RowLaws, rows_of_strata

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def moment_strata(
    metric: Metric, observed: Floats, laws: RowLaws, moments: Floats, counted: Bools, grid: Grid
) -> dict[str, Floats]:
    """Return p-values by exact moments of strata whose runs are independent and all have them.

    Parameters
    ----------
    metric : Metric
        A metric with a direction.
    observed : (n,) float
        Its value of each row.
    laws : RowLaws
        Exact laws of rows.
    moments : (6, n) float
        Exact moments of other rows, in the order of `Moments`; NaN where they are unknown.
    counted : (n,) bool
        Runs that are neither failed nor in strata that repeat a cluster.
    grid : Grid
        The strata of the rows.

    Returns
    -------
    dict
        By name in `schema.MOMENT_VARIABLES`, (n_strata,) each.
    """
    found = {f"{statistic}_p_moments": np.full(grid.n_strata, np.nan) for statistic in LAW_STATISTICS}
    if metric.direction == "zero":
        # the distance from the optimum has other moments
        return found
    sign = 1.0 if metric.direction == "maximize" else -1.0
    of_laws = np.array([_of_law(law) for law in laws.laws]).reshape(-1, len(Moments._fields)).T
    known = laws.number >= 0
    every = np.where(known, of_laws[:, laws.number] if of_laws.size else np.nan, moments)
    for rows in rows_of_strata(counted, grid):
        if laws.dealt is not None and (laws.dealt.deck[rows] >= 0).any():
            continue  # such rows have an exact law, and no independent scores
        # in an order of their own, so that no digit depends on the order of the rows
        mine = rows[np.lexsort([observed[rows], *every[:, rows]])]
        for statistic in LAW_STATISTICS:
            p = _tail(Moments(*every[:, mine]), observed[mine], sign)
            found[f"{statistic}_p_moments"][grid.stratum[rows[0]]] = p
    return found


def _of_law(law: RowLaw) -> tuple[float, ...]:
    """Return the moments of an exact law; NaN where it is undefined or infinite with some probability."""
    if law.undefined > 0 or not len(law.values) or not np.isfinite(law.values).all():
        return (np.nan,) * len(Moments._fields)
    mean = float(law.weights @ law.values)
    apart = law.values - mean
    variance = float(law.weights @ apart**2)
    varies = variance > 1e-12 * (1 + mean**2)
    skewness = float(law.weights @ apart**3) / variance**1.5 if varies else 0.0
    step = float(common_step((law.values - law.values.min())[None])[0])
    return mean, variance if varies else 0.0, skewness, step, float(len(law.values)), float(law.weights.min())


def _tail(rows: Moments, observed: Floats, sign: float) -> float:
    """Return P(sum of the scores >= the observed one); NaN where it is not known or the law does not hold."""
    if np.isnan([*rows[:4], observed]).any():
        return float("nan")
    varies = rows.variance > 0
    deviation = np.sqrt(rows.variance[varies])
    n_values = 1 + float((rows.n_values[varies] - 1).sum())
    if n_values < LEAST_VALUES:
        return float("nan")
    total = sign * float((observed - rows.mean)[varies].sum())
    spread = float(np.sqrt((deviation**2).sum()))
    skewness = sign * float((rows.skewness[varies] * deviation**3).sum()) / spread**3
    steps = rows.step[varies]
    step = float(common_step(steps[None])[0]) if (steps > 0).all() else 0.0
    # half a step nearer to the mean, because controls may tie with the runs
    p = float(upper_tail((total - step / 2) / spread, skewness))
    # all runs may do as well as observed by themselves
    p = max(p, float(np.prod(rows.least[varies])))
    return float("nan") if p == 0 or (p < FAR_OUT and abs(skewness) > 1) else p
