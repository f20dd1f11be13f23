"""Strata: the numbers of `summary`, open points, legends and captions."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest
from seaborn import FacetGrid

import causaleval_pd as ce

from .conftest import ALGORITHMS, F1, SHD, captions, inside, spaced


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["mean_ci", "quantile"])
def test_strata_show_the_summary(cube, interval):
    grid = ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n", interval=interval)
    assert isinstance(grid, FacetGrid)
    table = ce.summary(cube, "shd", interval=interval)
    for ax, n in zip(grid.axes.flat, (100, 1000, 10_000), strict=True):
        assert ax.get_title() == f"n = {n}"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.2", "0.4", "0.6"]
        points = [line for line in ax.lines if line.get_gid() == "means"]
        assert len(points) == 3
        bands = [patch for patch in ax.patches if patch.get_gid() == "band"]
        for algorithm, line in zip(ALGORITHMS, points, strict=True):
            part = table[(table["algorithm"] == algorithm) & (table["n"] == n)]
            np.testing.assert_array_equal(line.get_ydata(), part["mean"])
            # the dodge keeps every point in the field of its density
            np.testing.assert_array_equal(np.round(line.get_xdata()), np.searchsorted([0.2, 0.4, 0.6], part["density"]))
        part = table[table["n"] == n].set_index(["algorithm", "density"])
        found = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in bands]
        expected = part.loc[ALGORITHMS, ["control_low", "control_high"]].to_numpy()
        np.testing.assert_allclose(np.array(found), expected)
        dashes = np.concatenate(
            [path.vertices[:1, 1] for lines in ax.collections[::2] for path in lines.get_paths() if len(path.vertices)]
        )
        np.testing.assert_allclose(dashes, part.loc[ALGORITHMS, "control_mean"])
    assert spaced(grid.axes[0, 0].get_ylabel()) == SHD
    words = "Null model: edges (random graphs with the estimate's class and number of edges), 60 draws a run."
    assert words in captions(grid.figure)
    inside(grid.figure)


@pytest.mark.slow
def test_open_points_are_not_better_than_controls(cube, make):
    # one run a stratum: some of them are not better
    one = cube.isel(replicate=[0])
    grid = ce.plot.strata(one, "shd", x="density", hue="algorithm", col="n")
    tests = ce.test_controls(one, "shd")
    expected = tests.loc[~(tests["p_value"] <= 0.05) & tests["statistic"].notna(), "statistic"]
    drawn = [line for ax in grid.axes.flat for line in ax.lines if line.get_gid() == "open"]
    assert all(mpl.colors.to_hex(line.get_markerfacecolor()) == "#ffffff" for line in drawn)
    heights = np.concatenate([line.get_ydata() for line in drawn])
    np.testing.assert_allclose(np.sort(heights[~np.isnan(heights)]), np.sort(expected))
    assert 0 < len(expected) < len(tests)
    words = [text.get_text() for text in grid.figure.legends[0].get_texts()]
    assert words[-3:] == ["runs, p at most .05", "runs, p above .05", "controls"]
    assert "filled points: better than controls" in captions(grid.figure)
    plain = ce.plot.strata(make(n_draws=None), "shd", x="density", hue="algorithm", col="n")
    assert "open" not in {line.get_gid() for ax in plain.axes.flat for line in ax.lines}
    assert "filled" not in captions(plain.figure)


@pytest.mark.slow
def test_many_levels_and_hues_fit(runs):
    tables = [
        runs[runs["n"] == 100].assign(algorithm=f"{kind} {i:02d}") for kind in ("pc", "lingam") for i in range(14)
    ]
    many = ce.cube(
        pd.concat(tables, ignore_index=True).drop_duplicates(["algorithm", "density", "replicate"]),
        ["shd"],
        by=["algorithm", "density"],
        n_draws=20,
        rng=1,
        replicate="replicate",
        control_kind="dag",
    )
    for use in ({"x": "density", "hue": "algorithm"}, {"x": "algorithm", "hue": "density"}):
        figure = ce.plot.strata(many, "shd", **use).figure
        inside(figure)
        legend = figure.legends[0].get_window_extent()
        assert legend.y0 >= 0 and legend.y1 <= figure.bbox.height
        assert figure.get_figwidth() < 22


@pytest.mark.slow
def test_bands_keep_off_the_edge_of_the_axes(cube):
    """Higher is better: the lowest mark is a band, and a point there would be cut in half."""
    for ax in ce.plot.strata(cube, "adjacency_f1", x="density", hue="algorithm", col="n").axes.flat:
        low, high = ax.get_ylim()
        bands = [patch.get_y() for patch in ax.patches if patch.get_gid() == "band"]
        assert min(bands) - low > 0.02 * (high - low)


@pytest.mark.slow
def test_levels_keep_the_order_of_the_cube(cube):
    grid = ce.plot.strata(cube.sel(n=100, density=0.2), "adjacency_f1", x="algorithm")
    assert [spaced(tick.get_text()) for tick in grid.ax.get_xticklabels()] == ALGORITHMS
    assert spaced(grid.ax.get_ylabel()) == F1
    assert "density = 0.2, n = 100." in captions(grid.figure)
    inside(grid.figure)


@pytest.mark.slow
def test_members_of_a_composite_null_model_are_drawn_each(runs):
    both = ce.worst_of("edges", "permutation")
    cube = runs.head(60).ceval.cube(["shd"], by=["algorithm"], null=both, n_draws=9, rng=1)
    grid = ce.plot.strata(cube, "shd", x="algorithm", col="null")
    assert [ax.get_title() for ax in grid.axes.flat] == ["null = edges", "null = permutation"]
    assert "control_composites" in cube.attrs
