"""Metrics of mixed graphs as sums over ordered pairs of nodes: their channels and costs."""
