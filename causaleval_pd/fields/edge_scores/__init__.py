"""Scores of edges (weights, probabilities, other scores) against graphs: ranking metrics and their null models."""

from __future__ import annotations

# metrics and null models register with the field, so it comes first
# isort: off
from . import field, metrics, weights, plot
from . import ensembles as _ensembles  # figures register themselves
from . import cells
from . import nulls as _nulls  # null models register themselves

# isort: on
from .cells import *
from .field import *
from .metrics import *
from .plot import *
from .weights import *

__all__ = [*cells.__all__, *field.__all__, *metrics.__all__, *plot.__all__, *weights.__all__]
