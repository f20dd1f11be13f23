"""Compiled operations on blocks of mixed graphs, those of other modules. Each compiles when it is first called."""

from ..relations import mixed_separation_mistakes
from .adjustment import Graphs, mixed_adjustment_mistakes
from .classes import (
    ALMOST_CYCLE,
    CHECK_MAG,
    CHECK_PAG,
    COMPLETE,
    CYCLE,
    MAG_TO_PAG,
    NOT_CHORDAL,
    NOT_MAXIMAL,
    OTHER_MARKS,
    PAG_TO_MAG,
    TAIL_EDGE,
    VALID,
    convert,
)
from .draws import ANY, NO_MAG, OTHER_NUMBER, draw_latent
from .projection import project
from .relations import ANCESTORS, DIRECTED_PATHS, VISIBLE, relate
from .separation import smallest_separators

__all__ = [
    "ALMOST_CYCLE", "ANCESTORS", "ANY", "CHECK_MAG", "CHECK_PAG", "COMPLETE", "CYCLE", "DIRECTED_PATHS", "MAG_TO_PAG",
    "NOT_CHORDAL", "NOT_MAXIMAL", "NO_MAG", "OTHER_MARKS", "OTHER_NUMBER", "PAG_TO_MAG", "TAIL_EDGE", "VALID",
    "VISIBLE", "Graphs", "convert", "draw_latent", "mixed_adjustment_mistakes",
    "mixed_separation_mistakes", "project", "relate", "smallest_separators",
]  # fmt: skip
