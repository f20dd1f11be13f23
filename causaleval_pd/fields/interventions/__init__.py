"""Graphs judged by interventions: their targets, data under perturbations, and total effects of a known model."""

from __future__ import annotations

# metrics register themselves
from . import effect_metrics, essential_graphs, perturbation_metrics
