"""Units of work and the blocks in them: every row once, about equal times, results that do not depend on either."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.contract.pairs import Batch
from causaleval_pd.execution import work_units
from causaleval_pd.execution.work_units import BLOCK_ROWS, UNIT_NANOSECONDS
from causaleval_pd.reasoning.pairs import AnswerPairs
from causaleval_pd.tables import simulate as streaming
from causaleval_pd.tables.settings import Cells, Drawing
from causaleval_pd.tables.tasks import read_tasks

RUNS = ce.datasets.runs().reset_index(drop=True)


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


def test_dense_graphs_many_draws_and_costly_metrics_make_more_units():
    table = pd.concat([RUNS] * 4, ignore_index=True)
    tasks = {names: read_tasks(table, list(names), Cells())[0][0] for names in [("shd",), ("shd", "sid")]}

    def units(names: tuple[str, ...], n_draws: int) -> int:
        task = tasks[names]
        model = get_field("graph").nulls["edges"]
        match = model.match(Matching(task.truth, task.estimate, None, None, model.options))
        keys = np.arange(len(table), dtype=np.uint64)
        job = streaming._Job(task, match, keys, Drawing(n_draws, "simulate", invalid="nan"), table.index, None)
        batches = list(task.batches())
        return len(work_units.work_units(batches, *zip(*[streaming._row_costs(job, b) for b in batches], strict=True)))

    assert units(("shd",), 10) == 1
    assert 1 < units(("shd",), 10_000) < units(("shd", "sid"), 10_000) < len(table)


@pytest.mark.parametrize("stop_after", [None, 7])
def test_rows_do_not_depend_on_blocks_or_units(stop_after, monkeypatch):
    runs = RUNS.iloc[::9].reset_index(drop=True)
    how = {"n_draws": 230, "rng": 3, "method": "simulate", "stop_after": stop_after}
    wanted = ce.with_controls(runs, ["shd", "orientation_f1"], **how)
    for unit, rows, size in ((1.0, 4, 1), (1e6, 15_000, 9000), (1e15, 15_000, 2**40)):
        monkeypatch.setattr(work_units, "UNIT_NANOSECONDS", unit)
        monkeypatch.setattr(streaming, "BLOCK_ROWS", rows)
        monkeypatch.setattr(streaming, "CHUNK_BYTES", size)
        found = ce.with_controls(runs, ["shd", "orientation_f1"], engine="threads", n_jobs=2, **how)
        pd.testing.assert_frame_equal(found, wanted, check_exact=True)


def test_a_row_may_have_more_draws_than_a_block_holds():
    runs = pd.DataFrame({"truth": ["A -> B; B -> C; C -> D"], "estimate": ["A -> B; B -> C; D"]})
    n = streaming.CHUNK_BYTES // 8 * 2
    found = ce.with_controls(runs, ["adjacency_recall"], n_draws=n, rng=7, method="simulate")
    exact = ce.with_controls(runs, ["adjacency_recall"], rng=7)
    assert found["adjacency_recall_p"].iloc[0] == pytest.approx(exact["adjacency_recall_p"].iloc[0], abs=0.01)


def test_units_return_sums_rather_than_draws(monkeypatch):
    """What is sent back for a cube without draws is a few numbers a draw and stratum."""
    seen = []
    chunks = streaming.control_chunks
    monkeypatch.setattr(
        sys.modules["causaleval_pd.cubes.scores"],
        "control_chunks",
        lambda *a, **k: (seen.append(chunk) or chunk for chunk in chunks(*a, **k)),
    )
    how = {"by": ["algorithm"], "n_draws": 40, "rng": 7, "method": "simulate"}
    monkeypatch.setattr(work_units, "UNIT_NANOSECONDS", 1e5)
    kept = ce.cube(RUNS, ["shd", "adjacency_f1"], keep_draws=True, **how)
    seen.clear()
    found = ce.cube(RUNS, ["shd", "adjacency_f1"], keep_draws=False, **how)
    assert len(seen) > 3 and all(chunk.draws == {} for chunk in seen)
    assert sum(len(chunk.strata["shd"]) for chunk in seen) <= len(seen) + 2, "rows of a stratum are side by side"
    for m in ("shd", "adjacency_f1"):
        total = kept[f"{m}_control"].sum("replicate")
        np.testing.assert_allclose(found[f"{m}_control_sum"], total, rtol=1e-12)
        assert (found[f"{m}_control_count"] == kept[f"{m}_control"].notnull().sum("replicate")).all()
    pd.testing.assert_frame_equal(ce.summary(found), ce.summary(kept), rtol=1e-12)
    assert (ce.summary(found)["p_value"] == ce.summary(kept)["p_value"]).all()
