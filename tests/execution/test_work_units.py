"""Units of work and the blocks in them: every row once, about equal times, results that do not depend on either."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from causaleval_pd.contract.pairs import Batch
from causaleval_pd.execution import work_units
from causaleval_pd.execution.work_units import BLOCK_ROWS, UNIT_NANOSECONDS
from causaleval_pd.fields.reasoning.field import AnswerPairs


def answers(first: int, n: int) -> Batch:
    return Batch(np.arange(first, first + n), AnswerPairs(np.zeros(n, bool), np.ones(n, bool)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20_000), st.sampled_from([1.0, 200.0, 1e4, 1e6, 3e7])), max_size=6))
def test_every_row_is_in_one_unit_of_about_equal_time(sizes):
    starts = np.cumsum([0, *(n for n, _ in sizes)])
    batches = [answers(int(a), n) for a, (n, _) in zip(starts, sizes, strict=False)]
    costs = [cost for _, cost in sizes]
    units = work_units.work_units(batches, costs, [BLOCK_ROWS] * len(batches))
    rows = [part.rows for unit in units for part in unit]
    assert np.array_equal(np.concatenate([*rows, np.empty(0, int)]), np.arange(starts[-1]))
    assert all(len(part.rows) == part.pairs.n <= BLOCK_ROWS for unit in units for part in unit)
    row_cost = np.repeat(costs, [n for n, _ in sizes])
    spent = [sum(row_cost[part.rows].sum() for part in unit) for unit in units]
    total = row_cost.sum()
    if total < 2 * UNIT_NANOSECONDS:
        assert len(units) <= 1
    else:
        longest = max(costs)
        assert all(UNIT_NANOSECONDS * (1 - 1e-6) <= x <= 2 * UNIT_NANOSECONDS + longest for x in spent[:-1])
