"""The fields of answers and of quantities: how cells are coerced, aligned and identified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import name_row, shown
from ..contract.context import Context
from ..contract.field import Field, missing_cells, register_field
from ..contract.pairs import Batch
from .measures.yes_counts import QUANTITIES, parse_counts
from .pairs import AnswerPairs, QuantityPairs

__all__ = ["ANSWERS", "QUANTITY"]


def _holds_answers(cells: pd.Series) -> bool:
    """Return whether a column holds booleans, missing ones allowed."""
    if cells.dtype in ("bool", "boolean"):
        return True
    return (
        cells.dtype == object
        and len(cells) > 0
        and bool(cells.dropna().map(lambda x: pd.api.types.is_scalar(x) and x in (True, False)).all())
    )


def _holds_quantities(cells: pd.Series) -> bool:
    """Return whether a column holds numbers."""
    return pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype)


def _no_answer(cell: Any) -> str:
    """Return what was found instead of an answer, and how to convert it."""
    found = shown(cell)
    if found in ("0", "1", "0.0", "1.0"):
        hint = "; make a column of 0 and 1 answers by .astype('boolean')"
    elif isinstance(cell, str):
        hint = "; read texts by ce.reasoning.parse_answers"
    else:
        hint = ""
    return f"found {found}{hint}"


def _coerce_answers(cells: pd.Series, column: str) -> pd.Series:
    known = cells.dropna()
    wrong = ~known.map(lambda x: isinstance(x, (bool, np.bool_))).to_numpy(bool)
    if wrong.any():
        row = int(np.flatnonzero(cells.notna())[wrong.argmax()])
        raise ValueError(
            f"{name_row(row, cells.index, column)}: an answer is True, False or missing, {_no_answer(cells.iloc[row])}"
        )
    return cells.astype("boolean")


def _coerce_quantities(cells: pd.Series, column: str) -> pd.Series:
    try:
        numbers = cells.astype("float64")
    except (TypeError, ValueError) as error:
        wrong = pd.to_numeric(cells, errors="coerce").isna() & cells.notna()
        if not wrong.any():
            raise ValueError(f"column {column!r} must hold numbers, found dtype {cells.dtype}: {error}") from None
        row = int(wrong.to_numpy().argmax())
        raise ValueError(
            f"{name_row(row, cells.index, column)}: a quantity must be a number or missing, found "
            f"{shown(cells.iloc[row])}; for graphs and formulas choose other metrics: list_metrics() names each "
            "metric's field"
        ) from None
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers.to_numpy()).argmax())
        raise ValueError(f"{name_row(row, cells.index, column)}: a quantity is a finite number, found infinity")
    return numbers


def _known(truth: pd.Series, estimate: pd.Series) -> NDArray[np.int64]:
    return np.flatnonzero((truth.notna() & estimate.notna().to_numpy()).to_numpy()).astype(np.int64)


def _answer_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align by row, in one batch."""
    rows = _known(truth, estimate)
    if len(rows):
        yield Batch(rows, AnswerPairs(*(side.iloc[rows].to_numpy(bool) for side in (truth, estimate))))


def _quantity_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align by row; shares, differences and products are batches of their own, since their closed forms differ."""
    rows = _known(truth, estimate)
    true, found = (side.iloc[rows].to_numpy(np.float64) for side in (truth, estimate))
    if context is None:
        if len(rows):
            yield Batch(rows, QuantityPairs(true, found))
        return
    terms, factors = parse_counts([values["counts"] for values in context.values])
    codes = context.codes[rows]
    pairs = QuantityPairs(true, found, terms.take(codes), factors[codes])
    single = (factors == 1) & (terms.quantity[:, 0] < 0)
    unpaired = (terms.both[:, 1] < 0) & np.isin(terms.quantity[:, 1], [QUANTITIES.index(q) for q in ("ate", "pns")])
    signature = np.where(single, unpaired.astype(np.int64), 2)[codes]
    for chosen in (np.flatnonzero(signature == i) for i in range(3)):
        if len(chosen):
            yield Batch(rows[chosen], pairs.take(chosen))


def _answer_pair(truth: Any, estimate: Any) -> AnswerPairs:
    for cell in (truth, estimate):
        if not isinstance(cell, (bool, np.bool_)):
            raise TypeError(f"an answer is True or False, {_no_answer(cell)}")
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
