"""Probability laws of a network: exact marginals, laws under interventions, samples."""
