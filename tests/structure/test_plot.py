"""Figures of graphs: expected curves, the difference of two graphs and of many; names, captions, refusals."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import causaleval_pd as ce


def caption(figure):
    found = [text for text in figure.findobj(mpl.text.Text) if text.get_gid() == "caption"]
    return " ".join(text.get_text().replace("\n", " ") for text in found)


def test_curves_are_the_expected_metric():
    ax = ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[5, 8])
    assert isinstance(ax, Axes)
    assert [line.get_label() for line in ax.lines] == ["5", "8"]
    for line, band, edges in zip(ax.lines, ax.collections, (5, 8), strict=True):
        table = ce.expected_metric("adjacency_f1", n_nodes=5, true_edges=edges, estimated_edges=range(11))
        np.testing.assert_array_equal(line.get_ydata(), table["mean"])
        np.testing.assert_array_equal(line.get_xdata(), np.arange(11))
        corners = band.get_paths()[0].vertices
        at_seven = np.sort(np.unique(corners[corners[:, 0] == 7, 1]))
        np.testing.assert_allclose(at_seven, np.sort(table.loc[7, ["low", "high"]].to_numpy(float)))
    assert ax.get_ylabel() == "adjacency F1 (higher is better)"
    assert ax.get_xlabel() == "number of estimated edges"
    assert "exact values, no draws; bands: 95 % of the graphs" in caption(ax.figure)
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_a_metric_without_interval_has_no_band():
    ax = ce.plot.expected_curves("shd", n_nodes=4, true_edges=3)
    assert not any(len(path.vertices) for band in ax.collections for path in band.get_paths())
    assert ax.lines[0].get_ydata()[2] == pytest.approx(3 + 2 - 1.5 * 3 * 2 / 6)
    assert "no closed form" in caption(ax.figure)


def test_large_graphs_have_a_limited_number_of_points():
    ax = ce.plot.expected_curves("adjacency_recall", n_nodes=60, true_edges=[100])
    at = ax.lines[0].get_xdata()
    assert len(at) == 201
    assert (at[0], at[-1]) == (0, 1770)


def test_chosen_numbers_of_estimated_edges():
    ax = ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[5, 8], estimated_edges=range(10, 4, -1))
    at, values = ax.lines[0].get_data()
    assert at.tolist() == [5, 6, 7, 8, 9, 10]
    # the paper's Figure 2
    assert values[[0, 5]] == pytest.approx([0.5, 2 / 3])
    assert ax.lines[1].get_ydata()[[2, 5]] == pytest.approx([56 / 75, 8 / 9])


def counts(ax):
    labels = [text.get_text().replace("\n", " ").split(": ") for text in ax.get_legend().get_texts()]
    assert all(what.endswith(", as estimated") == what.startswith(("reversed", "wrong")) for what, _ in labels)
    return {what.partition(",")[0]: number for what, number in labels}


@pytest.mark.parametrize(
    ("truth", "estimate", "expected"),
    [
        ("A -> B; B -> C; C -> D", "A -> B; C -> B; A -- D", {"right": 1, "reversed": 1, "missing": 1, "extra": 1}),
        ("A -> B; B -- C", "A -- B; B -- C", {"right": 1, "wrong mark": 1}),
        ("A -> B; B -> C; C", "A o-> B; B <-> C", {"wrong mark": 2}),
        ("A -> B; A <-> B; C", "A -> B; C", {"wrong mark": 1}),
        ("A -> B; A <-> B; C", "A -> B; A <-> B; C", {"right": 1}),
    ],
)
def test_edges_are_counted_by_what_became_of_them(truth, estimate, expected):
    ax = ce.plot.difference(truth, estimate)
    assert counts(ax) == {what: str(n) for what, n in expected.items()}
    drawn = [patch.get_gid() for patch in ax.patches if patch.get_gid()]
    assert sorted(drawn) == sorted(what for what, n in expected.items() for _ in range(n))


@pytest.mark.slow
def test_classes_add_up_to_the_metrics():
    runs = ce.datasets.runs().query("algorithm == 'lingam'").head(5)
    scored = runs.ceval.evaluate(["adjacency_tp", "adjacency_fp", "adjacency_fn"])
    for row in scored.itertuples():
        found = {what: int(n) for what, n in counts(ce.plot.difference(row.truth, row.estimate)).items()}
        assert found.get("missing", 0) == row.adjacency_fn and found.get("extra", 0) == row.adjacency_fp
        assert sum(found.get(x, 0) for x in ("right", "reversed", "wrong mark")) == row.adjacency_tp


@pytest.mark.slow
def test_forty_nodes_keep_their_names_apart_and_layouts_repeat():
    rng, names = np.random.default_rng(1), [f'"a long name of variable {i}"' for i in range(40)]
    edges = [f"{names[i]} -> {names[j]}" for i in range(40) for j in range(i + 1, 40) if rng.random() < 0.05]
    ax, again = (ce.plot.difference("; ".join(edges + names), "; ".join(edges[:20] + names)) for _ in range(2))
    assert len(ax.texts) == 40
    assert [text.xy for text in ax.texts] == [text.xy for text in again.texts]
    assert max(len(text.get_text()) for text in ax.texts) <= 24
    places = np.array([text.xy for text in ax.texts])
    apart = np.hypot(*(places[:, None] - places).T)[np.triu_indices(40, 1)]
    assert apart.min() > 0.05


@pytest.mark.slow
def test_cells_with_a_graph_are_compared_by_it():
    graph = ce.as_graph("A -> B; C")
    assert counts(ce.plot.difference(graph, graph.to_bytes())) == {"right": "1"}
    network = ce.causal_kl.metastatic()
    assert counts(ce.plot.difference(network, network)) == {"right": str(network.graph.n_edges)}


def test_graphs_without_edges_have_no_legend():
    ax = ce.plot.difference("A; B", "A; B")
    assert ax.get_legend() is None and len(ax.texts) == 2


def test_given_axes_have_the_caption_below_and_room_for_the_legend():
    fig, ax = plt.subplots(figsize=(3.4, 4), layout="constrained")
    ce.plot.difference("A -> B; B -> C; C -> D", "A -> B; C -> B; A -- D", ax=ax)
    fig.canvas.draw()
    [text] = [text for text in ax.texts if text.get_gid() == "caption"]
    box, nodes = text.get_window_extent(), ax.get_window_extent()
    assert 0 <= box.y0 < box.y1 <= nodes.y0 and box.x1 <= fig.bbox.x1
    # the legend stands above, not beside
    assert nodes.width > 0.9 * fig.bbox.width and ax.get_legend().get_window_extent().y0 >= nodes.y1


OUTCOMES = ("right", "reversed", "wrong mark", "missing", "extra")


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


def test_squares_are_shares_of_runs():
    estimates = ["A -> B; B -> C; D", "B -> A; D -> A; C", "A -- B; C -> D", None]
    ax = ce.plot.difference_matrix(table("A -> B; B -> C; D", estimates))
    assert isinstance(ax, Axes)
    assert widths(ax) == pytest.approx(
        {
            ("right", "A", "B"): 1 / 3, ("reversed", "A", "B"): 1 / 3, ("wrong mark", "A", "B"): 1 / 3,
            ("right", "B", "C"): 1 / 3, ("missing", "B", "C"): 2 / 3, ("extra", "D", "A"): 1 / 3,
            ("extra", "C", "D"): 1 / 3,
        },
        abs=1e-6,
    )  # fmt: skip
    [frames] = [part for part in ax.collections if part.get_gid() == "frame"]
    assert len(frames.get_paths()) == 2
    assert ax.get_legend().get_texts()[0].get_text() == "right: 0.667 per run"
    reversed_edges = "reversed and wrongly marked ones stand where the true edge points"
    assert f"by shares of 3 runs; {reversed_edges}; frames: true edges; " in caption(ax.figure)
    assert "true edges; most often missing: B, C (2 of 3); " in caption(ax.figure)
    assert "most often extra: A, D and 1 more pair (1 of 3); not drawn: 1 failed run; no controls" in caption(ax.figure)


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
    assert "most often extra: B, C (2 of 2)" in caption(ax.figure)


def test_totals_are_those_of_the_metrics():
    runs = ce.datasets.runs().query("algorithm == 'pc' and density == 0.4 and n == 100")
    runs = runs[runs["truth"] == runs["truth"].iloc[0]]
    ax = ce.plot.difference_matrix(runs)
    scored = runs.ceval.evaluate(["adjacency_fp", "adjacency_fn"])
    means = dict(text.get_text().split(": ") for text in ax.get_legend().get_texts())
    for what, metric in (("extra", "adjacency_fp"), ("missing", "adjacency_fn")):
        assert means.get(what, "0 per run") == f"{scored[metric].mean():.3g} per run"


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
    network = ce.causal_kl.metastatic()
    ax = ce.plot.difference_matrix(table([network], [network]))
    assert sum(widths(ax).values()) == pytest.approx(network.graph.n_edges)


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


FIVE = {"n_nodes": 5, "true_edges": [5]}


@pytest.mark.parametrize(
    ("figure", "arguments", "settings", "message"),
    [
        ("expected_curves", ["adjacency_f2"], FIVE, "unknown metric 'adjacency_f2'"),
        ("expected_curves", ["shd"], FIVE | {"true_edges": [5, 11]}, "true_edges is 11, but 5 nodes have only 10"),
        ("expected_curves", ["shd"], FIVE | {"estimated_edges": [2, 12]}, "edges is 12, but 5 nodes have only 10"),
        ("expected_curves", ["shd"], FIVE | {"estimated_edges": []}, "estimated_edges is empty"),
        ("expected_curves", ["shd"], FIVE | {"true_edges": []}, "true_edges is empty"),
        ("expected_curves", ["v_structure_f1"], FIVE, "no closed form"),
        ("difference", ["A -> B", "A -> C"], {}, r"truth has nodes \['A', 'B'\], estimate has \['A', 'C'\]"),
        *(("difference_matrix", [runs], {}, message) for runs, message in (
            (table("A -> B", ["A -> B", "A -> C"]), r"column 'truth', row 0 .* and column 'estimate', row 1 .* differ"),
            (table(["A -> B", "A -> B; C"], ["A -> B", "A; B; C"]), r"and column 'truth', row 1 .*query"),
            (table("A -> B", [None, None]), "no row has an estimate to draw; 2 of 2 runs failed"),
            (table("A -> B", ["A -> B"]).rename(columns={"truth": "t"}), "unknown column 'truth'"),
            (table("A", ["A"]), "the graphs have 1 node, expected at least two"),
            (table([None], ["A -> B"]), "column 'truth', row 0"),
        )),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_named(figure, arguments, settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(ce.plot, figure)(*arguments, **settings)
    assert not plt.get_fignums()
