"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from . import asking, field, inspect_evaluation, measures, metrics, plot, reasoners, tasks, worlds

# null models register themselves
from . import nulls as _nulls
from .asking import *
from .field import *
from .inspect_evaluation import *
from .measures.chance import *
from .measures.classes import *
from .measures.estimated_quantities import *
from .measures.resampled_answers import *
from .measures.scores import *
from .measures.validity import *
from .measures.yes_counts import *
from .metrics import *
from .tasks.built_in_themes import *
from .tasks.parquet import *
from .tasks.printed_values import *
from .tasks.published_format import *
from .tasks.question_sets import *
from .tasks.task import *
from .tasks.task_tables import *
from .tasks.tasks import *
from .tasks.theme import *
from .worlds.components import *
from .worlds.random_worlds import *
from .worlds.world import *

__all__ = [
    *asking.__all__,
    *field.__all__,
    *inspect_evaluation.__all__,
    *measures.__all__,
    *metrics.__all__,
    *tasks.__all__,
    *worlds.__all__,
    "plot",
    "reasoners",
]
