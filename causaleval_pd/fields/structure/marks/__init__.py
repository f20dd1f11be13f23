"""Metrics of the marks of mixed graphs: ends of edges, types of edges, and what the marks claim about the truth."""

from . import claims, ends
from .claims import *
from .ends import *

__all__ = [*claims.__all__, *ends.__all__]
