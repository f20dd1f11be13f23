"""Answers shuffled over samples: dealt to the rows of a question, in an arm and stratum, or moved by cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.null import Matching
from ..execution.random_streams import random_words, uniforms

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: answers of a question from which on limits are kept, for rows that are drawn in other blocks
_MANY = 256
#: draws whose limits are found, and kept, together
_WINDOW = 16
#: numbers that kept orders of clusters hold at most
_MOST_KEPT = 2**26


def questions_of(matching: Matching) -> Ints:
    """Return a number a row, equal where question, arm (`context={"group": ...}`) and stratum are."""
    labels = [np.zeros(len(matching.estimate), np.int64)]
    if matching.context is not None:
        labels.append(matching.context.codes)
    if matching.stratum is not None:
        labels.append(matching.stratum)
    return np.asarray(pd.factorize(pd.MultiIndex.from_arrays(labels))[0], np.int64)


@dataclass(frozen=True, eq=False)
class Decks:
    """The answers of each question, which a draw deals to its rows.

    In draw r every row has a random number of its own, and of the rows of a question those with the smallest numbers
    get a yes, as many as the question has. Rows without an answer have no part in it.
    """

    #: (n,): number of each row's question
    question: Ints
    #: size, n_yes, (k,): answers to each question, and how many of them are yes
    size: Ints
    n_yes: Ints
    #: names of the random streams of the rows with an answer, those of a question side by side
    keys: Keys
    #: (k + 1,): where the streams of each question begin
    start: Ints
    #: whether all rows have one stream, by which no answers can be dealt: each row then has a yes with its share
    shared: bool
    #: limits of questions with many answers, by question and window
    kept: dict[tuple[int, int], Keys] = field(default_factory=dict)

    @classmethod
    def of(cls, matching: Matching) -> Decks:
        """Collect the answers of a table."""
        answers = matching.estimate.to_numpy(np.float64, na_value=np.nan)
        question = questions_of(matching)
        known = np.flatnonzero(~np.isnan(answers))
        known = known[np.argsort(question[known], kind="stable")]
        k = int(question.max(initial=-1)) + 1
        size, n_yes = (np.bincount(question[known], x, k).astype(np.int64) for x in (None, answers[known]))
        streams = np.zeros(len(question), np.uint64) if matching.keys is None else matching.keys
        shared = bool((streams == streams[:1]).all())
        return cls(question, size, n_yes, streams[known], np.append(0, np.cumsum(size)), shared)

    @property
    def shares(self) -> Floats:
        """(n,): share of yes among the answers to each row's question; NaN without any."""
        share = np.divide(self.n_yes, self.size, out=np.full(len(self.size), np.nan), where=self.size > 0)
        return np.asarray(share[self.question], np.float64)

    def draw(self, rows: Ints, keys: Keys, start: int, count: int) -> Bools:
        """Return which of the rows, (n, count), get a yes in draws start .. start + count - 1."""
        if self.shared:
            return np.asarray(uniforms(keys, start, count) < self.shares[rows, None], bool)
        question = self.question[rows]
        some, place = np.unique(question, return_inverse=True)
        limits = np.stack([self._limits(int(one), start, count) for one in some])[place.reshape(-1)]
        return np.asarray((random_words(keys, start, count) <= limits) & (self.n_yes[question] > 0)[:, None], bool)

    def _limits(self, question: int, start: int, count: int) -> Keys:
        """Return the largest number that gets a yes, in each of the draws."""
        windows = range(start // _WINDOW, (start + count - 1) // _WINDOW + 1)
        first = start - windows.start * _WINDOW
        return np.concatenate([self._window(question, window) for window in windows])[first : first + count]

    def _window(self, question: int, window: int) -> Keys:
        """Return the limits of draws _WINDOW * window and following, kept where many rows need them."""
        if (question, window) in self.kept:
            return self.kept[question, window]
        keys = self.keys[self.start[question] : self.start[question + 1]]
        last = max(int(self.n_yes[question]) - 1, 0)
        found = np.partition(random_words(keys, window * _WINDOW, _WINDOW), last, axis=0)[last]
        if len(keys) >= _MANY:
            self.kept[question, window] = found
        return found


@dataclass(frozen=True, eq=False)
class Moves:
    """The answers of clusters, which a draw moves together to another cluster of the stratum.

    Clusters that answered the same questions equally often are a block; one whose questions no other answered keeps
    its answers.
    """

    #: (n,): whether each row has a yes
    answers: Bools
    #: rows of each block, (clusters, answers)
    blocks: list[Ints]
    #: names of the random streams of each block's clusters
    keys: list[Keys]
    #: (3, n): each row's block, cluster and place in it; -1 for rows without an answer
    place: Ints
    #: orders of blocks of many clusters, by block and window
    kept: dict[tuple[int, int], NDArray[np.int32]] = field(default_factory=dict)

    @classmethod
    def of(cls, matching: Matching) -> Moves:
        """Collect the answers of a table with clusters."""
        n = len(matching.estimate)
        answers = matching.estimate.to_numpy(np.float64, na_value=np.nan)
        question, streams = questions_of(matching), np.zeros(n, np.uint64)
        if matching.keys is not None:
            streams = matching.keys
        stratum = np.zeros(n, np.int64) if matching.stratum is None else matching.stratum
        cluster = np.arange(n) if matching.cluster is None else matching.cluster
        known = np.flatnonzero(~np.isnan(answers))
        # repeated answers to a question in the order of their streams, which the order of the table does not change
        order = known[np.lexsort([x[known] for x in (streams, question, cluster, stratum)])]
        units = np.stack([stratum[order], cluster[order]])
        starts = np.flatnonzero((np.diff(units) != 0).any(axis=0)) + 1
        asked: dict[tuple[int, bytes], list[Ints]] = {}
        for rows in np.split(order, starts) if len(order) else []:
            asked.setdefault((int(stratum[rows[0]]), question[rows].tobytes()), []).append(rows)
        blocks = [np.stack(some) for some in asked.values()]
        place = np.full((3, n), -1, np.int64)
        for number, rows in enumerate(blocks):
            place[0, rows] = number
            place[1:, rows] = np.indices(rows.shape)
        keys = [np.bitwise_xor.reduce(streams[rows], axis=1) for rows in blocks]
        return cls(answers == 1, blocks, keys, place)

    def draw(self, rows: Ints, start: int, count: int) -> Bools:
        """Return which of the rows, (n, count), get a yes in draws start .. start + count - 1."""
        found = np.empty((len(rows), count), bool)
        block, cluster, place = self.place[:, rows]
        for number in np.unique(block).tolist():
            here = np.flatnonzero(block == number)
            given = self.blocks[number][self._orders(number, start, count)[cluster[here]], place[here, None]]
            found[here] = self.answers[given]
        return found

    def _orders(self, block: int, start: int, count: int) -> NDArray[np.int32]:
        """Return which cluster's answers each cluster of a block gets, (clusters, count)."""
        windows = range(start // _WINDOW, (start + count - 1) // _WINDOW + 1)
        first = start - windows.start * _WINDOW
        return np.concatenate([self._window(block, window) for window in windows], axis=1)[:, first : first + count]

    def _window(self, block: int, window: int) -> NDArray[np.int32]:
        """Return the orders of draws _WINDOW * window and following, kept where many rows need them."""
        if (block, window) in self.kept:
            return self.kept[block, window]
        words = random_words(self.keys[block], window * _WINDOW, _WINDOW)
        found = np.argsort(words, axis=0, kind="stable").astype(np.int32)
        if len(found) >= _MANY and (len(self.kept) + 1) * found.size <= _MOST_KEPT:
            self.kept[block, window] = found
        return found
