"""What two causal expositions have in common, by outcome and component [1]_.

Correctness asks how much of what the estimate says the truth says too; completeness how much of the truth the estimate
says. Both are sums of shared complexity over sums of complexity.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_known
from ..formulas.limits import Work
from ..formulas.vocabulary import Vocabulary
from .exposition import Ascriptions, Exposition, PathRule
from .matching import best_overlap
from .minimisation import Form

TieRule = OneOf["published", "disjuncts_first"]


@dataclass(frozen=True)
class Convention:
    """Where the published programs and the paper's text differ.

    Parameters
    ----------
    partial_credit : bool
        A true path of which the estimate has only the end counts by the share of its length; else only whole paths.
    path_rule : {"outcome", "pairwise"}
        The elements of a path must be causes of its outcome, or also of every later element.
    tie_rule : {"published", "disjuncts_first"}
        The best counterpart of a formula must have most disjuncts and most literals at once, and one literal is counted
        if none has; or most disjuncts first, then most literals.
    size_caps : bool
        On ideal data a minimal form has at most n literals a disjunct, 2n disjuncts and 3n + 5 literals, n being the
        number of factors that are no outcomes; larger models have no causes then. Without data only.

    Examples
    --------
    >>> Convention.of("paper")
    Convention(partial_credit=False, path_rule='pairwise', tie_rule='disjuncts_first', size_caps=False)
    """

    partial_credit: bool = True
    path_rule: PathRule = "outcome"
    tie_rule: TieRule = "published"
    size_caps: bool = True

    def __post_init__(self) -> None:
        check_known(self.path_rule, ("outcome", "pairwise"), "path_rule")
        check_known(self.tie_rule, ("published", "disjuncts_first"), "tie_rule")

    @classmethod
    def of(cls, convention: str | Convention) -> Convention:
        """Return the convention of a name: "published" gives the numbers of the paper's tables, "paper" its text."""
        if isinstance(convention, Convention):
            return convention
        check_known(convention, ("published", "paper"), "convention")
        return cls() if convention == "published" else cls(False, "pairwise", "disjuncts_first", size_caps=False)


def shared_disjunctions(own: Form, others: tuple[Form, ...], *, tie_rule: TieRule, work: Work | None = None) -> int:
    """Count the literals of a formula's best counterpart.

    Parameters
    ----------
    own : frozenset of int
        A formula of the side that is scored.
    others : tuple of frozensets of int
        Formulas of the other side.
    tie_rule : {"published", "disjuncts_first"}
        Which counterpart is the best.
    work : Work, optional
        Steps that are left.

    Returns
    -------
    int
        Literals of the overlap.
    """
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
    """Count what the other side has of one outcome's literals, conjunctions and disjunctions.

    Parameters
    ----------
    own, other : Ascriptions
        The side that is scored and its counterpart.
    tie_rule : {"published", "disjuncts_first"}
        Which counterpart of a formula is the best.
    work : Work
        Steps that are left.

    Returns
    -------
    (int, int, int)
        Shared literals by component.
    """
    work.spend(len(own.conjunctions) * len(other.conjunctions) // 8)
    conjunctive = sum(max(((a & b).bit_count() for b in other.conjunctions), default=0) for a in own.conjunctions)
    disjunctive = sum(
        shared_disjunctions(a, other.disjunctions, tie_rule=tie_rule, work=work) for a in own.disjunctions
    )
    return (own.literals & other.literals).bit_count(), conjunctive, disjunctive


def prune(truth: Exposition, estimate: Exposition, vocabulary: Vocabulary) -> dict[int, set[tuple[int, ...]]]:
    """Delete from the truth's paths the factors that occur in no path of the estimate, and give all their ends.

    Parameters
    ----------
    truth, estimate : dict
        Expositions.
    vocabulary : Vocabulary
        Which bit is which literal.

    Returns
    -------
    dict
        Ends of the pruned paths of at least two elements, by outcome.
    """
    known = 0
    for ascribed in estimate.values():
        for path in ascribed.sequences if ascribed else ():
            for bit in path:
                known |= bit | vocabulary.others[bit]
    ends: dict[int, set[tuple[int, ...]]] = {}
    for outcome, ascribed in truth.items():
        found = ends[outcome] = set()
        for path in ascribed.sequences if ascribed else ():
            kept = tuple(bit for bit in path if bit & known)
            found.update(kept[start:] for start in range(len(kept) - 1))
    return ends


def longest_end(path: tuple[int, ...], others: Container[tuple[int, ...]]) -> int:
    """Return the length of the longest of the other paths that ends a path, 0 if none does.

    Parameters
    ----------
    path : tuple of int
        A path.
    others : container of tuples of int
        Paths to the same outcome.

    Returns
    -------
    int
        Number of elements, the outcome included.
    """
    return next((len(path) - start for start in range(len(path)) if path[start:] in others), 0)


def quality_counts(
    truth: Exposition, estimate: Exposition, vocabulary: Vocabulary, convention: Convention
) -> tuple[dict[int, NDArray[np.float64]], dict[int, NDArray[np.float64]]]:
    """Count shared and own complexity by outcome.

    Parameters
    ----------
    truth, estimate : dict
        Expositions.
    vocabulary : Vocabulary
        Which bit is which literal.
    convention : Convention
        How paths and formulas are compared.

    Returns
    -------
    correctness, completeness : dict of (2, 4) ndarray
        Numerators and denominators of the four components by outcome of the estimate, and of the truth; NaN where an
        outcome is constant.
    """
    ends, work = prune(truth, estimate, vocabulary), Work()

    def correct_paths(own: Ascriptions, outcome: int, other: Ascriptions) -> float:
        return sum(path in ends[outcome] for path in own.sequences)

    def complete_paths(own: Ascriptions, outcome: int, other: Ascriptions) -> float:
        known = set(other.sequences)
        lengths = [(len(path), longest_end(path, known)) for path in own.sequences]
        return sum(found / length if convention.partial_credit else found == length for length, found in lengths)

    sides = []
    for own, others, paths in ((estimate, truth, correct_paths), (truth, estimate, complete_paths)):
        counts = {}
        for outcome, ascribed in own.items():
            other = others.get(outcome)
            if ascribed is None or (outcome in others and other is None):
                counts[outcome] = np.full((2, 4), np.nan)
                continue
            shared: tuple[float, ...] = (0, 0, 0, 0)
            if other is not None:
                shared = (
                    *shared_by_outcome(ascribed, other, convention.tie_rule, work),
                    paths(ascribed, outcome, other),
                )
            counts[outcome] = np.array([shared, ascribed.complexities], np.float64)
        sides.append(counts)
    return sides[0], sides[1]
