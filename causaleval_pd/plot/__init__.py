"""Figures of cubes and of cells; every function returns the Axes or FacetGrid that it drew."""

from __future__ import annotations

from ..configurational.plot import hypergraph, model_difference, score_profile
from ..structure.plot import adjacency_table, expected_curves
from .critical_difference import critical_difference
from .cube_plots import CubePlots
from .distributions import distributions
from .heat_maps import comparisons, p_values
from .strata import strata

__all__ = [
    "CubePlots",
    "adjacency_table",
    "comparisons",
    "critical_difference",
    "distributions",
    "expected_curves",
    "hypergraph",
    "model_difference",
    "p_values",
    "score_profile",
    "strata",
]
