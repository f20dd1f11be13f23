"""Count the ones of words outside compiled code; numpy has its own function since 2.0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import Words


def _count_ones(words: Words) -> NDArray[Any]:
    """Add neighbouring counts of 1, 2 and 4 bits, then the counts of the eight bytes by one product."""
    pairs, nibbles, octets = (np.uint64(mask) for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    words = words - ((words >> one) & pairs)
    words = (words & nibbles) + ((words >> two) & nibbles)
    words = (words + (words >> four)) & octets
    return ((words * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.uint8)


count_ones = getattr(np, "bitwise_count", _count_ones)
