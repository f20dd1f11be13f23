"""Cases and configurations: how well a model fits cases, and truth tables as bit planes.

Bit r of a literal's plane is 1 if configuration r has the literal. Planes are Python integers, so that a conjunction is
one `&` whatever the number of configurations.

References
----------
.. [1] Ragin, C. C. (2006). Set relations in social research: Evaluating their consistency and coverage. Political
   Analysis 14. doi:10.1093/pan/mpj019
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_whole, name_row, nearest, shown
from .formula import (
    MAX_CONFIGURATIONS,
    Domains,
    FormulaTooLargeError,
    Literal,
    Model,
    Vocabulary,
    literal_text,
    read_domains,
    require_equivalences,
)
from .reader import MAX_VALUE, as_model

__all__ = ["Setting", "fit_by_atom", "ideal_data"]

#: cases from which on a column with another value in each is taken for their numbers
_FEWEST_NUMBERED = 5


def factor_columns(data: pd.DataFrame, factors: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of factors, named in upper case, as numbers; the case of a column's name does not matter."""
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a DataFrame with one column per factor, found {type(data).__name__}")
    upper, vectors = [str(name).upper() for name in data.columns], {}
    for factor in factors:
        places = [i for i, name in enumerate(upper) if name == factor]
        if not places:
            hint = nearest(factor, list(dict.fromkeys(upper)))
            raise ValueError(
                f"the data have no column for factor {factor}; {hint}their columns: {list(data.columns)[:20]}"
            )
        if len(places) > 1:
            names = [str(data.columns[i]) for i in places]
            raise ValueError(f"the data have {len(names)} columns for factor {factor}: {names}; keep one")
        vectors[factor] = _numbers(data.iloc[:, places[0]])
    return vectors


def refuse_case_numbers(data: pd.DataFrame) -> None:
    """Refuse columns that number the cases, which would explain everything if they were taken for factors."""
    names = [str(name).upper() for name in data.columns]
    for name, cells in zip(data.columns, factor_columns(data, names).values(), strict=True):
        differ = len(cells) >= _FEWEST_NUMBERED and cells.max() > 1 and len(np.unique(cells)) == len(cells)
        # as pandas names an index that it reads from CSV
        if differ or name == "Unnamed: 0":
            why = "is an index that"
            if differ:
                why = f"has a value of its own in each of the {len(cells)} cases, so that it"
            raise ValueError(
                f"column {name!r} {why} numbers them and is not a factor; make it the index, as by "
                f"data.set_index({name!r}), drop it, or name the factors by factors=[...] (in context=)"
            )


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return the values of one factor, or raise an error that names the first invalid one."""
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise TypeError(
            f"column {column.name!r} must hold numbers, found dtype {column.dtype}; make names of cases the index, "
            f"as by data.set_index({column.name!r})"
        ) from None
    whole = numbers == np.floor(numbers)
    legal = (numbers >= 0) & (numbers <= MAX_VALUE) & (whole | (numbers <= 1))
    if not legal.all():
        row = int(np.argmin(legal))
        raise ValueError(
            f"{name_row(row, column.index, column.name)} is {column.iloc[row]}; expected 0 or 1, a whole number up to "
            f"{MAX_VALUE} (multi-value) or a membership in [0, 1]"
        )
    if not whole.all() and (numbers > 1).any():
        raise ValueError(f"column {column.name!r} mixes memberships in [0, 1] with values above 1")
    return numbers


def membership(numbers: NDArray[np.float64], literal: Literal) -> NDArray[np.float64]:
    """Return each case's membership in a literal: 0 or 1, or fuzzy where the column is."""
    if (numbers == np.floor(numbers)).all():
        return (numbers == literal[1]).astype(np.float64)
    if literal[1] > 1:
        raise ValueError(f"the literal {literal_text(literal)} needs multi-value data, but {literal[0]} is fuzzy")
    return numbers if literal[1] else 1 - numbers


def consistency_and_coverage(model: Model, data: pd.DataFrame) -> NDArray[np.float64]:
    """Compute the consistency and the coverage of each atom, (2, atoms); NaN for 0/0."""
    columns = factor_columns(data, model.factors)
    literals = [literal for atom in model.atoms for literal in (*atom.literals, atom.outcome)]
    known = {literal: membership(columns[literal[0]], literal) for literal in literals}
    lefts = [[np.minimum.reduce([known[x] for x in sorted(one)]) for one in atom.disjuncts] for atom in model.atoms]
    left, outcome = np.stack([*map(np.maximum.reduce, lefts)]), np.stack([known[x] for x in model.outcomes])
    both = np.minimum(left, outcome).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.stack([both / left.sum(axis=1), both / outcome.sum(axis=1)])


def fit_by_atom(model: Model | str, data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the consistency and the coverage of each atom.

    With P the membership of a case in the left-hand side and Y in the outcome, consistency is sum min(P, Y) / sum P and
    coverage sum min(P, Y) / sum Y [1]_. A model with several atoms has the smallest values of its atoms.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, one column per factor: crisp, multi-value or fuzzy.

    Returns
    -------
    DataFrame
        One row per atom: `atom`, `outcome`, `consistency`, `coverage`, `complexity`.

    Raises
    ------
    ValueError
        If a factor has no column, or a value is not valid.

    References
    ----------
    .. [1] Ragin, C. C. (2006). Political Analysis 14. doi:10.1093/pan/mpj019

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [1, 1, 1, 0, 0], "B": [1, 1, 0, 1, 0]})
    >>> fit_by_atom("A<->B", data)[["atom", "consistency", "coverage"]].round(3)
        atom  consistency  coverage
    0  A<->B        0.667     0.667
    """
    model = as_model(model)
    consistency, coverage = consistency_and_coverage(model, data)
    return pd.DataFrame(
        {
            "atom": [atom.text(multi_value=model.multi_value) for atom in model.atoms],
            "outcome": [literal_text(atom.outcome, multi_value=model.multi_value) for atom in model.atoms],
            "consistency": consistency,
            "coverage": coverage,
            "complexity": [atom.complexity for atom in model.atoms],
        }
    )


class TruthTable:
    """Configurations or cases (`rows`) and those that have a literal (`planes`, by its bit)."""

    # Crisp ones are bit planes: a conjunction is `&`, a disjunction `|`. Memberships of cases are arrays, a conjunction
    # is their minimum, a disjunction their maximum.

    def __init__(self, rows: Any, planes: Mapping[int, Any]) -> None:
        self.rows, self.planes = rows, planes
        self._meet: Callable[[Any, Any], Any] = operator.and_ if isinstance(rows, int) else np.minimum
        self._join: Callable[[Any, Any], Any] = operator.or_ if isinstance(rows, int) else np.maximum
        #: by conjunction; the empty one is satisfied everywhere
        self._conjunctions: dict[int, Any] = {0: rows}

    def conjunction(self, code: int) -> Any:
        """Return the configurations that satisfy a conjunction, or the cases' memberships in it."""
        matches = self._conjunctions.get(code)
        if matches is None:
            low = code & -code
            matches = self._conjunctions[code] = self._meet(self.planes[low], self.conjunction(code ^ low))
        return matches

    def disjunction(self, codes: Iterable[int]) -> Any:
        """Return the configurations that satisfy at least one of the conjunctions, or the cases' memberships."""
        return reduce(self._join, map(self.conjunction, codes), 0)

    @staticmethod
    def size(rows: Any) -> float:
        """Return the number of configurations, or the sum of memberships."""
        return rows.bit_count() if isinstance(rows, int) else float(rows.sum())

    def both(self, left: Any, right: Any) -> float:
        """Return the size of what two planes share."""
        return self.size(self._meet(left, right))


def free_planes(names: Sequence[str], vocabulary: Vocabulary) -> tuple[int, dict[int, int]]:
    """Return all configurations of some factors, the last changing fastest: their bit set, and the planes by bit."""
    n_rows = math.prod(len(vocabulary.domain(name)) for name in names)
    if n_rows > MAX_CONFIGURATIONS:
        raise FormulaTooLargeError(
            f"{len(names)} free factors have {n_rows} configurations; the limit is {MAX_CONFIGURATIONS}"
        )
    everything = (1 << n_rows) - 1
    planes, run = {}, 1
    for name in reversed(names):
        domain = vocabulary.domain(name)
        period = run * len(domain)
        # a run of ones repeated with the period: a geometric series
        comb = everything // ((1 << period) - 1)
        for i, value in enumerate(domain):
            planes[vocabulary.bit((name, value))] = comb * (((1 << run) - 1) << (run * i))
        run = period
    return everything, planes


def evaluation_order(model: Model) -> list[str] | None:
    """Return the outcome factors, causes before effects, or None if the model is cyclic."""
    causes: dict[str, set[str]] = {}
    for atom in model.atoms:
        causes.setdefault(atom.outcome[0], set()).update(name for name, _ in atom.literals)
    return topological_order(causes)


def topological_order(causes: Mapping[str, set[str]]) -> list[str] | None:
    """Return the keys, causes before effects and else by name, or None if there is a cycle; other names are roots."""
    sorter = TopologicalSorter({name: names & causes.keys() for name, names in causes.items()})
    try:
        sorter.prepare()
    except CycleError:
        return None
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        sorter.done(*ready)
        order += ready
    return order


def ideal_table(model: Model, vocabulary: Vocabulary, further: Iterable[str] = ()) -> TruthTable:
    """Return all configurations of a model's factors on which every atom holds."""
    # The planes of a binary outcome follow from its causes, so that only the other factors span the table.
    # The table has the `further` factors too, which the model does not mention.
    require_equivalences(model)
    atoms = [([vocabulary.encode(one) for one in a.disjuncts], vocabulary.bit(a.outcome)) for a in model.atoms]
    order = evaluation_order(model) or []
    determined = [name for name in order if len(vocabulary.domain(name)) == 2]
    free = [name for name in model.factors if name not in set(determined)]
    rows, planes = free_planes([*free, *further], vocabulary)
    table = TruthTable(rows, planes)
    for name in determined:
        # two atoms may explain the two values of one factor: the first defines it, the second restricts the rows
        disjuncts, bit = next(a for a in atoms if vocabulary.literals[a[1].bit_length() - 1][0] == name)
        planes[bit] = table.disjunction(disjuncts)
        planes[vocabulary.negation(bit)] = rows & ~planes[bit]
    for disjuncts, bit in atoms:
        rows &= ~(table.disjunction(disjuncts) ^ planes[bit])
    return TruthTable(rows, planes)


def ideal_data(model: Model | str, domains: Domains | None = None) -> pd.DataFrame:
    """Return all configurations of a model's factors on which every atom holds, one per row.

    Parameters
    ----------
    model : Model or str
        The model.
    domains : mapping, optional
        Values of each multi-value factor, and further factors that the model does not mention.

    Returns
    -------
    DataFrame
        One column per factor, rows in lexicographic order.

    Raises
    ------
    FormulaTooLargeError
        If there are too many configurations.
    ValueError
        If a value occurs that the factor does not have.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> ideal_data(parse("A*b<->C")).to_numpy().tolist()
    [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 0]]
    """
    model, vocabulary = as_model(model), Vocabulary(domains)
    further = [name for name in vocabulary.domains if name not in model.factors]
    for atom in model.atoms:
        vocabulary.encode((*atom.literals, atom.outcome))
    data = cases_of(ideal_table(model, vocabulary, further), sorted({*model.factors, *further}), vocabulary)
    return data.sort_values(list(data.columns), ignore_index=True)


def contradictions(model: Model, vocabulary: Vocabulary) -> pd.DataFrame:
    """Return all configurations of a model's factors on which an atom does not hold."""
    table = TruthTable(*free_planes(model.factors, vocabulary))
    wrong = 0
    for atom in model.atoms:
        wrong |= table.disjunction(map(vocabulary.encode, atom.disjuncts)) ^ table.planes[vocabulary.bit(atom.outcome)]
    return cases_of(TruthTable(wrong, table.planes), model.factors, vocabulary)


def cases_of(table: TruthTable, names: Sequence[str], vocabulary: Vocabulary) -> pd.DataFrame:
    """Return the values of factors on the configurations of a table, one row each."""
    n_bits = table.rows.bit_length()

    def unpacked(plane: int) -> NDArray[np.bool_]:
        raw = np.frombuffer(plane.to_bytes((n_bits + 7) // 8, "little"), np.uint8)
        return np.unpackbits(raw, count=n_bits, bitorder="little").astype(bool)

    def values(name: str) -> NDArray[np.int64]:
        has = [unpacked(table.rows & table.planes[vocabulary.bit((name, value))]) for value in vocabulary.domain(name)]
        return np.array(vocabulary.domain(name))[np.argmax(has, axis=0)]

    return pd.DataFrame({name: values(name)[unpacked(table.rows)] for name in names})


def data_values(data: pd.DataFrame, names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the values of each factor in data: those observed if one is above 1, else 0 and 1."""
    columns = factor_columns(data, names)
    observed = {name: set(np.floor(cells).astype(int).tolist()) for name, cells in columns.items()}
    return {name: tuple(sorted(levels if max(levels, default=0) > 1 else {0, 1})) for name, levels in observed.items()}


def _factors(given: Any, columns: Sequence[str] | None) -> list[str]:
    """Return the names of factors in upper case and in order, or raise an error."""
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"factors must be a list of names, as ['A', 'B', 'C'], found {shown(given)}")
    names = sorted({name.upper() for name in given})
    absent = [] if columns is None else [name for name in names if name not in columns]
    if absent:
        raise ValueError(f"the factors {absent} are not columns of the data: {list(columns or ())}")
    return names


class Setting:
    """What models are evaluated relative to: the values of factors, and data with thresholds.

    Parameters
    ----------
    domains : mapping, optional
        Values of each multi-value factor; default those of the data.
    factors : sequence of str, optional
        Names of all factors that a method could use; default the data's columns. Random guesses range over them.
    data : DataFrame, optional
        Cases that models are minimised relative to; without them every model has its own ideal data.
    con, cov : float
        Consistency and coverage that a minimal form must have in the data.
    max_size : (int, int, int), optional
        Literals of a disjunct, disjuncts, and literals in all that a minimal form relative to data may have; default
        any.

    Examples
    --------
    >>> Setting(domains={"A": [0, 1, 2]}).vocabulary.domain("A")
    (0, 1, 2)
    """

    def __init__(
        self,
        domains: Domains | None = None,
        data: pd.DataFrame | None = None,
        con: float = 1.0,
        cov: float = 1.0,
        max_size: tuple[int, int, int] | None = None,
        factors: Sequence[str] | None = None,
    ) -> None:
        if data is not None and not isinstance(data, pd.DataFrame):
            raise TypeError(f"data must be a DataFrame with one column per factor, found {type(data).__name__}")
        for name, threshold in (("con", con), ("cov", cov)):
            check_number(threshold, name, "[0, 1]")
        if data is None and (con, cov) != (1.0, 1.0):
            raise ValueError("the thresholds con and cov need data; pass data, or leave them out")
        self.data, self.con, self.cov = data, float(con), float(cov)
        self.max_size: tuple[int, ...] | None = None
        if max_size is not None:
            if isinstance(max_size, str) or not isinstance(max_size, Sequence) or len(max_size) != 3:
                raise ValueError(f"max_size must be three numbers, as (3, 4, 10), found {shown(max_size)}")
            self.max_size = tuple(check_whole(size, "a number of max_size", 1) for size in max_size)
        self.names = None if data is None else sorted({str(name).upper() for name in data.columns})
        values: Domains = read_domains(domains)
        if data is not None and self.names is not None:
            values = {**data_values(data, self.names), **values}
            if factors is None:
                refuse_case_numbers(data)
        self.factors = None if factors is None else _factors(factors, self.names)
        self.vocabulary = Vocabulary(values)

    @cached_property
    def cases(self) -> TruthTable:
        """The data as bit planes or memberships."""
        if self.data is None or self.names is None:
            raise ValueError("this setting has no data")
        member = {
            self.vocabulary.bit((name, value)): membership(cells, (name, value))
            for name, cells in factor_columns(self.data, self.names).items()
            for value in self.vocabulary.domain(name)
        }
        if any(((cells > 0) & (cells < 1)).any() for cells in member.values()):
            return TruthTable(np.ones(len(self.data)), member)
        packed = {bit: np.packbits(cells > 0, bitorder="little") for bit, cells in member.items()}
        planes = {bit: int.from_bytes(plane.tobytes(), "little") for bit, plane in packed.items()}
        return TruthTable((1 << len(self.data)) - 1, planes)

    def with_data(self, data: pd.DataFrame) -> Setting:
        """Return a setting of the same values with other data."""
        setting = copy.copy(self)
        setting.__dict__.pop("cases", None)
        setting.data = data
        return setting

    @property
    def thresholds(self) -> str:
        """The thresholds that a minimal form must reach in the data, as `con=0.8 and cov=0.8`."""
        sizes = "" if self.max_size is None else f" within max_size={self.max_size}"
        return f"con={self.con:.12g} and cov={self.cov:.12g}{sizes}"

    def check(self, model: Model, *, relative: bool) -> None:
        """Raise an error if a model has unknown values, or (`relative`) factors that the data lack."""
        if not model.multi_value and not self.vocabulary.domains and self.names is None:
            return
        for atom in model.atoms:
            self.vocabulary.encode((*atom.literals, atom.outcome))
        if relative and self.names is not None:
            absent = [name for name in model.factors if name not in self.names]
            if absent:
                raise ValueError(f"{model} has the factors {absent}, which are not columns of the data: {self.names}")
