"""Tasks: worlds described in words, with contexts, questions and true answers; published data and others' questions."""

from __future__ import annotations

from . import published, question_sets, tasks, themes
from .published import *
from .question_sets import *
from .tasks import *
from .themes import *

__all__ = [*published.__all__, *question_sets.__all__, *tasks.__all__, *themes.__all__]
