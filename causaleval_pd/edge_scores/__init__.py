"""Scores of edges (weights, probabilities, other scores) against graphs: ranking metrics and their null models."""

from __future__ import annotations

# metrics and null models register with the field, so it comes first
# isort: off
from . import field, ranking, cuts, candidate_counts, forecasts, weights, plot
from . import (
    calibration_plot,
    ensemble_plot as _ensemble_plot,
    ensembles as _ensembles,
)  # figures and pooling register themselves
from .cells import column
from .nulls import relabelling as _relabelling  # null models register themselves

# isort: on
from .calibration_plot import *
from .candidate_counts import *
from .cells.column import *
from .cuts import *
from .field import *
from .forecasts import *
from .plot import curve_points
from .ranking import *
from .weights import *

__all__ = [
    *calibration_plot.__all__,
    *candidate_counts.__all__,
    *column.__all__,
    *cuts.__all__,
    *field.__all__,
    *forecasts.__all__,
    *ranking.__all__,
    *weights.__all__,
    "curve_points",
]
