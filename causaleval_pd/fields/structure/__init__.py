"""Metrics on pairs of graphs, and their null models."""

from __future__ import annotations

# in the order of ce.list_metrics and ce.list_nulls; null models register with the field, so it comes first
# isort: off
from . import field, adjacency, ancestral, orientation, marks, hamming, intervention, separation, sizes, v_structures
from .nulls import laws, models as _models
from . import plot as _plot, other_names as _other_names  # register themselves

# isort: on
from .adjacency import *
from .ancestral import *
from .field import *
from .hamming import *
from .intervention import *
from .marks import *
from .nulls.laws import *
from .orientation import *
from .separation import *
from .sizes import *
from .v_structures import *

__all__ = [
    *adjacency.__all__,
    *ancestral.__all__,
    *laws.__all__,
    *field.__all__,
    *hamming.__all__,
    *intervention.__all__,
    *marks.__all__,
    *orientation.__all__,
    *separation.__all__,
    *sizes.__all__,
    *v_structures.__all__,
]
