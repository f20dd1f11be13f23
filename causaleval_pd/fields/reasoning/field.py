"""The fields of answers and of quantities: their cells, aligned pairs, and closed forms of their metrics."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import name_row, shown
from ...contract.context import Context
from ...contract.field import Field, missing_cells, register_field
from ...contract.law import ClosedForm, ClosedFormRule, Distribution, Value, register_closed_form
from ...contract.metric import Metric
from ...contract.pairs import Batch, Pairs
from .yes_counts import QUANTITIES, Floats, Terms, is_answer, parse_counts

#: kind of a quantity without yes-counts
NUMBER = "number"


@dataclass(frozen=True, eq=False)
class ValuePairs(Pairs):
    """Pairs of single values, (n,) each."""

    #: what the values are called as a kind of cell
    cell_kind: ClassVar[str]
    truth: Any
    estimate: Any

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth)

    work = 20.0

    def take(self, positions: NDArray[Any] | slice) -> Self:
        """Return the pairs at `positions`."""
        return replace(self, truth=self.truth[positions], estimate=self.estimate[positions])

    def unique(self) -> tuple[Self, NDArray[np.int64]]:
        """Return the distinct pairs of whole numbers, and for each pair the position of its equal among them."""
        codes = self.truth.astype(np.int64) * (1 + int(self.estimate.max(initial=0))) + self.estimate
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return self.take(first), inverse

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs are refused: all if the values are not among `kinds`."""
        return np.full(self.n, self.cell_kind not in kinds)


@dataclass(frozen=True, eq=False)
class AnswerPairs(ValuePairs):
    """True and given answers, booleans."""

    cell_kind = "answer"

    def describe(self, position: int) -> str:
        """Describe the pair at `position`."""
        return f"truth is {bool(self.truth[position])} and the answer {bool(self.estimate[position])}"


@dataclass(frozen=True, eq=False)
class QuantityPairs(ValuePairs):
    """True and estimated quantities, with the yes-counts of the estimates where these are known."""

    #: counts of shape (n, terms): compared quantity, then factors
    terms: Terms | None = None
    #: (n,): number of factors that the estimate is a product of
    n_factors: NDArray[np.int64] | None = None

    def take(self, positions: NDArray[Any] | slice) -> QuantityPairs:
        """Return the pairs at `positions`."""
        terms = None if self.terms is None else self.terms.take(positions)
        factors = None if self.n_factors is None else self.n_factors[positions]
        return QuantityPairs(self.truth[positions], self.estimate[positions], terms, factors)

    @cached_property
    def kinds(self) -> NDArray[np.object_]:
        """Name of the estimated quantity of each pair, or "number" without counts."""
        if self.terms is None:
            return np.full(self.n, NUMBER, object)
        return np.asarray(QUANTITIES, object)[self.terms.quantity[:, 1]]

    def unique(self) -> tuple[QuantityPairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        columns = [self.truth, self.estimate]
        if self.terms is not None:
            columns += [values[:, i].astype(np.float64) for values in self.terms for i in range(values.shape[1])]
        _, first, inverse = np.unique(
            np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True, equal_nan=True
        )
        return self.take(first), inverse.reshape(-1)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs estimate a quantity that is not among `kinds`."""
        return np.array([kind not in kinds for kind in self.kinds], bool)

    def describe(self, position: int) -> str:
        """Describe the pair at `position`."""
        return (
            f"the quantity is a {self.kinds[position]} (truth {self.truth[position]:g}, estimate "
            f"{self.estimate[position]:g})"
        )


def _holds_answers(cells: pd.Series) -> bool:
    """Return whether a column holds booleans, missing ones allowed."""
    if cells.dtype != object or not len(cells):
        return cells.dtype in ("bool", "boolean")
    return bool(cells.dropna().map(is_answer).all())


def _holds_quantities(cells: pd.Series) -> bool:
    """Return whether a column holds numbers."""
    return pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype)


def _no_answer(cell: Any, cells: Iterable[Any]) -> str:
    """Return what was found instead of an answer, and how to convert the known cells of its column."""
    hint = ""
    if isinstance(cell, str):
        hint = "; read replies of yes and no by ce.reasoning.parse_answers, and score other labels by label_accuracy"
    elif all(isinstance(one, (int, float, np.bool_, np.integer, np.floating)) for one in cells):
        codes = sorted({one + 0 for one in cells})
        if set(codes) <= {0, 1} and not any(isinstance(one, (bool, np.bool_)) for one in cells):
            hint = "; make a column of 0 and 1 answers by .astype('boolean')"
        elif len(codes) == 2:
            low, high = map(shown, codes)
            hint = f"; if {high} is yes, make the column answers by .map({{{low}: False, {high}: True}})"
        else:
            hint = "; score other labels by label_accuracy"
    return f"found {shown(cell)}{hint}"


def _coerce_answers(cells: pd.Series, column: str) -> pd.Series:
    known = cells.dropna()
    wrong = ~known.map(lambda x: isinstance(x, (bool, np.bool_))).to_numpy(bool)
    if wrong.any():
        row = int(np.flatnonzero(cells.notna())[wrong.argmax()])
        found = _no_answer(cells.iloc[row], known.tolist())
        raise ValueError(f"{name_row(row, cells.index, column)}: an answer is True, False or missing, {found}")
    return cells.astype("boolean")


def _coerce_quantities(cells: pd.Series, column: str) -> pd.Series:
    try:
        numbers = cells.astype("float64")
    except (TypeError, ValueError):
        numbers = pd.to_numeric(cells.astype("str"), errors="coerce")
    wrong = (numbers.isin([np.inf, -np.inf]) | (numbers.isna() & cells.notna())).to_numpy(bool)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{name_row(row, cells.index, column)}: a quantity is a finite number or missing, found "
            f"{shown(cells.iloc[row])}; for graphs and formulas choose other metrics: list_metrics() names each "
            "metric's field"
        )
    return numbers


def known_rows(truth: pd.Series, estimate: pd.Series) -> NDArray[np.int64]:
    """Return the rows without a missing cell."""
    return np.flatnonzero((truth.notna() & estimate.notna().to_numpy()).to_numpy()).astype(np.int64)


def _answer_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align by row, in one batch."""
    rows = known_rows(truth, estimate)
    if len(rows):
        yield Batch(rows, AnswerPairs(*(side.iloc[rows].to_numpy(bool) for side in (truth, estimate))))


def _quantity_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align by row; shares, differences and products are batches of their own, since their closed forms differ."""
    rows = known_rows(truth, estimate)
    true, estimated = (side.iloc[rows].to_numpy(np.float64) for side in (truth, estimate))
    if context is None:
        if len(rows):
            yield Batch(rows, QuantityPairs(true, estimated))
        return
    terms, factors = parse_counts([values["counts"] for values in context.values])
    codes = context.codes[rows]
    pairs = QuantityPairs(true, estimated, terms.take(codes), factors[codes])
    single = (factors == 1) & (terms.quantity[:, 0] < 0)
    unpaired = (terms.both[:, 1] < 0) & np.isin(terms.quantity[:, 1], [QUANTITIES.index(q) for q in ("ate", "pns")])
    signature = np.where(single, unpaired.astype(np.int64), 2)[codes]
    for one in np.unique(signature):
        yield Batch(rows[signature == one], pairs.take(signature == one))


def _answer_pair(truth: Any, estimate: Any) -> AnswerPairs:
    for cell in (truth, estimate):
        if not isinstance(cell, (bool, np.bool_)):
            raise TypeError(f"an answer is True or False, {_no_answer(cell, [cell])}")
    return AnswerPairs(np.array([truth], bool), np.array([estimate], bool))


def _quantity_pair(truth: Any, estimate: Any) -> QuantityPairs:
    for cell in (truth, estimate):
        if isinstance(cell, bool) or not isinstance(cell, (int, float, np.integer, np.floating)):
            raise TypeError(f"a quantity is a number, found {cell!r}")
    return QuantityPairs(np.array([truth], np.float64), np.array([estimate], np.float64))


def _identify_answers(cells: pd.Series) -> NDArray[np.int64]:
    return np.where(missing_cells(cells), 0, cells.fillna(False).to_numpy(np.int64) + 1).astype(np.int64)


def _identify_quantities(cells: pd.Series) -> NDArray[np.int64]:
    # + 0.0 turns -0.0 into 0.0, + 1 reserves 0 for missing cells
    bits = (cells.fillna(0.0).to_numpy(np.float64) + 0.0).view(np.int64) + 1
    return np.where(missing_cells(cells), 0, bits).astype(np.int64)


ANSWERS = register_field(
    Field(
        name="answer",
        default_metrics=("answer_accuracy",),
        default_null="permute_answers",
        holds=_holds_answers,
        coerce=_coerce_answers,
        batches=_answer_batches,
        pair=_answer_pair,
        identify=_identify_answers,
        truth_clusters=False,
        unit="sample",
        context=("group",),
    )
)

QUANTITY = register_field(
    Field(
        name="quantity",
        default_metrics=("rae", "quantity_error"),
        default_null="permute_answers",
        holds=_holds_quantities,
        coerce=_coerce_quantities,
        batches=_quantity_batches,
        pair=_quantity_pair,
        identify=_identify_quantities,
        truth_clusters=False,
        context=("counts",),
    )
)


def function_of_quantities(value: Value) -> str | None:
    """Check that a metric is a function of one true and one estimated quantity, whatever their counts."""
    truth, estimate = np.array([0.2, 0.5, 0.25, 0.9]), np.array([0.3, 0.1, 0.25, 0.4])
    pairs = QuantityPairs(truth, estimate)
    terms, factors = parse_counts(
        ["pns 10 3 10 1 0", "pns 1000 717 1000 100 0", "ate 40 30 50 10 -1", "p_do1 7 3 9 0 -1"]
    )
    if not _same(value(QuantityPairs(truth, estimate, terms, factors)), value(pairs)):
        return "its value depends on yes-counts besides the truth and the estimate"
    return not_pairwise(value, pairs)


def not_pairwise(value: Value, pairs: Pairs) -> str | None:
    """Return where the value of a pair depends on the other pairs, or None."""
    together = value(pairs)
    if together.shape != (pairs.n,):
        return f"it gives an array of shape {together.shape} for {pairs.n} pairs, where one value per pair is expected"
    for i in range(pairs.n):
        alone = value(pairs.take(np.array([i])))
        if not _same(alone, together[i : i + 1]):
            return f"where {pairs.describe(i)}, it is {alone.item():g} alone and {together[i]:g} among other pairs"
    return None


def _same(values: Floats, expected: Floats) -> bool:
    return values.shape == expected.shape and np.allclose(values, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


def law_of_answers(metric: Metric, constants: Iterable[ValuePairs], shares: Floats) -> ClosedForm:
    """Return the law of a metric whose controls are each one of some answers, by their shares (n, answers)."""
    values = np.stack([np.asarray(metric(pairs), np.float64) for pairs in constants], axis=1)
    return ClosedForm.of(Distribution.of(np.arange(len(values)), values, shares))


ANSWER = register_closed_form(
    ClosedFormRule(
        "answer",
        "answer",
        "A function of one true and one given answer. A control answers yes or no, so its law has two values.",
        lambda value: not_pairwise(
            value, AnswerPairs(np.array([False, False, True, True]), np.array([False, True] * 2))
        ),
    )
)
COUNTED = register_closed_form(
    ClosedFormRule(
        "counts",
        "quantity",
        "A function of the true and the estimated quantity. Where one yes-count of the reasoner is random, the law is "
        "that of the count: hypergeometric, binomial or constant.",
        function_of_quantities,
    )
)
