"""Means that no whole counts have: the GRIM test of printed means.

.. [1] Brown, N. J. L., & Heathers, J. A. J. (2017). The GRIM test: A simple technique detects numerous anomalies in the
   reporting of results in psychology. Social Psychological and Personality Science 8(4). doi:10.1177/1948550616673876
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..contract.metric import Metric
from ..statistics.tails.lattice import common_step
from .consistency import NOISE, Possible
from .printed_rows import Row

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
    found = [text for of_row in zip(rows, values, slack, strict=True) for text in _impossible(*of_row)]
    if found:
        more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise ValueError(
            f"{'; '.join(found[:_NAMED])}{more}. n_runs is the number of runs in the mean, less than were "
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
