"""Distributions: bins, areas and medians of runs and controls."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

from .conftest import SHD, captions, inside, spaced


@pytest.mark.slow
def test_distributions_have_unit_bins_and_area_one(cube):
    raw = ce.plot.distributions(cube, "shd", hue="algorithm", col="density")
    assert spaced(raw.axes[0, 0].get_xlabel()) == SHD
    assert "pooled over n" in captions(raw.figure)
    for one in raw.axes.flat:
        assert [p.get_gid() for p in one.patches] == ["controls", "runs"] * 3
        for a in one.patches:
            values, edges, _ = a.get_data()
            np.testing.assert_array_equal(np.diff(edges), 1)
            np.testing.assert_array_equal(edges % 1, 0.5)
            assert values.sum() == pytest.approx(-1 if a.get_gid() == "controls" else 1)
    runs = cube["shd"].isel(algorithm=0, density=0).to_numpy().ravel()
    values, edges, _ = raw.axes[0, 0].patches[1].get_data()
    np.testing.assert_allclose(values, [(runs == edge + 0.5).mean() for edge in edges[:-1]])
    inside(raw.figure)


@pytest.mark.slow
def test_triangles_are_medians(cube):
    grid = ce.plot.distributions(cube, "shd", hue="algorithm", row="density")
    for d, ax in enumerate(grid.axes.flat):
        for side, name in (("runs", "shd"), ("controls", "shd_control")):
            marks = [line for line in ax.lines if line.get_gid() == f"median of {side}"]
            expected = cube[name].isel(density=d).transpose("algorithm", ...).to_numpy().reshape(3, -1)
            at = np.concatenate([mark.get_xdata() for mark in marks])
            np.testing.assert_allclose(at, np.nanmedian(expected, axis=1))
    assert "triangles: medians" in captions(grid.figure)


def test_proportions_have_no_unit_bins(cube):
    _, edges, _ = ce.plot.distributions(cube, "adjacency_f1").ax.patches[0].get_data()
    assert len(edges) == 21


def test_a_cube_without_strata_has_one_distribution(runs):
    grid = ce.plot.distributions(runs.head(60).ceval.cube(["shd"], by=[], n_draws=9, rng=1), "shd")
    assert [p.get_gid() for p in grid.ax.patches] == ["controls", "runs"]


@pytest.mark.parametrize(("most", "width"), [(199, 1), (200, 2)])
def test_at_most_200_bins_of_whole_numbers(most, width):
    edges = [f"X{i} -> X{j}" for i, j in itertools.combinations(range(21), 2)]
    nodes = [f"X{i}" for i in range(21)]
    estimates = ce.graph_column(["; ".join([*edges[:n], *nodes]) for n in (0, most)])
    runs = pd.DataFrame({"truth": ["; ".join(edges)] * 2, "estimate": estimates})
    found = ce.plot.distributions(runs.ceval.cube(["adjacency_tp"], by=[], n_draws=None), "adjacency_tp")
    values, edges, _ = found.ax.patches[0].get_data()
    assert len(values) <= 200 and set(np.diff(edges)) == {width}
    assert edges[0] < 0 and edges[-1] > most


@pytest.mark.parametrize(("n_infinite", "median"), [(1, 1.0), (4, 1.0), (5, np.inf), (6, np.inf), (10, np.inf)])
@pytest.mark.parametrize("side", ["runs", "controls"])
def test_infinite_values_count_in_medians_and_are_shares_in_the_caption(make_cube, side, n_infinite, median):
    finite, some = np.ones(10), np.where(np.arange(10) < n_infinite, np.inf, 1.0)
    runs, controls = (some, finite) if side == "runs" else (finite, some)
    values, draws = np.stack([runs, np.full(10, 2.0)]), np.stack([controls, np.full(10, 2.0)])[..., None]
    cube = make_cube({"a": ["x", "y"]}, {"m": (values, "minimize", draws)})
    grid = ce.plot.distributions(cube, "m", hue="a")
    marks = [line.get_xdata() for line in grid.ax.lines if line.get_gid() == f"median of {side}"]
    np.testing.assert_array_equal(marks, [[median], [2.0]])
    grid.figure.canvas.draw()
    text = captions(grid.figure)
    assert "triangles: medians, none where these are infinite" in text
    assert f"infinite, and in no outline or area: {5 * n_infinite} % of {side}" in text
    # strata without a finite value
    assert ("infinite: x" in text) == (n_infinite == 10 and side == "runs")


def test_captions_say_the_infinite_shares_of_runs_and_controls(make_cube):
    values = np.array([np.inf, np.inf, 1.0, np.nan])
    cube = make_cube({"a": ["x"]}, {"m": (values[None], "minimize", np.full((1, 4, 3), [np.inf, 1.0, 2.0]))})
    text = captions(ce.plot.distributions(cube, "m").figure)
    assert "infinite, and in no outline or area: 66.7 % of runs, 33.3 % of controls" in text
    whole = cube.assign(m=cube["m"].fillna(0.0).clip(max=3), m_control=cube["m_control"].clip(max=3))
    assert "infinite" not in captions(ce.plot.distributions(whole, "m").figure)
