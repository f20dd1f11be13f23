"""Graphs judged by interventions: their targets, data under perturbations, and total effects of a known model."""

from __future__ import annotations

# metrics register themselves
# in the order of ce.list_metrics
from . import total_effects, essential_graphs, perturbations  # isort: skip
