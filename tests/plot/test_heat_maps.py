"""Heat maps: the numbers of the tests, colours, frames and captions."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import causaleval_pd as ce

from .conftest import SHD, captions, inside, spaced


@pytest.mark.slow
def test_p_values_show_the_tests(cube):
    part = cube.sel(n=100)
    ax = ce.plot.p_values(part, "shd", x="density", y="algorithm", adjust="bh")
    assert isinstance(ax, Axes)
    table = ce.test_controls(part, "shd", adjust="bh")
    table = table[table["p_adjusted"].notna()]
    assert len(table) == 7
    least = table["p_at_floor"].astype(bool)
    assert least.any() and table["p_value"][least].max() < 1 / 61
    assert [text.get_text() for text in ax.texts] == [
        f"{'≤ ' * at_floor}{p:.2g}\nn {n}"
        for p, n, at_floor in zip(table["p_adjusted"], table["n_pairs"], least, strict=True)
    ]
    assert "(≤: least possible)" in captions(ax.figure)
    frames = [patch for patch in ax.patches if patch.get_gid() == "frame"]
    assert len(frames) == 2 * (table["p_adjusted"] <= 0.05).sum() > 0
    assert np.ma.getmaskarray(ax.images[0].get_array()).sum() + np.isnan(ax.images[0].get_array()).sum() == 2
    assert isinstance(ax.images[0].norm, mpl.colors.LogNorm)
    assert spaced(ax.get_title()) == SHD
    assert "grey: no test" in captions(ax.figure) and "60 draws" in captions(ax.figure)
    assert "adjusted" not in captions(ax.figure)
    inside(ax.figure)
    assert "p at most .05, not adjusted" in captions(ce.plot.p_values(part, "shd", x="density", y="algorithm").figure)


@pytest.mark.slow
def test_failed_runs_can_count_as_worst(cube, runs):
    some = runs[(runs["n"] == 100) & (runs["density"] == 0.2)].copy()
    some.loc[(some["algorithm"] == "zero") & (some["replicate"] < 2), "estimate"] = None
    options = {"n_draws": 60, "rng": 7, "replicate": "replicate", "control_kind": "dag"}
    failing = ce.cube(some, ["shd"], by=["algorithm", "density"], **options)
    ax = ce.plot.p_values(failing, "shd", x="density", y="algorithm", missing="worst")
    assert [text.get_text().split("\n")[1] for text in ax.texts] == ["n 6"] * 3
    assert "failed runs counted as worst" in captions(ax.figure)


@pytest.mark.slow
def test_figures_draw_into_given_axes(cube):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    assert ce.plot.p_values(cube.sel(n=100), "shd", x="density", y="algorithm", ax=axes[0]) is axes[0]
    part = cube.sel(n=100, density=0.2)
    assert part.ceval.plot.critical_difference("shd", "algorithm", ax=axes[1]) is axes[1]
    assert captions(figure).count("Test: ") == 1
    assert plt.get_fignums() == [figure.number]
    inside(figure)


@pytest.mark.slow
def test_long_names_of_levels_stay_apart():
    names = ["a-very-long-name-without-any-spaces-whatsoever", "the PC algorithm with Fisher-z tests at .01", "x"]
    rows = [(name, "A -> B; C", "A -> B; C") for name in names for _ in range(3)]
    found = ce.cube(
        pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"]), ["shd"], by=["algorithm"], n_draws=None
    )
    ax = found.ceval.plot.critical_difference("shd", "algorithm")
    inside(ax.figure)
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.slow
def test_levels_with_dashes_keep_their_places(runs):
    names = {"peter and clark": "a", "greedy equivalence search": "a - b", "zero": "b - c"}
    part = runs.query("n == 100 and density == 0.2")
    more = part[part["algorithm"] == "zero"].assign(algorithm="c")
    renamed = pd.concat([part.assign(algorithm=part["algorithm"].map(names)), more], ignore_index=True)
    cube = ce.cube(renamed, ["shd"], by=["algorithm"], n_draws=None, replicate="replicate")
    ranks = cube.ceval.plot.critical_difference("shd", "algorithm")
    assert sum(text.get_gid() == "level" for text in ranks.texts) == 4
