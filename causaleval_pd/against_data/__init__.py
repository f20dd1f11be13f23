"""Metrics of graphs that need data and no truth, and whether a learner's graphs of fewer columns agree."""

from __future__ import annotations

from . import metrics
from .metrics import *
from .self_compatibility import self_compatibility

__all__ = [*metrics.__all__, "self_compatibility"]
