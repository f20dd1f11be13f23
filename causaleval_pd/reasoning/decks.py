"""Answers shuffled over samples: a draw deals the answers of a question, in an arm and stratum, to its rows anew."""

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
