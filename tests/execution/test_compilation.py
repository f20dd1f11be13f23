"""The notice of compilation: once, after a second, seen without configuration, not a warning of Python's."""

import gc
import logging
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from numba.core.dispatcher import Dispatcher

from causaleval_pd.execution import compilation
from causaleval_pd.graphs.kernels import bits, comparison

SCRIPT = """
import warnings
warnings.simplefilter("error")
from concurrent.futures import ThreadPoolExecutor
from causaleval_pd.execution import compilation
compilation.PATIENCE = 0.0
import causaleval_pd as ce
with ThreadPoolExecutor(2) as pool:
    list(pool.map(ce.shd, ["A -> B", "A -> B; C"], ["B -> A", "A; B; C"]))
"""


def event_of(module):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def notices(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "causaleval_pd"]


def test_notice_comes_once_after_a_second_in_all(clock, caplog):
    notice, own = compilation.CompilationNotice(), event_of("causaleval_pd.graphs.kernels.bits")
    for seconds, expected in ((0.6, 0), (0.6, 1), (5.0, 1)):
        notice.on_start(own)
        clock[0] += seconds
        notice.on_end(own)
        clock[0] += 100.0  # time between compilations does not count
        assert len(notices(caplog)) == expected
    assert notices(caplog) == [compilation.NOTICE]
    assert "\n" not in compilation.NOTICE and "warm_up" in compilation.NOTICE


def test_notice_comes_while_a_kernel_still_compiles(clock, caplog):
    notice, own = compilation.CompilationNotice(), event_of("causaleval_pd.graphs.kernels.bits")
    notice.on_start(own)
    clock[0] += 2.0
    notice.on_start(event_of("numba.np.arrayobj"))  # what the kernel calls is part of it
    assert notices(caplog) == [compilation.NOTICE]
    notice.on_end(event_of("numba.np.arrayobj"))
    notice.on_end(own)


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_not_collected_while_kernels_compile(collects):
    notice, own = compilation.CompilationNotice(), event_of("causaleval_pd.graphs.kernels.bits")
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        notice.on_start(event_of("scipy.special"))
        assert gc.isenabled() == collects  # functions of other packages change nothing
        notice.on_start(own)
        notice.on_start(own)
        notice.on_end(own)
        assert not gc.isenabled()
        notice.on_end(own)
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


def test_functions_of_other_packages_do_not_count(clock, caplog):
    notice, other = compilation.CompilationNotice(), event_of("my_lab.kernels")
    notice.on_start(other)
    clock[0] += 10.0
    notice.on_end(other)
    assert notices(caplog) == []


def test_users_can_silence_the_notice(clock, caplog):
    with caplog.at_level(logging.ERROR, logger="causaleval_pd"):
        notice, own = compilation.CompilationNotice(), event_of("causaleval_pd.graphs.kernels.bits")
        notice.on_start(own)
        clock[0] += 2.0
        notice.on_end(own)
    assert notices(caplog) == []


@pytest.mark.slow
def test_a_fresh_process_shows_one_line_on_stderr_though_warnings_are_errors(tmp_path):
    run = [sys.executable, "-c", SCRIPT]
    lines = [
        subprocess.run(
            run, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert [done.stderr.splitlines() for done in lines] == [[compilation.NOTICE], []]  # the second one has the cache
    assert [done.stdout for done in lines] == ["", ""]


def test_the_files_of_a_kernel_are_those_of_all_that_it_calls():
    here = [x.py_func for x in vars(comparison).values() if isinstance(x, Dispatcher)]
    files = {x: compilation.part_files(x) for x in here if x.__module__ == comparison.__name__}
    assert set().union(*files.values()) == {comparison.__file__, bits.__file__}
    assert all(comparison.__file__ in x for x in files.values())
    # some use only constants and intrinsics of `bits`, which are no compiled functions
    assert all(bits.__file__ in files[x] for x in files if "bits" in x.__code__.co_names)


PARTS = """
from causaleval_pd.execution.compilation import kernel_part

@kernel_part
def inner(x):
    return x {}

@kernel_part
def outer(x):
    return inner(x)
"""
KERNEL = """
from causaleval_pd.execution.compilation import kernel
{0}

@kernel
def whole(x):
    return {1}(x)

print(whole(20))
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [("from parts import outer", "outer"), ("import parts", "parts.outer")])
def test_a_kernel_is_compiled_anew_when_a_part_in_another_file_has_changed(tmp_path, names):
    (tmp_path / "kernels.py").write_text(KERNEL.format(*names), encoding="utf-8")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for change, result in (("+ 1", "21"), ("- 1", "19"), ("- 1", "19")):
        (tmp_path / "parts.py").write_text(PARTS.format(change), encoding="utf-8")
        run = [sys.executable, "-c", "import kernels"]
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [result]
    assert len(list((tmp_path / "cache").rglob("kernels.whole*.nbi"))) == 1


SHAPE = """
from typing import NamedTuple

class Shape(NamedTuple):
    size: int
"""
OF_SHAPES = """
from causaleval_pd.execution.compilation import kernel
from {} import Shape

@kernel
def size(shape):
    return shape.size

print(size(Shape(20)))
"""


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_the_class_of_its_argument_has_moved(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for module in ("shapes", "forms"):
        (tmp_path / "kernels.py").write_text(OF_SHAPES.format(module), encoding="utf-8")
        (tmp_path / f"{module}.py").write_text(SHAPE, encoding="utf-8")
        run = [sys.executable, "-c", "import kernels"]
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["20"]
        (tmp_path / f"{module}.py").unlink()
