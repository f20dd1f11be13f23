"""What the options mean that metrics of quality share, told once and put into every docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

OPTIONS = {
    "pairs": """pairs : pairs of field 'formula', or a cell
    Aligned pairs; or the true cell, followed by the estimated one.""",
    "beta": """beta : float
    How many times more completeness weighs than correctness.""",
    "models": """models : {"max", "mean", "any", "all"}
    What becomes of the scores of several models in one cell: the best (a method is right if one of its models is),
    their mean, or whether some, or all, are 1.""",
    "convention": """convention : {"published", "paper"} or Convention
    The numbers of the paper's tables, or what its text says.""",
    "zero_division": """zero_division : float
    What 0/0 is; default NaN.""",
}


def with_options(function: F) -> F:
    """Add to a metric's docstring the section of its parameters.

    Parameters
    ----------
    function : callable
        Function of pairs whose docstring ends in the section Examples.

    Returns
    -------
    callable
        The same function.

    Examples
    --------
    >>> @with_options
    ... def half(pairs, *, zero_division=0.0):
    ...     '''Compute a half.
    ...
    ...     Examples
    ...     --------
    ...     '''
    >>> half.__doc__.splitlines()[-5:-3]
    ['zero_division : float', '    What 0/0 is; default NaN.']
    """
    # python -OO has no docstrings
    if text := inspect.getdoc(function):
        prose, mark, examples = text.partition("Examples\n--------")
        parameters = [OPTIONS[name] for name in inspect.signature(function).parameters]
        function.__doc__ = "\n".join([f"{prose}Parameters", "----------", *parameters, "", mark + examples])
    return function
