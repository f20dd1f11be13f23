"""Figures of cubes, tables and cells; every function returns the Axes, FacetGrid or Figure that it drew.

Figures of cubes stand in this folder, those of a field in the field's folder. Every registered figure is an attribute
of this module, see `list_figures`; so this folder imports no field.
"""

from __future__ import annotations

from typing import Any

from ..contract.figure import FIGURES
from .critical_difference import *
from .cube_plots import *
from .distributions import *
from .forest import *
from .heat_map import *
from .published import *
from .strata import *

FIGURES.other_names(
    {
        "heatmap": ["heat_map"],
        "skill": ["heat_map"],
        "p_values": ["heat_map"],
        "cd": ["critical_difference"],
        "cd_diagram": ["critical_difference"],
        "nemenyi": ["critical_difference"],
        "ranks": ["critical_difference"],
        "box": ["distributions"],
        "boxplot": ["distributions"],
        "violin": ["distributions"],
        "hist": ["distributions"],
        "lines": ["strata"],
        "line": ["strata"],
        "trend": ["strata"],
        "learning_curve": ["strata"],
        "forest_plot": ["forest"],
        "effects": ["forest"],
        "bar": ["strata"],
        "points": ["strata"],
        "means": ["strata"],
        "pairs": ["forest"],
    }
)


def __getattr__(name: str) -> Any:
    """Return a figure that a field or a third party registered."""
    if name == "__all__":
        return sorted({"CubePlots", *FIGURES})
    if not name.startswith("_") and name not in FIGURES:
        FIGURES.load()
    if name not in FIGURES:
        raise AttributeError(f"unknown figure {name!r}; {FIGURES.suggest(name)}list_figures() shows all")
    return FIGURES[name].function


def __dir__() -> list[str]:
    """List the public names, registered figures among them."""
    FIGURES.load()
    return sorted({"CubePlots", *FIGURES})
