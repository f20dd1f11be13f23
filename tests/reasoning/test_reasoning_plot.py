"""Figures show what the tables say, and label it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import judge, make_tasks, plot, quantities, reasoners


@pytest.fixture(scope="module")
def table():
    tasks = make_tasks(["candy_party", "flu_vaccine"], [[3, 3, 3]], n_samples=300, min_pns=0.05, rng=3)
    names = ["perfect", "random", "always_no", "parrots_do"]
    return quantities(reasoners.baselines(tasks.questionnaire(), tasks, names=names, rng=1), by="model", worlds=tasks)


def large_points(ax):
    return {
        c.get_label(): c.get_offsets()[0]
        for c in ax.collections
        if len(c.get_offsets()) == 1 and c.get_label()[0] != "_"
    }


def test_the_quadrant_places_reasoners(table):
    ax = plot.quadrant(table)
    points = large_points(ax)
    assert set(points) == set(table["model"])
    assert points["random"][0] > 0.1
    assert points["random"][1] > 0.1
    assert points["parrots_do"][0] > 0.1 > points["parrots_do"][1]
    assert points["perfect"][0] < points["random"][0]
    assert {"valid, consistent", "invalid, inconsistent"} <= {t.get_text() for t in ax.texts}
    with pytest.raises(ValueError, match="no compositions"):
        plot.quadrant(table[table["kind"] != "composition"])
    with pytest.raises(ValueError, match="unknown column 'modle'; did you mean 'model'"):
        plot.quadrant(table, by="modle")


def test_points_that_coincide_are_moved_apart(table):
    constant = table[table["model"] == "always_no"]
    both = plot.quadrant(pd.concat([constant, constant.assign(model="twin")], ignore_index=True))
    points = large_points(both)
    assert points["always_no"][0] != points["twin"][0]
    assert np.sqrt(points["always_no"][0] * points["twin"][0]) == pytest.approx(1, abs=1e-6)


def test_the_cut_tree_draws_each_pair_by_its_decision(table):
    one = table[(table["model"] == "random") & (table["task"] == 0)]
    ax = plot.cut_tree(one)
    assert len(ax.patches) == 6
    decisions = judge(one)[lambda t: (t["quantity"] == "pns") & (t["kind"] != "composition")]["decision"]
    drawn = sum(p.get_linestyle() in (":", "dotted") for p in ax.patches)
    assert drawn == (decisions == "invalid").sum() > 0
    order = [t.get_text() for t in ax.texts if "(" not in t.get_text()]
    chain = one.loc[one["kind"] == "composition", "path"].iloc[0].split(" > ")
    assert order[: len(chain)] == chain
    with pytest.raises(ValueError, match="one task and one reasoner"):
        plot.cut_tree(table)


@pytest.mark.parametrize("x", ["mediators", "distance"])
@pytest.mark.parametrize("error", ["relative", "absolute"])
def test_complexity_has_bands_that_hold_their_reasoners(table, x, error):
    ax = plot.complexity(table, x=x, error=error)
    lines = {line.get_label(): line for line in ax.lines}
    bands = {c.get_label().split(",")[0]: c.get_paths()[0] for c in ax.collections}
    for name in ("random", "perfect"):
        points = np.column_stack(lines[name].get_data())
        ends = bands[name].vertices
        for at, value in points:
            here = ends[np.isclose(ends[:, 0], at), 1]
            assert here.min() - 1e-9 <= value <= here.max() + 1e-9
    with pytest.raises(ValueError, match="worlds="):
        plot.complexity(table.assign(mediators=None, distance=None))


def test_reliability_has_a_panel_a_level(table):
    figure = plot.reliability(table)
    assert [ax.get_title() for ax in figure.axes] == ["association", "intervention", "counterfactual"]
    for ax in figure.axes:
        points = next(c for c in ax.collections if c.get_label() == "perfect").get_offsets()
        assert np.abs(points[:, 0] - points[:, 1]).max() < 0.2
    assert len(plot.reliability(table[table["quantity"] == "pns"]).axes) == 1
    with pytest.raises(ValueError, match="ask quantities for these"):
        plot.reliability(table[table["quantity"] == "ate"])
