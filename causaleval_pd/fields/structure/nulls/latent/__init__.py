"""Controls of graphs with latent confounders: random MAGs, PAGs and ADMGs, and random skeletons."""
