"""Recorded results: what every verb gave, bit by bit; `tests/test_recorded_results.py` compares and renews them."""

from . import cubes, engines, figures, formulas, graphs, networks, reasoners
from .store import RECORDS, compute, differences, fingerprint, load, save

__all__ = [
    "RECORDS",
    "compute",
    "cubes",
    "differences",
    "engines",
    "figures",
    "fingerprint",
    "formulas",
    "graphs",
    "load",
    "networks",
    "reasoners",
    "save",
]
