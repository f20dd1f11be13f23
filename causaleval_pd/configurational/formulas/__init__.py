"""Formulas: models as values, how they are read, and the truth tables on which they are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import formula, notations, printouts, reader, truth_table, vocabulary
from .formula import *
from .notations import *
from .printouts import *
from .reader import *
from .truth_table import *
from .vocabulary import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [
        *formula.__all__,
        *notations.__all__,
        *printouts.__all__,
        *reader.__all__,
        *truth_table.__all__,
        *vocabulary.__all__,
    ]
