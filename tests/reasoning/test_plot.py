"""Figures show what the tables say, and label it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners, taxonomy


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


@pytest.mark.slow
def test_the_quadrant_places_reasoners(table):
    ax = plot.quadrant(table)
    points = large_points(ax)
    assert set(points) == set(table["model"])
    assert points["random"][0] > 1
    assert points["random"][1] > 1
    assert points["parrots_do"][0] > 1 > points["parrots_do"][1]
    assert points["perfect"].tolist() == [0, 0]
    assert {"valid, consistent", "invalid, inconsistent"} <= {t.get_text() for t in ax.texts}
    with pytest.raises(ValueError, match="no compositions"):
        plot.quadrant(table[table["kind"] != "composition"])
    with pytest.raises(ValueError, match="unknown column 'modle'; did you mean 'model'"):
        plot.quadrant(table, by="modle")


@pytest.mark.slow
@pytest.mark.parametrize("convention", [None, "paper"])
def test_the_quadrant_agrees_with_the_classes(convention):
    tasks = make_tasks("candy_party", [[3, 3, 3]], n_tasks=2, n_samples=400, min_pns=0.02, rng=3)
    table = quantities(reasoners.baselines(tasks.questionnaire(), tasks, rng=1), by="model", worlds=tasks)
    classes = taxonomy(table, by="model", convention=convention).set_index(["model", "task"])["class"]
    assert classes.nunique() >= 3
    for task in (0, 1):
        points = large_points(plot.quadrant(table[table["task"] == task], convention=convention))
        for model, (x, y) in points.items():
            found = ("V" if x <= 1 else "I") + ("C" if y <= 1 else "I")
            assert pd.isna(classes[model, task]) or found == classes[model, task], (model, task)
        plt.close()


@pytest.mark.slow
def test_points_that_coincide_stand_where_they_are(table):
    constant = table[table["model"] == "always_no"]
    alone = large_points(plot.quadrant(constant))["always_no"]
    both = plot.quadrant(pd.concat([constant, constant.assign(model="twin")], ignore_index=True))
    points = large_points(both)
    assert points["always_no"].tolist() == points["twin"].tolist() == alone.tolist()
    sizes = {c.get_label(): c.get_sizes()[0] for c in both.collections if c.get_label() in points}
    orders = {c.get_label(): c.get_zorder() for c in both.collections if c.get_label() in points}
    assert sizes["always_no"] > 2 * sizes["twin"]
    assert orders["always_no"] < orders["twin"]


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


@pytest.mark.slow
def test_reliability_has_a_panel_a_level(table):
    figure = plot.reliability(table)
    assert [ax.get_title() for ax in figure.axes] == ["association", "intervention", "counterfactual"]
    for ax in figure.axes:
        points = next(c for c in ax.collections if c.get_label() == "perfect").get_offsets()
        assert np.abs(points[:, 0] - points[:, 1]).max() < 0.2
    assert len(plot.reliability(table[table["quantity"] == "pns"]).axes) == 1
    with pytest.raises(ValueError, match="ask quantities for these"):
        plot.reliability(table[table["quantity"] == "ate"])


def caption_of(figure):
    return " ".join(t.get_text().replace("\n", " ") for t in figure.findobj(Text) if t.get_gid() == "caption")


@pytest.mark.slow
def test_long_names_and_many_reasoners_leave_room_for_the_axes(table):
    rows = table[(table["model"] == "random") & (table["task"] == 0)]
    long = rows.assign(model="some-organisation/a-very-long-name-of-a-model-70b-v3.1 with a chain of thought")
    many = pd.concat([rows.assign(model=f"model {i:02d}") for i in range(30)], ignore_index=True)
    for several in (long, many):
        for draw in (plot.quadrant, plot.complexity, plot.reliability):
            drawn = draw(several)
            figure = getattr(drawn, "figure", drawn)
            figure.canvas.draw()
            (width, height), tight = figure.get_size_inches(), figure.get_tightbbox()
            assert tight.x0 > -0.02 and tight.y0 > -0.02 and tight.x1 < width + 0.02 and tight.y1 < height + 0.02
            assert sum(ax.get_position().width for ax in figure.axes) > 0.45
    assert len(plot.quadrant(many).get_legend().get_texts()) == 30


@pytest.mark.slow
def test_reasoners_without_an_estimate_are_named(table):
    silent = table["model"] == "always_no"
    some = table.assign(estimate=table["estimate"].mask(silent))
    for draw in (plot.quadrant, plot.complexity, plot.reliability):
        drawn = draw(some)
        assert "without an estimate: always_no" in caption_of(getattr(drawn, "figure", drawn))
        drawn = draw(table)
        assert "without" not in caption_of(getattr(drawn, "figure", drawn))


def test_bands_of_one_place_can_be_seen(table):
    ax = plot.complexity(table[table["mediators"] == table["mediators"].min()])
    for band in ax.collections:
        assert np.ptp(band.get_paths()[0].vertices[:, 0]) > 0.1
