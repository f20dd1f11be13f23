"""Null models of edge scores: scores shuffled, nodes relabelled, random scores; and the exact laws of rankings."""
