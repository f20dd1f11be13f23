"""Networks with parameters, and divergences between them under interventions."""

from __future__ import annotations

from .column import as_network, network_column
from .divergence import ckl1, ckl2, ckl3, kl, undefined_mass, wed_3, zero_mass
from .edit_distance import edit_distance, wed_d, wed_p
from .field import NETWORKS
from .fitting import from_data, from_joint
from .monte_carlo import MonteCarlo, monte_carlo
from .networks import DiscreteNetwork, GaussianNetwork
from .sampling import sample

__all__ = [
    "NETWORKS",
    "DiscreteNetwork",
    "GaussianNetwork",
    "MonteCarlo",
    "as_network",
    "ckl1",
    "ckl2",
    "ckl3",
    "edit_distance",
    "from_data",
    "from_joint",
    "kl",
    "monte_carlo",
    "network_column",
    "sample",
    "undefined_mass",
    "wed_3",
    "wed_d",
    "wed_p",
    "zero_mass",
]
