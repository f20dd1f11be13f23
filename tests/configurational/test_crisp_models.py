"""Quality by kernels against quality in Python, which is compared with published numbers elsewhere."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import Setting, parse, random_models
from causaleval_pd.configurational.kernels.scores import count_pairs
from causaleval_pd.configurational.pairs import DecodedCells, Names, count_quality, encode, total
from causaleval_pd.configurational.quality import Convention, expose, quality_counts
from causaleval_pd.configurational.reader import parse_set

HARD = [
    "(A*b+C<->D)*(D*E+f*a<->G)*(G*b+d*A<->J)*(J*d+g*C<->L)*(L*j+G*E<->N)",
    "A*B*C*D+a*b*c*d+A*b*C*d+a*B*c*D+A*B*c*d<->E",
    "A+a<->B",
    "(A+a<->C)*(C+D<->E)",
    "(A*b+a*B<->D)*(D*C+d*c<->E)*(E*f+e*F<->G)",
    "(D+E<->G)*(g+A<->H)*(h+B<->J)",
]


def pairs():
    drawn = [
        random_models(40, n, outcomes=k, disjuncts=(1, 4), conjuncts=(1, 3), rng=seed)
        for n, k in ((4, 1), (6, 2), (8, 3), (10, 4))
        for seed in (1, 2)
    ]
    truths = [*pd.concat(drawn[::2]), *HARD, *HARD]
    estimates = [*pd.concat(drawn[1::2]), *HARD, *HARD[::-1]]
    return list(map(parse, truths)), list(map(parse, estimates))


@pytest.mark.slow
@pytest.mark.parametrize(
    "convention",
    [
        Convention(),
        Convention.of("paper"),
        Convention(partial_credit=False, constant_outcome="nan"),
    ],
    ids=["corrected", "paper", "nan"],
)
def test_kernels_count_what_python_counts(convention):
    truths, estimates = pairs()
    names = Names()
    packed = [encode([(model,) for model in side], names) for side in (truths, estimates)]
    index = np.arange(len(truths))
    found, done = count_quality(*packed, index, index, names, convention)
    assert done.all()
    setting = Setting()
    for i, (truth, estimate) in enumerate(zip(truths, estimates, strict=True)):
        known = [expose(model, setting, size_caps=convention.size_caps) for model in (truth, estimate)]
        sides = quality_counts(*known, setting.vocabulary, convention)
        expected = np.stack([total(list(side.values())) for side in sides])
        # bit by bit, so that it does not matter which of them was used
        assert found[i].tobytes() == expected.tobytes() or (np.isnan(expected).any() and np.isnan(found[i]).any())


@pytest.mark.slow
def test_large_models_are_left_to_python():
    wide = "+".join(f"X{i}" for i in range(13)) + "<->Y"
    names = Names()
    packed = encode([(parse(wide),), (parse("A=2+B=0<->C=1"),), (parse("A => B"),), (parse("A<->B"),)], names)
    zero = np.zeros(4, np.int64)
    _, done = count_quality(packed, packed, zero + 3, np.arange(4), names, Convention())
    assert done.tolist() == [False, False, False, True]


def test_cells_are_decoded():
    cells = [parse_set("(A*b+C<->D)*(D<->E)"), parse_set("A<->B; c<->B"), ()]
    names = Names()
    decoded = DecodedCells(encode(cells, names), names, {}, np.zeros(3, np.int64))
    assert list(decoded) == cells
    assert len(decoded) == 3
    with pytest.raises(IndexError):
        decoded[3]


def test_names_have_numbers_of_their_own_in_threads_and_processes():
    names = Names()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(names.number, [f"X{i % 200}" for i in range(2000)]))
    assert sorted(set(found)) == list(range(200))
    assert found[:200] == found[-200:]
    copied = pickle.loads(pickle.dumps(names))
    assert copied.numbers == names.numbers
    assert copied.number("new") == 200
    assert pickle.loads(pickle.dumps(Names())).number("first") == 0


@pytest.mark.slow
def test_engines_draw_and_score_alike():
    truths, estimates = (random_models(30, 7, outcomes=2, rng=seed) for seed in (1, 2))
    runs = pd.DataFrame({"truth": truths, "estimate": estimates})
    how = {"n_draws": 99, "rng": 5, "context": {"factors": list("ABCDEFGH")}}
    found = {}
    for engine in ("serial", "threads"):
        with ce.set_options(engine=engine, n_jobs=2):
            found[engine] = runs.ceval.with_controls(["f_beta"], **how)
    pd.testing.assert_frame_equal(found["serial"], found["threads"])


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["corrected", "paper"])
def test_the_number_of_pairs_does_not_matter(convention, monkeypatch):
    """Many pairs are counted by kernels, few in Python, those that kernels do not take among the many too."""
    truths, estimates = pairs()
    wide = "+".join(f"X{i}" for i in range(13)) + "<->Y"
    runs = pd.DataFrame({"truth": [*map(str, truths), wide], "estimate": [*map(str, estimates), wide]})
    metrics = [ce.tweak(name, convention=convention) for name in ("correctness", "completeness_sequential", "f_beta")]
    few = runs.ceval.evaluate(metrics)
    monkeypatch.setattr("causaleval_pd.configurational.pairs.FEWEST_BY_KERNELS", 1)
    pd.testing.assert_frame_equal(runs.ceval.evaluate(metrics), few, check_exact=True)


@pytest.mark.slow
def test_warming_up_is_enough():
    """The kernel of quality is compiled, and no table compiles it once more."""
    ce.warm_up(["correctness"])
    compiled = len(count_pairs.signatures)
    runs = pd.DataFrame({"truth": random_models(600, 6, rng=1), "estimate": random_models(600, 6, rng=2).to_numpy()})
    runs.ceval.evaluate(["correctness"])
    assert compiled == len(count_pairs.signatures) > 0
