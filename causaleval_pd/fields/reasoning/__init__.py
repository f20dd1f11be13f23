"""Causal reasoning: worlds with exact truths, tasks in words, answers and their scores."""

from __future__ import annotations

from . import (
    asking,
    estimated_quantities,
    labels,
    metrics,
    plot,
    published,
    reasoners,
    scores,
    tasks,
    themes,
    validity,
    worlds,
    yes_counts,
)

# null models register themselves
from . import nulls as _nulls
from .asking import *
from .estimated_quantities import *
from .labels import *
from .metrics import *
from .published import *
from .scores import *
from .tasks import *
from .themes import *
from .validity import *
from .worlds import *
from .yes_counts import *

__all__ = [
    *asking.__all__,
    *estimated_quantities.__all__,
    *labels.__all__,
    *metrics.__all__,
    *published.__all__,
    *scores.__all__,
    *tasks.__all__,
    *themes.__all__,
    *validity.__all__,
    *worlds.__all__,
    *yes_counts.__all__,
    "plot",
    "reasoners",
]
