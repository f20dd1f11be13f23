"""Draws of strata added up: as if all rows had been there at once, in bounded memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.tables import stratum_draws
from causaleval_pd.tables.stratum_draws import add_strata, add_values, coarsen, pad_tables, value_table

STRATA = np.array([0, 0, 2, 2, 2])
DRAWS = np.array([[1, 2, np.nan], [3, 2, 1], [np.nan] * 3, [5, 5, 0], [1, 0, np.inf]])


def test_draws_are_added_up_by_stratum():
    found = add_strata(ce.shd, STRATA, DRAWS, {})
    assert list(found) == [0, 2]
    assert found[0].sums.tolist() == [4, 4, 1] and found[0].counts.tolist() == [2, 2, 1]
    assert found[2].sums.tolist() == [6, 5, np.inf] and found[2].counts.tolist() == [2, 2, 2]
    assert found[0].values.to_dict() == {1: 2, 2: 2, 3: 1}
    assert found[2].values.to_dict() == {0: 2, 1: 1, 5: 2, np.inf: 1}


def test_rows_may_come_in_pieces():
    whole = add_strata(ce.shd, STRATA, DRAWS, {})
    parts: dict = {}
    for rows in (slice(0, 1), slice(1, 4), slice(4, 5)):
        add_strata(ce.shd, STRATA[rows], DRAWS[rows], parts)
    for number, one in whole.items():
        np.testing.assert_array_equal(parts[number].sums, one.sums)
        np.testing.assert_array_equal(parts[number].counts, one.counts)
        pd.testing.assert_series_equal(parts[number].values, one.values)


def test_metrics_that_aim_at_zero_add_distances():
    aimed = ce.tweak("shd", name="aimed")
    from dataclasses import replace

    found = add_strata(replace(aimed, direction="zero", optimum=2.0), np.zeros(2, int), DRAWS[:2], {})
    assert found[0].sums.tolist() == [2, 0, 1] and found[0].values.to_dict() == {1: 2, 2: 2, 3: 1}


def test_undefined_rows_leave_an_empty_table():
    [found] = add_strata(ce.shd, np.zeros(1, int), np.full((1, 4), np.nan), {}).values()
    assert found.sums.tolist() == [0] * 4 and found.counts.tolist() == [0] * 4 and len(found.values) == 0
    assert add_strata(ce.shd, np.empty(0, int), np.empty((0, 4)), {}) == {}


def test_padded_tables_come_back():
    tables = [pd.Series([2.0, 1.0], index=[0.5, 3.0]), pd.Series(dtype=float), pd.Series([4.0], index=[np.inf])]
    values, weights = pad_tables(tables)
    assert values.shape == weights.shape == (3, 2)
    for table, value, weight in zip(tables, values, weights, strict=True):
        back = value_table(value, weight)
        assert back.to_dict() == table.to_dict()
    assert pad_tables([])[0].shape == (0, 0)


def test_tables_of_equal_values_add_their_numbers():
    added = add_values(pd.Series([1.0, 2.0], index=[3.0, 1.0]), pd.Series([5.0, 1.0], index=[1.0, 0.0]))
    assert added.to_dict() == {0.0: 1.0, 1.0: 7.0, 3.0: 1.0} and added.index.is_monotonic_increasing


@pytest.mark.parametrize("limit", [1, 7, 50, 299])
def test_long_tables_keep_number_mean_and_range(limit, monkeypatch):
    monkeypatch.setattr(stratum_draws, "MAX_VALUES", limit)
    rng = np.random.default_rng(1)
    table = pd.Series(rng.integers(1, 9, 300).astype(float), index=rng.permutation(300) / 7)
    found = coarsen(table)
    assert len(found) <= limit and found.index.is_monotonic_increasing
    assert found.sum() == table.sum()
    assert (found.index * found).sum() == pytest.approx((table.index * table).sum())
    assert found.index[0] >= table.index.min() and found.index[-1] <= table.index.max()
    short = table.iloc[: min(limit, 5)]
    assert coarsen(short).to_dict() == short.to_dict()
