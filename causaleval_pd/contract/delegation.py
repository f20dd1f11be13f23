"""Accessor methods made of the package's functions: the same signature and docstring, written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def method(function: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Turn a function into a method of an accessor, whose object becomes the function's first argument.

    Parameters
    ----------
    function : callable
        A verb or figure; its first argument is the table or cube.

    Returns
    -------
    callable
        For the body of a class whose instances keep their object as `_object`.

    Examples
    --------
    >>> from causaleval_pd.contract.delegation import method
    >>> class Words:
    ...     def __init__(self, words):
    ...         self._object = words
    ...     joined = method(lambda words, *, by=" ": by.join(words))
    >>> Words(["a", "b"]).joined(by="-")
    'a-b'
    """

    @functools.wraps(function)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self._object, *args, **kwargs)

    signature = inspect.signature(function)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    call.__signature__ = signature.replace(parameters=[own, *list(signature.parameters.values())[1:]])  # type: ignore[attr-defined]
    return call
