"""Compiled operations on graphs. Numba takes a second to import, so it is loaded when the first of them is called."""

from importlib import import_module
from types import ModuleType


def kernels(of: str = "comparison") -> ModuleType:
    """Return compiled functions: comparisons and classes, "controls" of further null models, or of "mixed" graphs."""
    return import_module(f".{of}", __name__)
