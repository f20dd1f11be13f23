"""Laws of the numbers of shared and of estimated links under random placement, on plain numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...structure.nulls.hypergeometric import hypergeometric_weights

Floats = NDArray[np.float64]


class CountLaw(NamedTuple):
    """A law of shared and estimated links: points and their probabilities, (s,) each."""

    both: Floats
    estimated: Floats
    weight: Floats


def fixed(both: float = 0.0, estimated: float = 0.0) -> CountLaw:
    """Return the law of numbers that do not vary."""
    return CountLaw(np.array([both], np.float64), np.array([estimated], np.float64), np.ones(1))


def hypergeometric(total: int, marked: int, drawn: int) -> tuple[Floats, Floats]:
    """Return the numbers of marked places among drawn ones that are possible, and their probabilities."""
    support, weights = hypergeometric_weights(*(np.array([[x]], np.int64) for x in (total, marked, drawn)))
    return support[0].astype(np.float64), weights[0]


@lru_cache(maxsize=4096)
def placed(places: int, counted: int, true: int, links: int) -> CountLaw:
    """Return the law of links placed at random, of which those on `counted` places count; `true` of these are true.

    Examples
    --------
    >>> law = placed(4, 4, 2, 2)
    >>> law.both.tolist(), law.weight.round(3).tolist()
    ([0.0, 1.0, 2.0], [0.167, 0.667, 0.167])
    """
    if counted == places:
        both, weights = hypergeometric(places, true, links)
        return CountLaw(both, np.full(len(both), float(links)), weights)
    return _mixed(counted, true, *hypergeometric(places, counted, links))


def _mixed(places: int, true: int, numbers: Floats, chances: Floats) -> CountLaw:
    """Return the law of as many links on places as a number has, whose law is given."""
    drawn = numbers.astype(np.int64)[:, None]
    support, weights = hypergeometric_weights(np.full_like(drawn, places), np.full_like(drawn, true), drawn)
    weights = weights * chances[:, None]
    some = weights > 0
    estimated = np.broadcast_to(numbers[:, None], support.shape)
    return CountLaw(support[some].astype(np.float64), estimated[some], weights[some])


@lru_cache(maxsize=4096)
def linked_pairs(pairs: int, lags: int, links: int, true: int) -> CountLaw:
    """Return the law of pairs that have a link at any lag, of links placed at random over pairs and lags.

    Links are placed one after another: the next one falls on a pair without a link with a chance that depends on how
    many pairs have one, so that all terms are positive. Given the number of pairs, they are uniform.

    Examples
    --------
    >>> law = linked_pairs(2, 2, 2, 1)
    >>> law.estimated.tolist(), law.weight.round(3).tolist()
    ([1.0, 1.0, 2.0], [0.167, 0.167, 0.667])
    """
    chances = np.zeros(pairs + 1)
    chances[0] = 1.0
    number = np.arange(pairs + 1, dtype=np.float64)
    for placed_before in range(links):
        left = pairs * lags - placed_before
        fresh = chances * np.maximum(pairs - number, 0) * lags / left
        chances = chances * np.maximum(number * lags - placed_before, 0) / left
        chances[1:] += fresh[:-1]
    some = np.flatnonzero(chances)
    return _mixed(pairs, true, some.astype(np.float64), chances[some])


def added(laws: Iterable[CountLaw]) -> CountLaw:
    """Return the law of the sums of independent numbers."""
    total = fixed()
    for law in laws:
        both = (total.both[:, None] + law.both).reshape(-1)
        estimated = (total.estimated[:, None] + law.estimated).reshape(-1)
        weight = (total.weight[:, None] * law.weight).reshape(-1)
        points, place = np.unique(np.stack([both, estimated]), axis=1, return_inverse=True)
        total = CountLaw(
            points[0], points[1], np.bincount(place.reshape(-1), weight, points.shape[1]).astype(np.float64)
        )
    return total
