"""Random streams of draws in plain Python.

Every draw has a stream of its own, which begins at mix(mix(key + STEP) + (r + 1) STEP) for draw r of a row; number 0 in
place of r + 1 names the stream that the draws of a row share.
"""

from causaleval_pd.graphs.kernels.inputs import Words

WORD = 2**64 - 1
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * FIRST) & WORD
    z = ((z ^ (z >> 27)) * SECOND) & WORD
    return z ^ (z >> 31)


class Stream:
    """Words of one draw, and numbers made of them; `number` 0 is shared by the draws of a row."""

    def __init__(self, key: int, number: int) -> None:
        self._state = mix((mix((key + STEP) & WORD) + number * STEP) & WORD)

    def word(self) -> int:
        self._state = (self._state + STEP) & WORD
        return mix(self._state)

    def uniform(self) -> float:
        """Return a number in [0, 1), of 53 bits."""
        return (self.word() >> 11) * 2.0**-53

    def try_two(self, n: int, m: int) -> tuple[int, int] | None:
        """Return numbers below n and m, or None where the word would favour some."""
        word = self.word()
        low, high = (word & 0xFFFFFFFF) * n, (word >> 32) * m
        if low % 2**32 < 2**32 % n or high % 2**32 < 2**32 % m:
            return None
        return low >> 32, high >> 32

    def two_below(self, n: int, m: int) -> tuple[int, int]:
        """Return numbers below n and m."""
        while (found := self.try_two(n, m)) is None:
            pass
        return found

    def shuffle(self, n: int) -> list[int]:
        """Return a random order of 0 .. n - 1."""
        order = list(range(n))
        for last in range(n - 1, 0, -2):
            j, k = self.two_below(last + 1, last)
            order[last], order[j] = order[j], order[last]
            order[last - 1], order[k] = order[k], order[last - 1]
        return order

    def pairs(self, d: int, m: int) -> list[tuple[int, int]]:
        """Draw m distinct pairs below d, for more than half of all those that are left out."""
        every = [(x, y) for y in range(d) for x in range(y)]
        sparse = 2 * m <= len(every)
        found: dict[tuple[int, int], None] = {}
        while len(found) < (m if sparse else len(every) - m):
            a, b = self.two_below(d, d - 1)
            b += b >= a
            found.setdefault((min(a, b), max(a, b)))
        return list(found) if sparse else [pair for pair in every if pair not in found]


def streams(keys: Words, start: int, count: int) -> list[tuple[int, Stream]]:
    """Return the stream of each draw, with its row."""
    return [(row, Stream(int(key), r + 1)) for row, key in enumerate(keys) for r in range(start, start + count)]
