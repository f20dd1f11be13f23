"""Metrics of configurational models."""

from __future__ import annotations

from . import quality, relations
from .quality import *
from .relations import *

__all__ = [*quality.__all__, *relations.__all__]
