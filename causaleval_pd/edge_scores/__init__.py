"""Scores of edges (weights, probabilities, other scores) against graphs: ranking metrics and their null models."""

from __future__ import annotations

# metrics and null models register with the field, so it comes first
# isort: off
from . import ensemble_plot as _ensemble_plot  # figures register themselves
from . import ensembles as _ensembles  # pooling registers itself
from . import field, ranking
from .cells import column
from .nulls import random_scores as _random_scores  # null models register themselves

# isort: on
from .cells.column import *
from .field import *
from .ranking import *

__all__ = [*column.__all__, *field.__all__, *ranking.__all__]
