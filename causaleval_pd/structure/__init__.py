"""Metrics on pairs of graphs, and their null models."""

from __future__ import annotations

# the field comes first: null models register with it
from . import field  # isort: split

from . import adjacency, ancestral, directions, hamming, intervention, orientation, separation, sizes, v_structures
from .adjacency import *
from .ancestral import *
from .directions import *
from .field import *
from .hamming import *
from .intervention import *
from .nulls import expectation, random_ranking
from .nulls import models as _models  # noqa: F401
from .nulls import rules as _rules  # noqa: F401
from .nulls.expectation import *
from .nulls.random_ranking import *
from .orientation import *
from .separation import *
from .sizes import *
from .v_structures import *

__all__ = [
    *adjacency.__all__,
    *ancestral.__all__,
    *directions.__all__,
    *expectation.__all__,
    *field.__all__,
    *hamming.__all__,
    *intervention.__all__,
    *orientation.__all__,
    *random_ranking.__all__,
    *separation.__all__,
    *sizes.__all__,
    *v_structures.__all__,
]
