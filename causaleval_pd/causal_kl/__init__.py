"""Networks with parameters, and divergences between them under interventions."""

from __future__ import annotations

# metrics name these rules when they are registered
from .nulls import rules as _rules

# isort: split
from .divergences.augmented import augment, conditional_kl
from .divergences.blocks import contiguous_blocks, satisfies_parent_joint
from .divergences.desiderata import desiderata
from .divergences.divergence import ckl1, ckl2, ckl3, kl, wed_3
from .divergences.edit_distance import edit_distance, pattern_edit_distance, wed_d, wed_p
from .divergences.general_divergence import ckl
from .divergences.intervention import Intervention, all_but_one, all_sets, single_interventions
from .divergences.masses import undefined_mass, zero_mass
from .divergences.monte_carlo import MonteCarlo, monte_carlo, sampling_error
from .field import NETWORKS
from .networks.column import as_network, network_column
from .networks.fitting import from_data, from_joint
from .networks.metastatic import metastatic, metastatic_mutations
from .networks.network import DiscreteNetwork, GaussianNetwork
from .networks.sampling import sample
from .nulls.control_summary import control_summary

# isort: split
# null models register themselves
from .nulls import models as _models

__all__ = [
    "NETWORKS",
    "DiscreteNetwork",
    "GaussianNetwork",
    "Intervention",
    "MonteCarlo",
    "all_but_one",
    "all_sets",
    "as_network",
    "augment",
    "ckl",
    "ckl1",
    "ckl2",
    "ckl3",
    "conditional_kl",
    "contiguous_blocks",
    "control_summary",
    "desiderata",
    "edit_distance",
    "from_data",
    "from_joint",
    "kl",
    "metastatic",
    "metastatic_mutations",
    "monte_carlo",
    "network_column",
    "pattern_edit_distance",
    "sample",
    "sampling_error",
    "satisfies_parent_joint",
    "single_interventions",
    "undefined_mass",
    "wed_3",
    "wed_d",
    "wed_p",
    "zero_mass",
]
