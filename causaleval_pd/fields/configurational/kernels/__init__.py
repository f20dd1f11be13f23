"""Compiled kernels of crisp models: random draws, minimal forms, causal expositions and what two of them share."""

#: factors of a pair of models, atoms of a model, and factors that no atom determines, of what the kernels take
MAX_FACTORS, MAX_ATOMS, MAX_FREE = 30, 9, 12
#: parts of one in which shares of paths are counted, so that their sums are exact: of paths of up to 16 elements
MAX_PARTS = 720_720
