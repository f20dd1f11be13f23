"""Figures of twelve algorithms with long names: of a page's width where they choose it, and readable in a column."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import seaborn as sns

import causaleval_pd as ce

from .conftest import captions, graph, inside
from .test_column_width import apart, narrow, readable

pytestmark = pytest.mark.slow

NAMES = [
    "PC-stable with Fisher-z (alpha = 0.01)", "GES with extended BIC penalty (gamma=2)",
    "NOTEARS-MLP-nonlinear_v2.1_final", "DirectLiNGAM + adaptive lasso pruning", "GPT-4o-mini chain-of-thought, 5-shot",
    "Claude pairwise prompting (majority of 7)", "Llama-3.1-405B-Instruct_temperature_0.7",
    "Score-matching (SCORE), kernel bandwidth tuned", "BOSS (best order score search) lambda=4",
    "FCI-max-rule_with_conservative_colliders", "DAGMA linear, thresholded at omega 0.3",
    "random_forest_variable_importance_baseline",
]  # fmt: skip


@pytest.fixture(scope="module")
def twelve():
    rng = np.random.default_rng(3)
    rows = []
    for truth in range(6):
        true = rng.choice(15, 6, replace=False)
        for keep, name in enumerate(NAMES):
            for density in ("sparse", "dense"):
                estimate = graph(np.unique(np.r_[true[keep // 2 :], rng.choice(15, 2)]))
                rows.append((name, density, truth, graph(true), estimate))
    runs = pd.DataFrame(rows, columns=["algorithm", "density", "replicate", "truth", "estimate"])
    runs.loc[runs["algorithm"].eq(NAMES[1]) & runs["density"].eq("dense"), "estimate"] = None
    return runs.ceval.cube(["shd"], by=["algorithm", "density"], n_draws=20, rng=1, replicate="replicate")


def words(figure, *, axes):
    """Return the texts beside the plots: names of levels, titles of facets, legends."""
    texts = [t for ax in axes for t in (*ax.get_xticklabels(), *ax.get_yticklabels(), ax.title) if ax.axison]
    return texts + [t for legend in figure.legends for t in legend.get_texts()]


@pytest.mark.parametrize("value", ["p", "skill"])
def test_new_heat_maps_are_not_wider_than_their_squares_need(twelve, value):
    ax = twelve.ceval.plot.heat_map("shd", value=value, x="algorithm")
    inside(ax.figure)
    readable(ax)
    assert ax.figure.get_figwidth() < 17
    # squares stay as high as they were without the names below
    assert ax.get_window_extent().height / ax.figure.dpi > 0.4 * len(ax.get_yticks())


@pytest.mark.parametrize("uses", [{"x": "density", "hue": "algorithm"}, {"x": "density", "col": "algorithm"}])
@pytest.mark.parametrize("theme", [{}, {"context": "talk"}])
def test_legends_and_titles_of_facets_have_room(twelve, uses, theme):
    with mpl.rc_context(sns.plotting_context(**theme) if theme else {}):
        grid = twelve.ceval.plot.strata("shd", **uses)
        figure = grid.figure
        inside(figure)
    [caption] = [t for t in figure.findobj(mpl.text.Text) if t.get_gid() == "caption"]
    legend = figure.legends[0].get_window_extent()
    assert legend.y0 >= caption.get_window_extent().y1 and legend.y1 <= figure.bbox.height
    assert apart(words(figure, axes=grid.axes.flat if not theme else []))
    # names are broken between their words
    assert "random_forest_variable_imp" not in [t.get_text().split("\n")[0] for t in figure.legends[0].get_texts()]


def test_captions_name_strata_without_a_value(twelve):
    failed = "all runs failed: (GES with extended BIC penalty (gamma=2), dense)"
    part, others = twelve.isel(algorithm=slice(4, 7)), twelve.isel(algorithm=slice(0, 3))
    for cube in (part, others):
        plot = cube.ceval.plot
        for grid in (plot.strata("shd", x="density", hue="algorithm"), plot.distributions("shd", hue="algorithm")):
            assert (failed in captions(grid.figure)) == (cube is part)
    gone = part.where((part["algorithm"] != NAMES[9]) | (part["density"] != "dense"))
    grid = gone.ceval.plot.strata("shd", x="density", hue="algorithm")
    # lines of captions break at hyphens
    assert "no runs: (FCI-max-rule_with_conservative_colliders, dense);" in captions(grid.figure).replace("- ", "-")
    assert "the only stratum" in captions(part.isel(algorithm=[1], density=[0]).ceval.plot.distributions("shd").figure)


@pytest.mark.parametrize("width", [None, 3.4])
def test_legends_of_curves_stay_off_the_lines(width):
    rng = np.random.default_rng(1)
    rows = [(name, "0 -> 1; 1 -> 2; 3", rng.random((4, 4))) for name in NAMES]
    runs = pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"])
    runs["estimate"] = ce.score_column(list(runs["estimate"]), encoding="row->column")
    if width is None:
        ax = ce.plot.curves(runs, "roc", by="algorithm")
        inside(ax.figure)
    else:
        ax = narrow(lambda ax: ce.plot.curves(runs, "roc", by="algorithm", ax=ax))
    legend = ax.get_legend().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1 - 1 or legend.x0 >= ax.get_window_extent().x1 - 1


def test_nodes_with_long_names_can_be_told_apart():
    nodes = [f"protein_kinase_{i}_phosphorylated" for i in range(12)]
    graph_text = "; ".join([f"{nodes[0]} -> {nodes[1]}", *nodes])
    runs = pd.DataFrame({"truth": [graph_text], "estimate": [graph_text]})
    ax = ce.plot.difference_matrix(runs)
    assert len({label.get_text() for label in ax.get_yticklabels()}) == 12
    ax = ce.plot.difference(graph_text, graph_text)
    assert len({text.get_text() for text in ax.texts if "phosphor" in text.get_text()}) == 12


@pytest.mark.parametrize("seed", range(6))
def test_names_of_nodes_stay_inside_new_figures(seed):
    rng = np.random.default_rng(seed)
    nodes = [f"protein_kinase_{i}_phosphorylated" for i in range(12)]
    pairs = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
    true, found = (
        "; ".join([*(f"{pairs[i][0]} -> {pairs[i][1]}" for i in rng.choice(66, 15, replace=False)), *nodes])
        for _ in range(2)
    )
    ax = ce.plot.difference(true, found)
    inside(ax.figure)
    assert sum("phosphorylated" in text.get_text() for text in ax.texts) == 12


def test_grids_of_a_theme_are_not_drawn_over_squares(twelve):
    with mpl.rc_context({"axes.grid": True}):
        part = twelve.isel(algorithm=slice(0, 3))
        figures = [part.ceval.plot.heat_map("shd", value=value) for value in ("p", "skill")]
        members = pd.DataFrame({"run": 1, "truth": "A -> B; B -> C", "estimate": ["A -> B; B -> C", "A -> B; C"]})
        figures.append(ce.plot.edge_probabilities(members.ceval.pool("run")["estimate"][0]))
    for ax in figures:
        assert not any(line.get_visible() for line in (*ax.get_xgridlines(), *ax.get_ygridlines()))
