"""Figures as wide as a column of a paper, with long names of algorithms: no text is cut off or covers another one."""

import itertools
import warnings

import matplotlib.pyplot as plt
import pytest

from .conftest import inside

pytestmark = pytest.mark.slow

NAMES = {
    "peter and clark": "PC (Fisher's z, significance level 0.05)",
    "greedy equivalence search": "Greedy equivalence search with the BIC",
    "zero": "Correlation thresholds of 0.3",
}


@pytest.fixture(scope="module")
def named(cube):
    levels = [NAMES[str(name)] for name in cube["algorithm"].to_numpy()]
    return cube.assign_coords(algorithm=levels).sel(n=1000)


def narrow(draw):
    """Draw into axes as wide as a column."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure, ax = plt.subplots(figsize=(3.4, 5), layout="constrained")
        draw(ax)
        inside(figure)
    return ax


def boxes(texts):
    return [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]


def overlap(a, b):
    """Return whether two boxes share more than rounding."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


def apart(texts):
    return not any(overlap(a, b) for a, b in itertools.combinations(boxes(texts), 2))


def readable(ax):
    """Check that texts in the axes and names along them are apart."""
    words = [t for t in ax.texts if t.get_gid() != "caption"]
    assert apart(words + ([*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []))


@pytest.mark.parametrize("value", ["p", "skill"])
@pytest.mark.parametrize("places", [{}, {"x": "algorithm", "y": "density"}], ids=["usual", "turned"])
def test_heat_maps_of_two_strata(named, value, places):
    readable(narrow(lambda ax: named.ceval.plot.heat_map("shd", value=value, ax=ax, **places)))


def test_figures_of_ranks_fit_a_column_and_a_page(named):
    plot = named.sel(density=0.4).ceval.plot
    readable(narrow(lambda ax: plot.critical_difference("shd", "algorithm", ax=ax)))
    ax = plot.critical_difference("shd", "algorithm")
    assert ax.figure.get_figwidth() <= 8
    inside(ax.figure)
    readable(ax)
