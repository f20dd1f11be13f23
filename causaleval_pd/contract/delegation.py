"""Methods and verbs that pass their arguments on: signatures and docstrings are written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def method(function: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Turn a function into a method of an accessor, whose object becomes the function's first argument."""

    @functools.wraps(function)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self._object, *args, **kwargs)

    signature = inspect.signature(function)
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    call.__signature__ = signature.replace(parameters=[receiver, *list(signature.parameters.values())[1:]])  # type: ignore[attr-defined]
    return call


F = TypeVar("F", bound=Callable[..., Any])


def takes_settings_of(target: Callable[..., Any], *, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Show the keywords that a function passes on as `**settings` in its signature, for help and completion."""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        params = [x for x in signature.parameters.values() if x.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = {x.name for x in params} | set(without)
        passed = [
            x
            for x in inspect.signature(target).parameters.values()
            if x.kind is inspect.Parameter.KEYWORD_ONLY and x.name not in taken
        ]
        function.__signature__ = signature.replace(parameters=[*params, *passed])  # type: ignore[attr-defined]
        return function

    return decorate
