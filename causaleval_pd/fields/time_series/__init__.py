"""Graphs of time series: links at lags, their views as graphs, metrics by lag, and null models."""

from __future__ import annotations

from . import column, field, metrics
from . import nulls as _nulls  # null models and figures register themselves
from . import plot as _plot
from .cells import LaggedGraph as LaggedGraph
from .column import *
from .field import *
from .metrics import *

__all__ = [*column.__all__, *field.__all__, *metrics.__all__, "LaggedGraph"]
