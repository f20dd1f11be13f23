"""Graphs judged by interventions: their targets, data under perturbations, and total effects of a known model."""

from . import metrics as _metrics  # register themselves
