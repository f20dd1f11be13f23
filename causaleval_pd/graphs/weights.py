"""Weights of edges: how to cut them, in messages about graphs that hold weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: the threshold of NOTEARS (doi:10.48550/arXiv.1803.01422), taken where it suits the weights
_USUAL = 0.3


def explain_weights(source: ArrayLike, target: ArrayLike, weights: ArrayLike, edges: str = "W") -> str:
    """Return how to make a graph of other numbers than 0 and 1, given as its arcs, a graph without weights.

    Examples
    --------
    >>> explain_weights([0, 1, 2], [1, 2, 1], [0.9, 0.7, 0.004])
    'threshold weights by their size, as in abs(W) > 0.3: 2 edges; W != 0 would make 2 edges, 1 of them undirected'
    """
    values = np.asarray(weights, np.float64)
    if not np.isfinite(values).all():
        return "drop missing and infinite weights, as by np.nan_to_num(W, posinf=0, neginf=0) where they are no edges"
    if np.isin(values, (-1, 0, 1, 2, 3)).all():
        return "decode endpoint codes first, or name their encoding= (see list_encodings)"
    size = np.abs(values)
    cut = advised_threshold(size[size > 0])
    low, high = np.minimum(source, target), np.maximum(source, target)

    def count(kept: NDArray[np.bool_]) -> str:
        arcs = int(kept.sum())
        pairs = len(set(zip(low[kept].tolist(), high[kept].tolist(), strict=True)))
        return f"{pairs} edge{'s' * (pairs != 1)}" + (f", {arcs - pairs} of them undirected" if arcs > pairs else "")

    return (
        f"threshold weights by their size, as in abs({edges}) > {cut:g}: {count(size > cut)}; {edges} != 0 would make "
        f"{count(size > 0)}"
    )


def advised_threshold(size: ArrayLike) -> float:
    """Return a round threshold for weights by size.

    It lies in the widest gap by ratio below one of the large weights, those of at least a tenth of the largest, if one
    is at least twice the next; there and without a gap it is .3 where that is between, and in proportion to the largest
    weight else.

    Examples
    --------
    >>> advised_threshold([1.2, 0.8, 0.1, 0.02]), advised_threshold([0.02, 0.015, 0.0001])
    (0.3, 0.005)
    """
    weights = np.sort(np.asarray(size, np.float64))[::-1]
    large = weights[weights >= weights[0] / 10]
    following = np.append(weights[1:], 0.0)[: len(large)]
    ratios = np.divide(large, following, out=np.zeros_like(large), where=following > 0)
    at = int(ratios.argmax())
    low, high = (following[at], large[at]) if ratios[at] >= 2 else (0.0, weights[0])
    if low <= _USUAL < high:
        return _USUAL
    middle = math.sqrt(high * max(low, high / 10))
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next((cut for cut in rounded if low <= cut < high), float(low))
