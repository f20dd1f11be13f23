"""Compiled operations on blocks of mixed graphs, those of other modules. Each compiles when it is first called."""

from .adjustment import mixed_adjustment_mistakes
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
from .projection import project
from .relations import ANCESTORS, DIRECTED_PATHS, VISIBLE, relate
from .separation import mixed_separation_mistakes

__all__ = [
    "ALMOST_CYCLE",
    "ANCESTORS",
    "CHECK_MAG",
    "CHECK_PAG",
    "COMPLETE",
    "CYCLE",
    "DIRECTED_PATHS",
    "MAG_TO_PAG",
    "NOT_CHORDAL",
    "NOT_MAXIMAL",
    "OTHER_MARKS",
    "PAG_TO_MAG",
    "TAIL_EDGE",
    "VALID",
    "VISIBLE",
    "convert",
    "mixed_adjustment_mistakes",
    "mixed_separation_mistakes",
    "project",
    "relate",
]
