"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

# ruff: noqa: F403, F405

from __future__ import annotations

from . import field, metrics, plot, reasoners
from .asking import answers, ask, endpoint
from .measures import answer_scores, chance, comparison, quantities, resampled_answers, taxonomy, validity, yes_counts
from .tasks import built_in_themes, parquet, printed_values, published_format, task, task_tables, tasks, theme
from .worlds import components, linear_world, random_worlds, world
from .asking.answers import *
from .asking.ask import *
from .asking.endpoint import *
from .field import *
from .measures.answer_scores import *
from .measures.chance import *
from .measures.comparison import *
from .measures.quantities import *
from .measures.resampled_answers import *
from .measures.taxonomy import *
from .measures.validity import *
from .measures.yes_counts import *
from .metrics import *
from .tasks.built_in_themes import *
from .tasks.parquet import *
from .tasks.printed_values import *
from .tasks.published_format import *
from .tasks.task import *
from .tasks.task_tables import *
from .tasks.tasks import *
from .tasks.theme import *
from .worlds.components import *
from .worlds.linear_world import *
from .worlds.random_worlds import *
from .worlds.world import *

__all__ = [
    *answers.__all__,
    *ask.__all__,
    *endpoint.__all__,
    *field.__all__,
    *answer_scores.__all__,
    *chance.__all__,
    *comparison.__all__,
    *quantities.__all__,
    *resampled_answers.__all__,
    *taxonomy.__all__,
    *validity.__all__,
    *yes_counts.__all__,
    *metrics.__all__,
    *built_in_themes.__all__,
    *parquet.__all__,
    *printed_values.__all__,
    *published_format.__all__,
    *task.__all__,
    *task_tables.__all__,
    *tasks.__all__,
    *theme.__all__,
    *components.__all__,
    *linear_world.__all__,
    *random_worlds.__all__,
    *world.__all__,
    "plot",
    "reasoners",
]
