"""Compiled operations on blocks of mixed graphs, those of other modules. Each compiles when it is first called."""

from ..relations import mixed_separation_mistakes
from .classes import convert
from .draws import ANY, draw_latent
from .relations import ANCESTORS, DIRECTED_PATHS, VISIBLE, Graphs, mixed_adjustment_mistakes, relate
from .separation import project, smallest_separators

__all__ = [
    "ANCESTORS", "ANY", "DIRECTED_PATHS", "VISIBLE", "Graphs", "convert", "draw_latent", "mixed_adjustment_mistakes",
    "mixed_separation_mistakes", "project", "relate", "smallest_separators",
]  # fmt: skip
