"""Forest plots: effects and limits of the table in its order, p-values, sides, rows without effect, refusals."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.statistics.words import p_text

from .conftest import ALGORITHMS, captions, inside


def words(ax, gid):
    return [text.get_text().replace("\n", " ") for text in ax.texts if text.get_gid() == gid]


def points(ax):
    drawn = [line for line in ax.lines if line.get_gid() in ("detected", "not detected")]
    return dict(xy[::-1] for line in drawn for xy in line.get_xydata().tolist())


@pytest.fixture
def part(cube):
    return cube.sel(n=1000, density=0.2)


@pytest.fixture
def compared(part):
    return part.ceval.compare("algorithm", metrics="shd", columns="full")


@pytest.mark.slow
def test_rows_are_the_table(cube):
    table = ce.compare(cube.sel(density=0.6), "algorithm", "shd", by="all", columns="full")
    ax = ce.plot.forest(table)
    found = points(ax)
    for row, effect in enumerate(table["effect"]):
        assert np.isnan(effect) if row not in found else found[row] == effect
    assert words(ax, "p") == ["no p" if np.isnan(p) else p_text(p) for p in table["p_adjusted"]]
    first = f"{table['n'][0]}, {table['comparison'][0]}"
    assert ax.get_yticklabels()[0].get_text().replace("\n", " ") == first
    assert ax.get_ylabel() == "n, comparison" and ax.get_ylim()[0] > ax.get_ylim()[1]
    assert words(ax, "side") == ["◂ first is better", "second is better ▸"]
    detected = int((table["p_adjusted"] <= 0.05).sum())
    assert f"(Holm's method) at most .05, {detected} of {len(table)} rows" in captions(ax.figure)
    assert len(words(ax, "undefined")) == table["effect"].isna().sum() == 2
    inside(ax.figure)


def test_a_reference_is_named_once_and_sides_follow_the_direction(part):
    table = ce.compare(part, "algorithm", metrics="adjacency_f1", reference=ALGORITHMS[0], columns="full")
    ax = ce.plot.forest(table)
    assert [tick.get_text().replace("\n", " ") for tick in ax.get_yticklabels()] == ALGORITHMS[1:]
    assert ax.get_xlabel().replace("\n", " ").endswith(f"adjacency F1, each - {ALGORITHMS[0]}")
    assert words(ax, "side") == [f"◂ {ALGORITHMS[0]} is better", "it is better ▸"]
    assert "No controls are drawn" in captions(ax.figure)


def test_tests_against_controls(cube):
    table = cube.sel(density=0.2, n=100).ceval.summary("shd", columns="full")
    ax = ce.plot.forest(table)
    assert [tick.get_text().replace("\n", " ") for tick in ax.get_yticklabels()] == ALGORITHMS
    assert words(ax, "side") == ["◂ controls are better", "estimates are better ▸"]
    assert words(ax, "p")[0].startswith("≤ ") and "Null model: edges, 60 draws per run." in captions(ax.figure)


def test_a_summary_shows_skill(part):
    table = part.ceval.summary(columns="full")
    ax = ce.plot.forest(table)
    assert list(points(ax).values()) == pytest.approx(table["skill"].tolist())
    [intervals] = [x for x in ax.collections if x.get_gid() == "intervals"]
    limits = [segment[:, 0].tolist() for segment in intervals.get_segments()]
    np.testing.assert_allclose(limits, table[["skill_low", "skill_high"]])
    assert ax.get_ylabel() == "algorithm, metric" and ax.get_xlabel() == "skill, 0 is guessing and 1 is perfect"
    assert words(ax, "p") == [p_text(p, at_floor=b) for p, b in zip(table["p_value"], table["p_at_floor"], strict=True)]
    assert words(ax, "side") == ["◂ controls are better", "estimates are better ▸"] and words(ax, "p head") == ["p"]
    text = captions(ax.figure)
    assert "skill and its 95 % interval; filled: better than controls by the stratum randomisation test, p (not" in text
    assert text.endswith("Null model: edges, 60 draws per run.")
    # small p alone is no verdict, and a table without it is judged by p
    doubtful = table.assign(verdict=["better", *["not all guesses"] * (len(table) - 1)])
    for drawn, n in ((doubtful, 1), (table.drop(columns="verdict"), len(table))):
        assert f", {n} of {len(table)} rows" in captions(ce.plot.forest(drawn).figure)
    assert "skill of structural Hamming" in ce.plot.forest(table[table["metric"] == "shd"]).get_xlabel()
    adjusted = ce.plot.forest(table.assign(p_adjusted=1.0, p_at_floor=False))
    assert set(words(adjusted, "p")) == {"1.0"}
    assert words(ce.plot.forest(part.ceval.summary("shd", adjust="holm", columns="full")), "p head") == ["adjusted p"]


@pytest.mark.slow
def test_effects_without_unit_share_an_axis_and_others_do_not(part):
    with pytest.raises(ValueError, match="effects of 'shd', 'adjacency_f1' have different units; choose one metric"):
        ce.plot.forest(part.ceval.compare("algorithm", columns="full"))
    ax = ce.plot.forest(part.ceval.compare("algorithm", on="skill", columns="full"))
    assert words(ax, "side") == ["◂ second is better", "first is better ▸"]
    assert "Null model: edges" in captions(ax.figure)


@pytest.mark.slow
def test_infinite_effects_and_limits_are_at_the_edges(compared):
    compared["effect"] = [np.inf, 1.0, -2.0]
    compared["ci_low"], compared["ci_high"] = [1.0, -np.inf, -3.0], [np.inf, 2.0, -1.0]
    ax = ce.plot.forest(compared)
    left, right = [line for line in ax.lines if line.get_gid() == "infinite"]
    assert left.get_ydata().tolist() == [1] and left.get_xdata()[0] == ax.get_xlim()[0]
    assert right.get_ydata().tolist() == [0] and right.get_xdata()[0] == ax.get_xlim()[1]
    inside(ax.figure)


def test_filled_points_are_detected_and_open_ones_are_not(compared):
    table = compared.assign(p_adjusted=[0.05, 0.051, 0.2], effect=[1.0, 2.0, 3.0])
    ax = ce.plot.forest(table)
    lines = {gid: line for line in ax.lines if (gid := line.get_gid()) in ("detected", "not detected")}
    assert lines["detected"].get_xdata().tolist() == [1] and lines["not detected"].get_xdata().tolist() == [2, 3]
    face = lines["not detected"].get_markerfacecolor()
    assert face == ax.get_facecolor() and lines["detected"].get_markerfacecolor() == lines["detected"].get_color()


def test_effects_that_are_all_0_have_room(compared):
    assert ce.plot.forest(compared.assign(effect=0.0, ci_low=0.0, ci_high=0.0)).get_xlim() == (-1, 1)


@pytest.mark.slow
def test_directions_of_other_metrics_can_be_given(compared):
    table = compared.assign(metric="loss")
    assert words(ce.plot.forest(table), "side") == []
    ax = ce.plot.forest(table, directions={"loss": "minimize"})
    assert words(ax, "side")[0] == "◂ first is better"
    with pytest.raises(ValueError, match="unknown direction"):
        ce.plot.forest(table, directions={"loss": "down"})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda table: [1], TypeError, "table"),
        (lambda table: table.drop(columns=["ci_low"]), ValueError, r"lacks the columns \['ci_low'\]; draw the result"),
        (lambda table: table.iloc[:0], ValueError, "no rows to draw"),
        (lambda table: pd.DataFrame({"a": [1]}), ValueError, "lacks the columns"),
    ],
)
def test_what_is_no_table_of_tests_is_refused(compared, change, error, message):
    with pytest.raises(error, match=message):
        ce.plot.forest(change(compared))


@pytest.mark.slow
def test_margins_and_other_settings_are_stated(part):
    equivalent = {"alternative": "equivalent", "margin": 1.5}
    for settings, at in ((equivalent, [-1.5, 1.5]), (equivalent | {"reference": ALGORITHMS[0]}, [-1.5, 1.5]), ({}, [])):
        ax = ce.plot.forest(part.ceval.compare("algorithm", metrics="shd", **settings, columns="full"))
        assert [line.get_xdata()[0] for line in ax.lines if line.get_gid() == "margin"] == at
        assert ("dotted: margin" in captions(ax.figure)) == bool(at)


def test_bounds_are_rounded_up(cube):
    table = cube.sel(density=0.2, n=100).ceval.summary("shd", columns="full")
    assert set(words(ce.plot.forest(table.assign(p_adjusted=0.01631, p_at_floor=True)), "p")) == {"≤ 0.017"}


def test_levels_that_all_rows_share_and_undefined_effects_are_named(cube):
    table = cube.sel(n=[1000], density=[0.2]).ceval.summary("shd", columns="full").assign(skill=np.nan, p_adjusted=0.01)
    text = captions(ce.plot.forest(table).figure)
    assert text.endswith("density = 0.2, n = 1000.") and "3 of 3 rows, 3 of these with an undefined effect" in text
    # the only row is named by its algorithm, which the caption need not repeat
    assert captions(ce.plot.forest(table[:1]).figure).endswith("per run. density = 0.2, n = 1000.")


def test_distances_from_the_optimum_are_named(compared):
    ax = ce.plot.forest(compared.assign(metric="bias"), directions={"bias": "zero"})
    assert "the distance of bias from its optimum" in ax.get_xlabel().replace("\n", " ")
