"""The figure of the difference of two graphs: classes of edges by definition, counts, names, refusals."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import causaleval_pd as ce


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def counts(ax):
    return dict(text.get_text().split(": ") for text in ax.get_legend().get_texts())


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
    network = ce.causal_kl.example_networks.metastatic()
    assert counts(ce.plot.difference(network, network)) == {"right": str(network.graph.n_edges)}


def test_graphs_over_other_nodes_are_refused():
    with pytest.raises(ValueError, match=r"truth has nodes \['A', 'B'\], estimate has \['A', 'C'\]"):
        ce.plot.difference("A -> B", "A -> C")


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
