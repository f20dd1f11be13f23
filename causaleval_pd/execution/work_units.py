"""Units of work: the rows that one core is given at a time, worth the overhead of giving them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..contract.pairs import Batch

#: nanoseconds that a unit takes, roughly: long against the milliseconds of sending it off, short against the whole
UNIT_NANOSECONDS = 4e8

#: rows that are scored at once: their arrays stay in the cache
BLOCK_ROWS = 15_000

Unit = list[Batch]


def own_pairs(unit: Unit) -> Iterator[Batch]:
    """Yield the blocks of a unit with pairs of their own: what metrics remember of pairs is let go with the block."""
    for block in unit:
        yield Batch(block.rows, block.pairs.take(slice(None)))


def work_units(batches: Sequence[Batch], nanoseconds: Sequence[float], block_rows: Sequence[int]) -> list[Unit]:
    """Cut batches into units (lists of blocks) that take about as long as one another, `UNIT_NANOSECONDS` or more.

    Units depend on the rows, the `nanoseconds` of each, and how many are handled at once (`block_rows`) alone, neither
    on the engine nor on the number of cores, so that sums over a unit do not either. A row is never cut.
    """
    total = sum(len(batch.rows) * cost for batch, cost in zip(batches, nanoseconds, strict=True))
    share = total / max(1, int(total / UNIT_NANOSECONDS))
    units: list[Unit] = [[]]
    spent = 0.0
    for batch, cost, most in zip(batches, nanoseconds, block_rows, strict=True):
        start, n = 0, len(batch.rows)
        while start < n:
            room = max(1, math.ceil((share - spent) / cost))
            stop = min(n, start + min(room, most))
            units[-1].append(Batch(batch.rows[start:stop], batch.pairs.take(slice(start, stop))))
            spent += (stop - start) * cost
            start = stop
            if spent >= share * (1 - 1e-9):
                units.append([])
                spent = 0.0
    return [unit for unit in units if unit]
