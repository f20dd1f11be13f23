"""Engines: work in threads or here, in order, with progress; errors end it; results do not depend on units of work."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.contract.pairs import Batch
from causaleval_pd.execution import engines
from causaleval_pd.execution.engines import BLOCK_ROWS, UNIT_NANOSECONDS, job_count, map_chunks, stop_if_unwanted
from causaleval_pd.fields.reasoning.field import AnswerPairs


def test_progress_counts_rows(capsys):
    with ce.set_options(progress=True):
        assert list(map_chunks(len, ["ab", "c"], weights=[2, 1], label="work")) == [2, 1]
    shown = capsys.readouterr().err
    assert "work" in shown and "3/3" in shown
    assert list(map_chunks(len, ["ab", "c"])) == [2, 1] and not capsys.readouterr().err


def test_verbs_show_their_progress(capsys):
    runs = ce.datasets.runs().head(4)
    with ce.set_options(progress=True):
        runs.ceval.with_controls(["shd"], n_draws=5, rng=1, method="simulate")
    assert "4/4" in capsys.readouterr().err
    runs.ceval.with_controls(["shd"], n_draws=5, rng=1, method="simulate")
    assert not capsys.readouterr().err


def test_threads_keep_the_order_and_few_results():
    waiting, most, lock = 0, 0, threading.Lock()

    def work(i: int) -> int:
        nonlocal waiting, most
        time.sleep(0.01 * (i % 3 == 0))
        with lock:
            waiting += 1
            most = max(most, waiting)
        return i

    found = []
    with ce.set_options(engine="threads", n_jobs=3):
        results = map_chunks(work, range(60))
    for i in results:
        found.append(i)
        with lock:
            waiting -= 1
    assert found == list(range(60))
    assert most <= 7, "six under way and the one that was handed out"


def test_an_error_in_a_thread_is_raised_and_ends_the_work():
    begun = []

    def work(i: int) -> int:
        begun.append(i)
        if i == 3:
            raise ValueError("chunk 3 is bad")
        return i

    with pytest.raises(ValueError, match="chunk 3 is bad"), ce.set_options(engine="threads", n_jobs=2):
        list(map_chunks(work, range(1000)))
    assert len(begun) < 1000


def test_numbers_of_jobs_by_engine():
    assert job_count("serial", 4) == 1
    assert job_count("threads", 4) == 4
    assert job_count(None) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "dask", None])
def test_every_engine_gives_the_same_bits(engine, monkeypatch):
    runs = ce.datasets.runs().query("n == 100").reset_index(drop=True)
    metrics = ["shd", "adjacency_f1", "orientation_recall"]
    how = {"n_draws": 150, "rng": 3}
    with ce.set_options(engine="serial"):
        wanted = ce.with_controls(runs, metrics, **how)
        scored = ce.evaluate(runs, [*metrics, "sid"], invalid="nan")
    monkeypatch.setattr(engines, "UNIT_NANOSECONDS", 1e5)
    monkeypatch.setattr(sys.modules["causaleval_pd.tables.scoring"], "PART_ROWS", 13)
    monkeypatch.setattr(sys.modules["causaleval_pd.tables.simulate"], "BLOCK_ROWS", 13)
    with ce.set_options(engine=engine, n_jobs=3):
        found = ce.with_controls(runs, metrics, **how)
        again = ce.evaluate(runs, [*metrics, "sid"], invalid="nan")
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    pd.testing.assert_frame_equal(again, scored, check_exact=True)


def test_threads_give_up_their_work_when_one_fails():
    begun = threading.Event()

    def work(item):
        if item == 0:
            assert begun.wait(30)
            raise OSError("the disk is gone")
        begun.set()
        while True:
            stop_if_unwanted()
            time.sleep(0.001)

    with pytest.raises(OSError, match="the disk is gone"), ce.set_options(engine="threads", n_jobs=2):
        list(map_chunks(work, range(4)))
    stop_if_unwanted()  # nothing to give up in this thread


INTERRUPTED = """
import os, signal, sys, threading
import networkx as nx, pandas as pd
import causaleval_pd as ce

signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background of a shell ignore it
path = nx.relabel_nodes(nx.path_graph(200, create_using=nx.DiGraph), "v{:03}".format)
column = ce.graph_column([path] * 80)
table = pd.DataFrame({"truth": column.iloc[:40].array, "estimate": column.iloc[40:].array})
how = {"method": "simulate", "rng": 1}
ce.set_options(engine=sys.argv[1], n_jobs=2)
ce.with_controls(table.iloc[:1], ["sid"], n_draws=2, **how)
threading.Timer(1, lambda: (print("now", flush=True), os.kill(os.getpid(), signal.SIGINT))).start()
ce.with_controls(table, ["sid"], n_draws=100_000, **how)
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_an_interrupt_ends_long_work(engine):
    """The work would take hours; the limit of time is generous."""
    script = [sys.executable, "-c", INTERRUPTED, engine]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "now\n"
            _, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


def answers(first: int, n: int) -> Batch:
    return Batch(np.arange(first, first + n), AnswerPairs(np.zeros(n, bool), np.ones(n, bool)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20_000), st.sampled_from([1.0, 200.0, 1e4, 1e6, 3e7])), max_size=6))
def test_every_row_is_in_one_unit_of_about_equal_time(sizes):
    starts = np.cumsum([0, *(n for n, _ in sizes)])
    batches = [answers(int(a), n) for a, (n, _) in zip(starts, sizes, strict=False)]
    costs = [cost for _, cost in sizes]
    units = engines.work_units(batches, costs, [BLOCK_ROWS] * len(batches))
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
