"""The metrics of graphs against data."""

from __future__ import annotations

# in the order of ce.list_metrics
# isort: off
from . import independences, fit, uniformity, dependences, likelihood, symmetry

# isort: on
from .dependences import *
from .fit import *
from .independences import *
from .likelihood import *
from .symmetry import *
from .uniformity import *

__all__ = [
    *independences.__all__,
    *fit.__all__,
    *uniformity.__all__,
    *dependences.__all__,
    *likelihood.__all__,
    *symmetry.__all__,
]
