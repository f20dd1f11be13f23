"""Metrics of configurational models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import quality, relations
from .quality import *
from .relations import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [*quality.__all__, *relations.__all__]
