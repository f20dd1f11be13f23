"""Measures of answers: scores, quantities with standard errors, decisions and classes, effects of chance."""

from __future__ import annotations

from . import chance, estimated_quantities, scores, validity, yes_counts
from .chance import *
from .estimated_quantities import *
from .scores import *
from .validity import *
from .yes_counts import *

__all__ = [
    *chance.__all__,
    *estimated_quantities.__all__,
    *scores.__all__,
    *validity.__all__,
    *yes_counts.__all__,
]
