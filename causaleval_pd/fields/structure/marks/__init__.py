"""Metrics of the marks of mixed graphs: ends of edges, types of edges, and what the marks claim about the truth."""

from . import ancestors, claims, edge_types, ends
from .ancestors import *
from .claims import *
from .edge_types import *
from .ends import *

__all__ = [*ancestors.__all__, *claims.__all__, *edge_types.__all__, *ends.__all__]
