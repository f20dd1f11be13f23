"""Skill against cost: places, fronts by hand, ties, numbers and refusals."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.plot.pareto import on_front

from .conftest import captions, inside
from .test_trend import many_levels


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("n == 400").assign(block=1)
    options = {"n_draws": 50, "rng": 7, "values": {"seconds": "minimize", "n_nodes": "maximize", "block": None}}
    return runs.ceval.cube(["shd"], by=["algorithm", "density"], **options)


def of(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


def test_the_front_by_hand():
    cost, skill = np.array([1, 2, 3, 2, 1, np.nan]), np.array([0.5, 0.7, 0.6, 0.7, 0.4, 1])
    assert on_front(cost, skill).tolist() == [True, True, False, True, False, False]
    assert on_front(np.array([1.0, 1.0]), np.array([-np.inf, 0.0])).tolist() == [False, True]


@pytest.mark.slow
def test_points_are_the_summary_and_the_front_is_named(cube):
    part = cube.sel(density=0.4)
    ax = ce.plot.pareto(part, "shd", dim="algorithm")
    table = ce.summary(part, ["shd", "seconds"]).set_index(["metric", "algorithm"])
    points = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in of(ax, "point")]
    expected = list(zip(table.loc["seconds", "mean"], table.loc["shd", "skill"], strict=True))
    np.testing.assert_allclose(points, expected)
    front = on_front(*np.array(expected).T)
    [line] = of(ax, "front")
    np.testing.assert_allclose(np.sort(line.get_ydata()), np.sort(table.loc["shd", "skill"][front]))
    names = ", ".join(table.loc["shd"].index[front])
    assert f"front that no other level beats in both: {names}." in captions(ax.figure)
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "seconds (lower is better)"
    inside(ax.figure)


@pytest.mark.slow
def test_each_hue_has_a_front_and_a_maximised_cost_turns_it(cube):
    ax = ce.plot.pareto(cube, "shd", dim="algorithm", hue="density")
    assert len(of(ax, "front")) == 3 and len(of(ax, "point")) == 9
    ax = ce.plot.pareto(cube.sel(density=0.2), "shd", "n_nodes", dim="algorithm", scale="linear")
    assert ax.get_xlabel() == "n_nodes (higher is better)"
    # costs are equal, so that the best skill alone is on the front
    assert "in both: lingam." in captions(ax.figure)


@pytest.mark.slow
def test_points_at_one_place_share_their_numbers():
    rows = [(a, t, t) for a in "xyz" for t in ("A -> B; B -> C", "A -> C; B")]
    runs = pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"]).assign(seconds=[1, 1, 1, 1, 50, 50])
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=19, rng=1, values={"seconds": "minimize"})
    ax = ce.plot.pareto(cube, "shd", dim="algorithm")
    assert [text.get_text() for text in ax.texts if text.get_gid() == "number"] == ["1, 2", "3"]
    assert ax.get_legend().get_texts()[0].get_text() == "1  x"
    assert "in both: x, y." in captions(ax.figure)


@pytest.mark.slow
def test_thirty_levels_have_numbers_and_a_page():
    ax = ce.plot.pareto(many_levels(30).sel(n=10), "shd", dim="algorithm")
    shown = [x for text in ax.texts if text.get_gid() == "number" for x in text.get_text().split(", ")]
    assert sorted(map(int, shown)) == list(range(1, 31))
    assert ax.figure.get_figwidth() <= 7.1
    inside(ax.figure)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ("block", "which direction of 'block' is better is not known; make the cube with values="),
        ("shd", "metric and cost are both 'shd'"),
        ("minutes", "unknown metric of this cube 'minutes'"),
    ],
)
def test_costs_without_direction_are_refused(cube, cost, message):
    with pytest.raises(ValueError, match=message):
        ce.plot.pareto(cube.sel(density=0.2), "shd", cost, dim="algorithm")


@pytest.mark.slow
def test_costs_that_are_not_positive_have_no_place_on_a_log_axis(cube):
    free = cube.sel(density=0.2)
    free = free.assign(seconds=free["seconds"].copy(data=np.zeros_like(free["seconds"])))
    with pytest.raises(ValueError, match="mean of 'seconds' is not positive"):
        ce.plot.pareto(free, "shd", dim="algorithm")
    ce.plot.pareto(free, "shd", dim="algorithm", scale="linear")


def test_a_cost_that_is_best_in_the_middle_is_refused(make):
    aimed = make().sel(n=1000, density=0.2).copy(deep=True)
    aimed["adjacency_f1"].attrs["direction"] = "zero"
    with pytest.raises(ValueError, match="carry its distance from there"):
        ce.plot.pareto(aimed, "shd", "adjacency_f1", dim="algorithm")
