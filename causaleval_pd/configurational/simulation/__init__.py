"""Simulation: random ground truths, and data from them."""
