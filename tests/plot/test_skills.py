"""Skills: heat map and profile show the skill of `summary`; marks, order and strata without a value."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS

from .conftest import ALGORITHMS, captions, inside
from .test_trend import many_levels


def numbers(image):
    return np.ma.filled(image.get_array().astype(float), np.nan)


@pytest.mark.slow
def test_squares_are_the_skills_of_the_summary(cube):
    part = cube.sel(n=100)
    ax = ce.plot.skills(part, "shd", x="density", y="algorithm")
    table = ce.summary(part, "shd").set_index(["algorithm", "density"])["skill"].unstack()
    np.testing.assert_array_equal(numbers(ax.images[0]), table.reindex(ALGORITHMS))
    assert [tick.get_text().replace("\n", " ") for tick in ax.get_yticklabels()] == ALGORITHMS
    assert len(ax.texts) == 7
    assert "grey: no runs: (zero, 0.4); all runs failed: (zero, 0.6)" in captions(ax.figure)
    inside(ax.figure)


@pytest.mark.slow
def test_hatched_squares_are_not_better_than_controls(cube):
    one = cube.sel(n=100).isel(replicate=[0])
    for adjust in (None, "holm"):
        ax = ce.plot.skills(one, "shd", x="density", y="algorithm", adjust=adjust)
        p = ce.test_controls(one, "shd", adjust=adjust)["p_adjusted"]
        assert ("p above .05, not adjusted" in captions(ax.figure)) == (adjust is None)
        weak = int((~(p <= 0.05) & p.notna()).sum())
        hatched = [patch for patch in ax.patches if patch.get_gid() == "not better"]
        assert len(hatched) == weak > 0 and all(patch.get_hatch() for patch in hatched)
        assert f", {weak} of 7" in captions(ax.figure)


@pytest.mark.slow
def test_skills_far_below_guessing_have_the_last_colour_and_their_number():
    # the empty graph has one error of one; the estimate has three
    rows = [
        (a, k, "A -> B; C; D", e) for k in (1, 2) for a, e in (("x", "B -> A; C -> D; A -> C; D -> A"), ("y", None))
    ]
    runs = pd.DataFrame(rows * 2, columns=["algorithm", "k", "truth", "estimate"])
    cube = runs.ceval.cube(["shd"], by=["algorithm", "k"], null="empty", n_draws=9, rng=1, cluster=None)
    skill = ce.summary(cube)["skill"]
    assert (skill.dropna() < -1).all() and skill.notna().any()
    ax = ce.plot.skills(cube, "shd", x="k", y="algorithm")
    assert numbers(ax.images[0]).ravel()[:2].tolist() == [-1, -1]
    assert {text.get_text() for text in ax.texts} == {f"{skill[0]:.2f}"}
    assert "≤ -1" in [tick.get_text() for tick in ax.images[0].colorbar.ax.get_yticklabels()]


@pytest.mark.slow
@pytest.mark.parametrize("width", [3.4, 7])
def test_thirty_long_names_stay_apart(width):
    cube = many_levels(30)
    figure, ax = plt.subplots(figsize=(width, 9), layout="constrained")
    ce.plot.skills(cube, "shd", x="n", y="algorithm", ax=ax)
    inside(figure)
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize(
    "call",
    [
        ce.plot.skills,
    ],
)
def test_skill_needs_controls_and_two_strata(cube, make, call):
    options = {"metric": "shd", "x": "n", "y": "algorithm"} if call is ce.plot.skills else {"dim": "algorithm"}
    with pytest.raises(ValueError, match="the cube has no controls for skill"):
        call(make(n_draws=None).sel(density=0.2), **options)
    with pytest.raises(ValueError, match="strata that the figure does not show: density"):
        call(cube, **options)


@pytest.mark.slow
def test_skills_of_minus_infinity_are_squares_and_not_grey():
    @ce.metric(field="graph", kinds=("dag",), direction="minimize", range=(0, np.inf), optimum=0, long_name="loss")
    def loss_of_no_edge(pairs):
        """Return infinity where nothing is right and no edge is extra, and the number of extra edges elsewhere."""
        return np.where((pairs.counts.tp == 0) & (pairs.counts.fp == 0), np.inf, pairs.counts.fp)

    graphs = ["A -> B; C -> D", "A; B -> C; D", "A -> B; B -> C; D", "A -> C; B; D"]
    rows = [
        (a, n, t, "A; B; C; D" if (a, n) == ("x", 10) else graphs[0]) for a in "xy" for n in (10, 9) for t in graphs
    ]
    runs = pd.DataFrame(rows, columns=["a", "n", "truth", "estimate"])
    try:
        cube = runs.ceval.cube(["loss_of_no_edge"], by=["a", "n"], n_draws=9, rng=7, null=one_edge)
        ax = ce.plot.skills(cube, "loss_of_no_edge")
    finally:
        del METRICS["loss_of_no_edge"]
    assert "-∞" in [text.get_text() for text in ax.texts] and "grey" not in captions(ax.figure)


def one_edge(estimate, rng):
    """Return a graph with an edge that no truth has."""
    return "D -> A; B; C"
