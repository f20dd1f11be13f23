"""Sizes beyond which models are refused before exponential work starts, and the error that says so."""

from __future__ import annotations

MAX_CONFIGURATIONS = 2**20
MAX_CANDIDATES = 5_000
MAX_CONJUNCTIONS = 20_000
MAX_FORMS = 5_000
MAX_PATHS = 50_000
MAX_STEPS = 2_000_000


class FormulaTooLargeError(ValueError):
    """A model whose exact evaluation would take too long; the message says what exceeds which limit.

    Examples
    --------
    >>> raise FormulaTooLargeError("30 free factors")
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.limits.FormulaTooLargeError: 30 free factors
    """
