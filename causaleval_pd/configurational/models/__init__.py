"""Models: redundancy, causal expositions, quality, submodels, and fit to data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import exposition, fit, frscore, optima, quality, reanalysis, redundancy, submodel
from .exposition import *
from .fit import *
from .frscore import *
from .optima import *
from .quality import *
from .reanalysis import *
from .redundancy import *
from .submodel import *

# type checkers follow the star imports
if not TYPE_CHECKING:
    __all__ = [
        *exposition.__all__,
        *fit.__all__,
        *frscore.__all__,
        *optima.__all__,
        *quality.__all__,
        *reanalysis.__all__,
        *redundancy.__all__,
        *submodel.__all__,
    ]
