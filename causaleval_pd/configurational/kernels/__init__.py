"""Compiled kernels of crisp models: random draws, causal expositions and what two of them share."""
