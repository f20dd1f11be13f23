"""Yes-counts of quantities: as arrays, and as text in a column of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNTS"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: quantities estimated from answers, and the level of reasoning of each
QUANTITIES = ("p_given1", "p_given0", "p_do1", "p_do0", "ate", "pns", "monotonicity_violation")
LEVELS = ("association", "intervention", "counterfactual")
LEVEL = dict(
    zip(QUANTITIES, [LEVELS[0], LEVELS[0], LEVELS[1], LEVELS[1], LEVELS[1], LEVELS[2], LEVELS[2]], strict=True)
)

#: context of a table made by `quantities`: `table.ceval.with_controls(["rae"], context=COUNTS)`
COUNTS = {"counts": "counts"}

_TERM = re.compile(r"(\w+) (\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15}) (-1|\d{1,15})")
_MOST_TERMS = 64


@dataclass(frozen=True, eq=False)
class Terms:
    """Yes-counts of many quantities, arrays of one shape."""

    #: position in `QUANTITIES`, or -1 for no quantity (padding)
    quantity: Integers
    #: n1, yes1, n0, yes0: known answers, and yes among them, in arm 1 and arm 0
    n1: Integers
    yes1: Integers
    n0: Integers
    yes0: Integers
    #: samples answered yes in both arms; -1 where the arms are not paired
    both: Integers

    @property
    def fields(self) -> tuple[Integers, ...]:
        """The arrays in the order of the text."""
        return self.quantity, self.n1, self.yes1, self.n0, self.yes0, self.both

    def take(self, positions: Any) -> Terms:
        """Return the counts at positions of the first axis."""
        return Terms(*(values[positions] for values in self.fields))

    def texts(self) -> list[str]:
        """Return the text of each quantity: its name, n and yes of arm 1, n and yes of arm 0, yes in both."""
        names = np.asarray(QUANTITIES, object)[self.quantity]
        columns = [values.tolist() for values in self.fields[1:]]
        return [f"{name} {a} {b} {c} {d} {e}" for name, a, b, c, d, e in zip(names, *columns, strict=True)]


def product_text(factors: Iterable[str]) -> str:
    """Return the text of the counts of a product."""
    return " * ".join(factors)


def equation_text(whole: str, product: str) -> str:
    """Return the text of the counts of a quantity that is compared with a product."""
    return f"{whole} = {product}"


def parse_counts(texts: Sequence[str]) -> tuple[Terms, Integers]:
    """Parse counts written by `quantities`: terms of shape (rows, terms), and the numbers of factors.

    A text is a quantity, `a * b` for a product, or `c = a * b` for a quantity and a product that should equal it. The
    compared quantity is column 0 (padding without one). Other texts and impossible counts are refused.
    """
    rows = [_split(text, position) for position, text in enumerate(texts)]
    width = max((len(row) for row in rows), default=1)
    filled = np.zeros((len(rows), width, 6), np.int64)
    filled[:, :, 0] = -1
    for position, row in enumerate(rows):
        filled[position, : len(row)] = row
    terms = Terms(*np.moveaxis(filled, 2, 0))
    _check_counts(terms, texts)
    return terms, np.array([len(row) - 1 for row in rows], np.int64)


def _split(text: str, position: int) -> list[tuple[int, ...]]:
    if not isinstance(text, str):
        raise ValueError(f"counts {position}: expected a text made by ce.reasoning.quantities, found {text!r}")
    whole, equals, product = text.rpartition(" = ")
    found: list[tuple[int, ...]] = [(-1, 0, 0, 0, 0, 0)]
    parts = product.split(" * ")
    for part in [*([whole] if equals else []), *parts]:
        match = _TERM.fullmatch(part)
        if match is None or match[1] not in QUANTITIES or len(parts) > _MOST_TERMS:
            raise ValueError(
                f"counts {position}: expected 'pns 1000 717 1000 0 0' or products of such, found {text[:80]!r}; "
                "take the column that ce.reasoning.quantities makes"
            )
        found.append((QUANTITIES.index(match[1]), *(int(x) for x in match.groups()[1:])))
    return found[1:] if equals else found


def _check_counts(terms: Terms, texts: Sequence[str]) -> None:
    paired = terms.both >= 0
    wrong = (terms.yes1 > terms.n1) | (terms.yes0 > terms.n0)
    least = np.maximum(0, terms.yes1 + terms.yes0 - terms.n1)
    wrong |= paired & ((terms.n1 != terms.n0) | (terms.both > np.minimum(terms.yes1, terms.yes0)))
    wrong |= paired & (terms.both < least)
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=-1)))
        raise ValueError(f"counts {row}: {texts[row][:80]!r} has impossible counts (more yes than answers)")


def estimates(terms: Terms) -> Floats:
    """Return the value of each quantity; NaN without a known answer."""
    p1, p0 = divide(terms.yes1, terms.n1), divide(terms.yes0, terms.n0)
    paired = terms.both >= 0
    only1, only0 = divide(terms.yes1 - terms.both, terms.n1), divide(terms.yes0 - terms.both, terms.n0)
    values = {
        "p_given1": p1,
        "p_do1": p1,
        "p_given0": p0,
        "p_do0": p0,
        "ate": p1 - p0,
        "pns": np.where(paired, only1, p1 - p0),
        "monotonicity_violation": np.where(paired, only0, np.nan),
    }
    return np.select([terms.quantity == i for i in range(len(QUANTITIES))], [values[q] for q in QUANTITIES], np.nan)


def divide(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return part / whole, NaN where the whole is 0."""
    whole = np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
