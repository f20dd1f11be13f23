"""Heat maps show skill or p-values of `summary`; hatches, order, strata without a value and captions."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.statistics.words import p_text

from .conftest import ALGORITHMS, SHD, captions, inside, many_levels, spaced


def numbers(image):
    return np.ma.filled(image.get_array().astype(float), np.nan)


@pytest.mark.slow
def test_squares_are_the_skills_of_the_summary(cube):
    part = cube.sel(n=100)
    ax = ce.plot.heat_map(part, "shd", x="density", y="algorithm")
    table = ce.summary(part, "shd", columns="full").set_index(["algorithm", "density"])["skill"].unstack()
    np.testing.assert_array_equal(numbers(ax.images[0]), table.reindex(ALGORITHMS))
    assert [tick.get_text().replace("\n", " ") for tick in ax.get_yticklabels()] == ALGORITHMS
    assert len(ax.texts) == 7
    assert "grey: no runs: (zero, 0.4); all runs failed: (zero, 0.6)" in captions(ax.figure)
    inside(ax.figure)


@pytest.mark.slow
def test_hatched_squares_are_not_better_than_controls(cube):
    one = cube.sel(n=100).isel(replicate=[0])
    for adjust in (None, "holm"):
        ax = ce.plot.heat_map(one, "shd", x="density", y="algorithm", adjust=adjust)
        verdict = ce.summary(one, "shd", adjust=adjust)["verdict"]
        how = "not adjusted" if adjust is None else "adjusted by Holm's method"
        assert f"p above .05, {how}" in captions(ax.figure)
        weak = int((verdict.notna() & (verdict != "better")).sum())
        hatched = [patch for patch in ax.patches if patch.get_gid() == "not better"]
        assert len(hatched) == weak > 0 and all(patch.get_hatch() for patch in hatched)
        assert f", {weak} of 7" in captions(ax.figure)


@pytest.mark.slow
def test_skills_far_below_guessing_have_the_last_colour_and_their_number():
    # the empty graph has one error of one; the estimate has three
    cells = (("x", "B -> A; C -> D; A -> C; D -> A"), ("y", None))
    rows = [(a, k, "A -> B; C; D", estimate) for k in (1, 2) for a, estimate in cells]
    runs = pd.DataFrame(rows * 2, columns=["algorithm", "k", "truth", "estimate"])
    cube = runs.ceval.cube(["shd"], by=["algorithm", "k"], null="empty", n_draws=9, rng=1, cluster=None)
    skill = ce.summary(cube, columns="full")["skill"]
    assert (skill.dropna() < -1).all() and skill.notna().any()
    ax = ce.plot.heat_map(cube, "shd", x="k", y="algorithm")
    assert numbers(ax.images[0]).ravel()[:2].tolist() == [-1, -1]
    assert {text.get_text() for text in ax.texts} == {f"{skill[0]:.2f}"}
    assert "≤ -1" in [tick.get_text() for tick in ax.images[0].colorbar.ax.get_yticklabels()]


@pytest.mark.slow
@pytest.mark.parametrize("width", [3.4, 7])
def test_thirty_long_names_stay_apart(width):
    cube = many_levels(30)
    figure, ax = plt.subplots(figsize=(width, 9), layout="constrained")
    ce.plot.heat_map(cube, "shd", x="n", y="algorithm", ax=ax)
    inside(figure)
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("value", ["skill", "p"])
def test_a_heat_map_needs_controls(make, value):
    what = {"skill": "skill", "p": "tests"}[value]
    with pytest.raises(ValueError, match=f"the cube has no controls for {what}"):
        ce.plot.heat_map(make(n_draws=None).sel(density=0.2), "shd", value=value)


@pytest.mark.slow
@pytest.mark.parametrize("adjust", [None, "bh"])
def test_p_values_are_those_of_the_tests(cube, adjust):
    part = cube.sel(n=100)
    ax = ce.plot.heat_map(part, "shd", value="p", x="density", y="algorithm", adjust=adjust)
    table = ce.summary(part, "shd", adjust=adjust, columns="full")
    table = table[table["p_adjusted"].notna()]
    assert len(table) == 7 and table["p_at_floor"].any() and not table["p_at_floor"].all()
    assert [text.get_text() for text in ax.texts] == [
        p_text(p, at_floor=bool(least)) for p, least in zip(table["p_adjusted"], table["p_at_floor"], strict=True)
    ]
    np.testing.assert_array_equal(numbers(ax.images[0])[~np.isnan(numbers(ax.images[0]))], table["p_adjusted"])
    assert isinstance(ax.images[0].norm, mpl.colors.LogNorm) and spaced(ax.get_title()) == SHD
    text = captions(ax.figure)
    assert "≤: no draw was as extreme" in text and "grey: no test" in text and "60 draws" in text
    how = "not adjusted" if adjust is None else "adjusted by Benjamini and Hochberg's method"
    assert how in text and f"hatched: not better than controls, {(table['verdict'] != 'better').sum()} of 7" in text
    inside(ax.figure)


@pytest.mark.slow
def test_several_strata_share_an_axis(cube):
    table = ce.summary(cube, "shd", columns="full").set_index(["algorithm", "density", "n"])["skill"].unstack()
    ax = ce.plot.heat_map(cube, "shd")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("n", "algorithm, density")
    assert spaced(ax.get_yticklabels()[3].get_text()) == "greedy equivalence search, 0.2"
    np.testing.assert_array_equal(numbers(ax.images[0])[3], table.loc[("greedy equivalence search", 0.2)])
    turned = ce.plot.heat_map(cube, "shd", x=["n", "density"], y="algorithm")
    names = ["100, 0.2", "100, 0.4", "100, 0.6", "1000, 0.2"]
    assert [tick.get_text() for tick in turned.get_xticklabels()][:4] == names
    np.testing.assert_array_equal(numbers(turned.images[0])[1, 3], table.loc[("greedy equivalence search", 0.2), 1000])
    with pytest.raises(ValueError, match="strata that the figure does not show: density"):
        ce.plot.heat_map(cube, "shd", x="n", y="algorithm")
    with pytest.raises(ValueError, match="'n' is used twice"):
        ce.plot.heat_map(cube, "shd", x=["n", "density"], y="n")


@pytest.mark.slow
def test_one_stratum_is_one_row(cube):
    part = cube.sel(n=100, density=0.2)
    ax = ce.plot.heat_map(part, "shd")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("algorithm", "")
    np.testing.assert_array_equal(numbers(ax.images[0])[0], ce.summary(part, "shd", columns="full")["skill"])


@pytest.mark.slow
def test_skills_of_minus_infinity_are_squares_and_not_grey(declare):
    @declare(range=(0, np.inf))
    def loss_of_no_edge(pairs):
        """Return infinity where nothing is right and no edge is extra, and the number of extra edges elsewhere."""
        return np.where((pairs.counts.tp == 0) & (pairs.counts.fp == 0), np.inf, pairs.counts.fp)

    graphs = ["A -> B; C -> D", "A; B -> C; D", "A -> B; B -> C; D", "A -> C; B; D"]
    rows = [
        (a, n, t, "A; B; C; D" if (a, n) == ("x", 10) else graphs[0]) for a in "xy" for n in (10, 9) for t in graphs
    ]
    runs = pd.DataFrame(rows, columns=["a", "n", "truth", "estimate"])
    cube = runs.ceval.cube(["loss_of_no_edge"], by=["a", "n"], n_draws=9, rng=7, null=one_edge)
    ax = ce.plot.heat_map(cube, "loss_of_no_edge")
    assert "-∞" in [text.get_text() for text in ax.texts] and "grey" not in captions(ax.figure)


def one_edge(estimate, rng):
    """Return a graph with an edge that no truth has."""
    return "D -> A; B; C"


@pytest.mark.slow
def test_figures_draw_into_given_axes(cube):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    assert ce.plot.heat_map(cube.sel(n=100), "shd", value="p", ax=axes[0]) is axes[0]
    part = cube.sel(n=100, density=0.2)
    assert part.ceval.plot.critical_difference("shd", "algorithm", ax=axes[1]) is axes[1]
    assert captions(figure).count("Squares: ") == 1
    assert plt.get_fignums() == [figure.number]
    inside(figure)
