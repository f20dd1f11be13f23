"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from . import plot, reasoners
from .answer_scores import answer_scores
from .answers import join_answers, parse_answers
from .ask import CallFailed, RetryLater, ask
from .comparison import compare_answers
from .compositions import compositions, n_compositions
from .counts import COUNTS
from .endpoint import Endpoint
from .field import ANSWERS, QUANTITY
from .linear import LinearWorld, sample_linear_world
from .luck import decision_power, perfect_reasoner, random_classes, random_reasoner
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
from .printed import parse_matrix, parse_printed
from .published_format import read_published, read_published_quantities
from .quantities import quantities
from .resamples import class_frequencies, resampled_pns
from .sample import component_edges, example_world, required_samples, sample_world
from .task_tables import INSTRUCTIONS, TaskTables
from .tasks import Task, Tasks, make_tasks
from .taxonomy import CLASSES, taxonomy
from .theme import Condition, Theme
from .themes import THEMES, get_theme
from .validity import consistency_test, judge
from .world import World
from .writing import read_tasks, write_tasks

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
