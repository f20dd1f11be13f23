"""Where work is mapped, in units worth their overhead, on one core or many; where random streams get their names."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from ..contract.pairs import Batch
from .options import Engine, get_options

#: bytes that draws which are handled at once may take, and the controls that they come from: they stay in the cache
CHUNK_BYTES = 2 * 2**20

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def map_chunks(
    function: Callable[[_Item], _Result],
    items: Sequence[_Item],
    *,
    weights: Sequence[int] | None = None,
    label: str = "",
) -> Iterator[_Result]:
    """Apply `function` to chunks by the chosen engine, results in order; the bar of progress counts in `weights`.

    No more chunks are under way than keep the engine busy, so that memory does not grow with their number.
    """
    options = get_options()
    engine = options["engine"]
    results = _results(function, items, engine, job_count(engine, options["n_jobs"]))
    return with_bar(results, [1] * len(items) if weights is None else weights, label)


def with_bar(results: Iterable[_Result], weights: Sequence[int], label: str, unit: str = "row") -> Iterator[_Result]:
    """Yield results as they come, and count their weights in a progress bar if `set_options` asks for one."""
    return _counted(results, weights, label, unit) if get_options()["progress"] else iter(results)


def _counted(results: Iterable[_Result], weights: Sequence[int], label: str, unit: str) -> Iterator[_Result]:
    from tqdm.auto import tqdm

    with tqdm(total=sum(weights), desc=label, unit=unit) as bar:
        for result, weight in zip(results, weights, strict=True):
            yield result
            bar.update(weight)


def job_count(engine: Engine, n_jobs: int | None = None) -> int:
    """Return how many chunks are worked on at a time: `n_jobs`, or one a core or thread of a cluster."""
    if engine == "serial":
        return 1
    if n_jobs is not None:
        return int(n_jobs)
    client = current_client() if engine == "dask" else None
    if client is not None:
        return max(1, sum(client.nthreads().values()))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Work(NamedTuple):
    """What is sent to every worker of a cluster, once."""

    function: Callable[[Any], Any]
    items: Sequence[Any]


def _nth(work: _Work, i: int) -> Any:
    return work.function(work.items[i])


def _results(
    function: Callable[[_Item], _Result], items: Sequence[_Item], engine: Engine, jobs: int
) -> Iterator[_Result]:
    client = current_client() if engine == "dask" else None
    if client is not None:
        [work] = client.scatter([_Work(function, items)], broadcast=True, hash=False)
        yield from _in_order(lambda i: client.submit(_nth, work, i, pure=False), len(items), 2 * jobs)
    elif jobs == 1 or len(items) < 2:
        yield from map(function, items)
    else:
        with thread_pool(jobs) as pool:
            yield from _in_order(lambda i: pool.submit(function, items[i]), len(items), 2 * jobs)


#: of each thread of a pool, what is set when its work is no longer wanted
_own = threading.local()


@contextmanager
def thread_pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Make a pool of threads whose work is given up when the block is left early, by Ctrl-C for example."""
    unwanted = threading.Event()

    def begin() -> None:
        _own.unwanted = unwanted

    pool = ThreadPoolExecutor(jobs, initializer=begin)
    try:
        yield pool
    finally:
        unwanted.set()
        pool.shutdown(cancel_futures=True)


def stop_if_unwanted() -> None:
    """End the work of a thread whose pool was given up; long work asks between pieces of well below a second."""
    unwanted = getattr(_own, "unwanted", None)
    if unwanted is not None and unwanted.is_set():
        raise CancelledError


def _in_order(submit: Callable[[int], Any], n: int, window: int) -> Iterator[Any]:
    """Yield the results of submit(0) .. submit(n - 1), with at most `window` of them under way."""
    pending: deque[Any] = deque()
    for i in range(n):
        if len(pending) == window:
            yield pending.popleft().result()
        pending.append(submit(i))
    while pending:
        yield pending.popleft().result()


def current_client() -> Any:
    """Return the client of the dask cluster in use, or None if work stays on this machine."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


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
