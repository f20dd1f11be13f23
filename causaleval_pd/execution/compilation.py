"""Compilation of kernels by numba."""

from __future__ import annotations

from numba import njit

#: a compiled function that Python calls
kernel = njit(nogil=True, cache=True, _nrt=False)

#: a compiled function that only compiled functions call: without the wrappers through which Python or C would call it
kernel_part = njit(nogil=True, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
