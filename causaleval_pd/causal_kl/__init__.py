"""Networks with parameters, and divergences between them under interventions."""

from __future__ import annotations

# null models register themselves with the field
from .field import *

# isort: split
from .fitted_graphs import *

# isort: split
from . import divergences, example_networks, field, fitted_graphs, fitting, laws, learning, networks, nulls
from .divergences.augmented import *
from .divergences.chosen_interventions import *
from .divergences.divergence import *
from .divergences.edit_distances import *
from .divergences.interventions import *
from .divergences.masses import *
from .divergences.parent_joint import *
from .divergences.sampled_divergence import *
from .divergences.witnesses import *
from .example_networks import *
from .fitting import *
from .laws.sampling import *
from .learning import *
from .networks.column import *
from .networks.network import *
from .nulls import models as _models
from .nulls import rules as _rules
from .nulls.summary import *

__all__ = [
    *fitted_graphs.__all__,
    *divergences.augmented.__all__,
    *divergences.chosen_interventions.__all__,
    *divergences.divergence.__all__,
    *divergences.edit_distances.__all__,
    *divergences.interventions.__all__,
    *divergences.masses.__all__,
    *divergences.parent_joint.__all__,
    *divergences.sampled_divergence.__all__,
    *divergences.witnesses.__all__,
    *example_networks.__all__,
    *field.__all__,
    *fitting.__all__,
    *laws.sampling.__all__,
    *learning.__all__,
    *networks.column.__all__,
    *networks.network.__all__,
    *nulls.summary.__all__,
]
