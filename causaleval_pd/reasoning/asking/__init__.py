"""Asking a reasoner: endpoints, calls with retries and a cache, reading of replies."""

from __future__ import annotations

from . import answers, calls, endpoint, inspect_evaluation, replies
from .answers import *
from .calls import *
from .endpoint import *
from .inspect_evaluation import *
from .replies import *

__all__ = [
    *answers.__all__,
    *calls.__all__,
    *endpoint.__all__,
    *inspect_evaluation.__all__,
    *replies.__all__,
]
