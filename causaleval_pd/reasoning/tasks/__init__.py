"""Tasks: worlds described in words, with contexts, questions and true answers."""

from __future__ import annotations

from . import (
    built_in_themes,
    parquet,
    printed_values,
    published_format,
    question_sets,
    task,
    task_tables,
    tasks,
    theme,
)
from .built_in_themes import *
from .parquet import *
from .printed_values import *
from .published_format import *
from .question_sets import *
from .task import *
from .task_tables import *
from .tasks import *
from .theme import *

__all__ = [
    *built_in_themes.__all__,
    *parquet.__all__,
    *printed_values.__all__,
    *published_format.__all__,
    *question_sets.__all__,
    *task.__all__,
    *task_tables.__all__,
    *tasks.__all__,
    *theme.__all__,
]
