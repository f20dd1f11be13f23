"""Scores of edges (weights, probabilities, other scores) against graphs: ranking metrics and their null models."""

from __future__ import annotations

from .cells import column
from .cells.column import *

__all__ = [*column.__all__]
