"""Networks with parameters, and divergences between them under interventions."""

from __future__ import annotations

# null models register themselves with the field
from .field import *

# isort: split
from . import cells, divergences, field, fitting, laws, pairs
from . import nulls as _nulls
from .cells import *
from .divergences import *
from .fitting import *
from .laws import *
from .pairs import *

__all__ = [*cells.__all__, *divergences.__all__, *field.__all__, *fitting.__all__, *laws.__all__, *pairs.__all__]
