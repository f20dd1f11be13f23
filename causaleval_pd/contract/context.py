"""Context: what cells are judged by besides truth and estimate (data, an estimator, a number of cases), row by row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


class MissingInputError(ValueError):
    """A metric takes an input beside truth and estimate that the context lacks."""


class Memory:
    """What was computed from the inputs of a call, kept until the call ends; copies on other processes begin empty."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    def remember(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returned when it was first asked for by this key, by any thread."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = compute()
            return self._kept[key]

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()


@dataclass(frozen=True)
class Context:
    """Extra inputs of the rows of a table, stored once per distinct set of them."""

    #: the distinct sets of inputs, each by name
    values: tuple[Mapping[str, Any], ...]
    #: (n,): which set belongs to a row
    codes: NDArray[np.int64]
    #: (n,): number of each row's objects of the inputs that columns name, the same in any part of the
    #: table; 1 where all rows share their data, None where they share other inputs
    data_sets: NDArray[np.int64] | None = None
    #: these columns
    named_by: tuple[str, ...] = ()
    #: what was computed from the inputs; all parts of the table share it
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)

    def take(self, rows: NDArray[Any] | slice) -> Context:
        """Return the context of the rows at these positions."""
        data_sets = None if self.data_sets is None else self.data_sets[rows]
        return Context(self.values, self.codes[rows], data_sets, self.named_by, self.memory)

    def gives(self, names: Iterable[str]) -> bool:
        """Return whether one of these inputs was given."""
        return any(name in values for values in self.values for name in names)
