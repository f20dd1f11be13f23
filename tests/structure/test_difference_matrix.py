"""The figure of many differences: shares of edges by hand, directions, frames, names, refusals."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import causaleval_pd as ce

OUTCOMES = ("right", "reversed", "wrong mark", "missing", "extra")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def table(truths, estimates):
    return pd.DataFrame({"truth": truths, "estimate": estimates})


def widths(ax):
    """Return the width of what is drawn, by outcome and by names of row and column."""
    rows, columns = ([tick.get_text() for tick in ticks] for ticks in (ax.get_yticklabels(), ax.get_xticklabels()))
    found = {}
    for part in ax.collections:
        if part.get_gid() in OUTCOMES:
            for path in part.get_paths():
                (left, top), (right, bottom) = path.vertices.min(axis=0), path.vertices.max(axis=0)
                at = rows[round((top + bottom) / 2)], columns[round((left + right) / 2)]
                found[part.get_gid(), *at] = round((right - left) / 0.92, 6)
    return found


def caption(ax):
    found = ax.figure.findobj(lambda artist: artist.get_gid() == "caption")
    return " ".join(" ".join(text.get_text() for text in found).split())


def test_squares_are_shares_of_runs():
    estimates = ["A -> B; B -> C; D", "B -> A; D -> A; C", "A -- B; C -> D", None]
    ax = ce.plot.difference_matrix(table("A -> B; B -> C; D", estimates))
    assert isinstance(ax, Axes)
    assert widths(ax) == pytest.approx(
        {
            ("right", "A", "B"): 1 / 3,
            ("reversed", "A", "B"): 1 / 3,
            ("wrong mark", "A", "B"): 1 / 3,
            ("right", "B", "C"): 1 / 3,
            ("missing", "B", "C"): 2 / 3,
            ("extra", "D", "A"): 1 / 3,
            ("extra", "C", "D"): 1 / 3,
        },
        abs=1e-6,
    )
    [frames] = [part for part in ax.collections if part.get_gid() == "frame"]
    assert len(frames.get_paths()) == 2
    assert ax.get_legend().get_texts()[0].get_text() == "right: 0.667 a run"
    assert "shares of 3 runs; frames: true edges; most often missing: B, C (2 of 3); " in caption(ax)
    assert "most often extra: A, D and 1 more pair (1 of 3); not drawn: 1 failed run; no controls" in caption(ax)


@pytest.mark.slow
def test_edges_without_direction_fill_both_squares():
    ax = ce.plot.difference_matrix(table(["A -- B; C", "A <-> B; C"], ["A -- B; C o-o B", "A; B; C o-> B"]))
    assert widths(ax) == pytest.approx(
        {
            **{(what, *pair): 0.5 for what in ("right", "missing") for pair in ("AB", "BA")},
            ("extra", "C", "B"): 1,
            ("extra", "B", "C"): 0.5,
        },
        abs=1e-6,
    )
    # truths differ, so that no edge is the true one of all rows
    assert "frame" not in {part.get_gid() for part in ax.collections}
    assert "most often extra: B, C (2 of 2)" in caption(ax)


def test_totals_are_those_of_the_metrics():
    runs = ce.datasets.runs().query("algorithm == 'pc' and density == 0.4 and n == 100")
    runs = runs[runs["truth"] == runs["truth"].iloc[0]]
    ax = ce.plot.difference_matrix(runs)
    scored = runs.ceval.evaluate(["adjacency_fp", "adjacency_fn"])
    means = dict(text.get_text().split(": ") for text in ax.get_legend().get_texts())
    for what, metric in (("extra", "adjacency_fp"), ("missing", "adjacency_fn")):
        assert means.get(what, "0 a run") == f"{scored[metric].mean():.3g} a run"


@pytest.mark.slow
@pytest.mark.parametrize("n_nodes", [5, pytest.param(40, marks=pytest.mark.slow)])
def test_names_stay_apart_in_given_axes_and_alone(n_nodes):
    names = [f"a_long_name_of_the_variable_{i:02d}" for i in range(n_nodes)]
    rng, text = np.random.default_rng(2), "; ".join(names)
    graphs = [
        "; ".join([f"{a} -> {b}" for a, b in itertools.pairwise(names) if rng.random() < 0.6] + [text]) for _ in "abc"
    ]
    given = plt.figure(figsize=(7, 8), layout="constrained").add_subplot()
    for where in (None, given):
        ax = ce.plot.difference_matrix(table(graphs[0], graphs), ax=where)
        ax.figure.canvas.draw()
        labels = [tick.get_text() for tick in ax.get_yticklabels()]
        assert len(set(labels)) == n_nodes
        for ticks in (ax.get_yticklabels(), ax.get_xticklabels()):
            boxes = [tick.get_window_extent() for tick in ticks]
            assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


@pytest.mark.slow
@pytest.mark.parametrize(("n_nodes", "size"), [(8, (3.4, 3.4)), (12, (3.4, 4.0)), (12, (3.4, 5.0))])
def test_names_stay_apart_at_column_width(n_nodes, size):
    graph = "; ".join(f"a_long_name_of_the_variable_{i:02d}" for i in range(n_nodes))
    ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    ce.plot.difference_matrix(table(graph, [graph]), ax=ax)
    ax.figure.canvas.draw()
    for ticks in (ax.get_yticklabels(), ax.get_xticklabels()):
        boxes = [tick.get_window_extent() for tick in ticks]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
        assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)


def test_cells_with_a_graph_are_drawn_by_it():
    network = ce.causal_kl.example_networks.metastatic()
    ax = ce.plot.difference_matrix(table([network], [network]))
    assert sum(widths(ax).values()) == pytest.approx(network.graph.n_edges)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (table("A -> B", ["A -> B", "A -> C"]), r"column 'truth', row 0 .* and column 'estimate', row 1 .* differ in"),
        (table(["A -> B", "A -> B; C"], ["A -> B", "A; B; C"]), r"and column 'truth', row 1 .*query"),
        (table("A -> B", [None, None]), "no row has an estimate to draw; 2 of 2 runs failed"),
        (table("A -> B", ["A -> B"]).rename(columns={"truth": "t"}), "unknown column 'truth'"),
        (table("A", ["A"]), "the graphs have 1 node, expected at least two"),
        (table([None], ["A -> B"]), "column 'truth', row 0"),
    ],
)
def test_what_cannot_be_drawn_is_named(runs, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ce.plot.difference_matrix(runs)


def test_colours_stay_apart_without_green_receptors():
    # deuteranopia by Machado, Oliveira and Fernandes (2009), 10.1109/TVCG.2009.113, on linear light
    seen = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]])
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    true = "A -> B; B -> C; C -> D; D -> E; E"
    ax = ce.plot.difference_matrix(table([true], ["A -> B; C -> B; C -- D; A -> E"]))
    shades = np.array([patch.get_facecolor()[:3] for patch in ax.get_legend().get_patches()])
    assert len(shades) == 5
    light = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.clip(light @ seen.T, 0, 1) @ to_xyz.T / [0.9505, 1, 1.089]).T
    lab = np.stack([116 * y, 500 * (x - y), 200 * (y - z)], axis=1)
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(lab, 2)) > 20
