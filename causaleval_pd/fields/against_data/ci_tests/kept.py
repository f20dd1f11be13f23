"""Numbers of node pairs and sets, each computed once and kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Kept:
    """Numbers by a pair of nodes and a set: `compute(x, y, given)` returns one each, whatever others it is given."""

    def __init__(self, compute: Callable[[Ints, Ints, Bools], Floats]) -> None:
        self._compute = compute
        self._found: dict[bytes, float] = {}

    def __len__(self) -> int:
        return len(self._found)

    def find(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the numbers of the pairs x, y, (m,), and sets, (m, d); compute those that are new."""
        if not len(x):
            return np.zeros(0)
        sets = np.packbits(given, axis=1)
        ends = np.stack([x, y], axis=1).astype("<u4")
        cells = np.ascontiguousarray(np.hstack([ends.view(np.uint8), sets]))
        words = cells.view(np.dtype((np.void, cells.shape[1])))[:, 0]
        distinct, first, inverse = np.unique(words, return_index=True, return_inverse=True)
        keys = [word.tobytes() for word in distinct]
        new = np.array([i for i, key in enumerate(keys) if key not in self._found], np.int64)
        if len(new):
            at = first[new]
            numbers = self._compute(x[at], y[at], given[at])
            self._found.update(zip([keys[i] for i in new.tolist()], numbers.tolist(), strict=True))
        return np.array([self._found[key] for key in keys])[inverse.reshape(-1)]
