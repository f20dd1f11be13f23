"""Models: redundancy, causal expositions, quality and submodels."""
