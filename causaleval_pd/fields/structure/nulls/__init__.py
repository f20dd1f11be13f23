"""Null models of graphs, and exact moments and laws of metrics under them."""
