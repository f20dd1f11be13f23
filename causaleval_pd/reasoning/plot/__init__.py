"""Figures of reasoners: validity against consistency, errors against complexity, reliability by level."""

from __future__ import annotations

from . import errors, quadrants
from .errors import *
from .quadrants import *

__all__ = [*errors.__all__, *quadrants.__all__]
