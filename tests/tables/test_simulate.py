"""Draws of controls: units and blocks do not change them, and they stop where p is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.execution import work_units
from causaleval_pd.tables import simulate as streaming
from causaleval_pd.tables.settings import Cells, Drawing
from causaleval_pd.tables.tasks import read_tasks

FIVE = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"
SEVEN = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"
RUNS = ce.datasets.runs().reset_index(drop=True)

SIX = "A -> B; B -> C; C -> D; A -> E; D -> E; F"


def test_sequential_p_values_follow_the_rule(guesses):
    few = guesses.head(60)
    n, h = 2000, 10
    cube = ce.cube(few.assign(a=0), ["shd"], by=["a"], n_draws=n, rng=7)
    draws = cube["shd_control"].isel(a=0).to_numpy()
    hits = np.cumsum(draws <= cube["shd"].isel(a=0).to_numpy()[:, None], axis=1)
    expected, used = [], []
    for row in hits:
        stopped = row[-1] >= h
        length = int(np.argmax(row >= h)) + 1 if stopped else n
        used.append(length)
        expected.append(h / length if stopped else (row[-1] + 1) / (n + 1))
    by_truth = cube["truth_id"].isel(a=0).to_numpy()
    found = ce.with_controls(few, ["shd", "adjacency_f1"], n_draws=n, stop_after=h, rng=7, columns="full")
    order = np.argsort(by_truth)
    mine = np.argsort(ce.cube(few.assign(a=0), ["shd"], by=["a"], n_draws=None)["truth_id"].isel(a=0).to_numpy())
    np.testing.assert_array_equal(order, mine)
    np.testing.assert_allclose(np.sort(found["shd_p"]), np.sort(expected))
    np.testing.assert_allclose(np.sort(found["shd_p_draws"]), np.sort(used))
    assert (found["adjacency_f1_p_method"] == "exact").all() and found["adjacency_f1_p_draws"].isna().all()
    assert found["shd_p_draws"].min() < 40 and found["shd_p_se"].notna().all()
    shuffled = ce.with_controls(
        few.sample(frac=1, random_state=1), ["shd"], n_draws=n, stop_after=h, rng=7, columns="full"
    )
    pd.testing.assert_series_equal(shuffled["shd_p"].sort_index(), found["shd_p"])


@pytest.mark.slow
def test_stopping_needs_few_draws_and_failed_runs_stay_missing(monkeypatch):
    runs = pd.DataFrame({"truth": [SIX] * 3, "estimate": [SIX, None, "A; B; C; D; E; F"]})
    found = ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=5000, stop_after=20, rng=7, columns="full")
    assert found["shd_p_draws"].tolist()[::2] == [5000, 20] and found["shd_p"].iloc[2] == 1
    assert np.isnan(found["shd_p"].iloc[1]) and found["v_structure_f1_p"].iloc[2] == 1
    monkeypatch.setattr("causaleval_pd.tables.simulate.CHUNK_BYTES", 3000)
    pd.testing.assert_frame_equal(
        found, ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=5000, stop_after=20, rng=7, columns="full")
    )
    with pytest.raises(ValueError, match="stop_after must be a positive integer, found 0"):
        ce.with_controls(runs, ["shd"], stop_after=0, rng=7, columns="full")


def test_sequential_p_values_keep_their_level(guesses):
    found = ce.with_controls(guesses, ["shd"], n_draws=500, stop_after=8, rng=7)["shd_p"]
    for alpha in (0.01, 0.05, 0.1, 0.3):
        assert (found <= alpha).sum() <= stats.binom.ppf(0.9999, len(found), alpha)
    assert (found <= 0.3).mean() > 0.15


def test_the_first_draws_do_not_depend_on_their_number():
    runs = pd.DataFrame({"truth": [FIVE], "estimate": [SEVEN]})
    few = ce.cube(runs.assign(a=1), ["shd"], by=["a"], n_draws=10, rng=7)["shd_control"]
    more = ce.cube(runs.assign(a=1), ["shd"], by=["a"], n_draws=30, rng=7)["shd_control"]
    np.testing.assert_array_equal(few, more.isel(draw=slice(10)))


@pytest.mark.slow
def test_dense_graphs_many_draws_and_costly_metrics_make_more_units(monkeypatch):
    monkeypatch.setattr(work_units, "UNIT_NANOSECONDS", 2e5)

    def units(names: list[str], n_draws: int) -> int:
        [task], _ = read_tasks(RUNS, names, Cells())
        model = get_field("graph").nulls["edges"]
        match = model.match(Matching(task.truth, task.estimate, None, None, model.options))
        how = Drawing(n_draws, "simulate", invalid="nan")
        return len(list(streaming.control_chunks(task, match, np.arange(len(RUNS), dtype=np.uint64), how, RUNS.index)))

    assert 1 <= units(["shd"], 1) < units(["shd"], 20) < units(["shd", "sid"], 20) < len(RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("stop_after", [None, 7])
def test_rows_do_not_depend_on_blocks_or_units(stop_after, monkeypatch):
    runs = RUNS.iloc[::9].reset_index(drop=True)
    how = {"n_draws": 230, "rng": 3, "method": "simulate", "stop_after": stop_after}
    wanted = ce.with_controls(runs, ["shd", "orientation_f1"], **how)
    for unit, rows, size in ((1.0, 4, 1), (1e6, 15_000, 9000), (1e15, 15_000, 2**40)):
        monkeypatch.setattr(work_units, "UNIT_NANOSECONDS", unit)
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
