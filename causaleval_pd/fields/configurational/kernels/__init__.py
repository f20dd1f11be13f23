"""Compiled kernels of crisp models: random draws, minimal forms, causal expositions and what two of them share."""
