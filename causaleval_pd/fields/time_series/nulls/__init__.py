"""Null models of lagged graphs, and the exact laws of counts of links under them."""
