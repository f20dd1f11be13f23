"""Options: set for all calls or for a block, checked, and apart between threads."""

import asyncio
import math
import threading
from collections.abc import Iterator

import pytest

import causaleval_pd as ce
from causaleval_pd.execution.options import serially

DEFAULTS = {"engine": None, "n_jobs": None, "progress": False, "zero_division": math.nan}


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    """Leave the options as they were."""
    assert ce.get_options() == DEFAULTS
    yield
    ce.set_options(**DEFAULTS)
    assert ce.get_options() == DEFAULTS


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_a_block_sets_options_of_its_thread_until_its_end():
    with ce.set_options(n_jobs=3):
        with ce.set_options(n_jobs=2, engine="threads"):
            assert ce.get_options() == DEFAULTS | {"engine": "threads", "n_jobs": 2}
            assert in_a_thread(ce.get_options) == DEFAULTS
        assert ce.get_options() == DEFAULTS | {"n_jobs": 3}
    with pytest.raises(KeyError), ce.set_options(progress=True):
        raise KeyError
    assert ce.get_options() == DEFAULTS


def test_a_call_sets_options_of_all_threads():
    ce.set_options(n_jobs=3)
    ce.set_options(engine="serial")
    assert ce.get_options() == in_a_thread(ce.get_options) == DEFAULTS | {"engine": "serial", "n_jobs": 3}
    with ce.set_options(n_jobs=1):
        assert ce.get_options()["n_jobs"] == 1
        ce.set_options(n_jobs=4)
        assert ce.get_options()["n_jobs"] == 4
    assert ce.get_options()["n_jobs"] == 4


def test_blocks_of_two_threads_leave_each_other_alone():
    """The one that began first ends first."""
    inside, ended = threading.Event(), threading.Event()

    def other():
        with ce.set_options(n_jobs=7):
            inside.set()
            assert ended.wait(30)
            return ce.get_options()["n_jobs"]

    found = []
    with ce.set_options(n_jobs=2):
        thread = threading.Thread(target=lambda: found.append(other()))
        thread.start()
        assert inside.wait(30)
        assert ce.get_options()["n_jobs"] == 2
    assert ce.get_options() == DEFAULTS
    ended.set()
    thread.join()
    assert found == [7] and ce.get_options() == DEFAULTS


def test_blocks_of_two_tasks_leave_each_other_alone():
    async def task(n_jobs: int) -> int:
        with ce.set_options(n_jobs=n_jobs):
            await asyncio.sleep(0)
            return ce.get_options()["n_jobs"]

    async def both() -> list[int]:
        return await asyncio.gather(task(2), task(3))

    assert asyncio.run(both()) == [2, 3]


def test_a_block_may_begin_twice():
    options = ce.set_options(n_jobs=2)
    with options, options:
        assert ce.get_options()["n_jobs"] == 2
    assert ce.get_options() == DEFAULTS
    with options:
        assert ce.get_options()["n_jobs"] == 2
    assert ce.get_options() == DEFAULTS
    assert repr(options) == "set_options(n_jobs=2)"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_job": 1}, ValueError, "unknown option 'n_job'; did you mean 'n_jobs'"),
        ({"engine": "thread"}, ValueError, "unknown engine 'thread'; did you mean 'threads'"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a positive integer, found 0"),
        ({"n_jobs": 1.5}, ValueError, "n_jobs must be a positive integer"),
        ({"n_jobs": True}, ValueError, "n_jobs must be a positive integer"),
        ({"progress": "no"}, TypeError, "progress must be True or False, found 'no'"),
        ({"zero_division": "one"}, ValueError, "zero_division must be a number or NaN, found .one."),
        ({"zero_division": True}, ValueError, "zero_division must be a number or NaN, found True"),
        ({"zero_division": None}, ValueError, "zero_division must be a number or NaN, found None"),
    ],
)
def test_options_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        ce.set_options(engine="serial", **options) if "engine" not in options else ce.set_options(**options)
    assert ce.get_options() == DEFAULTS


def test_parts_of_other_work_are_done_in_their_thread():
    ce.set_options(engine="threads", n_jobs=2, progress=True)
    with serially():
        assert ce.get_options() == DEFAULTS | {"engine": "serial", "n_jobs": 2}
    assert ce.get_options()["progress"] is True
