"""Compilation of kernels by numba: how they are declared, what pauses meanwhile, and a notice if it takes long.

Kernels neither allocate nor hold references: Python passes all memory that they need. What numba compiles to allocate,
to count references, and to report array assignments of unlike shapes took most of the time of a first call.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

#: seconds of compilation after which the notice is given
PATIENCE = 1.0
NOTICE = (
    "causaleval_pd is compiling its kernels, which takes some seconds once; later processes read them from numba's "
    "cache. causaleval_pd.warm_up() compiles ahead."
)

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that Python calls, anew whenever its file or that of a part it calls has changed."""
    compiled = njit(nogil=True, cache=True, _nrt=False)(function)
    stored = getattr(compiled, "_cache", None)
    if isinstance(stored, FunctionCache):
        # numba's stamp is of the kernel's own file, and the cache holds the parts within the kernel; the stamp is read
        # together with the names of classes, which may have moved, the version before them
        index = stored._cache_file
        index._version = index._version, *sorted(map(_digest, part_files(compiled.py_func)))
    return cast(_Function, compiled)


def part_files(function: FunctionType) -> set[str]:
    """Return the files of compiled functions that one calls, also through others, and of modules that these name."""
    seen, waiting, files = {function}, [function], set[str]()
    package = function.__module__.partition(".")[0]
    while waiting:
        caller = waiting.pop()
        names = caller.__code__.co_names
        modules = [x for name in names if isinstance(x := caller.__globals__.get(name), ModuleType)]
        # constants and intrinsics of modules of its package are compiled into the caller
        files |= {x.__file__ for x in modules if x.__name__.partition(".")[0] == package and x.__file__}
        # parts are called by their own name, or as attributes of a module
        called = (space.get(name) for space in (caller.__globals__, *map(vars, modules)) for name in names)
        new = {x.py_func for x in called if isinstance(x, Dispatcher)} - seen
        seen |= new
        waiting += new
    return files | {x.__code__.co_filename for x in seen}


@cache
def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def kernel_part(function: _Function) -> _Function:
    """Compile a function that only kernels call: without wrappers for Python or C, and cached within the kernel."""
    return cast(_Function, njit(nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


class CompilationNotice(event.Listener):
    """Logs one warning per process once the package's kernels have compiled for longer than `PATIENCE`.

    Numba compiles in one thread at a time and tells the listener where it begins and ends, also within a kernel: the
    notice comes while the user waits. Functions of other packages do not count. Meanwhile Python does not look for
    cyclic garbage: compilation makes many objects that stay, and looking through them takes a seventh of its time.
    """

    def __init__(self) -> None:
        self._collects = False
        self._depth, self._began, self._spent, self._given = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:
        """Begin to count with a function of the package; what it calls is part of it."""
        module = event.data["dispatcher"].py_func.__module__
        if self._depth or module.split(".")[0] == __name__.split(".")[0]:
            if not self._depth:
                self._began, self._collects = time.perf_counter(), gc.isenabled()
                gc.disable()
            self._depth += 1
            self._check()

    def on_end(self, event: Any) -> None:
        """Add what the outermost function took."""
        if self._depth:
            self._check()
            self._depth -= 1
            if not self._depth:
                self._spent += time.perf_counter() - self._began
                if self._collects:
                    gc.enable()

    def _check(self) -> None:
        if not self._given and self._spent + time.perf_counter() - self._began > PATIENCE:
            self._given = True
            logging.getLogger(__name__.split(".", maxsplit=1)[0]).warning(NOTICE)


event.register("numba:compile", CompilationNotice())
