"""Graphs of time series: links at lags, their views as graphs, metrics by lag, and null models."""

from __future__ import annotations

from . import column, field, metrics, scores
from . import plot as _plot  # figures register themselves
from .cells import LaggedGraph as LaggedGraph
from .column import *
from .field import *
from .metrics import *

# null models register themselves
from .nulls import edges as _edges
from .nulls import permutation as _permutation
from .scores import *

__all__ = [*column.__all__, *field.__all__, *metrics.__all__, *scores.__all__, "LaggedGraph"]
