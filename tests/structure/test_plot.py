"""Figures of graphs: expected curves."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

import causaleval_pd as ce


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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
    assert "exact values, no draws; bands: 95 % null intervals" in caption(ax.figure)
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


def test_curves_that_cannot_be():
    with pytest.raises(ValueError, match="unknown metric 'adjacency_f2'"):
        ce.plot.expected_curves("adjacency_f2", n_nodes=5, true_edges=5)
    with pytest.raises(ValueError, match="true_edges is 11, but 5 nodes have only 10 pairs"):
        ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[5, 11])
    with pytest.raises(ValueError, match="estimated_edges is 12, but 5 nodes have only 10 pairs"):
        ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[5], estimated_edges=[2, 12])
    with pytest.raises(ValueError, match="estimated_edges is empty"):
        ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[5], estimated_edges=[])
    with pytest.raises(ValueError, match="true_edges is empty"):
        ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[])
    with pytest.raises(ValueError, match="no closed form"):
        ce.plot.expected_curves("v_structure_f1", n_nodes=5, true_edges=5)
    assert not plt.get_fignums()
