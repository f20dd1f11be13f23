"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

# metrics name these rules when they are registered
from . import closed_forms as _rules  # noqa: F401

# isort: split
from . import plot, reasoners
from .asking.answers import join_answers, parse_answers
from .asking.ask import CallFailed, RetryLater, ask
from .asking.endpoint import Endpoint
from .field import ANSWERS, QUANTITY
from .measures.answer_scores import answer_scores
from .measures.chance import decision_power, perfect_reasoner, random_classes, random_reasoner
from .measures.comparison import compare_answers
from .measures.quantities import quantities
from .measures.resampled_answers import class_frequencies, resampled_pns
from .measures.taxonomy import CLASSES, taxonomy
from .measures.validity import consistency_test, judge
from .measures.yes_counts import COUNTS
from .metrics import (
    answer_accuracy,
    answer_false_no,
    answer_false_yes,
    ate_error,
    log_error,
    pns_error,
    quantity_bias,
    quantity_error,
    rae,
)
from .tasks.built_in_themes import THEMES, get_theme
from .tasks.parquet import read_tasks, write_tasks
from .tasks.printed_values import parse_matrix, parse_printed
from .tasks.published_format import read_published, read_published_quantities
from .tasks.task_tables import INSTRUCTIONS, TaskTables
from .tasks.tasks import Task, Tasks, make_tasks
from .tasks.theme import Condition, Theme
from .worlds.components import compositions, n_compositions
from .worlds.linear_world import LinearWorld, sample_linear_world
from .worlds.random_worlds import component_edges, example_world, required_samples, sample_world
from .worlds.world import World

# isort: split
# null models register themselves
from . import nulls as _nulls  # noqa: F401

__all__ = [
    "ANSWERS",
    "CLASSES",
    "COUNTS",
    "INSTRUCTIONS",
    "QUANTITY",
    "THEMES",
    "CallFailed",
    "Condition",
    "Endpoint",
    "LinearWorld",
    "RetryLater",
    "Task",
    "TaskTables",
    "Tasks",
    "Theme",
    "World",
    "answer_accuracy",
    "answer_false_no",
    "answer_false_yes",
    "answer_scores",
    "ask",
    "ate_error",
    "class_frequencies",
    "compare_answers",
    "component_edges",
    "compositions",
    "consistency_test",
    "decision_power",
    "example_world",
    "get_theme",
    "join_answers",
    "judge",
    "log_error",
    "make_tasks",
    "n_compositions",
    "parse_answers",
    "parse_matrix",
    "parse_printed",
    "perfect_reasoner",
    "plot",
    "pns_error",
    "quantities",
    "quantity_bias",
    "quantity_error",
    "rae",
    "random_classes",
    "random_reasoner",
    "read_published",
    "read_published_quantities",
    "read_tasks",
    "reasoners",
    "required_samples",
    "resampled_pns",
    "sample_linear_world",
    "sample_world",
    "taxonomy",
    "write_tasks",
]
