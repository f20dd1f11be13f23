"""Compiled operations on graphs. Numba takes a second to import, so it is loaded when the first of them is called."""

from __future__ import annotations

from types import ModuleType


def kernels() -> ModuleType:
    """Return the compiled comparisons and classes of graphs: the module `comparison`."""
    from . import comparison

    return comparison


def control_kernels() -> ModuleType:
    """Return the compiled random graphs of the further null models: the module `controls`."""
    from . import controls

    return controls


def mixed_kernels() -> ModuleType:
    """Return the compiled operations on mixed graphs: the folder `mixed`."""
    from . import mixed

    return mixed
