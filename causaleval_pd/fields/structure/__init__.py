"""Metrics on pairs of graphs, and their null models."""

from __future__ import annotations

# in the order of ce.list_metrics and ce.list_nulls; null models register with the field, so it comes first
# isort: off
from . import field, families, distances, counts
from .nulls import laws, models as _models
from . import plot as _plot, other_names as _other_names  # register themselves

# isort: on
from .counts import *
from .distances import *
from .families import *
from .field import *
from .nulls.laws import *

__all__ = [*counts.__all__, *distances.__all__, *families.__all__, *field.__all__, *laws.__all__]
