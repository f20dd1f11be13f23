"""Printed values that no pair of graphs has, or no whole counts, and how far rounding moved the others.

.. [1] Brown, N. J. L., & Heathers, J. A. J. (2017). The GRIM test: A simple technique detects numerous anomalies in the
   reporting of results in psychology. Social Psychological and Personality Science 8(4). doi:10.1177/1948550616673876
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..fields.structure.nulls.additive import Counts
from ..graphs.edge_types import BACKWARD, FORWARD, EdgeTypes
from ..statistics.tails import common_step
from .bounds import CONVENTION_WORDS, CONVENTIONS, largest_shd
from .guesses import Printed
from .printed_rows import Row

Floats = NDArray[np.float64]

#: closed forms of metrics that count, unless their values are bounded as ratios are
_COUNTING = ("hypergeometric", "linear", "v_structures", "cpdag_linear", "claims")
#: distances that count as well
_DISTANCES = ("sid", "sid_lower", "sid_upper", "parent_aid", "ancestor_aid", "oset_aid")
#: most rows that a message names
_NAMED = 5


class Lattice(NamedTuple):
    """Equally spaced values: those that a mean of runs can have."""

    start: float
    step: float

    def has(self, value: float, slack: float) -> bool:
        """Return whether one of them is nearer to a value than half a unit of its last digit."""
        room = slack + NOISE * max(1.0, abs(value))
        return math.ceil((value - room - self.start) / self.step) * self.step + self.start <= value + room

    def around(self, value: float) -> tuple[float, float]:
        """Return the two on either side of a value."""
        below = self.start + math.floor((value - self.start) / self.step) * self.step
        return below, below + self.step


def check_whole_counts(
    rows: Sequence[Row], values: Sequence[Mapping[Metric, float]], slack: Sequence[Mapping[str, float]]
) -> None:
    """Refuse printed means that no runs of their rows have, all of them in one message.

    Counts have whole sums, so that their mean over n runs is a multiple of 1/n. Ratios have such steps where all runs
    have the same numbers of edges; elsewhere nothing is checked.
    """
    messages = [text for of_row in zip(rows, values, slack, strict=True) for text in _impossible(*of_row)]
    if messages:
        more = f"; and {len(messages) - _NAMED} more" if len(messages) > _NAMED else ""
        raise ValueError(
            f"{'; '.join(messages[:_NAMED])}{more}. n_runs is the number of runs in the mean, less than were "
            "started if some failed; where it is missing, nothing is checked. digits= states how many decimals were "
            "printed"
        )


def _impossible(row: Row, values: Mapping[Metric, float], slack: Mapping[str, float]) -> Iterator[str]:
    """Describe the printed means that no runs of a row have."""
    n_runs, runs = row.n_runs, row.runs
    if n_runs is None:
        return
    alike = runs is not None and row.n_nodes is not None and len(set(runs)) == 1
    possible = Possible(row) if alike else None
    for m, x in values.items():
        means = None if math.isnan(x) else _means(m, n_runs, possible)
        if means is None or means.has(x, slack[m.name]):
            continue
        near = " and ".join(f"{end:.6g}" for end in means.around(x))
        what = f"{m.name} of one run" if n_runs == 1 else f"the mean of {m.name} over {n_runs} runs"
        yield f"{row.name}: {what} is {x:g}, but the nearest that whole counts give are {near}"


def _means(metric: Metric, n_runs: int, possible: Possible | None) -> Lattice | None:
    """Return the values that a mean of a metric can have, None if they are not known."""
    if possible is not None and possible.has(metric):
        values = np.unique(possible.values(metric))
        step = float(common_step(np.diff(values)[None])[0]) if len(values) > 1 else 0.0
        # one run is compared with all its values elsewhere; a mean of ratios may leave undefined ones out
        if n_runs == 1 or np.isnan(values).any() or step == 0:
            return None
        return Lattice(float(values[0]), step / n_runs)
    counting = metric.closed_form in _COUNTING or metric.name in _DISTANCES
    counts = counting and metric.range == (0, math.inf) and not metric.options
    return Lattice(0.0, 1 / n_runs) if counts else None


#: closed forms of functions of shared adjacencies, and of these and shared directions
SKELETON, DIRECTIONS = ("hypergeometric",), ("linear", "reversal")
#: shared adjacencies up to which all numbers of shared directions are listed
_MOST_SHARED = 1000
#: rounding errors of float64, relative to the larger of 1 and the value
NOISE = 1e-9


class Possible:
    """Values of metrics at every number of shared adjacencies and directions that a row of one run can have."""

    def __init__(self, row: Row) -> None:
        (self.true, self.estimated), self.n_nodes = (row.runs or [(0, 0)])[0], row.n_nodes or 2
        least, most = max(0, self.true + self.estimated - row.n_pairs), min(self.true, self.estimated)
        self.directed = row.kind == "dag" and (row.truth is None or row.truth.kind == "dag") and most <= _MOST_SHARED
        if self.directed:
            shared = np.repeat(np.arange(least, most + 1), np.arange(least, most + 1) + 1)
            same = np.concatenate([np.arange(x + 1) for x in range(least, most + 1)])
        else:
            shared, same = np.arange(least, most + 1), np.zeros(most + 1 - least, int)
        self.shared = shared.astype(np.float64)
        self._counts = directed_counts(self.n_nodes, self.shared, self.true, self.estimated, same.astype(np.float64))

    def has(self, metric: Metric) -> bool:
        """Return whether the metric is a function of what is listed."""
        return metric.closed_form in SKELETON or (self.directed and metric.closed_form in DIRECTIONS)

    def values(self, metric: Metric) -> Floats:
        """Return the metric's values, NaN where it is 0/0."""
        scores = Counts(self._counts).value(metric)
        return np.broadcast_to(scores, self.shared.shape)


def directed_counts(n_nodes: int, shared: Floats, true: float, estimated: float, same: Floats) -> EdgeTypes:
    """Return the counts of two DAGs that share adjacencies, of which `same` have the same direction."""
    shared_types = {(FORWARD, FORWARD): same, (FORWARD, BACKWARD): shared - same}
    return EdgeTypes.of_margins(n_nodes, {FORWARD: true}, {FORWARD: estimated}, shared_types)


def check_values(row: Row, values: Mapping[Metric, float], slack: Mapping[str, float]) -> None:
    """Refuse values that no runs with the row's numbers have."""
    printed = {m: x for m, x in values.items() if not math.isnan(x)}
    for m, x in printed.items():
        check_range(row.name, m, x)
    if row.n_nodes is None or row.true is None or row.estimated is None:
        return
    if row.n_runs == 1 and row.runs is not None:
        _check_one_run(row, printed, slack)
    else:
        for m, x in printed.items():
            _check_mean(row, m, x, slack[m.name])


def check_range(name: str, metric: Metric, value: float) -> None:
    """Refuse a value that the metric cannot have."""
    least, most = metric.range
    if least - NOISE <= value <= most + NOISE:
        return
    hint = "; percentages are divided by 100, or text: '85 %'" if most == 1 < value <= 100 else ""
    if value < 0 and value == round(value):
        hint = "; codes of failure, such as -99, are missing values"
    raise ValueError(f"{name}: {metric.name} is {value:g}, but it lies between {least:g} and {most:g}{hint}")


def check_distance(row: Row, printed: Printed, metrics: Mapping[Metric, float], slack: Mapping[str, float]) -> None:
    """Refuse a distance that no graphs with the row's numbers of edges have, and name conventions that allow it."""
    value, room = printed.value * printed.scale, printed.slack * printed.scale + NOISE * max(1.0, printed.value)
    if math.isnan(value) or row.n_nodes is None or row.true is None or row.estimated is None:
        return
    if row.runs is not None:
        edges = np.array(row.runs, np.float64)
    else:
        edges = np.array([[row.true.average, row.estimated.average]])
        room += 2 * (row.true.slack + row.estimated.slack)
    least_shared, most_shared = np.maximum(0.0, edges.sum(1) - row.n_pairs), edges.min(1)
    beside = ""
    if row.n_runs == 1 and row.runs is not None:
        shared = _shared_adjacencies(row, metrics, slack)
        least_shared, most_shared = shared.min(keepdims=True), shared.max(keepdims=True)
        if len(shared) == 1:
            beside = f", of which {shared[0]:g} are shared"
    elif row.runs is None:
        # the mean of the shared adjacencies is not known
        least_shared = np.zeros(1)

    def limits(convention: str) -> tuple[float, float]:
        costs = CONVENTIONS[convention]
        low = costs.least * (edges.sum(1) - 2 * most_shared)
        return float(low.mean()), float(largest_shd(edges[:, 0], edges[:, 1], least_shared, convention).mean())

    low, high = limits(printed.convention)
    if low - room <= value <= high + room:
        return
    allowed = [x for x in CONVENTIONS if limits(x)[0] - room <= value <= limits(x)[1] + room and x != "skeleton"]
    words = "; ".join(f"shd_convention={x!r} would allow it ({CONVENTION_WORDS[x]})" for x in allowed)
    raise ValueError(
        f"{row.name}: shd is {value:g}, but with {row.true.average:g} true and {row.estimated.average:g} estimated "
        f"edges{beside} it lies between {low:g} and {high:g} where {CONVENTION_WORDS[printed.convention]}"
        f"{'; ' + words if words else ''}"
    )


def _shared_adjacencies(row: Row, metrics: Mapping[Metric, float], slack: Mapping[str, float]) -> Floats:
    """Return the numbers of shared adjacencies of one run that its printed metrics of skeletons allow."""
    possible = Possible(row)
    together = np.ones(len(possible.shared), bool)
    for m, x in metrics.items():
        if m.closed_form in SKELETON and not math.isnan(x):
            together &= np.abs(possible.values(m) - x) <= slack[m.name] + NOISE * max(1.0, abs(x))
    return np.unique(possible.shared[together]) if together.any() else np.unique(possible.shared)


def _swapped(possible: Possible, printed: Mapping[Metric, float], slack: Mapping[str, float]) -> str:
    """Say so if precision and recall are possible in each other's place."""
    sides = {m.name.removeprefix("adjacency_"): m for m in printed if m.name.startswith("adjacency_")}
    if not {"precision", "recall"} <= sides.keys():
        return ""
    pairs = ((sides["precision"], sides["recall"]), (sides["recall"], sides["precision"]))
    near = [np.abs(possible.values(a) - printed[b]) <= slack[b.name] + NOISE for a, b in pairs]
    return "; with precision and recall in each other's place they are possible" if (near[0] & near[1]).any() else ""


def _check_one_run(row: Row, printed: Mapping[Metric, float], slack: Mapping[str, float]) -> None:
    possible = Possible(row)
    together = np.ones(len(possible.shared), bool)
    names: list[str] = []
    numbers = f"{possible.true} true and {possible.estimated} estimated edges over {possible.n_nodes} nodes"
    for m, x in printed.items():
        if not possible.has(m):
            continue
        values = possible.values(m)
        if np.isnan(values).all():
            raise ValueError(
                f"{row.name}: {m.name} is {x:g}, but it is 0/0 with {numbers}; state what 0/0 was printed as by "
                "zero_division="
            )
        near = np.abs(values - x) <= slack[m.name] + NOISE * max(1.0, abs(x))
        if not near.any():
            closest = values[np.nanargmin(np.abs(values - x))]
            raise ValueError(
                f"{row.name}: {m.name} is {x:g}, impossible with {numbers}; the nearest is {closest:.6g}"
                f"{_swapped(possible, printed, slack)}; digits= states how many decimals were printed"
            )
        names.append(m.name)
        together &= near
        if not together.any():
            raise ValueError(
                f"{row.name}: {', '.join(names)} contradict each other with {numbers}: each value is possible, but no "
                f"number of shared edges gives all of them{_swapped(possible, printed, slack)}"
            )


def _check_mean(row: Row, metric: Metric, value: float, slack: float) -> None:
    """Compare a mean with the least and the largest one that the runs can have."""
    directed = row.kind == "dag" and row.truth is None
    if metric.closed_form not in SKELETON and not (metric.closed_form == "linear" and directed):
        return
    runs = row.runs
    if runs is None:
        # at mean numbers of edges the limits hold for counts only
        if math.isfinite(metric.range[1]):
            return
        margins = [(row.true.average, row.estimated.average)] if row.true and row.estimated else []
        # the means of the numbers of edges are rounded as well
        room = [side.slack for side in (row.true, row.estimated) if side is not None]
    else:
        margins, room = [(float(true), float(estimated)) for true, estimated in runs], [0.0, 0.0]
    ends = [_ends(metric, row.n_nodes or 2, row.n_pairs, *margin) for margin in dict.fromkeys(margins)]
    weights = [margins.count(margin) for margin in dict.fromkeys(margins)]
    low, high = np.average(ends, axis=0, weights=weights)
    # an edge more or less changes a count by one at most
    low, high = low - sum(room), high + sum(room)
    noise = slack + NOISE * max(1.0, abs(value))
    if not (math.isnan(low) or low - noise <= value <= high + noise):
        raise ValueError(
            f"{row.name}: the mean of {metric.name} is {value:g}, but with these numbers of nodes and edges it lies "
            f"between {low:.6g} and {high:.6g}"
        )


def _ends(metric: Metric, n_nodes: int, n_pairs: int, true: float, estimated: float) -> tuple[float, float]:
    """Return the least and the largest value at fixed numbers of edges; it is monotone in what is shared."""
    least, most = max(0.0, true + estimated - n_pairs), min(true, estimated)
    shared = np.array([least, least, most, most])
    counts = directed_counts(n_nodes, shared, true, estimated, shared * [0, 1, 0, 1])
    values = np.broadcast_to(Counts(counts).value(metric), (4,))
    return float(values.min()), float(values.max())
