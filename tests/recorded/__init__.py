"""Recorded results: what every verb gave; `tests/test_recorded_results.py` compares and renews them."""

from . import cubes, engines, figures, formulas, graphs, networks, reasoners
from .store import RECORDS, compute, differences, load, save, write

__all__ = [
    "RECORDS", "compute", "cubes", "differences", "engines", "figures", "formulas", "graphs", "load", "networks",
    "reasoners", "save", "write",
]  # fmt: skip
