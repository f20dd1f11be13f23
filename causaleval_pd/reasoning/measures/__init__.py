"""Measures of answers: scores, quantities with standard errors, decisions, classes, effects of chance."""

from __future__ import annotations

from . import chance, classes, estimated_quantities, resampled_answers, scores, validity, yes_counts
from .chance import *
from .classes import *
from .estimated_quantities import *
from .resampled_answers import *
from .scores import *
from .validity import *
from .yes_counts import *

__all__ = [
    *chance.__all__,
    *classes.__all__,
    *estimated_quantities.__all__,
    *resampled_answers.__all__,
    *scores.__all__,
    *validity.__all__,
    *yes_counts.__all__,
]
