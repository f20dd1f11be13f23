"""Networks with parameters, and divergences between them under interventions."""

from __future__ import annotations

# null models register themselves with the field
from .field import *

# isort: split
from . import divergences, example_networks, field, fitting, laws, networks
from .divergences.divergence import *
from .divergences.edit_distances import *
from .example_networks import *
from .fitting import *
from .laws.sampling import *
from .networks.column import *
from .networks.network import *
from .nulls import models as _models

__all__ = [
    *divergences.divergence.__all__,
    *divergences.edit_distances.__all__,
    *example_networks.__all__,
    *field.__all__,
    *fitting.__all__,
    *laws.sampling.__all__,
    *networks.column.__all__,
    *networks.network.__all__,
]
