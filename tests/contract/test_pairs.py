"""Pairs: what is remembered of them, and errors that name positions."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.pairs import Batch, PairError, Pairs
from causaleval_pd.fields.structure.field import pair


def test_what_was_computed_is_kept_by_key_and_by_pairs():
    calls = []
    pairs, other = pair("A -> B", "B -> A"), pair("A -> B", "B -> A")

    def compute(value):
        return lambda: calls.append(value) or value

    assert pairs.remember("a", compute(1)) == pairs.remember("a", compute(2)) == 1
    assert pairs.remember(("a", 0), compute(3)) == 3 and other.remember("a", compute(4)) == 4
    assert pairs.remember("none", compute(None)) is pairs.remember("none", compute(5)) is None
    assert calls == [1, 3, 4, None]
    assert pairs.take(np.array([0])).remember("a", compute(6)) == 6, "other pairs have nothing of these"


def test_errors_name_the_first_position():
    error = PairError([3, 5], "there is no class to enumerate; pass beyond='local'")
    assert str(error) == "pair 3: there is no class to enumerate; pass beyond='local'"
    assert error.positions.dtype == np.int64 and error.positions.tolist() == [3, 5]


def test_pairs_of_a_field_define_what_verbs_ask():
    class Some(Pairs):
        n = 1

    with pytest.raises(TypeError, match="describe.*refused.*take.*unique"):
        Some()


CHAIN, FORK = (list(ce.causal_kl.metastatic_mutations().values())[i] for i in (0, 1))
SCORES = ce.score_column([[[0, 0.5], [0.5, 0]], [[0, 2], [2, 0]]])
CELLS = {
    "graph": ("A -> B; C", "A; B; C", "A -> B; C"), "network": (ce.causal_kl.metastatic(), CHAIN, FORK),
    "fitted_graph": (ce.causal_kl.metastatic(), "B; C; M -> S", "B; C; M -- S"),
    "formula": ("A*B + C <-> E", "A + C <-> E", "A*B + C <-> E"),
    "answer": (True, False, True), "label": ("a", "b", "a"), "quantity": (0.5, 0.2, 0.5),
    "knowledge": (ce.Knowledge(required=["A -> B"]), "A; B; C", "A -> B; C"),
    "scores": ("0 -> 1", *SCORES), "edge_weights": (SCORES[0], *SCORES),
    "lagged": ("lags 0..1: X@-1 -> Y", "lags 0..1: X; Y", "lags 0..1: X@-1 -> Y"),
}  # fmt: skip


@pytest.mark.parametrize("field", ce.list_fields().index)
def test_positions_and_distinct_pairs_of_every_field(field):
    truth, one, other = CELLS[field]
    own = get_field(field)
    sides = (own.of_truth, [truth] * 3), (own, [one, other, one])
    columns = [field.coerce(pd.Series(cells), "cells") for field, cells in sides]
    [batch] = own.batches(*columns, None)
    assert isinstance(batch, Batch) and batch.rows.tolist() == [0, 1, 2] and batch.pairs.n == 3
    distinct, inverse = batch.pairs.unique()
    assert distinct.n == 2 and inverse[0] == inverse[2] != inverse[1]
    assert batch.pairs.take(np.array([2, 1])).n == 2 and batch.pairs.take(slice(0, 0)).n == 0
    assert batch.pairs.refused(()).all() and batch.pairs.describe(1)
