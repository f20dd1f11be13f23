"""Tasks: worlds described in words, with contexts, questions and true answers."""

from __future__ import annotations

from . import (
    benchmark as _benchmark,
)
from . import (
    built_in_themes,
    hidden_noise,
    parquet,
    printed_values,
    published_format,
    task,
    task_tables,
    tasks,
    theme,
)
from .benchmark import *
from .built_in_themes import *
from .hidden_noise import *
from .parquet import *
from .printed_values import *
from .published_format import *
from .task import *
from .task_tables import *
from .tasks import *
from .theme import *

__all__ = [
    *_benchmark.__all__,
    *built_in_themes.__all__,
    *hidden_noise.__all__,
    *parquet.__all__,
    *printed_values.__all__,
    *published_format.__all__,
    *task.__all__,
    *task_tables.__all__,
    *tasks.__all__,
    *theme.__all__,
]
