"""Crisp models as arrays: cells that are made into models only where asked for, and quality counted by kernels.

Pairs that kernels do not take, and few pairs, are counted in Python, because kernels take seconds to compile the first
time. The counts are the same bit by bit.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .formulas.formula import Atom, Model
from .formulas.reader import Cell

if TYPE_CHECKING:
    from .kernels.scores import Models
    from .models.quality import Convention

Ints = NDArray[np.int64]


class Names:
    """Numbers of the factors of a table, which its units of work share, in threads too."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, dict[str, int]]:
        return {"numbers": dict(self.numbers)}

    def __setstate__(self, state: dict[str, dict[str, int]]) -> None:
        self.numbers, self._lock = state["numbers"], threading.Lock()

    def number(self, name: str) -> int:
        """Return the number of a factor."""
        found = self.numbers.get(name)
        if found is None:
            with self._lock:
                found = self.numbers.setdefault(name, len(self.numbers))
        return found

    @property
    def words(self) -> list[str]:
        """Names by number."""
        return list(self.numbers)


@dataclass(frozen=True, eq=False)
class CrispCells:
    """The models of some cells as arrays."""

    models: Models
    #: (cells + 1,): the first model of each cell
    first: Ints
    #: (models,): whether a model states equivalences and has no value but 0 and 1; the arrays of others are empty
    crisp: NDArray[np.bool_]


def encode(cells: Iterable[Cell], names: Names) -> CrispCells:
    """Write models as arrays."""
    from .kernels.scores import Models

    number = names.number
    atoms, outcome, disjuncts, ends, literals, first, crisp = [0], list[int](), [0], [0], list[int](), [0], list[bool]()
    for cell in cells:
        for model in cell:
            crisp.append(not model.multi_value and not model.one_way)
            for atom in model.atoms if crisp[-1] else ():
                outcome.append(2 * number(atom.outcome[0]) + atom.outcome[1])
                for one in atom.disjuncts:
                    literals += [2 * number(name) + value for name, value in one]
                    ends.append(len(literals))
                disjuncts.append(len(ends) - 1)
            atoms.append(len(outcome))
        first.append(len(crisp))
    arrays = (np.array(x, np.int64) for x in (atoms, outcome, disjuncts, ends, literals))
    return CrispCells(Models(*arrays), np.array(first, np.int64), np.array(crisp, bool))


class DecodedCells(Sequence[Cell]):
    """Cells that are made from arrays when they are asked for, but for those that are given."""

    def __init__(self, packed: CrispCells, names: Names, given: Mapping[int, Cell], kinds: Ints) -> None:
        self.packed, self.names, self.kinds = packed, names, kinds
        self._known = dict(given)

    def __len__(self) -> int:
        return len(self.packed.first) - 1

    def __getitem__(self, at: int) -> Cell:  # type: ignore[override]
        at = int(at)
        if not 0 <= at < len(self):
            raise IndexError(at)
        if at not in self._known:
            models = range(*self.packed.first[at : at + 2].tolist())
            self._known[at] = tuple(sorted(map(self._model, models), key=str))
        return self._known[at]

    def __iter__(self) -> Iterator[Cell]:
        return (self[at] for at in range(len(self)))

    def _model(self, at: int) -> Model:
        m, words = self.packed.models, self.names.words

        def literal(code: int) -> tuple[str, int]:
            return words[code >> 1], code & 1

        atoms = []
        for a in range(*m.atoms[at : at + 2].tolist()):
            ends = m.ends[m.disjuncts[a] : m.disjuncts[a + 1] + 1].tolist()
            parts = [m.literals[i:j].tolist() for i, j in itertools.pairwise(ends)]
            atoms.append(Atom(tuple(frozenset(map(literal, one)) for one in parts), literal(int(m.outcome[a]))))
        return Model(tuple(atoms))


def count_quality(
    truths: CrispCells,
    estimates: CrispCells,
    truth_model: Ints,
    estimate_model: Ints,
    names: Names,
    convention: Convention,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Count shared and own complexity of pairs of crisp models on their ideal data."""
    # Returns correctness and completeness, numerators and denominators, by component, (n, 2, 2, 4), and which pairs
    # were counted; others are left to `quality_counts`.
    from .kernels.scores import PARTS, count_pairs, make_memory

    n = len(truth_model)
    counts, done = np.zeros((n, 2, 11), np.int64), np.zeros(n, bool)
    able = np.flatnonzero(truths.crisp[truth_model] & estimates.crisp[estimate_model])
    found, counted = np.zeros((len(able), 2, 11), np.int64), np.zeros(len(able), bool)
    count_pairs(
        truths.models,
        estimates.models,
        truth_model[able],
        estimate_model[able],
        convention.size_caps,
        convention.tie_rule == "disjuncts_first",
        convention.partial_credit,
        make_memory(len(names.numbers)),
        found,
        counted,
    )
    counts[able], done[able] = found, counted
    result = counts[:, :, :8].reshape(n, 2, 2, 4).astype(np.float64)
    result[:, :, 0, 3] /= PARTS
    if convention.constant_outcome == "penalise":
        # an atom of the estimate whose outcome is constant: literals, conjunctions, one formula, and a path a literal
        result[:, 0, 1] += counts[:, 0][:, [9, 10, 10, 9]]
    elif convention.constant_outcome == "nan":
        result[counts[:, :, 8] > 0] = np.nan
    return result, done
