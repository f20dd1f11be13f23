"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from . import asking, inspect_evaluation, measures, metrics, plot, reasoners, tasks, worlds

# null models register themselves
from . import nulls as _nulls
from .asking import *
from .inspect_evaluation import *
from .measures import *
from .metrics import *
from .tasks import *
from .worlds import *

__all__ = [
    *asking.__all__,
    *inspect_evaluation.__all__,
    *measures.__all__,
    *metrics.__all__,
    *tasks.__all__,
    *worlds.__all__,
    "plot",
    "reasoners",
]
