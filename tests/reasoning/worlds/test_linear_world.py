"""Linear worlds: effects against path sums, against interventions on samples, and along arms."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.reasoning import LinearWorld, sample_linear_world


@pytest.fixture(params=[0, 1, 2])
def world(request):
    return sample_linear_world([[3, 4], [4, 2, 3], [3]], "mixed", noise=0.7, rng=request.param)


def test_an_effect_is_the_sum_over_paths(world):
    for i, cause in enumerate(world.nodes):
        for effect in world.nodes[i + 1 :]:
            total = sum(world.path_effect(path) for path in world.paths(cause, effect))
            assert world.ate(cause, effect) == pytest.approx(total, abs=1e-12)
            assert world.ate(effect, cause) == 0


def test_effects_are_differences_under_interventions(world):
    noise = world.sample(50, rng=1)
    cause, effect = world.nodes[2], world.nodes[-1]
    difference = world.values(noise, {cause: 3.5})[effect] - world.values(noise, {cause: 1.5})[effect]
    np.testing.assert_allclose(difference, 2 * world.ate(cause, effect), atol=1e-10)


def test_arms_add_and_their_factors_multiply(world):
    root, leaf = world.nodes[0], world.nodes[-1]
    arms = world.arms(root, leaf)
    assert arms.groupby("arm").size().tolist() == [1, 2, 3, 2]
    assert arms.groupby("arm")["ate"].prod().sum() == pytest.approx(world.ate(root, leaf), abs=1e-12)
    assert arms.loc[0].tolist() == [0, root, leaf, world.weights[root, leaf]]


def test_probabilities_under_interventions():
    weights = {("A", "X"): 1.0, ("A", "Y"): -2.0, ("X", "M"): 0.5, ("M", "Y"): 3.0}
    noise = {"A": 0.5, "X": 1.0, "M": 0.3, "Y": 0.8}
    world = LinearWorld(weights, noise, {"A": 0.2, "Y": -0.1})
    values = world.values(world.sample(200_000, rng=3), {"X": 0.7})
    for threshold in (-1.0, 0.4, 1.5):
        p = world.p_do("X", "Y", 0.7, threshold)
        assert abs((values["Y"] > threshold).mean() - p) < 5 * np.sqrt(p * (1 - p) / 200_000)
    assert world.p_do("X", "X", 0.7, 0.6) == 1
    assert world.p_do("X", "X", 0.7, 0.8) == 0


def test_noise_is_normal_and_the_same_in_any_chunks():
    world = LinearWorld({("X", "Y"): 1.0}, {"X": 2.0, "Y": 0.0})
    noise = world.sample(100_000, rng=4)
    assert abs(noise["X"].mean()) < 5 * 2 / np.sqrt(1e5)
    assert noise["X"].std() == pytest.approx(2, rel=0.02)
    assert (noise["Y"] == 0).all()
    np.testing.assert_array_equal(world.sample(10, rng=4, start=500), noise.iloc[500:510])


@pytest.mark.parametrize(
    ("weights", "noise", "message"),
    [
        ({("X", "Y"): 1.0}, {"X": 1.0}, "unknown node of edge"),
        ({("X", "Y"): np.nan}, {"X": 1.0, "Y": 1.0}, "finite"),
        ({("X", "Y"): 1.0}, {"X": -1.0, "Y": 1.0}, "negative"),
        ({("X", "Y"): 1.0, ("Y", "X"): 1.0}, {"X": 1.0, "Y": 1.0}, "acyclic"),
    ],
)
def test_wrong_worlds_are_refused(weights, noise, message):
    with pytest.raises(ValueError, match=message):
        LinearWorld(weights, noise)


def test_wrong_paths_and_arms_are_refused():
    with pytest.raises(ValueError, match="is not a path"):
        LinearWorld({("X", "Y"): 1.0}, {"X": 1.0, "Y": 1.0}).path_effect(["Y", "X"])
    with pytest.raises(ValueError, match="between root and leaf"):
        sample_linear_world([[2]])
    with pytest.raises(TypeError, match=r"arms must hold one sequence of sizes an arm, as \[\[3, 3\], \[2, 2\]\]"):
        sample_linear_world([3, 3])
