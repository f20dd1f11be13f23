"""Cases and configurations: memberships, the configurations that a model allows, and how well a model fits cases.

References
----------
.. [1] Ragin, C. C. (2006). Set relations in social research: Evaluating their consistency and coverage. Political
   Analysis 14. doi:10.1093/pan/mpj019
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import name_row, nearest
from .formula import Atom, Literal, Model, literal_text, require_equivalences
from .reader import MAX_VALUE, as_model
from .vocabulary import MAX_CONFIGURATIONS, Domains, FormulaTooLargeError

__all__ = ["fit_by_atom"]

#: cases from which on a column with another value in each is taken for their numbers
_FEWEST_NUMBERED = 5


def factor_columns(data: pd.DataFrame, factors: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of factors, named in upper case, as numbers; the case of a column's name does not matter."""
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a DataFrame with a column a factor, found {type(data).__name__}")
    columns: dict[str, list[int]] = {}
    for position, name in enumerate(data.columns):
        columns.setdefault(str(name).upper(), []).append(position)
    found = {}
    for factor in factors:
        positions = columns.get(factor, [])
        if not positions:
            hint = nearest(factor, list(columns))
            raise ValueError(
                f"the data have no column for factor {factor}; {hint}their columns: {list(data.columns)[:20]}"
            )
        if len(positions) > 1:
            names = [str(data.columns[position]) for position in positions]
            raise ValueError(f"the data have {len(names)} columns for factor {factor}: {names}; keep one")
        found[factor] = _numbers(data.iloc[:, positions[0]])
    return found


def refuse_case_numbers(columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Refuse columns that number the cases, which would explain everything if they were taken for factors."""
    for name, cells in columns.items():
        if len(cells) >= _FEWEST_NUMBERED and cells.max() > 1 and len(np.unique(cells)) == len(cells):
            raise ValueError(
                f"column {name!r} has a value of its own in each of the {len(cells)} cases, so that it numbers them "
                "and is not a factor; make it the index, drop it, or name the factors by factors=[...] (in context=)"
            )


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return the values of one factor, or raise an error that names the first invalid one."""
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise TypeError(f"column {column.name!r} must hold numbers, found dtype {column.dtype}") from None
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


def memberships(model: Model, data: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the memberships of n cases in the left-hand sides and in the outcomes of k atoms, two (k, n) arrays."""
    columns = factor_columns(data, model.factors)
    left = [_left_membership(atom, columns) for atom in model.atoms]
    outcome = [membership(columns[atom.outcome[0]], atom.outcome) for atom in model.atoms]
    return np.stack(left), np.stack(outcome)


def _left_membership(atom: Atom, columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    known = {literal: membership(columns[literal[0]], literal) for literal in atom.literals}
    disjuncts = [np.minimum.reduce([known[literal] for literal in sorted(one)]) for one in atom.disjuncts]
    return np.asarray(np.maximum.reduce(disjuncts))


def configurations(domains: Domains) -> NDArray[np.int8]:
    """Return every assignment of values to factors, a row each, the last factor changing fastest."""
    sizes = [len(domain) for domain in domains.values()]
    if prod(sizes) > MAX_CONFIGURATIONS:
        raise FormulaTooLargeError(
            f"{len(sizes)} factors have {prod(sizes)} configurations; the limit is {MAX_CONFIGURATIONS}"
        )
    grids = np.indices(sizes, dtype=np.int8).reshape(len(sizes), -1)
    columns = [np.asarray(domain, np.int8)[grid] for domain, grid in zip(domains.values(), grids, strict=True)]
    return np.stack(columns, axis=1)


def allows(model: Model, rows: NDArray[np.int8], factors: Sequence[str]) -> NDArray[np.bool_]:
    """Return which configurations (rows, whose columns are the factors) a model allows: every atom holds on them."""
    require_equivalences(model)
    place = {name: position for position, name in enumerate(factors)}
    allowed = np.ones(len(rows), bool)
    for atom in model.atoms:
        present = {literal: rows[:, place[literal[0]]] == literal[1] for literal in (*atom.literals, atom.outcome)}
        left = np.zeros(len(rows), bool)
        for disjunct in atom.disjuncts:
            left |= np.logical_and.reduce([present[literal] for literal in disjunct])
        allowed &= left == present[atom.outcome]
    return allowed


def consistency_and_coverage(model: Model, data: pd.DataFrame) -> NDArray[np.float64]:
    """Compute the consistency and the coverage of each atom, (2, atoms); NaN for 0/0."""
    left, outcome = memberships(model, data)
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
        Cases in rows, a column a factor: crisp, multi-value or fuzzy.

    Returns
    -------
    DataFrame
        A row an atom: `atom`, `outcome`, `consistency`, `coverage`, `complexity`.

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
