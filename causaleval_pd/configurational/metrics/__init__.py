"""Metrics of configurational models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import fit, quality, relations
from .fit import *
from .quality import *
from .relations import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [*fit.__all__, *quality.__all__, *relations.__all__]
