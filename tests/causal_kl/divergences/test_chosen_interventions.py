"""The general causal KL divergence: by enumeration, and its special cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import (
    Intervention,
    all_but_one,
    all_sets,
    contiguous_blocks,
    satisfies_parent_joint,
    single_interventions,
)

from .. import brute_force as brute


def pair(seed, zeros=0.0):
    rng = np.random.default_rng(seed)
    truth = brute.random_network(rng, cards=[2, 3, 2])
    return truth, brute.random_network(rng, cards=[2, 3, 2], zeros=zeros)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("success", [1.0, 0.7])
def test_any_law_agrees_with_enumeration(seed, success):
    truth, estimate = pair(seed, zeros=0.2 if seed == 3 else 0.0)
    over = np.random.default_rng(seed).dirichlet(np.ones(6)).reshape(2, 3)
    ours = [
        Intervention((), weight=0.1),
        Intervention(("B",), "uniform", 0.2, success),
        Intervention(("C", "A"), "observed", 0.3, success),
        Intervention(("A", "B"), over, 0.2, success),
        Intervention(("A", "C"), "independent", 0.1, success),
        Intervention(("C",), {"C": "1"}, 0.1, success),
    ]
    independent = {
        (a, c): p * q
        for (a,), p in brute.marginal_of(truth, (0,)).items()
        for (c,), q in brute.marginal_of(truth, (2,)).items()
    }
    theirs = [
        (0.1, (), {(): 1.0}, 1.0),
        (0.2, (1,), brute.uniform_values(truth, (1,)), success),
        (0.3, (0, 2), brute.marginal_of(truth, (0, 2)), success),
        (0.2, (0, 1), {(i, j): over[i, j] for i in range(2) for j in range(3)}, success),
        (0.1, (0, 2), independent, success),
        (0.1, (2,), {(1,): 1.0}, success),
    ]
    assert ce.ckl(truth, estimate, interventions=ours) == pytest.approx(
        brute.general(truth, estimate, theirs), abs=1e-12
    )


@pytest.mark.slow
def test_special_cases_are_the_named_metrics(metastatic, mutations):
    for estimate in mutations.values():
        for law, metric in (
            (all_sets(metastatic, "uniform"), ce.ckl1),
            (all_sets(metastatic, "observed"), ce.ckl2),
            (all_but_one(metastatic), ce.ckl3),
        ):
            found = ce.ckl(metastatic, estimate, interventions=law)
            assert found == pytest.approx(metric(metastatic, estimate, scaled=False), abs=1e-12)
        assert ce.ckl(metastatic, estimate, interventions=[Intervention(())]) == pytest.approx(
            ce.kl(metastatic, estimate), abs=1e-12
        )


def test_it_fills_a_column(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic] * 2, "estimate": [mutations["true"], mutations["rev.in.weak"]]})
    named = ce.tweak("ckl", interventions=single_interventions(metastatic), name="ckl_single")
    scored = ce.evaluate(runs, ["ckl", named])
    assert scored["ckl_single"].tolist() == scored["ckl"].tolist()
    assert scored["ckl"][0] == 0 < scored["ckl"][1]


def test_blocks_keep_the_joint_law_of_parents(metastatic):
    blocks = contiguous_blocks(metastatic, ["M", "S", "B", "C"])
    found = {x.nodes for x in blocks}
    assert sum(x.weight for x in blocks) == pytest.approx(1)
    assert {(), ("M",), ("C",), ("S", "B"), ("M", "S", "B", "C")} <= found
    # S is set apart from B, which both depend on M and are parents of C
    assert ("S",) not in found and ("B",) not in found
    assert satisfies_parent_joint(metastatic, ["S", "B"])
    with pytest.raises(ValueError, match="parents before children"):
        contiguous_blocks(metastatic, ["C", "S", "B", "M"])


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ([Intervention(("X",))], "unknown nodes \\['X'\\]"),
        ([Intervention(("M",), weight=0.4)], "must sum to 1, found 0.4"),
        ([Intervention(("M",), {"M": "maybe"})], "node 'M' has no state 'maybe'"),
        ([Intervention(("M",), {"S": "T"})], "a state to each of the nodes \\['M'\\]"),
        ([Intervention(("M",), [0.2, 0.2])], "sum to 1"),
        ([Intervention(("M",), [1.0])], "shape \\(1,\\), expected \\(2,\\)"),
        ([Intervention(("M",), "common")], "values must be 'uniform'"),
        ("all", "interventions must be 'single'"),
    ],
)
def test_mistakes_are_named(metastatic, law, words):
    with pytest.raises(ValueError, match=words):
        ce.ckl(metastatic, metastatic, interventions=law)


def test_impossible_interventions_are_refused(metastatic):
    with pytest.raises(ValueError, match="success must lie"):
        Intervention(("M",), success=0)
    with pytest.raises(ValueError, match="a node twice"):
        Intervention(("M", "M"))
    with pytest.raises(ValueError, match="weight must be"):
        Intervention(("M",), weight=-1)
    wide = ce.DiscreteNetwork({str(i): [] for i in range(13)}, {str(i): [1.0] for i in range(13)})
    with pytest.raises(ValueError, match="2\\^13 sets"):
        all_sets(wide)
