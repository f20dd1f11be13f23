"""Closed forms of chance against Monte Carlo by an independent implementation, and against simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import (
    decision_power,
    perfect_reasoner,
    random_classes,
    random_reasoner,
    required_samples,
)

DRAWS = 2000  # behind each number of the files


def scatter(found, expected, draws=DRAWS):
    """Standardised deviations of probabilities that are not next to 0 or 1."""
    inside = (found > 0.01) & (found < 0.99)
    return ((found - expected) / np.sqrt(np.maximum(found * (1 - found), 1e-12) / draws))[inside]


def without_ties(truth, n, delta=0.1):
    """Tell truths whose threshold is no possible estimate: there rounding decides."""
    ends = np.stack([truth * (1 - delta) * n, truth * (1 + delta) * n])
    return (np.abs(ends - np.round(ends)) > 1e-4).all(axis=0)


def test_random_reasoners(known):
    for (n, q), rows in known("random_rae").query("exact_pns > 0").groupby(["n", "q_yes"]):
        found = random_reasoner(rows["exact_pns"], n, p_yes=q).set_index(rows.index)
        np.testing.assert_allclose(found["expected"], rows["expected_pns_est"], atol=1e-12)
        clear = without_ties(rows["exact_pns"], n)
        apart = scatter(found["p_valid"][clear].to_numpy(), rows["p_valid_0_1"][clear].to_numpy())
        assert (np.abs(apart) < 4).all()
        # simulated quantiles: a tie, and what 2000 draws leave
        step = (1 + 0.6 * np.sqrt(n * 0.19)) / (n * rows["exact_pns"].to_numpy())
        for ours, theirs in (("rae_low", "rae_q05"), ("rae_median", "rae_median"), ("rae_high", "rae_q95")):
            assert (np.abs(found[ours].to_numpy() - rows[theirs].to_numpy()) <= step).all()


def test_perfect_reasoners(known):
    for n, rows in known("perfect_rae").query("exact_pns > 0").groupby("n"):
        clear = rows[without_ties(rows["exact_pns"], n)]
        apart = scatter(
            perfect_reasoner(clear["exact_pns"], n)["p_valid"].to_numpy(), clear["p_perfect_valid_0_1"].to_numpy()
        )
        assert len(apart) > 100
        # as far apart as draws make it, no more
        assert 0.85 < apart.std() < 1.15
        assert abs(apart.mean()) < 0.3


@pytest.mark.slow
def test_every_row_of_the_classes_of_random_reasoners(known, known_worlds):
    rows = known("random_classes")
    assert len(rows) == 168
    names = {"VC": "p_VC", "VI": "p_VI", "IC": "p_IC", "II": "p_II"}
    names |= {"p_consistent": "mean_p_comp_consistent", "p_product_valid": "mean_p_comp_valid"}
    tied = []
    for (n, q), part in rows.groupby(["n", "q_yes"]):
        worlds = {task: known_worlds[task] for task in part["task"]}
        # errors that equal the threshold fail there or pass, by rounding: a little less and a little more bracket both
        less, more = (
            random_classes(worlds, n, p_yes=q, delta=delta, n_draws=4 * DRAWS, rng=n).set_index("task")
            for delta in (0.1 - 1e-9, 0.1 + 1e-9)
        )
        for ours, theirs in names.items():
            expected = part.set_index("task")[theirs]
            value = expected.clip(*(pd.concat([less[ours], more[ours]], axis=1).agg(f, axis=1) for f in ("min", "max")))
            share = ((expected + 4 * value) / 5).clip(1 / DRAWS, 1 - 1 / DRAWS)  # both simulated, pooled
            apart = (value - expected) / np.sqrt(share * (1 - share) * (1 / DRAWS + 1 / (4 * DRAWS)))
            assert (apart.abs() < 4).all()
        moved = (more["p_product_valid"] - less["p_product_valid"]) > 0.005
        tied += [(n, q, task) for task in moved.index[moved]]
    # the brackets are points but for 8 of 168 rows, where a product of two shares of n samples can be the threshold
    assert len(tied) == 8
    assert {n for n, _, _ in tied} <= {50, 200}


def test_power_is_that_of_simulated_decisions():
    from causaleval_pd.reasoning.measures.validity import share_tests

    generator = np.random.default_rng(1)
    yes = generator.binomial(2000, 0.24, 20000).astype(float)
    beyond, within = share_tests(yes, 2000.0, np.full(20000, 0.2), np.full(20000, 0.02))
    power = decision_power(0.2, 0.24, 2000).iloc[0]
    assert (within <= 0.05).mean() == pytest.approx(power["valid"], abs=0.01)
    assert (beyond <= 0.05).mean() == pytest.approx(power["invalid"], abs=0.01)


def test_errors_are_bounded_by_the_level_and_power_grows_with_n():
    truth = np.linspace(0.001, 0.6, 25)
    for n in (30, 300, 3000):
        # at the edge of the tolerance either decision errs
        for edge in (0.9, 1.1):
            power = decision_power(truth, truth * edge, n, floor=0.0)
            assert (power["valid"] <= 0.05 + 1e-9).all()
            assert (power["invalid"] <= 0.05 + 1e-9).all()
    grows = [decision_power(0.2, 0.2, n)["valid"][0] for n in (500, 2000, 8000)]
    assert grows[0] < grows[1] < grows[2]
    assert grows[2] > 0.99


def test_refusals():
    with pytest.raises(ValueError, match="n must be"):
        perfect_reasoner(0.2, 0)
    with pytest.raises(ValueError, match=r"p_yes must lie in \[0, 1\], found 1.5"):
        random_reasoner(0.2, 10, p_yes=1.5)
    with pytest.raises(ValueError, match="probability"):
        decision_power(1.2, 0.5, 10)


def test_required_samples():
    assert required_samples(0.5, 0.1) == np.ceil(1.959963984540054**2 * 100)
    n = required_samples([0.3, 0.01], 0.05, level=0.9)
    half = 1.6448536269514722 * np.sqrt(np.array([0.3, 0.01]) * np.array([0.7, 0.99]) / n)
    assert (half <= 0.05 * np.array([0.3, 0.01])).all()
    assert (half * np.sqrt(n / (n - 1)) > 0.05 * np.array([0.3, 0.01])).all(), "one fewer is too few"
    assert required_samples(0.0) == np.inf
    with pytest.raises(ValueError, match="probabilities"):
        required_samples(1.2)
