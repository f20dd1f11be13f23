"""Controls of one row of a printed table: their mean and p, and what is missing for exact ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ..contract.context import MissingInputError
from ..contract.field import get_field
from ..contract.law import Distribution
from ..contract.metric import Metric
from ..execution.random_streams import row_keys
from ..fields.structure.nulls.laws import hypergeometric, linear
from ..statistics.arrays import SMALLEST_P
from ..statistics.direction import merit
from ..statistics.tails import common_step, tail_of_sum
from ..tables.matching import find_null
from ..tables.published import control_distribution
from ..tables.settings import Drawing
from ..tables.simulate import simulate
from .bounds import limits_of, share_at_least
from .consistency import DIRECTIONS, NOISE, SKELETON
from .guesses import Guesses, Printed, more_digits
from .printed_rows import Edges, Row

Floats = NDArray[np.float64]

#: runs from which on the convolved laws of their mean are replaced by a normal one, if these take too much work
LEAST_RUNS = 10
#: runs up to which means of their controls are drawn; the mean of more has a normal law
MOST_SIMULATED = 1000
#: multiplications that the law of a mean may take, about a second
MOST_WORK = 1e9
#: numbers of edges at which a mean is tried for being linear in them
_TRIED = 33
_OF_EACH_RUN = "the numbers of edges of each run (lists, or constant=)"
_ALIKE = "one number of true edges in all runs (constant='true_edges'), which bounds p"
_TRUTH = "the true graph (column 'truth')"


class Draws(NamedTuple):
    """How controls of a known truth are drawn."""

    n_draws: int
    seed: int
    level: float


def controls(row: Row, printed: Mapping[Metric, Printed], draws: Draws) -> dict[str, Guesses]:
    """Return the controls of each metric of a row."""
    unknown = [
        f"{name} (column {name!r})"
        for name, known in (
            ("n_nodes", row.n_nodes),
            ("true_edges", row.true),
            ("estimated_edges", row.estimated),
        )
        if known is None
    ]
    if unknown:
        return {m.name: Guesses(needed=tuple(unknown)) for m in printed}
    guesses = {m.name: _of_skeletons(row, m, x, draws.level) for m, x in printed.items() if m.closed_form in SKELETON}
    guesses |= {
        m.name: Guesses(needed=(f"what {m.name} takes by context=, as with_controls does with the estimates",))
        for m in printed
        if m.name not in guesses and _takes_inputs(m)
    }
    left = {m: x for m, x in printed.items() if m.name not in guesses}
    if left and row.truth is not None and row.kind is not None and row.runs is not None:
        try:
            guesses |= _of_truth(row, left, draws)
        except ValueError as error:
            raise ValueError(f"{row.name}: {error}; metrics= names the metrics that get controls") from error
    else:
        guesses |= {m.name: _of_dags(row, m, x) for m, x in left.items()}
    floor = 1 / (draws.n_draws + 1)
    return {m.name: _limited(row, m, x, guesses[m.name], floor) for m, x in printed.items()}


def _limited(row: Row, metric: Metric, printed: Printed, guesses: Guesses, floor: float) -> Guesses:
    """Add what the shared adjacencies say of p, where its law is not known or no draw reaches the value."""
    at_floor = guesses.p_method == "simulated" and guesses.p <= floor * (1 + 1e-9)
    by_spread = guesses.p_method == "t"
    if math.isnan(printed.value) or not (math.isnan(guesses.p) or at_floor or by_spread):
        return guesses
    limits = limits_of(row, metric, printed)
    low, high, easiest = limits or (0.0, math.nan, math.nan)
    if by_spread:
        if not high < guesses.p:
            return guesses
        guesses = guesses._replace(p=math.nan, p_se=math.nan)
    if at_floor:
        high = floor if math.isnan(high) else min(floor, high)
        needed = (*guesses.needed, "more draws (n_draws=)") if low < high else guesses.needed
        return guesses._replace(p_low=min(low, high), p_high=high, needed=needed)
    if limits is None:
        if row.true is not None and row.true.mean:
            alike = row._replace(true=Edges((float(round(row.true.average)),), False))
            if limits_of(alike, metric, printed) is not None:
                return guesses._replace(needed=(_ALIKE, *guesses.needed))
        return guesses
    return guesses._replace(p_low=low, p_high=high, easiest_mean=easiest, p_method="bound")


@cache
def _takes_inputs(metric: Metric) -> bool:
    """Return whether a metric takes more than truth and estimate."""
    if metric.closed_form in (*SKELETON, *DIRECTIONS):
        return False
    try:
        metric("A -> B", "A -> B")
    except ValueError as fault:
        # other faults are those of metrics that are not defined for DAGs
        return isinstance(fault, MissingInputError)
    return False


def _of_skeletons(row: Row, metric: Metric, printed: Printed, level: float) -> Guesses:
    """Return the controls of a metric of the shared adjacencies, whose law is exact."""
    runs = row.runs
    if runs is None:
        at = _mean_over_edges(row, lambda d, mt, me: hypergeometric(metric, d, mt, me).mean)
        of_runs = _OF_EACH_RUN if at.linear else f"{_OF_EACH_RUN}, also for the exact mean"
        return Guesses(at.mean, mean_method=at.method, needed=(*_number_of_runs(row), *_rounded(row, at), of_runs))
    true, estimated = (np.array(side) for side in zip(*runs, strict=True))
    closed = hypergeometric(metric, np.full(len(runs), row.n_nodes), true, estimated)
    law = closed.distribution
    mean = float(closed.mean.mean())
    if law is None or math.isnan(mean):
        return Guesses(needed=("what 0/0 was printed as (zero_division=)",))
    if len(runs) > 1 and (law.undefined[law.index] > 0).any():
        return Guesses(mean, mean_method="exact", needed=("what 0/0 was counted as in the mean (zero_division=)",))
    guesses = Guesses(mean, mean_method="exact")
    if len(runs) == 1:
        guesses = guesses._replace(low=_quantile(law, (1 - level) / 2), high=_quantile(law, (1 + level) / 2))
    guesses = guesses._replace(p_perfect=_p_perfect(row))
    if math.isnan(printed.value):
        return guesses
    variances = np.zeros(len(runs)) if closed.variance is None else closed.variance
    return _tail(guesses, metric, law, printed, float(variances.sum()))


def _tail(guesses: Guesses, metric: Metric, law: Distribution, printed: Printed, variance: float) -> Guesses:
    """Add p: the tail of the sum of the runs' laws at the worst value that rounds to the printed one."""
    n = len(law.index)
    kept = [
        (values[weights > 0], weights[weights > 0]) for values, weights in zip(law.values, law.weights, strict=True)
    ]
    distinct = [(_merit(metric, values), weights) for values, weights in kept]
    laws = [distinct[i] for i in law.index]
    observed = float(_merit(metric, printed.value))
    values = np.unique(np.concatenate([values for values, _ in distinct]))
    worst, best = observed - printed.slack, observed + printed.slack
    if n == 1:
        # the values that round to the printed one: check_values found one at least
        near = values[np.abs(values - observed) <= printed.slack + NOISE * max(1.0, abs(observed))]
        worst, best = (near[0], near[-1]) if len(near) else (worst, best)
        blurred = len(near) > 1
    tails = [tail_of_sum(laws, n * end, most_work=MOST_WORK) for end in (worst, best)]
    if tails[0] is None or tails[1] is None:
        return _normal(guesses, metric, printed, variance, n)
    p, least = (min(max(tail.upper, SMALLEST_P), 1.0) for tail in tails if tail is not None)
    if n > 1:
        step = float(common_step(np.diff(values)[None])[0]) if len(values) > 1 else math.inf
        blurred = 2 * printed.slack * n > step if step else least < 0.95 * p
    needed = more_digits(metric.name, least, p) if blurred else ()
    method = "exact" if n == 1 else "exact convolution"
    low = least if blurred else p
    return guesses._replace(p=p, p_se=0.0, p_low=low, p_high=p, p_method=method, needed=needed)


def _p_perfect(row: Row) -> float:
    """Return p of estimates that share as many adjacencies as their numbers of edges allow, in all runs."""
    return float(np.prod([_p_of_most(row.n_pairs, *edges) for edges in row.runs or []]))


@cache
def _p_of_most(n_pairs: int, true: int, estimated: int) -> float:
    return float(share_at_least(n_pairs, true, estimated, min(true, estimated)))


def _of_dags(row: Row, metric: Metric, printed: Printed) -> Guesses:
    """Return the mean of a metric of shared directions, which random DAGs have from numbers of edges alone."""
    if row.kind is None:
        return Guesses(needed=("the class of the estimates (column 'kind')",))
    if row.kind != "dag" or metric.closed_form != "linear" or (row.truth is not None and row.truth.kind != "dag"):
        words = _TRUTH if row.truth is None else _OF_EACH_RUN
        return Guesses(needed=(words, *_number_of_runs(row)))

    def of(d: Any, mt: Any, me: Any) -> Floats:
        true = mt.astype(np.float64)
        return np.asarray(linear(metric, d, true, np.zeros(len(true)), me, None).mean)

    if row.runs is None:
        at = _mean_over_edges(row, of)
        needed = (*_number_of_runs(row), *_rounded(row, at), _OF_EACH_RUN, _TRUTH)
        return Guesses(at.mean, mean_method=at.method, needed=needed[: -1 if row.truth is not None else None])
    true, estimated = (np.array(side) for side in zip(*row.runs, strict=True))
    mean = float(of(np.full(len(true), row.n_nodes), true, estimated).mean())
    guesses = Guesses(mean, mean_method=_word(mean, True), needed=(f"{_TRUTH}, for p",))
    alike = len(set(row.runs)) == 1
    if len(row.runs) > 1 and alike and printed.unclear:
        return guesses._replace(needed=(*guesses.needed, "what follows the mean (spread='sd' or spread='se')"))
    if len(row.runs) > 1 and alike and printed.sd > 0 and not math.isnan(mean + printed.value):
        # runs of one mean under the null hypothesis: their own spread tests it
        n = len(row.runs)
        above = float(_merit(metric, printed.value)) - printed.slack - float(_merit(metric, mean))
        # the worst deviation that rounds to the printed one; it may be divided by n or by n - 1
        largest = (printed.sd + printed.sd_slack) * math.sqrt(n / (n - 1))
        sd = largest if above > 0 else max(printed.sd - printed.sd_slack, 1e-9)
        p = float(scipy.stats.t.sf(above / sd * math.sqrt(n), n - 1))
        needed = (f"{_TRUTH}, for p of these runs",)
        return guesses._replace(p=p, p_se=0.0, p_low=p, p_high=p, p_method="t", needed=needed)
    return guesses


def _of_truth(row: Row, printed: Mapping[Metric, Printed], draws: Draws) -> dict[str, Guesses]:
    """Return the controls of a known truth: closed forms where there are some, else draws."""
    runs = row.runs or []
    one = len(runs) == 1
    edges, counts = np.unique([estimated for _, estimated in runs], return_counts=True)

    def described(n_edges: int, shift: int) -> pd.DataFrame:
        """Describe controls beside the worst (-1) or best (1) values that round to the printed ones."""
        # a merit is a value or its negative
        ends = {
            m.name: x.value + shift * (1 if m.direction == "maximize" else -1) * x.slack for m, x in printed.items()
        }
        return control_distribution(
            row.truth,
            n_edges=n_edges,
            kind=str(row.kind),
            metrics=list(printed),
            observed={name: x for name, x in ends.items() if one and not math.isnan(x)} or None,
            n_draws=draws.n_draws,
            rng=draws.seed,
            level=draws.level,
        ).set_index("metric")

    drawn = [described(int(n), -1) for n in edges]
    # the one count that rounds to a printed one is known; a ratio may be one of several
    ratios = one and any(math.isfinite(m.range[1]) and not math.isnan(x.value) for m, x in printed.items())
    best = described(int(edges[0]), 1) if ratios else None
    guesses = {}
    for m, x in printed.items():
        mine: list[Any] = [table.loc[m.name] for table in drawn]
        mean = float(np.average([at["mean"] for at in mine], weights=counts))
        exact = all(at["mean_method"] == "exact" for at in mine)
        result = Guesses(mean, mean_method="exact" if exact else "simulated")
        if one:
            at = mine[0]
            numbers: dict[str, Any] = {name: float(at[name]) for name in ("low", "high", "p", "p_se")}
            method = None if math.isnan(numbers["p"]) else str(at["p_method"])
            result = result._replace(**numbers, p_low=numbers["p"], p_high=numbers["p"], p_method=method)
            if best is not None and math.isfinite(m.range[1]):
                least = float(best["p"][m.name])
                needed = more_digits(m.name, least, result.p, result.p_se)
                result = result._replace(p_low=least if needed else result.p, needed=needed)
        elif any(at["control_undefined"] > 0 for at in mine):
            result = result._replace(needed=("what 0/0 was counted as in the mean (zero_division=)",))
        elif not math.isnan(x.value) and len(runs) > MOST_SIMULATED:
            variance = float(sum(n * at["sd"] ** 2 for n, at in zip(counts, mine, strict=True)))
            result = _normal(result, m, x, variance, len(runs))
        guesses[m.name] = result
    simulated = [
        m
        for m, x in printed.items()
        if not (one or len(runs) > MOST_SIMULATED or math.isnan(x.value) or guesses[m.name].needed)
    ]
    means = _drawn_means(row, runs, simulated, draws)
    return guesses | {m.name: _simulated(guesses[m.name], m, printed[m], means[m.name]) for m in simulated}


def _drawn_means(
    row: Row, runs: Sequence[tuple[int, int]], metrics: Sequence[Metric], draws: Draws
) -> dict[str, Floats]:
    """Draw the mean of a control of each run, (n_draws,) by metric; each run has a random stream of its own."""
    sums = {m.name: np.zeros(draws.n_draws) for m in metrics}
    if not metrics:
        return sums
    model = find_null(get_field("graph"), "edges")
    how = Drawing(draws.n_draws, "simulate", draws.level)
    keys = row_keys(pd.DataFrame(index=range(len(runs))), None, draws.seed)
    for i, (_, estimated) in enumerate(runs):
        published: Any = model.published
        drawn = published(
            model, row.truth, keys[i : i + 1], n_edges=estimated, kind=row.kind, nodes=None, options=model.options
        )
        for name, values in simulate(metrics, drawn, 1, how).items():
            sums[name] += values[0]
    return {name: values / len(runs) for name, values in sums.items()}


def _simulated(guesses: Guesses, metric: Metric, printed: Printed, means: Floats) -> Guesses:
    """Add p of a mean of runs, at the worst value that rounds to the printed one, from drawn means."""
    noise = NOISE * max(1.0, abs(printed.value))
    merits, worst = _merit(metric, means), float(_merit(metric, printed.value)) - printed.slack
    p, least = (
        float(((merits >= end - noise).sum() + 1) / (len(means) + 1)) for end in (worst, worst + 2 * printed.slack)
    )
    error = math.sqrt(p * (1 - p) / len(means))
    needed = more_digits(metric.name, least, p, error)
    low = least if needed else p
    return guesses._replace(p=p, p_se=error, p_low=low, p_high=p, p_method="simulated", needed=needed)


def _normal(guesses: Guesses, metric: Metric, printed: Printed, variance: float, n: int) -> Guesses:
    """Add p of a mean of runs from the normal law with the variance of their controls."""
    if n < LEAST_RUNS:
        return guesses._replace(needed=(f"the value of each run: a normal law needs {LEAST_RUNS} runs",))
    above = float(_merit(metric, printed.value)) - printed.slack - float(_merit(metric, guesses.mean))
    if not variance > 0:
        p = float(above <= 0)
        return guesses._replace(p=p, p_se=0.0, p_low=p, p_high=p, p_method="exact")
    ends = (above, above + 2 * printed.slack)
    p, least = (max(float(scipy.special.ndtr(-x * n / math.sqrt(variance))), SMALLEST_P) for x in ends)
    needed = more_digits(metric.name, least, p)
    return guesses._replace(p=p, p_se=0.0, p_low=least, p_high=p, p_method="normal", needed=needed)


class OverEdges(NamedTuple):
    """The controls' mean at mean numbers of edges, whether it is linear in these, and how far rounding moves it."""

    mean: float
    linear: bool
    room: float = 0.0

    @property
    def is_rounded(self) -> bool:
        """Whether the mean is linear in numbers of edges that are rounded."""
        return self.linear and self.room > NOISE * max(1.0, abs(self.mean))

    @property
    def method(self) -> str | None:
        """How the mean was found."""
        return _word(self.mean, self.linear and not self.is_rounded)


def _rounded(row: Row, over_edges: OverEdges) -> tuple[str, ...]:
    """Name the numbers of edges whose digits are missing for an exact mean."""
    if not over_edges.is_rounded:
        return ()
    sides = {"true_edges": row.true, "estimated_edges": row.estimated}
    names = " and ".join(name for name, side in sides.items() if side is not None and side.slack)
    limits = f"{over_edges.mean - over_edges.room:.4g} and {over_edges.mean + over_edges.room:.4g}"
    return (f"more digits of {names} (or constant=): rounding leaves the control mean between {limits}",)


def _mean_over_edges(row: Row, of: Any) -> OverEdges:
    """Return the controls' mean at mean numbers of edges; it is exact if it is linear in them and they are."""
    true, estimated = row.true or Edges((0.0,), True), row.estimated or Edges((0.0,), True)

    def tried(side: Edges) -> NDArray[np.int64]:
        x = side.average
        varies = side.mean or len(side.numbers) > 1
        spread = np.linspace(0, row.n_pairs, _TRIED) if varies else np.empty(0)
        return np.unique(np.concatenate([spread, [math.floor(x), math.ceil(x)]]).astype(np.int64))

    grid = np.array(np.meshgrid(tried(true), tried(estimated), indexing="ij")).reshape(2, -1)
    values = np.asarray(of(np.full(grid.shape[1], row.n_nodes), grid[0], grid[1]), np.float64)
    design = np.column_stack([np.ones(grid.shape[1]), *grid]).astype(np.float64)
    known = np.isfinite(values)
    here = np.array([1.0, true.average, estimated.average])
    if known.any():
        fit = np.linalg.lstsq(design[known], values[known], rcond=None)[0]
        if np.allclose(design[known] @ fit, values[known], rtol=1e-9, atol=1e-9):
            room = abs(fit[1]) * true.slack + abs(fit[2]) * estimated.slack
            return OverEdges(float(here @ fit), True, float(room))
    ends = [(math.floor(side.average), math.ceil(side.average)) for side in (true, estimated)]
    share = [side.average - low for side, (low, _) in zip((true, estimated), ends, strict=True)]
    total = 0.0
    for a, mt in zip((1 - share[0], share[0]), ends[0], strict=True):
        for b, me in zip((1 - share[1], share[1]), ends[1], strict=True):
            if a * b > 0:
                total += a * b * values[(grid[0] == mt) & (grid[1] == me)][0]
    return OverEdges(float(total), False)


def _number_of_runs(row: Row) -> tuple[str, ...]:
    """Name the number of runs, if it is missing."""
    return ("n_runs (column 'n_runs')",) if row.n_runs is None else ()


def _merit(metric: Metric, values: float | Floats) -> Floats:
    """Return how good values of a metric are; more is better."""
    return merit(values, direction=metric.direction, optimum=metric.optimum)


def _word(mean: float, exact: bool) -> str | None:
    return None if math.isnan(mean) else "exact" if exact else "approximate"


def _quantile(law: Distribution, q: float) -> float:
    return float(law.quantile(q)[0])
