"""Configurational causal models: quality of MINUS formulas, submodels, fit to data, and simulated benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import field, formulas, metrics, models, nulls, simulation
from . import plot as _plot  # figures register themselves
from .field import *
from .formulas import *
from .metrics import *
from .models import *
from .simulation import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [
        *field.__all__,
        *formulas.__all__,
        *metrics.__all__,
        *models.__all__,
        *simulation.__all__,
    ]
