"""Null models of configurational estimates: random models of the estimate's shape, or its relabellings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import complexity, relabelling, search
from .complexity import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [*complexity.__all__]
