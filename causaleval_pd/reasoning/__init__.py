"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from . import asking, field, measures, metrics, plot, reasoners, tasks, worlds

# null models register themselves
from . import nulls as _nulls
from .asking.answers import *
from .asking.calls import *
from .asking.endpoint import *
from .asking.inspect_evaluation import *
from .asking.replies import *
from .field import *
from .measures.chance import *
from .measures.classes import *
from .measures.estimated_quantities import *
from .measures.resampled_answers import *
from .measures.scores import *
from .measures.validity import *
from .measures.yes_counts import *
from .metrics import *
from .tasks.built_in_themes import *
from .tasks.fixed_benchmark import *
from .tasks.hidden_noise import *
from .tasks.parquet import *
from .tasks.printed_values import *
from .tasks.published_export import *
from .tasks.published_format import *
from .tasks.question_sets import *
from .tasks.task import *
from .tasks.task_tables import *
from .tasks.tasks import *
from .tasks.theme import *
from .worlds.components import *
from .worlds.linear_world import *
from .worlds.random_worlds import *
from .worlds.world import *

__all__ = [
    *asking.__all__,
    *field.__all__,
    *measures.__all__,
    *metrics.__all__,
    *tasks.__all__,
    *worlds.__all__,
    "plot",
    "reasoners",
]
