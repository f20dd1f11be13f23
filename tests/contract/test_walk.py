"""Walks: the null models that have one start by their own law, and change by reversible steps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.contract.walk import Walk
from causaleval_pd.tables.settings import Cells
from causaleval_pd.tables.tasks import read_tasks

PAIRS = {"dag": ("A -> B; B -> C; D", "A -> B; C -> B; D"), "cpdag": ("A -- B; B -- C; D", "A -> B; C -> B; D")}


def controls(null, kind, **options):
    truth, estimate = (ce.graph_column([x]) for x in PAIRS[kind])
    estimate = estimate.graph.cpdag() if kind == "cpdag" else estimate
    table = pd.DataFrame({"truth": truth, "estimate": estimate})
    tasks, _ = read_tasks(table, ["shd"], Cells())
    [batch] = tasks[0].batches()
    matching = Matching(table["truth"], table["estimate"], None, None, options)
    keys = np.array([1], np.uint64)
    return get_field("graph").nulls[null].match(matching)(batch.rows, batch.pairs, keys)


def graphs(pairs):
    return Counter(planes.tobytes() for planes in pairs.estimate.planes[pairs.estimate_index])


@pytest.mark.parametrize(("null", "kind"), [("permutation", "dag"), ("edges", "dag"), ("edges", "cpdag")])
def test_a_walk_has_the_law_of_the_draws(null, kind):
    made = controls(null, kind)
    walk: Walk = made.walk
    rng = np.random.default_rng(1)
    states = walk.start(0, 6000, rng)
    drawn, started = graphs(made.draw(0, 6000)), graphs(walk.pairs(0, states))
    for _ in range(3):
        states = walk.propose(0, states, rng)
    walked = graphs(walk.pairs(0, states))
    for other in (started, walked):
        every = sorted({*drawn, *other})
        a, b = (np.array([x[graph] for graph in every], float) for x in (drawn, other))
        # two multinomial samples of one law
        assert ((a - b) ** 2 / (a + b)).sum() < len(every) + 5 * np.sqrt(2 * len(every))


def test_a_change_is_as_likely_as_its_reversal():
    walk = controls("edges", "dag").walk
    rng = np.random.default_rng(2)
    one = np.repeat(walk.start(0, 1, rng), 40_000, axis=0)
    other = walk.propose(0, one, rng)
    forward = Counter(map(bytes, other))
    target = max((x for x in forward if x != bytes(one[0])), key=forward.get)
    back = Counter(map(bytes, walk.propose(0, np.repeat(np.frombuffer(target, one.dtype)[None], 40_000, axis=0), rng)))
    assert abs(forward[target] - back[bytes(one[0])]) < 5 * np.sqrt(2 * forward[target])


def test_other_null_models_have_none():
    assert controls("dags", "dag").walk is None
    assert controls("edges", "dag", permute=False).walk is None
