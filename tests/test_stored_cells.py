"""Cells that version 0.3.0 wrote are read by this one, as docs/stability.md promises."""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

STORED = json.loads((Path(__file__).parent / "known_answers/cells_0_3.json").read_text(encoding="utf-8"))
#: what each cell holds, and how it is read
WRITTEN: dict[str, tuple[object, Callable[[object], object]]] = {
    "dag": ("A -> B; C", ce.as_graph), "cpdag": ("A -- B; B -- C", ce.as_graph),
    "pag": ("A o-> B; C o-> B; D", ce.as_graph), "mag": ('"X(t-1)" -> B; B <-> C', ce.as_graph),
    "lagged graph": ("lags 0..2: X@-1 -> Y; Y -> Z", ce.as_lagged),
    "discrete network": (ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.1, 0.9]]}),
        ce.as_network),
    "gaussian network": (
        ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [2.0]}, {"A": 1.0, "B": 0.25}, {"A": 0.0, "B": 1.0}),
        ce.as_network,
    ),
}  # fmt: skip
SCORES = [[0, 3, 1], [0.5, 0, 2], [0, 0, 0]]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_stored_cell_is_what_was_written(name):
    value, read = WRITTEN[name]
    assert read(base64.b64decode(STORED[name])) == read(value)


def test_stored_scores_are_what_was_written():
    column = ce.score_column([base64.b64decode(STORED["scores"])])
    off_diagonal = ~np.eye(3, dtype=bool)
    assert np.array_equal(column.score.to_numpy()[0][off_diagonal], np.array(SCORES)[off_diagonal])


def test_stored_graphs_score_as_those_of_today():
    stored = [base64.b64decode(STORED[name]) for name in ("dag", "cpdag")]
    table = pd.DataFrame({"truth": ["A -> B; C", "A -- B; B -- C"], "estimate": ce.graph_column(stored)})
    assert table.ceval.evaluate(["shd"])["shd"].tolist() == [0, 0]
