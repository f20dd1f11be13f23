"""Literals as bits: within a vocabulary a conjunction is an int, containment and intersection one `&`; size limits."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from ...contract.checks import check_type, check_whole, shown
from .formula import Conjunction, Literal, literal_text

__all__ = ["FormulaTooLargeError"]

#: values of each multi-value factor
Domains = Mapping[str, Sequence[int]]

BINARY = (0, 1)

# models beyond these sizes are refused before exponential work starts
MAX_CONFIGURATIONS = 2**20
MAX_FORMS = 5_000
MAX_PATHS = 50_000
#: elementary steps (testing a conjunction, substituting a disjunct, trying a pairing) for a model or a pair of models
MAX_STEPS = 2_000_000


class FormulaTooLargeError(ValueError):
    """A model whose exact evaluation would take too long; the message names the size and its limit.

    Examples
    --------
    >>> raise FormulaTooLargeError("30 free factors")
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.formulas.vocabulary.FormulaTooLargeError: 30 free factors
    """


class Work:
    """Steps that an evaluation may still take."""

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.limit = self.left = limit

    def spend(self, steps: int = 1) -> None:
        """Count steps, and raise an error when the budget is spent."""
        self.left -= steps
        if self.left < 0:
            raise FormulaTooLargeError(f"exact evaluation takes more than {self.limit} steps; leave such models out")


def read_domains(domains: Domains | None) -> dict[str, tuple[int, ...]]:
    """Return the values of factors, ascending, by upper-case name."""
    if domains is None:
        return {}
    check_type(domains, Mapping, "a mapping of factors to their values, as {'A': [0, 1, 2]}", "domains")
    found = {}
    for name, values in domains.items():
        if not isinstance(name, str) or isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(
                f"domains must map factors to lists of their values, as {{'A': [0, 1, 2]}}, found {name!r}: "
                f"{shown(values)}"
            )
        found[name.upper()] = tuple(sorted({check_whole(value, f"a value of factor {name!r}") for value in values}))
    return found


class Vocabulary:
    """Literals as bits."""

    def __init__(self, domains: Domains | None = None) -> None:
        self.domains = read_domains(domains)
        self.literals: list[Literal] = []
        self._position: dict[Literal, int] = {}
        #: bits of the other values of the same factor, by bit
        self.others: dict[int, int] = {}

    @property
    def multi_value(self) -> bool:
        """Whether a factor may have other values than 0 and 1, so that texts name values."""
        return any(set(domain) != {0, 1} for domain in self.domains.values())

    def domain(self, name: str) -> tuple[int, ...]:
        """Return the values that a factor can have."""
        return self.domains.get(name, BINARY)

    def bit(self, literal: Literal) -> int:
        """Return the bit of a literal; all values of a factor are numbered together."""
        position = self._position.get(literal)
        if position is None:
            position = self._add(literal)
        return 1 << position

    def _add(self, literal: Literal) -> int:
        name, value = literal
        if value not in self.domain(name):
            known = "has the values " + ", ".join(map(str, self.domains[name])) if name in self.domains else "is binary"
            raise ValueError(
                f"{literal_text(literal)} occurs, but factor {name} {known}; "
                f"give all its values, as domains={{{name!r}: [0, 1, 2]}} (to verbs by context=), or data"
            )
        added = [(name, v) for v in self.domain(name)]
        start = len(self.literals)
        self.literals += added
        self._position |= {one: start + i for i, one in enumerate(added)}
        everything = ((1 << len(added)) - 1) << start
        self.others |= {1 << i: everything ^ 1 << i for i in range(start, start + len(added))}
        return self._position[literal]

    def encode(self, conjunction: Iterable[Literal]) -> int:
        """Return the bits of some literals."""
        code = 0
        for literal in conjunction:
            code |= self.bit(literal)
        return code

    def decode(self, code: int) -> Conjunction:
        """Return the literals of some bits."""
        return frozenset(self.literals[bit.bit_length() - 1] for bit in bits(code))

    def negations(self, bit: int) -> list[int]:
        """Return the bits of the factor's other values; a binary literal has one."""
        return bits(self.others[bit])

    def negation(self, bit: int) -> int:
        """Return the bit of the negated literal of a binary factor, else 0: no single literal means `not A=2`."""
        other = self.others[bit]
        return other if other & (other - 1) == 0 else 0


def union(codes: Iterable[int]) -> int:
    """Return the bits that occur in at least one of some integers."""
    return reduce(operator.or_, codes, 0)


def bits(code: int) -> list[int]:
    """Split a non-negative integer into its bits (powers of two), lowest first."""
    found = []
    while code:
        low = code & -code
        found.append(low)
        code ^= low
    return found
