"""Metrics on pairs of networks, and the interventions that they average over."""
