"""Ranked candidates up to their order: how many there are, how many are true, and which tie."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...universe import Candidates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ties(NamedTuple):
    """K true ones among N candidates, in groups that tie."""

    #: number of candidates N, and of true ones K
    n: int
    k: int
    #: bytes of the sizes of the groups from the top down (int32); empty where nothing ties
    profile: bytes

    @property
    def sizes(self) -> Ints:
        """Sizes of the groups from the top down."""
        if not self.profile:
            return np.ones(self.n, np.int64)
        return np.frombuffer(self.profile, np.int32).astype(np.int64)

    @property
    def largest(self) -> int:
        """Size of the largest group."""
        return int(self.sizes.max(initial=0))


class Table(NamedTuple):
    """The chances of true ones in each group, for the compiled programs."""

    sizes: Ints
    starts: Ints
    weights: Floats


@lru_cache(maxsize=64)
def transition_table(ties: Ties) -> Table:
    """Return the chances of a true ones in a group after c so far."""
    from .law_kernels import transitions

    sizes = ties.sizes
    lengths = (ties.k + 1) * (np.minimum(sizes, ties.k) + 1)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    weights = np.empty(int(starts[-1]))
    transitions(sizes, ties.n, ties.k, starts, weights)
    return Table(sizes, starts, weights)


def steps(ties: Ties) -> int:
    """Return how many transitions there are between states, for estimates of work."""
    sizes, k = ties.sizes, ties.k
    return int((np.minimum(sizes, k) + 1).sum()) * (k + 1)


def make_ties(n: int, k: int, sizes: Ints) -> Ties:
    """Make a value that is equal for equal profiles."""
    untied = len(sizes) == n
    return Ties(int(n), int(k), b"" if untied else np.asarray(sizes, np.int32).tobytes())


def ties_of(found: Candidates, rows: Ints) -> tuple[list[Ties], Ints]:
    """Return the distinct profiles of rows, and the number of each row's own."""
    from .law_kernels import tie_profiles

    most = found.keys.shape[1]
    sizes, n_groups = np.zeros((len(rows), most), np.int64), np.zeros(len(rows), np.int64)
    size, n_true = found.size[rows], found.n_true[rows]
    tie_profiles(found.keys[rows], size, np.empty(most), np.empty(most, np.bool_), sizes, n_groups)
    known: dict[Ties, int] = {}
    index = np.empty(len(rows), np.int64)
    for row, (n, k, groups) in enumerate(zip(size.tolist(), n_true.tolist(), n_groups.tolist(), strict=True)):
        profile = b"" if groups == n else sizes[row, :groups].astype(np.int32).tobytes()
        index[row] = known.setdefault(Ties(n, k, profile), len(known))
    return list(known), index
