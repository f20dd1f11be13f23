"""Causal worlds with exact quantities, drawn at random or given."""

from __future__ import annotations

from . import random_worlds, world
from .random_worlds import *
from .world import *

__all__ = [*random_worlds.__all__, *world.__all__]
