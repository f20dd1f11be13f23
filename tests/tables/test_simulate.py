"""Draws of controls: units and blocks do not change them."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.execution import engines
from causaleval_pd.tables import simulate as streaming
from causaleval_pd.tables.settings import Cells, Drawing
from causaleval_pd.tables.tasks import read_tasks

FIVE = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"
SEVEN = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"
RUNS = ce.datasets.runs().reset_index(drop=True)


def test_the_first_draws_do_not_depend_on_their_number():
    runs = pd.DataFrame({"truth": [FIVE], "estimate": [SEVEN]})
    few = ce.cube(runs.assign(a=1), ["shd"], by=["a"], n_draws=10, rng=7)["shd_control"]
    more = ce.cube(runs.assign(a=1), ["shd"], by=["a"], n_draws=30, rng=7)["shd_control"]
    np.testing.assert_array_equal(few, more.isel(draw=slice(10)))


@pytest.mark.slow
def test_dense_graphs_many_draws_and_costly_metrics_make_more_units(monkeypatch):
    monkeypatch.setattr(engines, "UNIT_NANOSECONDS", 2e5)

    def units(names: list[str], n_draws: int) -> int:
        [task], _ = read_tasks(RUNS, names, Cells())
        model = get_field("graph").nulls["edges"]
        match = model.match(Matching(task.truth, task.estimate, None, None, model.options))
        how = Drawing(n_draws, "simulate", invalid="nan")
        return len(list(streaming.control_chunks(task, match, np.arange(len(RUNS), dtype=np.uint64), how, RUNS.index)))

    assert 1 <= units(["shd"], 1) < units(["shd"], 20) < units(["shd", "sid"], 20) < len(RUNS)


@pytest.mark.slow
def test_rows_do_not_depend_on_blocks_or_units(monkeypatch):
    runs = RUNS.iloc[::9].reset_index(drop=True)
    how = {"n_draws": 230, "rng": 3, "method": "simulate"}
    wanted = ce.with_controls(runs, ["shd", "orientation_f1"], **how)
    for unit, rows, size in ((1.0, 4, 1), (1e6, 15_000, 9000), (1e15, 15_000, 2**40)):
        monkeypatch.setattr(engines, "UNIT_NANOSECONDS", unit)
        monkeypatch.setattr(streaming, "BLOCK_ROWS", rows)
        monkeypatch.setattr(streaming, "CHUNK_BYTES", size)
        with ce.set_options(engine="threads", n_jobs=2):
            found = ce.with_controls(runs, ["shd", "orientation_f1"], **how)
        pd.testing.assert_frame_equal(found, wanted, check_exact=True)


def test_a_row_may_have_more_draws_than_a_block_holds():
    runs = pd.DataFrame({"truth": ["A -> B; B -> C; C -> D"], "estimate": ["A -> B; B -> C; D"]})
    n = streaming.CHUNK_BYTES // 8 * 2
    found = ce.with_controls(runs, ["adjacency_recall"], n_draws=n, rng=7, method="simulate")
    exact = ce.with_controls(runs, ["adjacency_recall"], rng=7)
    assert found["adjacency_recall_p"].iloc[0] == pytest.approx(exact["adjacency_recall_p"].iloc[0], abs=0.01)
