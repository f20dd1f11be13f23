"""Sizes beyond which models are refused before exponential work starts, and the error that says so."""

from __future__ import annotations

MAX_CONFIGURATIONS = 2**20
MAX_FORMS = 5_000
MAX_PATHS = 50_000
#: elementary steps (a conjunction judged, a disjunct substituted, a pairing tried) for one model or one pair of models
MAX_STEPS = 2_000_000


class FormulaTooLargeError(ValueError):
    """A model whose exact evaluation would take too long; the message says what exceeds which limit.

    Examples
    --------
    >>> raise FormulaTooLargeError("30 free factors")
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.formulas.limits.FormulaTooLargeError: 30 free factors
    """


class Work:
    """Steps that an evaluation may still take.

    Parameters
    ----------
    limit : int
        Number of steps.

    Examples
    --------
    >>> Work(10).spend(11)
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.formulas.limits.FormulaTooLargeError: exact evaluation takes more than 10 steps; leave
    such models out
    """

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.limit = self.left = limit

    def spend(self, steps: int = 1) -> None:
        """Count steps; refuse when there are none left."""
        self.left -= steps
        if self.left < 0:
            raise FormulaTooLargeError(f"exact evaluation takes more than {self.limit} steps; leave such models out")
