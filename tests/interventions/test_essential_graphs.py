"""Distances of I-CPDAGs."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

CHAIN, TURNED = "A -> B; B -> C; C -> D", "D -> C; C -> B; B -> A"


def test_both_sides_are_mapped_by_the_row_s_targets():
    runs = pd.DataFrame({"truth": [CHAIN] * 4, "estimate": [TURNED] * 4, "targets": ["", "A", "B,C", "A; B; C; D"]})
    found = runs.ceval.evaluate(["shd_icpdag", "shd_cpdag", "shd"], context={"targets": "targets"})
    for row in found.itertuples():
        sides = [ce.graph_column([text]).graph.icpdag(row.targets) for text in (row.truth, row.estimate)]
        assert row.shd_icpdag == ce.shd(sides[0][0], sides[1][0])
    assert found["shd_icpdag"][0] == found["shd_cpdag"][0] == 0
    assert found["shd_icpdag"][3] == found["shd"][3] == 3


def test_random_pairs_are_those_of_the_columns():
    rng = np.random.default_rng(7)
    nodes = "; ".join("ABCDE")
    texts = []
    for _ in range(40):
        order = rng.permutation(list("ABCDE"))
        edges = [f"{order[i]} -> {order[j]}" for i in range(5) for j in range(i + 1, 5) if rng.random() < 0.5]
        texts.append("; ".join([*edges, nodes]))
    runs = pd.DataFrame({"truth": texts[:20], "estimate": texts[20:], "do": ["A", "B,C"] * 10})
    found = runs.ceval.evaluate(["shd_icpdag"], context={"targets": "do"})["shd_icpdag"]
    sides = [ce.graph_column(runs[x]).graph.icpdag(runs["do"]) for x in ("truth", "estimate")]
    assert found.tolist() == [ce.shd(a, b) for a, b in zip(*sides, strict=True)]


def test_icpdags_stay_and_controls_are_mapped_by_the_same_targets():
    icpdag = ce.graph_column([CHAIN]).graph.icpdag("C")
    runs = pd.DataFrame({"truth": ce.graph_column([CHAIN]), "estimate": icpdag})
    assert runs.ceval.evaluate(["shd_icpdag"], context={"targets": "C"})["shd_icpdag"].tolist() == [0]
    # all 24 relabellings of a DAG, by hand
    runs = pd.DataFrame({"truth": [CHAIN], "estimate": [TURNED]})
    found = runs.ceval.with_controls(["shd_icpdag"], null="permutation", context={"targets": [["C"]]}, n_draws=9)
    turned = [
        "; ".join(f"{a} -> {b}" for a, b in itertools.pairwise(order)) for order in itertools.permutations("ABCD")
    ]
    every = ce.graph_column(turned).graph.icpdag("C")
    truth = ce.graph_column([CHAIN]).graph.icpdag("C")[0]
    distances = [ce.shd(truth, cell) for cell in every]
    assert found["shd_icpdag_control_mean"][0] == pytest.approx(np.mean(distances))
    assert found["shd_icpdag_p"][0] == pytest.approx(np.mean(np.array(distances) <= found["shd_icpdag"][0]))


def test_wrong_targets_name_the_row():
    runs = pd.DataFrame({"truth": [CHAIN] * 2, "estimate": [TURNED] * 2, "do": ["A", "X"]})
    with pytest.raises(ValueError, match=r"shd_icpdag: row 1 .*targets name 'X', which is not a node"):
        runs.ceval.evaluate(["shd_icpdag"], context={"targets": "do"})
    with pytest.raises(ValueError, match="shd_icpdag needs 'targets' in the context"):
        runs.ceval.evaluate(["shd_icpdag"])
