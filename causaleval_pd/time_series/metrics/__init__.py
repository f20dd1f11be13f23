"""Metrics of lagged graphs."""

from __future__ import annotations

from . import contemporaneous, lag_distance, links, links_by_lag
from .contemporaneous import *
from .lag_distance import *
from .links import *
from .links_by_lag import *

__all__ = [*contemporaneous.__all__, *lag_distance.__all__, *links.__all__, *links_by_lag.__all__]
