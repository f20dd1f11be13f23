"""The kernels of graphs written out in numpy and plain Python: independent oracles for the compiled ones."""
