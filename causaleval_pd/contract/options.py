"""Options that several metrics share: documented once, and added to every docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def option_entries(section: str) -> dict[str, str]:
    """Return the entries of a section of parameters by name."""
    return {entry.split(" : ")[0]: entry.rstrip() for entry in re.split(r"\n(?=\S)", section.rstrip()) if entry}


def with_options(texts: Mapping[str, str]) -> Callable[[F], F]:
    r"""Make a decorator that completes the parameters in a metric's docstring.

    Parameters
    ----------
    texts : mapping
        Entries of a section of parameters by name; those of the docstring itself come first. `Metric` adds what all
        metrics share.

    Returns
    -------
    callable
        From a function whose docstring ends in the section Examples to the same function.

    Examples
    --------
    >>> @with_options({"floor": "floor : float\n    Smallest denominator."})
    ... def ratio(*, floor=0.0):
    ...     '''Compute a ratio.
    ...
    ...     Examples
    ...     --------
    ...     '''
    >>> ratio.__doc__.splitlines()[2:6]
    ['Parameters', '----------', 'floor : float', '    Smallest denominator.']
    """

    def complete(function: F) -> F:
        # python -OO has no docstrings
        if text := inspect.getdoc(function):
            head, mark, examples = text.partition("Examples\n--------")
            prose, _, section = head.partition("Parameters\n----------\n")
            entries = {**texts, **option_entries(section)}
            parameters = inspect.signature(function).parameters.values()
            # `Metric` describes the pairs and zero_division; every other option needs a text
            needed = {x.name for x in parameters if x.kind is x.KEYWORD_ONLY} - {"zero_division"}
            listed = [entries[x.name] for x in parameters if x.name in entries or x.name in needed]
            function.__doc__ = "\n".join([f"{prose}Parameters", "----------", *listed, "", mark + examples])
        return function

    return complete
