"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from .compositions import compositions, n_compositions
from .linear import LinearWorld, sample_linear_world
from .printed import parse_matrix, parse_printed
from .published_format import read_published, read_published_quantities
from .sample import component_edges, required_samples, sample_world
from .task_tables import INSTRUCTIONS, TaskTables
from .tasks import Task, Tasks, make_tasks
from .theme import Condition, Theme
from .themes import THEMES, get_theme
from .world import World, example_world
from .writing import read_tasks, write_tasks

__all__ = [
    "INSTRUCTIONS",
    "THEMES",
    "Condition",
    "LinearWorld",
    "Task",
    "TaskTables",
    "Tasks",
    "Theme",
    "World",
    "component_edges",
    "compositions",
    "example_world",
    "get_theme",
    "make_tasks",
    "n_compositions",
    "parse_matrix",
    "parse_printed",
    "read_published",
    "read_published_quantities",
    "read_tasks",
    "required_samples",
    "sample_linear_world",
    "sample_world",
    "write_tasks",
]
