"""Metrics of lagged graphs."""

from __future__ import annotations

from . import contemporaneous, lag_distance, links
from .contemporaneous import *
from .lag_distance import *
from .links import *

__all__ = [*contemporaneous.__all__, *lag_distance.__all__, *links.__all__]
