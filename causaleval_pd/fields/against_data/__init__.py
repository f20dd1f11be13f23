"""Metrics of graphs that need data and no truth."""

from __future__ import annotations

from . import metrics
from .metrics import *

__all__ = [*metrics.__all__]
