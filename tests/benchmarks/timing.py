"""CPU seconds on one thread; imported before numpy, which asks for the number of threads as it starts."""

import os

for _library in ("RAYON", "NUMBA", "OMP", "OPENBLAS", "ARROW"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import statistics
import time
from collections.abc import Callable


def seconds(function: Callable[..., object], *arguments: object) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def median(function: Callable[..., object], *arguments: object, rounds: int = 5) -> float:
    """Return the median CPU time of some calls, after one to warm up."""
    function(*arguments)
    return statistics.median(seconds(function, *arguments) for _ in range(rounds))


def alternate(ours: Callable[[], object], peer: Callable[[], object], rounds: int = 5) -> tuple[float, float]:
    """Return the median CPU times of both, run in turn after one warm-up of ours."""
    ours()
    times = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    mine, theirs = (statistics.median(x) for x in zip(*times, strict=True))
    return mine, theirs
