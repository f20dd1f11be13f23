"""Printed means of AUROC and average precision: how rankings were made, and their random guesses."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ..contract.checks import name_row, shown
from ..statistics.tails import tail_of_sum
from .guesses import Guesses, Printed, more_digits
from .laws import NORMAL_FROM, Size, Tail, auroc_bound, auroc_normal, auroc_tail, mean_precision_moments, precision_tail
from .printed_numbers import read_counts

#: metrics of rankings, and the columns that describe them
RANKING_METRICS = ("auroc", "average_precision")
RANKING_COLUMNS = ("candidates", "true_candidates", "estimated_candidates", "tied")
#: numbers of graphs that are tried for the least one that decides
_TRIED_GRAPHS = range(1, 1001)
#: candidates x true ones of a ranking up to which moments of average precision take some seconds
_MOST_MOMENTS = 3e8
_TIED = "whether scores tie (column 'tied')"
_ONES = "how many candidates have a score of 1, where scores are 0 or 1 (column 'estimated_candidates')"


class Rankings(NamedTuple):
    """Candidates of a row's rankings, one number per ranking; None where they are not known."""

    name: str
    candidates: tuple[int, ...] | None
    true: tuple[int, ...] | None
    #: candidates with a score of 1 where all scores are 0 or 1
    ones: tuple[int, ...] | None
    n_graphs: int | None
    tied: bool | None

    @property
    def sizes(self) -> tuple[Size, ...] | None:
        """Candidates and true ones of each ranking, if they are known."""
        if self.candidates is None or self.true is None or self.n_graphs is None:
            return None
        return tuple(zip(self._each(self.candidates), self._each(self.true), strict=True))

    @property
    def missing(self) -> tuple[str, ...]:
        """The numbers that are missing."""
        parts = {"candidates": self.candidates, "true_candidates": self.true, "n_runs": self.n_graphs}
        return tuple(f"{name} (column {name!r})" for name, x in parts.items() if x is None)

    def _each(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        return numbers * (self.n_graphs or 1) if len(numbers) == 1 else numbers

    def ones_of_each(self) -> tuple[int, ...]:
        """Return the candidates with a score of 1 of each ranking."""
        return self._each(self.ones or ())


def read_rankings(table: pd.DataFrame) -> list[Rankings]:
    """Read and check what each row states of its rankings."""
    return [_read(table, i) for i in range(len(table))]


def _read(table: pd.DataFrame, i: int) -> Rankings:
    name = name_row(i, table.index)

    def cell(column: Hashable) -> Any:
        return table[column].iloc[i] if column in table else None

    counts = {
        column: read_counts(cell(column), f"{name}: {column}", least)
        for column, least in (("candidates", 2), ("true_candidates", 1), ("estimated_candidates", 0), ("n_runs", 1))
    }
    runs = counts.pop("n_runs")
    lengths = {len(x) for x in counts.values() if x is not None} - {1}
    lengths |= set(runs or ()) if lengths or (runs and len(runs) > 1) else set()
    if len(lengths) > 1 or (runs is not None and len(runs) > 1):
        raise ValueError(f"{name}: candidates are listed once per graph, and n_runs is the number of graphs")
    n_graphs = runs[0] if runs is not None else lengths.pop() if lengths else None
    rankings = Rankings(
        name,
        counts["candidates"],
        counts["true_candidates"],
        counts["estimated_candidates"],
        n_graphs,
        _flag(cell("tied"), f"{name}: tied"),
    )
    pairs = rankings.sizes or zip(rankings.candidates or (), rankings.true or (), strict=False)
    for n, k in dict.fromkeys(pairs):
        if k >= n:
            raise ValueError(f"{name}: true_candidates is {k} of {n} candidates; both true and false ones are needed")
    for (n, _), x in zip(rankings.sizes or (), rankings.ones_of_each(), strict=False):
        if x > n:
            raise ValueError(f"{name}: estimated_candidates is {x} of {n} candidates")
    return rankings


def _flag(cell: Any, what: str) -> bool | None:
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    raise ValueError(f"{what} is whether scores tie, True or False, found {shown(cell)}")


def check_ranking(rankings: Rankings, metric: str, printed: Printed) -> None:
    """Refuse a mean AUROC that no rankings of equal size have."""
    sizes = rankings.sizes
    if metric != "auroc" or sizes is None or math.isnan(printed.value):
        return
    if rankings.ones is not None:
        _check_two_scores(rankings, sizes, printed)
    if len(set(sizes)) > 1:
        return
    n, k = sizes[0]
    steps = 2 * k * (n - k) * len(sizes)
    first, last = (steps * (printed.value + sign * (printed.slack + 1e-9)) for sign in (-1, 1))
    if math.ceil(first) > math.floor(last):
        near = (math.floor(first) / steps, math.ceil(last) / steps)
        raise ValueError(
            f"{rankings.name}: auroc is {printed.value:g}, but with {k} of {n} candidates true in {len(sizes)} graphs "
            f"the nearest possible are {near[0]:.6g} and {near[1]:.6g}; digits= states how many decimals were printed"
        )


def _check_two_scores(rankings: Rankings, sizes: tuple[Size, ...], printed: Printed) -> None:
    """Refuse a mean AUROC that no scores of 0 and 1 have."""
    least, most = 0.0, 0.0
    for size, m in zip(sizes, rankings.ones_of_each(), strict=True):
        _, values = _two_score_values(*size, m)
        least += values[0] / len(sizes)
        most += values[-1] / len(sizes)
    if not least - printed.slack - 1e-9 <= printed.value <= most + printed.slack + 1e-9:
        raise ValueError(
            f"{rankings.name}: auroc is {printed.value:g}, but with so many estimated_candidates it lies between "
            f"{least:.6g} and {most:.6g}"
        )


def ranking_guesses(rankings: Rankings, metric: str, printed: Printed, alpha: float) -> Guesses:
    """Return the random guesses of a row's rankings: scores are shuffled among the candidates of each graph."""
    return _auroc(rankings, printed, alpha) if metric == "auroc" else _precision(rankings, printed)


@lru_cache(maxsize=4096)
def _tail(metric: str, sizes: tuple[Size, ...], value: float, *, lower: bool = False) -> Tail:
    """Return a tail without ties; rows of a table often have the same."""
    return auroc_tail(sizes, value) if metric == "auroc" else precision_tail(sizes, value, lower=lower)


def _p_perfect(sizes: tuple[Size, ...]) -> float:
    """Return the probability that a shuffle puts all true candidates first, in all rankings."""
    return math.exp(-sum(math.log(math.comb(*size)) for size in sizes))


def _auroc(rankings: Rankings, printed: Printed, alpha: float) -> Guesses:
    # the true candidates for which AUROC varies most, and the fewest candidates, where they are not known
    n, k = (rankings.candidates or (2,)), (rankings.true or (1,))
    worst, best = printed.value - printed.slack, printed.value + printed.slack
    guesses = Guesses(0.5, mean_method="exact", needed=rankings.missing)
    if math.isnan(printed.value):
        return guesses
    if rankings.n_graphs is None:
        if len(n) == len(k) == 1:
            sizes = ((n[0], k[0]),)
            # the exact law takes longest, and is needed only where the normal one is low enough
            likely = (r for r in _TRIED_GRAPHS if r < NORMAL_FROM or auroc_normal(sizes * r, worst) <= alpha)
            least = next((r for r in likely if _auroc_bound(sizes * r, worst)[0] <= alpha), None)
            if least is not None:
                needed = f"n_runs (column 'n_runs'), the number of graphs: {least} are enough to beat guessing"
                return guesses._replace(needed=(*rankings.missing[:-1], needed))
        return guesses
    known = rankings.sizes
    if known is None:
        pad_n, pad_k = (x * rankings.n_graphs if len(x) == 1 else x for x in (n, k))
        p, method = _auroc_bound(tuple(zip(pad_n, pad_k, strict=True)), worst)
        return guesses._replace(p_low=0.0, p_high=p, p_method=method)
    guesses = guesses._replace(p_perfect=_p_perfect(known))
    if rankings.ones is not None:
        high, low = (_two_scores(known, rankings.ones_of_each(), end) for end in (worst, best))
        method = "exact" if len(known) == 1 else "exact convolution"
    else:
        high, method = _tail("auroc", known, worst)
        low = _tail("auroc", known, best).p
        if rankings.tied is not False:
            bound, how = _auroc_bound(known, worst)
            needed = _TIED if rankings.tied is None else _ONES
            exact = high if rankings.tied is None else math.nan
            return guesses._replace(p=exact, p_se=0.0, p_low=0.0, p_high=bound, p_method=how, needed=(needed,))
    digits = more_digits("auroc", low, high)
    return guesses._replace(p=high, p_se=0.0, p_low=low, p_high=high, p_method=method, needed=digits)


def _auroc_bound(sizes: tuple[Size, ...], value: float) -> tuple[float, str]:
    """Bound P(mean AUROC >= value) whatever scores tie."""
    if len(sizes) >= NORMAL_FROM and value > 0.5:
        return max(auroc_normal(sizes, value), _tail("auroc", sizes, value).p), "normal bound"
    return auroc_bound(sizes, value), "bound"


def _two_score_values(n: int, k: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of true candidates among m ones, and the AUROC of each."""
    hits = np.arange(max(0, m - (n - k)), min(m, k) + 1)
    return hits, 0.5 + (hits / k - (m - hits) / (n - k)) / 2


def _two_scores(sizes: tuple[Size, ...], ones: tuple[int, ...], value: float) -> float:
    """Return P(mean AUROC >= value) where scores are 0 or 1: the hits among the ones are hypergeometric."""
    laws = []
    for (n, k), m in zip(sizes, ones, strict=True):
        hits, values = _two_score_values(n, k, m)
        laws.append((values, scipy.stats.hypergeom.pmf(hits, n, k, m)))
    tail = tail_of_sum(laws, len(sizes) * value)
    return 1.0 if tail is None else float(min(max(tail.upper, 0.0), 1.0))


def _precision(rankings: Rankings, printed: Printed) -> Guesses:
    sizes = rankings.sizes
    if sizes is None:
        return Guesses(needed=rankings.missing)
    if max(n * k for n, k in sizes) > _MOST_MOMENTS:
        return Guesses(needed=("fewer candidates: the law of so many takes too long",))
    moments = mean_precision_moments(sizes)
    mean_method = "exact" if rankings.tied is False else "approximate"
    guesses = Guesses(moments.mean, mean_method=mean_method, p_perfect=_p_perfect(sizes))
    if math.isnan(printed.value):
        return guesses
    high, method = _tail("average_precision", sizes, printed.value - printed.slack)
    best = printed.value + printed.slack
    low = _tail("average_precision", sizes, best, lower=True).p if rankings.tied is False else 0.0
    if rankings.tied is False:
        needed = more_digits("average_precision", low, high)
    else:
        needed = (_TIED,) if rankings.tied is None else ("how tied scores were ordered",)
    return guesses._replace(p=high, p_se=0.0, p_low=low, p_high=high, p_method=method, needed=needed)
