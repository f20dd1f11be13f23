"""Models: redundancy, causal expositions, quality, submodels, and fit to data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import exposition, fit, quality, redundancy, submodel
from .exposition import *
from .fit import *
from .quality import *
from .redundancy import *
from .submodel import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [
        *exposition.__all__,
        *fit.__all__,
        *quality.__all__,
        *redundancy.__all__,
        *submodel.__all__,
    ]
