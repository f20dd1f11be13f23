"""Networks with parameters, and divergences between them under interventions."""

from __future__ import annotations

# null models register themselves with the field
from .field import *

# isort: split
from . import divergences, example_networks, field, fitting, laws, networks
from . import nulls as _nulls
from .divergences import *
from .example_networks import *
from .fitting import *
from .laws import *
from .networks.column import *
from .networks.network import *

__all__ = [
    *divergences.__all__,
    *example_networks.__all__,
    *field.__all__,
    *fitting.__all__,
    *laws.__all__,
    *networks.column.__all__,
    *networks.network.__all__,
]
