"""Closed forms of chance against Monte Carlo by an independent implementation, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.reasoning import (
    perfect_reasoner,
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


def test_refusals():
    with pytest.raises(ValueError, match="n must be"):
        perfect_reasoner(0.2, 0)
    with pytest.raises(ValueError, match=r"p_yes must lie in \[0, 1\], found 1.5"):
        random_reasoner(0.2, 10, p_yes=1.5)
    with pytest.raises(ValueError, match="probability"):
        perfect_reasoner(1.2, 10)


def test_required_samples():
    assert required_samples(0.5, 0.1) == np.ceil(1.959963984540054**2 * 100)
    n = required_samples([0.3, 0.01], 0.05, level=0.9)
    half = 1.6448536269514722 * np.sqrt(np.array([0.3, 0.01]) * np.array([0.7, 0.99]) / n)
    assert (half <= 0.05 * np.array([0.3, 0.01])).all()
    assert (half * np.sqrt(n / (n - 1)) > 0.05 * np.array([0.3, 0.01])).all(), "one fewer is too few"
    assert required_samples(0.0) == np.inf
    with pytest.raises(ValueError, match="probabilities"):
        required_samples(1.2)
