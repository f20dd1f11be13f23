"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from .compositions import compositions, n_compositions
from .world import World, example_world

__all__ = [
    "World",
    "compositions",
    "example_world",
    "n_compositions",
]
