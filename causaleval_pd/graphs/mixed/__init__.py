"""Graphs with latent confounders: marks at both ends of an edge, their classes, conversions and ancestors."""
