"""Configurational models as values: literals, atoms and models, how they are written, and literals as bits.

A literal is a factor (upper-case name) with a value: the crisp `A` is `("A", 1)`, `a` is `("A", 0)`, the multi-value
`A=2` is `("A", 2)`. A model is a conjunction of atoms `DNF<->literal`; orders and repetitions carry no meaning. An atom
may also state one half of the equivalence: `DNF=>literal` that the left-hand side suffices, `DNF<=literal` that it is
necessary. Within a vocabulary a conjunction is an int, and containment and intersection are one `&`.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import Literal as OneOf

from ...contract.checks import check_type, check_whole, shown

__all__ = ["Atom", "FormulaTooLargeError", "Model"]

Literal = tuple[str, int]
Arrow = OneOf["<->", "=>", "<="]
Conjunction = frozenset[Literal]


def literal_text(literal: Literal, *, multi_value: bool = False) -> str:
    """Write a literal: upper or lower case for 1 and 0, `NAME=value` otherwise or where `multi_value`."""
    name, value = literal
    lower = name.lower()
    # some scripts have no case
    if multi_value or value > 1 or lower == name or lower.upper() != name:
        return f"{name}={value}"
    return name if value else lower


@lru_cache(maxsize=1 << 14)
def conjunction_text(conjunction: Conjunction, *, multi_value: bool = False) -> str:
    """Write a conjunction in canonical order, as `A*b`."""
    return "*".join(literal_text(literal, multi_value=multi_value) for literal in sorted(conjunction))


def dnf_text(disjuncts: Iterable[Conjunction], *, multi_value: bool = False) -> str:
    """Write a disjunction of conjunctions in canonical order, as `A*b+C`."""
    return "+".join(conjunction_text(one, multi_value=multi_value) for one in sorted(disjuncts, key=sorted))


@dataclass(frozen=True)
class Atom:
    """One atomic model `disjuncts<->outcome`; disjuncts are kept in canonical order, each once.

    Attributes
    ----------
    disjuncts : tuple of frozensets of literals
        Left-hand side.
    outcome : (str, int)
        The literal it explains.
    arrow : {"<->", "=>", "<="}
        Whether the left-hand side is stated to be equivalent to the outcome, sufficient for it, or necessary for it.

    Examples
    --------
    >>> Atom([{("B", 1)}, {("A", 1), ("C", 0)}], ("E", 1))
    Atom('A*c+B<->E')
    """

    disjuncts: tuple[Conjunction, ...]
    outcome: Literal
    arrow: Arrow = "<->"

    def __post_init__(self) -> None:
        disjuncts = tuple(sorted({frozenset(one) for one in self.disjuncts}, key=sorted))
        if not disjuncts or not all(disjuncts):
            raise ValueError("an atom needs at least one disjunct, and a disjunct at least one literal")
        object.__setattr__(self, "disjuncts", disjuncts)

    @property
    def complexity(self) -> int:
        """Number of literal occurrences on the left-hand side."""
        return sum(map(len, self.disjuncts))

    @cached_property
    def literals(self) -> frozenset[Literal]:
        """Literals of the left-hand side."""
        return frozenset().union(*self.disjuncts)

    @property
    def multi_value(self) -> bool:
        """Whether a value other than 0 and 1 occurs."""
        return self.outcome[1] > 1 or any(value > 1 for one in self.disjuncts for _, value in one)

    def text(self, *, multi_value: bool = False) -> str:
        """Write the atom, as `A*b+C<->E`."""
        left = "+".join([conjunction_text(one, multi_value=multi_value) for one in self.disjuncts])
        return f"{left}{self.arrow}{literal_text(self.outcome, multi_value=multi_value)}"

    def __str__(self) -> str:
        return self.text(multi_value=self.multi_value)

    def __repr__(self) -> str:
        return f"Atom({str(self)!r})"


_BY_OUTCOME = operator.attrgetter("outcome")


@dataclass(frozen=True)
class Model:
    """A configurational model: atoms in canonical order, at most one for each outcome literal.

    Attributes
    ----------
    atoms : tuple of Atom
        The atoms.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> model = parse("(D + E <-> G) * (B*F + A <-> D)")
    >>> str(model), model.factors, model.outcomes, model.complexity
    ('(A+B*F<->D)*(D+E<->G)', ('A', 'B', 'D', 'E', 'F', 'G'), (('D', 1), ('G', 1)), 5)
    """

    atoms: tuple[Atom, ...]

    def __post_init__(self) -> None:
        if not self.atoms:
            raise ValueError("a model needs at least one atom; the empty set of models is written {}")
        if len({atom.outcome for atom in self.atoms}) == len(self.atoms):
            atoms = tuple(sorted(self.atoms, key=_BY_OUTCOME))
        else:
            by_text = sorted(set(self.atoms), key=lambda atom: [sorted(one) for one in atom.disjuncts])
            atoms = tuple(sorted(by_text, key=_BY_OUTCOME))
        for first, second in itertools.pairwise(atoms):
            if first.outcome == second.outcome:
                raise ValueError(f"two atoms have the outcome {literal_text(first.outcome)}: {first} and {second}")
        object.__setattr__(self, "atoms", atoms)

    @cached_property
    def factors(self) -> tuple[str, ...]:
        """Names of all factors, in order."""
        return tuple(sorted({name for atom in self.atoms for name, _ in (*atom.literals, atom.outcome)}))

    @property
    def outcomes(self) -> tuple[Literal, ...]:
        """Outcome literals, in order."""
        return tuple(atom.outcome for atom in self.atoms)

    @property
    def complexity(self) -> int:
        """Number of literal occurrences on left-hand sides."""
        return sum(atom.complexity for atom in self.atoms)

    @cached_property
    def by_outcome(self) -> dict[Literal, Atom]:
        """The atom of each outcome literal."""
        return {atom.outcome: atom for atom in self.atoms}

    @cached_property
    def multi_value(self) -> bool:
        """Whether a value other than 0 and 1 occurs."""
        return any(atom.multi_value for atom in self.atoms)

    @cached_property
    def one_way(self) -> bool:
        """Whether an atom states sufficiency or necessity alone."""
        return any(atom.arrow != "<->" for atom in self.atoms)

    def as_equivalence(self) -> Model:
        """Return the model with `=>` and `<=` read as `<->`.

        Examples
        --------
        >>> from causaleval_pd.configurational import parse
        >>> parse("A*b + C => E").as_equivalence()
        Model('A*b+C<->E')
        """
        return Model(tuple(replace(atom, arrow="<->") for atom in self.atoms)) if self.one_way else self

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return self.text(multi_value=self.multi_value)

    def text(self, *, multi_value: bool = False) -> str:
        """Write the model, as `(A*b+C<->D)*(D<->E)`."""
        texts = [atom.text(multi_value=multi_value) for atom in self.atoms]
        return texts[0] if len(texts) == 1 else "*".join(f"({text})" for text in texts)

    def __repr__(self) -> str:
        return f"Model({str(self)!r})"


def require_equivalences(model: Model) -> None:
    """Raise an error if an atom states sufficiency or necessity alone."""
    if model.one_way:
        one = next(atom for atom in model.atoms if atom.arrow != "<->")
        states = "sufficiency" if one.arrow == "=>" else "necessity"
        raise ValueError(
            f"{one} states {states} only, where an equivalence is needed; write {replace(one, arrow='<->')} if that is "
            "meant, or use model.as_equivalence()"
        )


def set_text(models: Iterable[Model]) -> str:
    """Write a set of models as one text, which `parse_set` reads."""
    return "; ".join(sorted({str(model) for model in models})) or "{}"


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
    causaleval_pd.fields.configurational.formula.FormulaTooLargeError: 30 free factors
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
    factor_values = {}
    for name, values in domains.items():
        if not isinstance(name, str) or isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(
                f"domains must map factors to lists of their values, as {{'A': [0, 1, 2]}}, found {name!r}: "
                f"{shown(values)}"
            )
        factor_values[name.upper()] = tuple(
            sorted({check_whole(value, f"a value of factor {name!r}") for value in values})
        )
    return factor_values


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
        if position is not None:
            return 1 << position
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
        return 1 << self._position[literal]

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
    powers = []
    while code:
        low = code & -code
        powers.append(low)
        code ^= low
    return powers
