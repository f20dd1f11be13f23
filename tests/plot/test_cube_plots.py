"""Figures are registered where they are implemented, listed, and found on `ce.plot` and `cube.ceval.plot`."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.figure import FIGURES

from ..recorded import figures as drawn

OWN = ["critical_difference", "distributions", "heat_map", "published", "strata"]


@pytest.fixture
def toy() -> Iterator[Any]:
    """A figure of a third party."""

    @ce.figure("missing edges of each run", of="cube", concludes="nothing")
    def toy(cube: Any, metric: str, *, colour: str = "red") -> Any:
        """Draw the values of a metric."""
        ax = plt.figure().add_subplot()
        ax.plot(cube[metric].to_numpy().ravel(), color=colour)
        return ax

    yield toy
    del FIGURES["toy"]


def test_a_toy_figure_goes_everywhere(toy: Any, cube: Any) -> None:
    assert ce.list_figures().loc["toy"].tolist() == ["missing edges of each run", "cube", "", "nothing"]
    assert ce.plot.toy is toy and "toy" in dir(ce.plot) and "toy" in ce.plot.__all__
    assert "toy" in dir(cube.ceval.plot)
    assert str(inspect.signature(cube.ceval.plot.toy)) == "(metric: 'str', *, colour: 'str' = 'red') -> 'Any'"
    assert cube.ceval.plot.toy.__doc__ == "Draw the values of a metric."
    ax = cube.ceval.plot.toy("shd", colour="blue")
    assert ax.lines[0].get_color() == "blue" and len(ax.lines[0].get_ydata()) == cube["shd"].size


def test_a_removed_figure_is_gone(cube: Any) -> None:
    assert "toy" not in ce.list_figures().index
    with pytest.raises(AttributeError, match="unknown figure 'toy'"):
        _ = ce.plot.toy
    with pytest.raises(AttributeError, match=r"unknown figure 'strat' of a cube; did you mean 'strata'\?"):
        _ = cube.ceval.plot.strat
    assert not hasattr(cube.ceval.plot, "hypergraph"), "a figure of cells is not drawn from a cube"


def test_methods_have_the_signatures_and_docstrings_of_the_functions(cube: Any) -> None:
    assert set(OWN) == set(ce.list_figures("cube").index)
    for name in OWN:
        function, found = getattr(ce.plot, name), getattr(cube.ceval.plot, name)
        assert name in vars(ce.plot.CubePlots), "written out for type checkers"
        assert found.__doc__ == function.__doc__
        first, *rest = inspect.signature(function).parameters.values()
        assert first.name == "cube" and list(inspect.signature(found).parameters.values()) == rest


def test_figures_of_fields_are_public() -> None:
    for name in ("expected_curves", "hypergraph", "model_difference", "score_profile"):
        assert name in ce.plot.__all__ and callable(getattr(ce.plot, name))
        assert ce.list_figures().loc[name, "field"] in ("graph", "formula")
    namespace: dict[str, Any] = {}
    exec("from causaleval_pd.plot import *; from causaleval_pd.plot import hypergraph", namespace)
    assert set(ce.plot.__all__) <= set(namespace)
    assert ce.reasoning.plot.quadrant is ce.plot.quadrant


@pytest.mark.slow
def test_figures_can_be_listed_without_drawing() -> None:
    code = "import sys, causaleval_pd as ce; ce.list_figures(); dir(ce.plot); sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ce.list_figures().index))
def test_every_figure_has_a_caption_that_is_switched_off(name: str) -> None:
    draw = (drawn.FIGURES | drawn.NOT_RECORDED)[name]
    draw()
    [number] = plt.get_fignums()
    texts = [x.get_text() for x in plt.figure(number).findobj(mpl.text.Text) if x.get_gid() == "caption"]
    [caption] = (" ".join(text.split()) for text in texts)
    assert caption.endswith(".")
    if name in ("strata", "distributions", "heat_map"):
        assert "Null model: " in caption and "draws per run." in caption
    plt.close("all")
    draw(caption=False)
    assert not [x for x in plt.gcf().findobj(mpl.text.Text) if x.get_gid() == "caption" and x.get_text()]
