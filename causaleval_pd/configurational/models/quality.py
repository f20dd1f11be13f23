"""Quality of an estimated model: what its causal exposition and the truth's share, by outcome and component [1]_.

Correctness is the share of the estimate's exposition that the truth shares, completeness the share of the truth's that
the estimate shares. Both are sums of shared complexity over sums of complexity.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from typing import Literal as OneOf

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, name_row
from ..formulas.formula import Model, literal_text
from ..formulas.reader import Cell, as_models
from ..formulas.truth_table import Setting
from ..formulas.vocabulary import Vocabulary, Work
from .exposition import COMPONENTS, Ascriptions, Exposition, PathRule, expose
from .matching import best_overlap
from .minimisation import Form

__all__ = ["Convention", "quality_table"]

TieRule = OneOf["published", "disjuncts_first"]
ConstantRule = OneOf["penalise", "drop", "nan"]
CONSTANT_RULES = ("penalise", "drop", "nan")
Column = Model | str | Sequence[Model | str] | pd.Series


@dataclass(frozen=True)
class Convention:
    """Choices in which evaluations of quality differ: the default ones, the published functions', and the paper's text.

    Parameters
    ----------
    partial_credit : bool
        A true path of which the estimate has only the end counts by the share of its length; else only whole paths.
    path_rule : {"outcome", "pairwise"}
        The elements of a path must be causes of its outcome, or also of every later element.
    tie_rule : {"disjuncts_first", "published"}
        The best counterpart of a formula has most disjuncts, and among these most literals; or it must have most of
        both at once, and one literal is counted if none has.
    size_caps : bool
        Ignore large minimal forms, as the published functions do: on ideal data those with more than n literals a
        disjunct, 2n disjuncts or 3n + 5 literals, n being the number of factors that are not outcomes; relative to data
        those with more than 3, 4 or 10. Models with larger forms then have no causes.
    constant_outcome : {"penalise", "drop", "nan"}
        What an atom is whose outcome does not vary in the data, as in `A+a<->C`: wrong, so that its parts as written
        count in the denominator of correctness; left out, as if it had not been written; or undefined, and the model
        with it.

    Examples
    --------
    >>> Convention.of("paper")
    Convention(partial_credit=True, path_rule='outcome', tie_rule='published', size_caps=True, constant_outcome='drop')
    """

    partial_credit: bool = True
    path_rule: PathRule = "outcome"
    tie_rule: TieRule = "disjuncts_first"
    size_caps: bool = False
    constant_outcome: ConstantRule = "penalise"

    def __post_init__(self) -> None:
        check_known(self.path_rule, ("outcome", "pairwise"), "path_rule")
        check_known(self.tie_rule, ("published", "disjuncts_first"), "tie_rule")
        check_known(self.constant_outcome, CONSTANT_RULES, "constant_outcome")

    @classmethod
    def of(cls, convention: str | Convention, constant_outcome: ConstantRule | None = None) -> Convention:
        """Return a convention by its name, with another rule for constant outcomes if one is given.

        "corrected" gives the numbers of the paper's tables and true values beyond them, "paper" those of the functions
        published with it, their artefacts included, "text" follows the paper's text where the two differ.
        """
        if not isinstance(convention, Convention):
            check_known(convention, CONVENTIONS, "convention")
            convention = CONVENTIONS[convention]
        return convention if constant_outcome is None else replace(convention, constant_outcome=constant_outcome)


CONVENTIONS = {
    "corrected": Convention(),
    "paper": Convention(tie_rule="published", size_caps=True, constant_outcome="drop"),
    "text": Convention(partial_credit=False, path_rule="pairwise"),
}


def shared_disjunctions(own: Form, others: tuple[Form, ...], *, tie_rule: TieRule, work: Work | None = None) -> int:
    """Count the literals that a formula of the scored side shares with its best counterpart on the other side."""
    if own in others:
        return sum(code.bit_count() for code in own)
    work, disjuncts_first = work or Work(), tie_rule == "disjuncts_first"
    work.spend(2 * len(others))
    overlaps = [best_overlap(list(own), list(other), disjuncts_first=disjuncts_first, work=work) for other in others]
    if disjuncts_first:
        return max(overlaps, default=(0, 0))[1]
    most = (max((o[0] for o in overlaps), default=0), max((o[1] for o in overlaps), default=0))
    return most[0] if most in overlaps or not overlaps else 1


def shared_by_outcome(own: Ascriptions, other: Ascriptions, tie_rule: TieRule, work: Work) -> tuple[int, int, int]:
    """Count the literals that the scored side (`own`) shares: in an outcome's literals, conjunctions, disjunctions."""
    work.spend(len(own.conjunctions) * len(other.conjunctions) // 8)
    conjunctive = sum(max(((a & b).bit_count() for b in other.conjunctions), default=0) for a in own.conjunctions)
    disjunctive = sum(
        shared_disjunctions(a, other.disjunctions, tie_rule=tie_rule, work=work) for a in own.disjunctions
    )
    return (own.literals & other.literals).bit_count(), conjunctive, disjunctive


def prune(truth: Exposition, estimate: Exposition, vocabulary: Vocabulary) -> dict[int, set[tuple[int, ...]]]:
    """Delete from the truth's paths the factors that occur in no path of the estimate."""
    known = 0
    for ascribed in estimate.values():
        for path in () if ascribed.constant else ascribed.sequences:
            for bit in path:
                known |= bit | vocabulary.others[bit]
    ends: dict[int, set[tuple[int, ...]]] = {}
    for outcome, ascribed in truth.items():
        found = ends[outcome] = set()
        for path in () if ascribed.constant else ascribed.sequences:
            kept = tuple(bit for bit in path if bit & known)
            found.update(kept[start:] for start in range(len(kept) - 1))
    return ends


def longest_end(path: tuple[int, ...], others: Container[tuple[int, ...]]) -> int:
    """Return the length of the longest of the other paths that is an end of this path, 0 if none is."""
    return next((len(path) - start for start in range(len(path)) if path[start:] in others), 0)


def quality_counts(
    truth: Exposition, estimate: Exposition, vocabulary: Vocabulary, convention: Convention
) -> tuple[dict[int, NDArray[np.float64]], dict[int, NDArray[np.float64]]]:
    """Count shared and own complexity of expositions by outcome."""
    # Returns correctness by outcome of the estimate and completeness by outcome of the truth: arrays (2, 4) are
    # numerators and denominators of the four components. An atom of the estimate whose outcome is constant shares
    # nothing and counts as `constant_outcome` states; one of the truth has no causes to be found.
    ends, work = prune(truth, estimate, vocabulary), Work()

    def correct_paths(own: Ascriptions, outcome: int, other: Ascriptions) -> float:
        return sum(path in ends[outcome] for path in own.sequences)

    def complete_paths(own: Ascriptions, outcome: int, other: Ascriptions) -> float:
        known = set(other.sequences)
        lengths = [(len(path), longest_end(path, known)) for path in own.sequences]
        if not convention.partial_credit:
            return sum(found == length for length, found in lengths)
        # whole numbers, so that the sum does not depend on the order
        parts = math.lcm(*(length for length, _ in lengths))
        return sum(parts * found // length for length, found in lengths) / parts

    sides = []
    for own, others, paths in ((estimate, truth, correct_paths), (truth, estimate, complete_paths)):
        counts = {}
        for outcome, ascribed in own.items():
            other = others.get(outcome)
            constant = ascribed.constant or (other is not None and other.constant)
            if constant and convention.constant_outcome == "nan":
                counts[outcome] = np.full((2, 4), np.nan)
                continue
            if ascribed.constant and (own is truth or convention.constant_outcome == "drop"):
                counts[outcome] = np.zeros((2, 4))
                continue
            shared: tuple[float, ...] = (0, 0, 0, 0)
            if other is not None and not constant:
                shared = (
                    *shared_by_outcome(ascribed, other, convention.tie_rule, work),
                    paths(ascribed, outcome, other),
                )
            counts[outcome] = np.array([shared, ascribed.complexities], np.float64)
        sides.append(counts)
    return sides[0], sides[1]


def quality_table(
    truth: Column,
    estimate: Column,
    *,
    convention: str | Convention = "corrected",
    setting: Setting | None = None,
) -> pd.DataFrame:
    """Break the quality of a model, or of a column of models, down by outcome and component.

    Parameters
    ----------
    truth, estimate : Model, str, or sequence of these
        The true and the estimated models, all acyclic. Two columns are paired row by row, one model with every row.
    convention : {"corrected", "paper", "text"} or Convention
        Rules of evaluation: the numbers of the paper's tables without artefacts, those of the published functions, or
        those of the paper's text.
    setting : Setting, optional
        Values of multi-value factors; data that the estimates are minimised relative to.

    Returns
    -------
    DataFrame
        One row a measure, outcome and component: shared, complexity, score = shared / complexity. Of columns, each row
        begins with row (the index label), truth, estimate; a cell with several models has the rows of each.

    Raises
    ------
    ValueError
        If a model is cyclic or mentions values that a factor does not have, a cell holds no model, or the columns have
        different rows.
    FormulaTooLargeError
        If the evaluation would take too long.

    References
    ----------
    .. [1] doi:10.1515/jci-2023-0032

    Examples
    --------
    >>> truth = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"
    >>> found = quality_table(truth, "(A*B<->D)*(D+B*C<->G)")
    >>> found.query("measure == 'correctness'").groupby("component", sort=False)[["shared", "complexity"]].sum()
                 shared  complexity
    component
    literal         6.0         6.0
    conjunctive     4.0         7.0
    disjunctive     5.0         9.0
    sequential      6.0         6.0
    >>> quality_table(truth, ["A+B<->G", "A+B+E<->G"]).groupby("row")["shared"].sum().round(2).tolist()
    [17.0, 26.33]
    """
    setting, chosen = setting or Setting(), Convention.of(convention)
    known: dict[tuple[Model, bool], Exposition] = {}

    def exposed(model: Model, *, relative: bool) -> Exposition:
        if (model, relative) not in known:
            known[model, relative] = expose(
                model, setting, relative=relative, path_rule=chosen.path_rule, size_caps=chosen.size_caps
            )
        return known[model, relative]

    rows: list[tuple[Any, ...]] = []
    for label, true, estimated in _paired(truth, estimate):
        for model in estimated:
            sides = quality_counts(
                exposed(true[0], relative=False), exposed(model, relative=True), setting.vocabulary, chosen
            )
            for measure, counts in zip(("correctness", "completeness"), sides, strict=True):
                rows += [(label, str(true[0]), str(model), *row) for row in _rows(measure, counts, setting.vocabulary)]
    names = ["row", "truth", "estimate", "measure", "outcome", "component", "shared", "complexity"]
    table = pd.DataFrame(rows, columns=names)
    table["score"] = table["shared"] / table["complexity"].where(table["complexity"] != 0)
    is_one = not (_is_column(truth) or _is_column(estimate))
    return table.drop(columns=names[:3]) if is_one else table


def _is_column(cells: Column) -> bool:
    return cells is not None and not isinstance(cells, (Model, str))


def _paired(truth: Column, estimate: Column) -> list[tuple[Hashable, Cell, Cell]]:
    """Pair the models of two columns, or of a column and one cell, with the label of each row."""
    sides = {"truth": truth, "estimate": estimate}
    columns = {name: pd.Series(cells) for name, cells in sides.items() if _is_column(cells)}
    index = next((cells.index for cells in columns.values()), pd.RangeIndex(1))
    if not all(cells.index.equals(index) for cells in columns.values()):
        raise ValueError(
            f"truth has {len(columns['truth'])} rows and estimate {len(columns['estimate'])}, or their "
            "index labels differ; give columns of one table, or one model for all rows"
        )
    read = {
        name: [_cell(cell, name, i, index) for i, cell in enumerate(columns[name])]
        if name in columns
        else [_cell(cells, name, None, index)] * len(index)
        for name, cells in sides.items()
    }
    return list(zip(index.tolist(), read["truth"], read["estimate"], strict=True))


def _cell(cell: Any, name: str, row: int | None, index: pd.Index) -> Cell:
    where = name if row is None else name_row(row, index, name)
    if cell is None or (pd.api.types.is_scalar(cell) and pd.isna(cell)):
        raise ValueError(f"{where} is missing; leave failed runs out")
    models = as_models(cell)
    if not models or (name == "truth" and len(models) > 1):
        raise ValueError(f"{where}: expected {'one model' if name == 'truth' else 'a model'}, found {len(models)}")
    return models


def _rows(
    measure: str, counts: Mapping[int, NDArray[np.float64]], vocabulary: Vocabulary
) -> list[tuple[str, str, str, float, float]]:
    return [
        (
            measure,
            literal_text(next(iter(vocabulary.decode(outcome))), multi_value=vocabulary.multi_value),
            component,
            *count[:, i].tolist(),
        )
        for outcome, count in counts.items()
        for i, component in enumerate(COMPONENTS)
    ]
