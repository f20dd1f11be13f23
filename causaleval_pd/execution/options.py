"""What holds for all calls: where work is done, whether a bar shows its progress, and what 0/0 is."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

from ..contract.checks import check_flag, check_known, check_whole, shown

Engine = Literal["serial", "threads", "dask"] | None


class Options(TypedDict, total=False):
    """Options by name."""

    engine: Engine
    n_jobs: int | None
    progress: bool
    zero_division: float


_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"engine": None, "n_jobs": None, "progress": False, "zero_division": math.nan}
)
#: what was set by calls that are not blocks, for all threads
_STANDING: list[set_options] = []
#: what the blocks around the code of a thread or task set
_WITHIN: ContextVar[Mapping[str, Any]] = ContextVar("causaleval_pd_options", default=MappingProxyType({}))


class set_options:
    """Set where the verbs do their work, whether they show a progress bar, and what 0/0 is.

    A call holds from then on, in all threads. A block `with ce.set_options(...):` holds inside it, for its own thread
    or task. Verbs read options when they are called.

    Parameters
    ----------
    **options
        By name; the others stay as they are.

        engine : {"serial", "threads", "dask"} or None
            Where the work is done. None takes threads where the work takes about a second or more, estimated from
            nodes, edges, metrics and draws, else this thread ("serial"). "dask" uses the current
            `distributed.Client`; without one, the work stays in this process, on threads. Tables and cubes of dask
            are always computed by dask.
        n_jobs : int or None
            Number of chunks worked on at a time; None is one a core, or one a thread of the cluster's workers.
        progress : bool
            Show progress bars (default False).
        zero_division : float
            What 0/0 is, for metrics that can be 0/0 and whose own option `zero_division` is not fixed (by `tweak`);
            default NaN. It is the only option that changes results, and stands in their attributes.

    Raises
    ------
    ValueError, TypeError
        If an option or its value is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs()
    >>> with ce.set_options(engine="threads", n_jobs=2):
    ...     scored = runs.ceval.evaluate(["shd"])
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        _check(options)
        self._chosen: Mapping[str, Any] = options
        self._around = _WITHIN.get()
        self._tokens: list[Token[Mapping[str, Any]]] = []
        # as a call; a block takes this back when it begins
        _STANDING.append(self)
        _WITHIN.set({name: value for name, value in self._around.items() if name not in options})

    def __enter__(self) -> None:
        if self in _STANDING:
            _STANDING.remove(self)
            _WITHIN.set(self._around)
        self._tokens.append(_WITHIN.set({**_WITHIN.get(), **self._chosen}))

    def __exit__(self, *error: object) -> None:
        _WITHIN.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"set_options({', '.join(f'{name}={value!r}' for name, value in self._chosen.items())})"


def _check(options: Mapping[str, Any]) -> None:
    """Refuse options that are unknown, or whose values are."""
    for name, value in options.items():
        check_known(name, _DEFAULTS, "option")
        if name == "engine":
            check_known(value, ["serial", "threads", "dask", None], "engine")
        elif name == "progress":
            check_flag(value, "progress")
        elif name == "zero_division":
            if not isinstance(value, numbers.Real) or isinstance(value, bool):
                raise ValueError(f"zero_division must be a number or NaN, found {shown(value)}")
        elif value is not None:
            check_whole(value, "n_jobs", 1)


def get_options() -> dict[str, Any]:
    """Return the options that hold here, by name.

    Returns
    -------
    dict
        What `set_options` set, and the defaults of the other options.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.get_options()
    {'engine': None, 'n_jobs': None, 'progress': False, 'zero_division': nan}
    """
    options = dict(_DEFAULTS)
    for call in list(_STANDING):
        options |= call._chosen
    return options | dict(_WITHIN.get())


@contextmanager
def serially(**options: Unpack[Options]) -> Iterator[None]:
    """Do the work of a block in its thread and without a bar, whatever is set: it is a part of other work."""
    token = _WITHIN.set({**_WITHIN.get(), "engine": "serial", "progress": False, **options})
    try:
        yield
    finally:
        _WITHIN.reset(token)
