"""Exact laws of rankings whose labels are shuffled: K true ones among N candidates with given ties."""
