"""Figures of reasoners: validity against consistency, the cut tree, errors against complexity, reliability by level."""

from __future__ import annotations

from . import cut_trees, errors, quadrants
from .cut_trees import *
from .errors import *
from .quadrants import *

__all__ = [*cut_trees.__all__, *errors.__all__, *quadrants.__all__]
