"""Multilevel splitting: tail probabilities that no feasible number of draws reaches, with their error.

Particles start as draws of the null law. Those above a level that about a share of .3 reaches are resampled and moved
by steps that leave the null law above the level unchanged, and the next level is set; the tail probability is the
product of the shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
States = NDArray[Any]

#: repeats, and moves of each particle between levels, times the number of components
REPEATS, MOVES = 8, 20
#: particles of a repeat, and where a repeat lost all of them, those of a second attempt
PARTICLES = (500, 2000)
#: share of the particles that reach the next level
_KEPT = 0.3
#: relative standard error of the repeats' mean beyond which nothing is printed
_LARGEST_ERROR = 0.5
#: scores closer than this share of their scale tie
_TIE = 1e-9


class Component(Protocol):
    """One of the independent parts of a random object, such as the relabelling of one cluster."""

    def start(self, n: int, rng: np.random.Generator) -> States:
        """Draw n states of the null law, (n, width)."""

    def propose(self, states: States, rng: np.random.Generator) -> States:
        """Return changed copies of states; a change and its reversal are equally likely under the null law."""

    def score(self, states: States) -> Floats:
        """Return what the states add to the score, (n,), of which the largest is best; NaN where it is undefined."""


class Splitting(NamedTuple):
    """A tail probability by multilevel splitting; NaN where it is refused.

    `p` is the printed value, `estimate` (1 + error)^2 with `error` the relative standard error of the mean of the
    repeats; `low` and `high` are limits of .95. Where not all repeats reached the observed score, all are those of the
    highest score that all reached, so that `p` is an upper bound.
    """

    p: float
    low: float
    high: float
    estimate: float
    error: float
    reached: bool


_REFUSED = Splitting(math.nan, math.nan, math.nan, math.nan, math.nan, False)


def splitting(
    components: Sequence[Component],
    observed: float,
    rng: np.random.Generator,
    *,
    moves: int = MOVES,
    most_scores: float = math.inf,
    least: float = 0.0,
) -> Splitting:
    """Estimate P(S >= observed) for a sum S of scores of independent components.

    Parameters
    ----------
    components : sequence of Component
        The parts whose scores add up.
    observed : float
        Where the tail begins; scores within 1e-9 of their scale tie with it.
    rng : Generator
        Source of randomness.
    moves : int
        Moves of each particle between levels for each component.
    most_scores : float
        Scores that may be computed; once they are, the probability of the levels reached is returned as a bound.
    least : float
        Probability below which no further level is set, so that the result is a bound.

    Returns
    -------
    Splitting
        A bound where a repeat lost all its particles twice; NaN where the error is larger than .5.

    References
    ----------
    Cerou and Guyader (2007), doi:10.1080/07362990601139628.

    Examples
    --------
    >>> import numpy as np
    >>> class Dice:
    ...     def start(self, n, rng):
    ...         return rng.integers(1, 7, (n, 1))
    ...     def propose(self, states, rng):
    ...         return rng.integers(1, 7, states.shape)
    ...     def score(self, states):
    ...         return states[:, 0].astype(float)
    >>> found = splitting([Dice()] * 6, 36.0, np.random.default_rng(7))
    >>> found.low < 6.0**-6 < found.high, found.p > found.estimate
    (True, True)
    """
    for particles in PARTICLES:
        run = _Run(components, observed, rng, particles)
        while run.active.any() and not run.extinct.any():
            run.next_level()
            if run.n_scores > most_scores or float(np.mean(run.p)) < least:
                break
            run.move(moves)
        found = _summarised(run.p_of_common_level(), bool((run.level >= observed).all()))
        if found.reached or not run.extinct.any():
            break
    return found


def _summarised(p: Floats, reached: bool) -> Splitting:
    """Return the mean of the repeats with its error."""
    mean = float(p.mean())
    error = float(p.std(ddof=1) / (mean * math.sqrt(len(p))))
    if error > _LARGEST_ERROR:
        return _REFUSED
    reach = math.exp(float(scipy.special.stdtrit(len(p) - 1, 0.975)) * error)
    return Splitting(min(1.0, mean * (1 + error) ** 2), mean / reach, min(1.0, mean * reach), mean, error, reached)


class _Run:
    """All repeats at once, each with levels of its own: states (repeats x particles, width) by component."""

    def __init__(
        self, components: Sequence[Component], observed: float, rng: np.random.Generator, particles: int
    ) -> None:
        self.components, self.observed, self.rng, self.particles = components, observed, rng, particles
        n = REPEATS * particles
        self.states = [component.start(n, rng) for component in components]
        self.scores = np.stack([_defined(c.score(s)) for c, s in zip(components, self.states, strict=True)])
        self.n_scores = float(n * len(components))
        self.total = self.scores.sum(axis=0)
        self.slack = _TIE * max(1.0, abs(observed))
        self.level = np.full(REPEATS, -np.inf)
        self.p = np.ones(REPEATS)
        self.active = np.ones(REPEATS, bool)
        #: repeats none of whose particles reached another level
        self.extinct = np.zeros(REPEATS, bool)
        #: levels and probabilities so far
        self.history = [(self.level.copy(), self.p.copy())]

    def p_of_common_level(self) -> Floats:
        """Return the probability of each repeat of the highest level that all reached."""
        lowest = self.level.min()
        found = np.ones(REPEATS)
        for level, p in self.history:
            found = np.where(level <= lowest + self.slack, p, found)
        return found

    def next_level(self) -> None:
        """Raise the level of each active repeat, and resample its particles among those that reach it."""
        totals = self.total.reshape(REPEATS, self.particles)
        source = np.arange(REPEATS * self.particles).reshape(REPEATS, self.particles)
        for b in np.flatnonzero(self.active):
            mine = totals[b]
            level = np.sort(mine)[::-1][int(_KEPT * self.particles)]
            if level <= self.level[b] + self.slack:
                # ties: the next value that can be reached
                above = mine[mine > self.level[b] + self.slack]
                level = above.min(initial=np.inf)
            level = min(level, self.observed) if level >= self.observed - self.slack else level
            there = np.flatnonzero(mine >= level - self.slack)
            if not len(there) or not np.isfinite(level):
                self.extinct[b], self.active[b] = True, False
                continue
            self.p[b] *= len(there) / self.particles
            self.level[b] = level
            if level >= self.observed:
                self.active[b] = False
                continue
            whole, rest = divmod(self.particles, len(there))
            copies = np.concatenate([np.tile(there, whole), self.rng.choice(there, rest, replace=False)])
            source[b] = source[b][copies]
        self.history.append((self.level.copy(), self.p.copy()))
        chosen = source.reshape(-1)
        self.states = [states[chosen] for states in self.states]
        self.scores, self.total = self.scores[:, chosen], self.total[chosen]

    def move(self, moves: int) -> None:
        """Move the particles of active repeats, one component after the other in random order."""
        going = np.repeat(self.active, self.particles)
        # a slice copies nothing
        rows: Any = slice(None) if going.all() else np.flatnonzero(going)
        least = np.repeat(self.level, self.particles)[rows] - self.slack
        for _ in range(moves):
            for g in self.rng.permutation(len(self.components)).tolist():
                component = self.components[g]
                proposed = component.propose(self.states[g][rows], self.rng)
                score = _defined(component.score(proposed))
                total = self.total[rows] + (score - self.scores[g][rows])
                kept = total >= least
                at = kept if isinstance(rows, slice) else rows[kept]
                self.states[g][at], self.scores[g][at], self.total[at] = proposed[kept], score[kept], total[kept]
                self.n_scores += len(least)
        # sums that were changed step by step gather rounding errors
        self.total = self.scores.sum(axis=0)


def _defined(scores: Floats) -> Floats:
    """Return scores with undefined ones as the worst possible."""
    return np.where(np.isnan(scores), -np.inf, scores)
