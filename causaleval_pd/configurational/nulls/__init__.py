"""Null models of configurational estimates: random models of the estimate's shape, or its relabellings."""

from . import complexity, relabelling, search
