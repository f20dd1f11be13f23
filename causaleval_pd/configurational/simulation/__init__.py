"""Simulation: random ground truths, and data from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import data, ground_truths
from .data import *
from .ground_truths import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [*data.__all__, *ground_truths.__all__]
