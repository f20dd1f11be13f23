"""Graphs judged by interventions: their targets, data under perturbations, and total effects of a known model."""

from __future__ import annotations

# metrics register themselves
from . import essential_graphs, perturbations, total_effects
