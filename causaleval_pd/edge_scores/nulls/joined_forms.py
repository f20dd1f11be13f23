"""Closed forms of the rows of several models put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm, Distribution, Tails

Floats = NDArray[np.float64]


def join_forms(forms: Sequence[ClosedForm | None], places: Sequence[NDArray[np.int64]], n: int) -> ClosedForm | None:
    """Return the form of n rows, of which those at `places` have these forms; None where nothing is known."""
    known = [(form, at) for form, at in zip(forms, places, strict=True) if form is not None and len(at)]
    if not known:
        return None
    mean, variance, listed = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.bool_)
    tailed = np.zeros(n, np.bool_)
    laws = []
    for form, at in known:
        mean[at] = form.mean
        if form.variance is not None:
            variance[at] = form.variance
        if form.distribution is not None:
            listed[at] = True if form.listed is None else form.listed
            laws.append((form.distribution, at))
        tailed[at] = False if form.tailed is None else form.tailed
    tails = None
    if any(form.tails is not None for form, _ in known):

        def tails(observed: Floats, level: float) -> Tails:
            found = Tails.unknown(n)
            for form, at in known:
                if form.tails is not None:
                    parts = form.tails(observed[at], level)
                    for name in Tails._fields:
                        getattr(found, name)[at] = getattr(parts, name)
            return found

    law = _join_laws(laws, n) if laws else None
    return ClosedForm(mean, variance, law, None if listed.all() else listed, tails=tails, tailed=tailed & ~listed)


def _join_laws(laws: Sequence[tuple[Distribution, NDArray[np.int64]]], n: int) -> Distribution:
    """Return one table of the laws of rows at some places each."""
    width = max(law.values.shape[1] for law, _ in laws)
    index, start = np.zeros(n, np.int64), 0
    values, weights, undefined = [], [], []
    for law, at in laws:
        index[at] = law.index + start
        start += len(law.values)
        pad = ((0, 0), (0, width - law.values.shape[1]))
        values.append(np.pad(law.values, pad, mode="edge"))
        weights.append(np.pad(law.weights, pad))
        undefined.append(law.undefined)
    return Distribution(index, np.concatenate(values), np.concatenate(weights), np.concatenate(undefined))
