"""What a network file declares: variables with their states, and one table a variable; whole or refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import shown
from .network import DiscreteNetwork
from .structure import MAX_STATES, check_table

#: programs print rounded probabilities: rows at most this far from 1 are normalised
_ROUNDING = 0.01
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class Declarations:
    """Variables and tables, in the order of a file.

    Parameters
    ----------
    fault : callable
        Makes the error of a message, with the line that is being read.
    """

    def __init__(self, fault: Callable[[str], ValueError]) -> None:
        self.fault = fault
        self.states: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, list[str]] = {}
        self.tables: dict[str, NDArray[np.float64]] = {}

    def add_variable(self, name: str, states: Sequence[str]) -> None:
        """Add a variable."""
        if name in self.states:
            raise self.fault(f"variable {name!r} is declared twice")
        if not 1 <= len(states) <= MAX_STATES:
            raise self.fault(f"variable {name!r} has {len(states)} states, expected 1 to {MAX_STATES}")
        if len(set(states)) < len(states) or not all(states):
            raise self.fault(
                f"variable {name!r} has the states {shown(list(states))}; state names differ and have text"
            )
        self.states[name] = tuple(states)

    def shape(self, name: str, parents: Sequence[str]) -> tuple[int, ...]:
        """Return the shape (parents.., child) of the table of a variable, which must not have one yet."""
        if name in self.tables:
            raise self.fault(f"variable {name!r} has a second table")
        unknown = [one for one in (name, *parents) if one not in self.states]
        if unknown:
            raise self.fault(
                f"a table names the undeclared variables {shown(unknown)}; declare them before their tables"
            )
        if len({name, *parents}) <= len(parents):
            raise self.fault(f"the table of {name!r} names a variable twice: {shown([name, *parents])}")
        shape = (*(len(self.states[p]) for p in parents), len(self.states[name]))
        try:
            check_table(name, shape)
        except ValueError as error:
            raise self.fault(str(error)) from None
        return shape

    def add_table(self, name: str, parents: Sequence[str], values: Sequence[float] | NDArray[np.float64]) -> None:
        """Add the table of a variable, its entries in the order (parents.., child), the last fastest."""
        shape = self.shape(name, parents)
        if len(values) != math.prod(shape):
            raise self.fault(f"the table of {name!r} has {len(values)} numbers, expected {math.prod(shape)}")
        self.parents[name] = list(parents)
        try:
            self.tables[name] = normalise_rows(np.array(values, np.float64).reshape(shape), name)
        except ValueError as error:
            raise self.fault(str(error)) from None

    def network(self) -> DiscreteNetwork:
        """Return the network; refuse a file without variables, and variables without a table."""
        if not self.states:
            raise self.fault("found no variable; a network has at least one")
        lacking = [name for name in self.states if name not in self.tables]
        if lacking:
            raise self.fault(f"the variables {shown(lacking)} have no table; is the file cut short?")
        return DiscreteNetwork(self.parents, self.tables, self.states)


def read_number(text: str) -> float | None:
    """Read a finite decimal number; None for any other text."""
    found = float(text) if _NUMBER.fullmatch(text) else math.inf
    return found if math.isfinite(found) else None


def normalise_rows(table: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Undo the rounding of printed probabilities; refuse rows that are not close to a distribution."""
    if (table < 0).any():
        raise ValueError(f"node {name!r}: probabilities must lie between 0 and 1, found {table[table < 0][0]:.6g}")
    with np.errstate(over="ignore", invalid="ignore"):
        total = table.sum(axis=-1, keepdims=True)
    # a row that is NaN throughout is undefined
    off = ~(np.abs(total - 1) <= _ROUNDING) & ~np.isnan(table).all(axis=-1, keepdims=True)
    if off.any():
        row = table[off[..., 0]][0]
        raise ValueError(f"node {name!r}: the row {shown(row.tolist())} of its table sums to {row.sum():.6g}, not to 1")
    return np.asarray(table / total)
