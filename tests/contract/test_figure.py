"""Figures: registered by name, listed by what they are drawn from."""

from typing import Any

import pytest

import causaleval_pd as ce
from causaleval_pd.contract.figure import FIGURES


def test_names_are_registered_once_and_sources_are_known() -> None:
    with pytest.raises(ValueError, match="a figure called 'strata' is already registered"):

        @ce.figure("again", of="cube", concludes="nothing")
        def strata(cube: Any) -> None: ...

    with pytest.raises(ValueError, match="unknown source of a figure 'cell'; did you mean 'cells'"):
        ce.figure("x", of="cell", concludes="nothing")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown source of a figure"):
        ce.list_figures("cell")  # type: ignore[arg-type]


def test_figures_are_listed_by_what_they_are_drawn_from() -> None:
    every = ce.list_figures()
    parts = {of: ce.list_figures(of).index.tolist() for of in ("cube", "table", "cells", "numbers")}
    assert sorted(name for names in parts.values() for name in names) == sorted(every.index)
    assert all((every.loc[names, "of"] == of).all() for of, names in parts.items())
    assert every["concludes"].str.len().gt(10).all() and set(every["field"]) <= {"", *ce.list_fields().index}


def test_a_figure_is_its_function_and_may_be_of_a_field() -> None:
    try:

        @ce.figure("toy", of="cells", concludes="nothing", field="graph")
        def toy(truth: Any, estimate: Any) -> tuple[Any, Any]:
            return truth, estimate

        assert toy(1, 2) == ce.plot.toy(1, 2) == (1, 2)
        assert ce.list_figures("cells").loc["toy", "field"] == "graph"
    finally:
        del FIGURES["toy"]
