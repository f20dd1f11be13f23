"""Yes-counts of quantities: as arrays, as text in a column of a table, and their laws under null models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
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
    """Parse counts written by `quantities`: terms of shape (rows, terms), and the numbers of factors."""
    # A text is a quantity, `a * b` for a product, or `c = a * b` for a quantity and a product that should equal it. The
    # compared quantity is column 0 (padding without one). Other texts and impossible counts are refused.
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


NULLS = ("permute_answers", "random_answers", "biased_answers", "exchange_arms", "majority_answers")
FIXED = ("always_yes", "always_no")

#: support points further from the mean than this many standard deviations plus a margin have no weight in float64
_WIDTH = 10.0
_MARGIN = 40.0


@dataclass(frozen=True, eq=False)
class CountLaw:
    """Laws of quantities base + step * count of a random count; arrays of one shape."""

    # Where `p` is NaN, the count is hypergeometric: the marked among `drawn` without replacement from `total`, of which
    # `marked` are marked. Elsewhere it is binomial, of `drawn` trials with probability `p`. A constant has `drawn` 0.

    base: Floats
    step: Floats
    total: Floats
    marked: Floats
    drawn: Floats
    p: Floats

    def take(self, positions: NDArray[Any]) -> CountLaw:
        """Return the laws at positions of the first axis."""
        return CountLaw(*(getattr(self, name)[positions] for name in _FIELDS))

    def support(self) -> tuple[Integers, Floats]:
        """Return counts (..., s) and their cumulative probabilities, both from the lowest count with weight on."""
        binomial = ~np.isnan(self.p)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(binomial, self.p, np.where(self.total > 0, self.marked / np.maximum(self.total, 1), 0.0))
            finite = np.where(binomial, 1.0, (self.total - self.drawn) / np.maximum(self.total - 1, 1))
        mean = self.drawn * share
        reach = _WIDTH * np.sqrt(np.maximum(mean * (1 - share) * finite, 0.0)) + _MARGIN
        least = np.where(binomial, 0.0, np.maximum(0.0, self.drawn + self.marked - self.total))
        most = np.where(binomial, self.drawn, np.minimum(self.drawn, self.marked))
        low = np.maximum(least, np.floor(mean - reach))
        high = np.minimum(most, np.ceil(mean + reach))
        counts = low[..., None] + np.arange(int((high - low).max(initial=0)) + 1)
        inside = counts <= high[..., None]
        weights = np.where(inside, np.exp(self._log_weights(np.where(inside, counts, low[..., None]))), 0.0)
        # sums from left to right do not depend on how far the support of other rows reaches
        cumulative = np.cumsum(weights, axis=-1)
        return np.where(inside, counts, high[..., None]).astype(np.int64), cumulative / cumulative[..., -1:]

    def _log_weights(self, counts: Floats) -> Floats:
        total, marked, drawn, p = (x[..., None] for x in (self.total, self.marked, self.drawn, self.p))
        with np.errstate(divide="ignore", invalid="ignore"):
            binomial = _log_choose(drawn, counts)
            binomial += np.where(counts > 0, counts * np.log(p), 0.0)
            binomial += np.where(drawn > counts, (drawn - counts) * np.log1p(-p), 0.0)
            without = _log_choose(marked, counts) + _log_choose(total - marked, drawn - counts)
            without -= _log_choose(total, drawn)
        return np.where(np.isnan(p), without, binomial)

    def values(self, counts: NDArray[Any]) -> Floats:
        """Return the quantity at counts, which have one more axis."""
        return self.base[..., None] + self.step[..., None] * counts

    def draw(self, uniform: Floats) -> Floats:
        """Return the quantity at uniform numbers (n, draws); the laws have shape (n,)."""
        counts, cumulative = self.support()
        drawn = np.empty(uniform.shape, np.int64)
        for row in range(len(uniform)):
            at = np.searchsorted(cumulative[row], uniform[row], side="right")
            drawn[row] = counts[row, np.minimum(at, counts.shape[1] - 1)]
        return self.values(drawn)


_FIELDS = ("base", "step", "total", "marked", "drawn", "p")


def _log_choose(n: Floats, k: Floats) -> Floats:
    return np.asarray(scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1))


def constant(values: Floats) -> CountLaw:
    """Return laws that are always `values`."""
    nothing = np.zeros(values.shape)
    return CountLaw(values, nothing, nothing, nothing, nothing, np.full(values.shape, np.nan))


def binomial_shares(n: Floats, p: Floats) -> CountLaw:
    """Return laws of the share of yes among n independent answers, each yes with probability p."""
    nothing = np.zeros(p.shape)
    return CountLaw(nothing, 1 / n, nothing, nothing, n, p)


class _Kinds:
    """Kind of each term (share of one arm, difference, paired quantity), its counts, and their scale."""

    def __init__(self, terms: Terms) -> None:
        of = {name: terms.quantity == i for i, name in enumerate(QUANTITIES)}
        paired = terms.both >= 0
        self.first = of["p_do1"] | of["p_given1"]
        self.second = of["p_do0"] | of["p_given0"]
        self.under_do = of["p_do1"] | of["p_do0"]
        self.pns, self.violation = of["pns"] & paired, of["monotonicity_violation"] & paired
        self.joint = self.pns | self.violation
        self.difference = of["ate"] | (of["pns"] & ~paired)
        self.n1, self.n0, self.yes1, self.yes0 = (
            values.astype(np.float64) for values in (terms.n1, terms.n0, terms.yes1, terms.yes0)
        )
        self.per1, self.per0 = divide(np.ones(self.n1.shape), self.n1), divide(np.ones(self.n0.shape), self.n0)

    def law(self, base: Floats, step: Floats, total: Any, marked: Any, drawn: Any, p: Any) -> CountLaw:
        """Return a law; it is always NaN where nothing was answered (the step is NaN)."""
        shaped = (np.broadcast_to(np.asarray(v, np.float64), self.n1.shape) for v in (total, marked, drawn, p))
        return CountLaw(np.where(np.isnan(step), np.nan, base), np.nan_to_num(step), *shaped)


def quantity_laws(null: str, terms: Terms) -> tuple[CountLaw, ...]:
    """Return the independent laws whose sum is each quantity under a null model; two where both arms are random."""
    kinds = _Kinds(terms)
    if null in FIXED or null == "majority_answers":
        return (constant(_fixed_values(null, terms, kinds)),)
    if null == "permute_answers":
        return (_permuted(terms, kinds),)
    if null == "exchange_arms":
        return (_exchanged(terms, kinds),)
    pooled = divide(kinds.yes1 + kinds.yes0, kinds.n1 + kinds.n0)
    return _random(kinds, np.full(kinds.n1.shape, 0.5) if null == "random_answers" else np.nan_to_num(pooled))


def _random(s: _Kinds, q: Floats) -> tuple[CountLaw, CountLaw]:
    """Return the laws if every answer is yes with probability q."""
    step = np.where(s.second, s.per0, s.per1)
    main = s.law(0.0 * q, step, 0, 0, np.where(s.second, s.n0, s.n1), np.where(s.joint, q * (1 - q), q))
    other = np.where(s.difference, -s.per0, 0.0)
    return main, s.law(0.0 * q, other, 0, 0, np.where(s.difference, s.n0, 0.0), q)


def _permuted(terms: Terms, s: _Kinds) -> CountLaw:
    """Return the laws if answers are shuffled over samples, within an arm or, in fact, whatever the cause."""
    keep = s.under_do | s.difference
    step = np.where(keep, 0.0, np.where(s.second, s.per0, s.per1))
    total = np.select([keep, s.joint], [0.0, s.n1], s.n1 + s.n0)
    marked = np.select([keep, s.pns, s.violation], [0.0, s.yes1, s.yes0], s.yes1 + s.yes0)
    drawn = np.select([keep, s.pns, s.violation, s.second], [0.0, s.n1 - s.yes0, s.n1 - s.yes1, s.n0], s.n1)
    return s.law(np.where(keep, estimates(terms), 0.0), step, total, marked, drawn, np.nan)


def _exchanged(terms: Terms, s: _Kinds) -> CountLaw:
    """Return the laws if the two answers of each sample are exchanged at random; unpaired ones are dealt out anew."""
    apart = s.yes1 + s.yes0 - 2 * np.where(terms.both >= 0, terms.both, 0)
    yes = s.yes1 + s.yes0
    step = np.select([s.second, s.difference], [s.per0, s.per1 + s.per0], s.per1)
    total, marked = np.where(s.joint, 0.0, s.n1 + s.n0), np.where(s.joint, 0.0, yes)
    drawn = np.select([s.joint, s.second], [apart, s.n0], s.n1)
    base = np.where(s.difference, -yes * s.per0, 0.0)
    return s.law(base, step, total, marked, drawn, np.where(s.joint, 0.5, np.nan))


def _fixed_values(null: str, terms: Terms, s: _Kinds) -> Floats:
    """Return each quantity if all answers of an arm are the same; the majority of a tie is no."""
    if null in FIXED:
        one = zero = np.full(terms.n1.shape, null == "always_yes")
    else:
        one, zero = 2 * terms.yes1 > terms.n1, 2 * terms.yes0 > terms.n0
    values = [one, zero, one & ~zero, zero & ~one, one.astype(int) - zero.astype(int)]
    kinds = [s.first, s.second, s.pns, s.violation, s.difference]
    return np.select(kinds, [np.asarray(v, np.float64) for v in values], np.nan)
