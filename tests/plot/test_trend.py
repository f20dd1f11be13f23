"""Trends: the numbers of `summary` on a numeric axis, gaps, bands, open points and refusals."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import causaleval_pd as ce

from .conftest import ALGORITHMS, SHD, captions, inside, spaced


def drawn(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


@pytest.mark.slow
def test_lines_are_the_summary_at_their_numbers(cube):
    part = cube.sel(density=0.4)
    ax = ce.plot.trend(part, "shd", x="n", hue="algorithm")
    assert isinstance(ax, Axes) and ax.get_xscale() == "log"
    table = ce.summary(part, "shd", interval="mean_ci").set_index(["algorithm", "n"])
    for algorithm, line in zip(ALGORITHMS, drawn(ax, "means"), strict=True):
        expected = table.loc[algorithm, "mean"].reindex([100, 1000, 10_000])
        np.testing.assert_array_equal(line.get_ydata(), expected)
        np.testing.assert_allclose(line.get_xdata(), [100, 1000, 10_000], rtol=0.06)
    # zero has no runs at 100: a gap, and its name
    assert np.isnan(drawn(ax, "means")[2].get_ydata()[0])
    assert "no runs: (zero, 100)" in captions(ax.figure)
    better = int((table["p_value"] <= 0.05).sum())
    assert f"p at most .05, not adjusted), {better} of 8 strata" in captions(ax.figure)
    assert spaced(ax.get_ylabel()) == SHD and ax.get_xlabel() == "n"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["100", "1000", "10000"]
    assert sum(x.get_gid() == "band" for x in ax.collections) == 3
    inside(ax.figure)


def test_levels_are_in_the_order_of_their_numbers_and_failures_are_named(cube):
    part = cube.isel(n=[2, 0, 1]).sel(density=0.6, algorithm="zero")
    ax = ce.plot.trend(part, "shd", x="n", scale="linear")
    assert ax.get_xscale() == "linear"
    [line] = drawn(ax, "means")
    assert (np.diff(line.get_xdata()) > 0).all() and np.isnan(line.get_ydata()[0])
    assert "all runs failed: 100" in captions(ax.figure)


@pytest.mark.slow
def test_open_points_are_not_better(cube):
    one = cube.isel(replicate=[0]).sel(density=0.2)
    ax = ce.plot.trend(one, "shd", x="n", hue="algorithm")
    table = ce.summary(one, "shd")
    heights = np.concatenate([line.get_ydata() for line in drawn(ax, "open")])
    expected = table.loc[~(table["p_value"] <= 0.05), "mean"]
    np.testing.assert_allclose(np.sort(heights[~np.isnan(heights)]), np.sort(expected))
    assert len(expected) > 0


def many_levels(n_levels):
    names = [f"algorithm {i:02d} with a name of forty letters" for i in range(n_levels)]
    rows = [
        (name, n, truth, "A -> B; C" if (i + n) % 3 else truth)
        for i, name in enumerate(names)
        for n in (10, 100)
        for truth in ("A -> B; B -> C", "A -> C; B")
    ]
    runs = pd.DataFrame(rows, columns=["algorithm", "n", "truth", "estimate"]).assign(seconds=range(1, len(rows) + 1))
    options = {"n_draws": 19, "rng": 1, "values": {"seconds": "minimize"}}
    return runs.ceval.cube(["shd", "adjacency_f1"], by=["algorithm", "n"], **options)


@pytest.mark.slow
def test_many_levels_share_a_band_and_a_page():
    ax = ce.plot.trend(many_levels(30), "shd", x="n", hue="algorithm")
    assert sum(x.get_gid() == "band" for x in ax.collections) == 1
    assert "too many lines to draw intervals" in captions(ax.figure)
    assert "band: over all levels of algorithm" in captions(ax.figure)
    assert "intervals" not in {x.get_gid() for x in ax.collections}
    assert ax.figure.get_figwidth() <= 7.1
    assert len(ax.get_legend().get_texts()) == 33
    inside(ax.figure)


@pytest.mark.slow
def test_given_axes_and_dark_themes(cube):
    with plt.style.context("dark_background"):
        figure, given = plt.subplots(figsize=(3.4, 5), layout="constrained")
        ax = cube.sel(density=0.2).ceval.plot.trend("shd", x="n", hue="algorithm", ax=given)
        assert ax is given and plt.get_fignums() == [figure.number]
        assert all(line.get_markerfacecolor() == given.get_facecolor() for line in drawn(ax, "open"))
        assert np.mean(mpl.colors.to_rgb(next(x for x in ax.texts if x.get_gid() == "caption").get_color())) > 0.5
        inside(figure)


def test_cubes_without_controls_have_no_band(make):
    ax = ce.plot.trend(make(n_draws=None).sel(density=0.2), "shd", x="n", hue="algorithm")
    assert not [x for x in ax.collections if x.get_gid() == "band"]
    assert "There are no controls." in captions(ax.figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"x": "algorithm", "hue": "n"},
            "the levels of 'algorithm' are not numbers, such as 'peter and clark'; choose",
        ),
        ({"x": "n"}, r"strata that the figure does not show: algorithm \(3 levels\)"),
        ({"x": "n", "hue": "n"}, "used twice"),
        ({"x": "size", "hue": "algorithm"}, "unknown dimension"),
        ({"x": "n", "hue": "algorithm", "scale": "symlog"}, "scale"),
    ],
)
def test_what_cannot_be_drawn_is_refused(cube, options, message):
    with pytest.raises(ValueError, match=message):
        ce.plot.trend(cube.sel(density=0.2), "shd", **options)


@pytest.mark.slow
def test_a_level_of_zero_has_no_place_on_a_log_axis(cube):
    part = cube.sel(density=0.2).assign_coords(n=[0, 1, 2])
    with pytest.raises(ValueError, match="'n' has the level 0, which has no place on a log axis; use scale='linear'"):
        ce.plot.trend(part, "shd", x="n", hue="algorithm")
    ce.plot.trend(part, "shd", x="n", hue="algorithm", scale="linear")


@pytest.mark.slow
def test_large_letters_leave_room_for_the_caption(cube):
    with plt.rc_context({"font.size": 15}):
        figure = ce.plot.trend(cube.sel(density=0.2), "shd", hue="algorithm").figure
        inside(figure)
        assert len(captions(figure)) > 200


@pytest.mark.slow
def test_infinite_controls_and_means_without_interval_are_named():
    graphs = ["A -> B; C", "A; B -> C", "A -> B; B -> C"]
    rows = [(n, f"{n}-{r}", graphs[r], graphs[0]) for n in (10, 100, 1000) for r in range(1 if n == 10 else 3)]
    runs = pd.DataFrame(rows, columns=["n", "r", "truth", "estimate"])
    cube = runs.ceval.cube(["shd"], by=["n"], n_draws=20, rng=7)
    lost = cube["n"] == 100
    cube["shd_control_mean"] = cube["shd_control_mean"].where(~lost, np.inf)
    cube["shd_control"] = cube["shd_control"].where(~lost, np.inf)
    text = captions(ce.plot.trend(cube, "shd").figure)
    assert "without interval: 1 of 3" in text and "mean of the controls infinite: 100" in text
    alone = ce.plot.trend(cube.sel(n=[10]), "shd")
    assert alone.get_xlim()[0] < 10 < alone.get_xlim()[1]
