"""Null models of answers and quantities: a reasoner's own answers shuffled, random and constant answers.

References
----------
.. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
   evaluating causal discovery algorithms. UAI 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, MakeControls, Matching, Null, register_null
from ...execution.random_streams import random_words, uniforms
from .field import ANSWER, ANSWERS, COUNTED, QUANTITY, AnswerPairs, QuantityPairs, law_of_answers
from .yes_counts import Floats, Integers, Terms, quantity_laws

Keys = NDArray[np.uint64]

#: bytes of one drawn control while it is scored, and nanoseconds that drawing it takes; both rough
_BYTES, _WORK = 100, 50.0

#: answers of a question from which on limits are kept, for rows that are drawn in other blocks
_MANY = 256
#: draws whose limits are found, and kept, together
_WINDOW = 16
#: numbers that kept orders of clusters hold at most
_MOST_KEPT = 2**26

#: odd step between the streams of a row's counts (the golden ratio's fraction of 2**64)
_STREAM = 0x9E3779B97F4A7C15

_LONG_NAMES = {
    "permute_answers": "the reasoner's own answers, shuffled over samples within question and arm",
    "random_answers": "random answers, yes and no equally likely",
    "biased_answers": "random answers with the reasoner's own share of yes",
    "exchange_arms": "the reasoner's own answers, exchanged between the two arms at random",
    "majority_answers": "the reasoner's own majority answer in each arm",
    "always_yes": "the answer yes to every question",
    "always_no": "the answer no to every question",
}


def questions_of(matching: Matching) -> Integers:
    """Return one number per row, equal where question, arm (`context={"group": ...}`) and stratum are."""
    codes = None if matching.context is None else matching.context.codes
    labels = [x for x in (np.zeros(len(matching.estimate)), codes, matching.stratum) if x is not None]
    return np.asarray(pd.factorize(pd.MultiIndex.from_arrays(labels))[0], np.int64)


def _windows(find: Callable[[int], NDArray[Any]], start: int, count: int) -> NDArray[Any]:
    """Return what is found for draws start .. start + count - 1, window by window, along the last axis."""
    windows = range(start // _WINDOW, (start + count - 1) // _WINDOW + 1)
    first = start - windows.start * _WINDOW
    return np.concatenate([find(window) for window in windows], axis=-1)[..., first : first + count]


def _codes_of_answers(matching: Matching) -> Integers:
    """Return 0 for yes, 1 for no and -1 for a missing answer."""
    return np.asarray(1 - matching.estimate.astype("Int64").fillna(2).to_numpy(np.int64), np.int64)


@dataclass(frozen=True, eq=False)
class Decks:
    """The answers of each question, which a draw deals to its rows."""

    # In draw r every row has a random number of its own, and the answers of a question are dealt in the order of their
    # codes to its rows in the order of these numbers. Rows without an answer have no part in it.

    #: (n,): number of each row's question
    question: Integers
    #: (k, codes): how many answers to each question have each code
    counts: Integers
    #: names of the random streams of the rows with an answer, those of a question side by side
    keys: Keys
    #: (k + 1,): where the streams of each question begin
    start: Integers
    #: whether all rows have one stream, by which no answers can be dealt: each row then draws one by its share
    shared: bool
    #: limits of questions with many answers, by question and window
    kept: dict[tuple[int, int], Keys] = field(default_factory=dict)

    @classmethod
    def of(cls, matching: Matching, codes: Integers, n_codes: int) -> Decks:
        """Collect the answers of a table; -1 stands for a missing one."""
        question = questions_of(matching)
        known = np.flatnonzero(codes >= 0)
        known = known[np.argsort(question[known], kind="stable")]
        k = int(question.max(initial=-1)) + 1
        counts = np.zeros((k, n_codes), np.int64)
        np.add.at(counts, (question[known], codes[known]), 1)
        streams = np.zeros(len(question), np.uint64) if matching.keys is None else matching.keys
        shared = bool((streams == streams[:1]).all())
        return cls(question, counts, streams[known], np.append(0, np.cumsum(counts.sum(axis=1))), shared)

    @property
    def shares(self) -> Floats:
        """(n, codes): shares of the codes among the answers to each row's question; NaN without any."""
        size = self.counts.sum(axis=1, keepdims=True)
        share = np.divide(self.counts, size, out=np.full(self.counts.shape, np.nan), where=size > 0)
        return np.asarray(share[self.question], np.float64)

    def draw(self, rows: Integers, keys: Keys, start: int, count: int) -> NDArray[np.int8]:
        """Return the codes that the rows, (n, count), get in draws start .. start + count - 1."""
        codes = np.zeros((len(rows), count), np.int8)
        if self.shared:
            numbers, shares = uniforms(keys, start, count), np.cumsum(self.shares[rows], axis=1)
            for code in range(self.counts.shape[1] - 1):
                codes += numbers >= shares[:, code, None]
            return codes
        question = self.question[rows]
        some, place = np.unique(question, return_inverse=True)
        place = place.reshape(-1)
        limits = np.stack([_windows(partial(self._window, int(one)), start, count) for one in some])
        words, none = random_words(keys, start, count), np.cumsum(self.counts, axis=1)[question] == 0
        for code in range(self.counts.shape[1] - 1):
            codes += words > limits[place, code]
            # no answer has the code or one before it, so that no word is among theirs
            codes[none[:, code]] = code + 1
        return codes

    def _window(self, question: int, window: int) -> Keys:
        """Return the largest words of each code but the last, (codes - 1, draws), kept where many rows need them."""
        if (question, window) in self.kept:
            return self.kept[question, window]
        keys = self.keys[self.start[question] : self.start[question + 1]]
        # places of the last answers of each code but the last
        last = np.maximum(np.cumsum(self.counts[question])[:-1] - 1, 0)
        limits = np.partition(random_words(keys, window * _WINDOW, _WINDOW), last, axis=0)[last]
        if len(keys) >= _MANY:
            self.kept[question, window] = limits
        return limits


@dataclass(frozen=True, eq=False)
class Moves:
    """The answers of clusters, which a draw moves together to another cluster of the stratum."""

    # Clusters that answered the same questions equally often are a block; one whose questions no other answered keeps
    # its answers.

    #: (n,): code of each row's answer
    codes: Integers
    #: rows of each block, (clusters, answers)
    blocks: list[Integers]
    #: names of the random streams of each block's clusters
    keys: list[Keys]
    #: (3, n): each row's block, cluster and place in it; -1 for rows without an answer
    place: Integers
    #: orders of blocks of many clusters, by block and window
    kept: dict[tuple[int, int], NDArray[np.int32]] = field(default_factory=dict)

    @classmethod
    def of(cls, matching: Matching, codes: Integers) -> Moves:
        """Collect the answers of a table with clusters; -1 stands for a missing one."""
        n = len(codes)
        question, streams = questions_of(matching), np.zeros(n, np.uint64) if matching.keys is None else matching.keys
        stratum = np.zeros(n, np.int64) if matching.stratum is None else matching.stratum
        cluster = np.arange(n) if matching.cluster is None else matching.cluster
        known = np.flatnonzero(codes >= 0)
        # repeated answers to a question in the order of their streams, which the order of the table does not change
        order = known[np.lexsort([x[known] for x in (streams, question, cluster, stratum)])]
        units = np.stack([stratum[order], cluster[order]])
        starts = np.flatnonzero((np.diff(units) != 0).any(axis=0)) + 1
        asked: dict[tuple[int, bytes], list[Integers]] = {}
        for rows in np.split(order, starts) if len(order) else []:
            asked.setdefault((int(stratum[rows[0]]), question[rows].tobytes()), []).append(rows)
        blocks = [np.stack(some) for some in asked.values()]
        place = np.full((3, n), -1, np.int64)
        for number, rows in enumerate(blocks):
            place[0, rows] = number
            place[1:, rows] = np.indices(rows.shape)
        keys = [np.bitwise_xor.reduce(streams[rows], axis=1) for rows in blocks]
        return cls(codes, blocks, keys, place)

    def draw(self, rows: Integers, keys: Keys, start: int, count: int) -> Integers:
        """Return the codes that the rows, (n, count), get in draws start .. start + count - 1."""
        drawn_codes = np.empty((len(rows), count), np.int64)
        block, cluster, place = self.place[:, rows]
        for number in np.unique(block).tolist():
            here = np.flatnonzero(block == number)
            orders = _windows(partial(self._window, number), start, count)
            positions = self.blocks[number][orders[cluster[here]], place[here, None]]
            drawn_codes[here] = self.codes[positions]
        return drawn_codes

    def _window(self, block: int, window: int) -> NDArray[np.int32]:
        """Return the orders of draws _WINDOW * window and following, kept where many rows need them."""
        if (block, window) in self.kept:
            return self.kept[block, window]
        words = random_words(self.keys[block], window * _WINDOW, _WINDOW)
        orders = np.argsort(words, axis=0, kind="stable").astype(np.int32)
        if len(orders) >= _MANY and (len(self.kept) + 1) * orders.size <= _MOST_KEPT:
            self.kept[block, window] = orders
        return orders


def _decks_of_answers(matching: Matching) -> Decks:
    return Decks.of(matching, _codes_of_answers(matching), 2)


def _probabilities_of_yes(name: str, matching: Matching) -> Floats:
    """Return each row's probability of yes."""
    n = len(matching.estimate)
    if name == "majority_answers":
        return np.asarray(_decks_of_answers(matching).shares[:, 0] > 0.5, np.float64)
    return np.full(n, {"random_answers": 0.5, "always_yes": 1.0, "always_no": 0.0}[name])


def _controls_of_answers(name: str) -> MakeControls:
    """Return the function that makes controls of answers by a null model."""

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        answers = matching.prepared

        def drawn(start: int, count: int) -> AnswerPairs:
            if isinstance(answers, (Decks, Moves)):
                yes = answers.draw(rows, keys, start, count) == 0
            else:
                yes = uniforms(keys, start, count) < answers[rows, None]
            return AnswerPairs(np.repeat(pairs.truth, count), yes.ravel())

        def known(metric: Metric) -> ClosedForm | None:
            if metric.closed_form != ANSWER.name or isinstance(answers, Moves):
                return None
            p_yes = answers.shares[rows, 0] if isinstance(answers, Decks) else answers[rows]
            constants = (AnswerPairs(pairs.truth, np.full(pairs.n, answer)) for answer in (False, True))
            return law_of_answers(metric, constants, np.stack([1 - p_yes, p_yes], axis=1))

        return DrawnControls(pairs, "answer", drawn, known, _BYTES, _WORK)

    return controls


def _law_of_quantities(null: str, pairs: QuantityPairs, terms: Terms, metric: Metric) -> ClosedForm | None:
    """Return the exact law of the metric where a row is one quantity with one random count."""
    if metric.closed_form != COUNTED.name or (terms.quantity[:, 0] >= 0).any() or np.any(pairs.n_factors != 1):
        return None
    laws = quantity_laws(null, Terms(*(values[:, 1] for values in terms)))
    if any((law.drawn > 0).any() for law in laws[1:]):
        return None
    law = laws[0]
    # each distinct law and truth once
    columns = np.stack([pairs.truth, *law], axis=1)
    _, stored, index = np.unique(columns, axis=0, return_index=True, return_inverse=True, equal_nan=True)
    counts, cumulative = law.take(stored).support()
    values = law.take(stored).values(counts)
    support = pairs.take(np.repeat(stored, values.shape[1]))
    scored = np.asarray(metric(replace(support, estimate=values.ravel())), np.float64).reshape(values.shape)
    return ClosedForm.of(Distribution.of(index.reshape(-1), scored, np.diff(cumulative, prepend=0.0, axis=1)))


def _controls_of_quantities(name: str) -> MakeControls:
    """Return the function that makes controls of quantities by a null model."""

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        terms = pairs.terms
        if terms is None:
            raise ValueError(
                "controls of quantities are drawn from the reasoner's yes-counts: pass context={'counts': 'counts'} "
                "(ce.reasoning.COUNTS) with a table made by ce.reasoning.quantities"
            )

        def drawn(start: int, count: int) -> QuantityPairs:
            # where an estimate is compared with the product, both are drawn
            truth = np.repeat(pairs.truth[:, None], count, axis=1)
            estimate = np.ones_like(truth)
            for column in range(terms.quantity.shape[1]):
                at = np.flatnonzero(terms.quantity[:, column] >= 0)
                if not len(at):
                    continue
                values = np.zeros((len(at), count))
                for part, law in enumerate(quantity_laws(name, Terms(*(one[at, column] for one in terms)))):
                    # each term of a row has its own stream
                    streams = keys[at] + np.uint64(_STREAM * (2 * column + part) % 2**64)
                    values += law.draw(uniforms(streams, start, count))
                if column:
                    estimate[at] *= values
                else:
                    truth[at] = values
            every: QuantityPairs = pairs.take(np.repeat(np.arange(pairs.n), count))
            return replace(every, truth=truth.ravel(), estimate=estimate.ravel())

        known = partial(_law_of_quantities, name, pairs, terms)
        return DrawnControls(pairs, pairs.kinds, drawn, known, _BYTES * terms.quantity.shape[1], _WORK)

    return controls


#: what shuffles answers where strata repeat a cluster
_MOVED = Null(
    "move_answers",
    "the answers of other clusters",
    _controls_of_answers("permute_answers"),
    prepare=lambda matching: Moves.of(matching, _codes_of_answers(matching)),
    estimated=True,
)

for _name, _long_name in _LONG_NAMES.items():
    # a single answer has no second arm to exchange with; with the own share of yes it is a permuted answer
    if _name not in ("exchange_arms", "biased_answers"):
        _options: dict[str, Any] = {"prepare": partial(_probabilities_of_yes, _name)}
        if _name == "permute_answers":
            _options = {"prepare": _decks_of_answers, "together": _MOVED}
        _options["estimated"] = _name in ("permute_answers", "majority_answers")
        register_null(ANSWERS.name, Null(_name, _long_name, _controls_of_answers(_name), **_options))
    register_null(QUANTITY.name, Null(_name, _long_name, _controls_of_quantities(_name)))
