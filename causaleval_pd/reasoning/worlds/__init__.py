"""Causal worlds with exact quantities: binary and linear ones, drawn at random or given."""

from __future__ import annotations

from . import components, linear_world, random_worlds, world
from .components import *
from .linear_world import *
from .random_worlds import *
from .world import *

__all__ = [
    *components.__all__,
    *linear_world.__all__,
    *random_worlds.__all__,
    *world.__all__,
]
