"""Signatures and docstrings that are written once: of verbs that pass arguments on, and of options that metrics share.

Conventions are options by which metrics take further kinds of cell.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
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


def takes_settings_of(target: Callable[..., Any], *, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Show the keywords that a function passes on as `**settings` in its signature, for help and completion."""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        shown = {name: x for name, x in signature.parameters.items() if x.kind is not x.VAR_KEYWORD}
        for name, x in inspect.signature(target).parameters.items():
            if x.kind is x.KEYWORD_ONLY and name not in without:
                shown.setdefault(name, x)
        function.__signature__ = signature.replace(parameters=[*shown.values()])  # type: ignore[attr-defined]
        return function

    return decorate


def with_options(texts: Mapping[str, str]) -> Callable[[F], F]:
    """Make a decorator that gives a metric's function the entries of its options, which `metric_docstring` lists."""

    def describe(function: F) -> F:
        vars(function)["option_texts"] = texts
        return function

    return describe


def with_example(lines: str, **values: Any) -> Callable[[F], F]:
    """Make a decorator that ends a metric's docstring with an example; {name} and the values are filled in."""

    def complete(function: F) -> F:
        # python -OO has no docstrings
        if text := inspect.getdoc(function):
            function.__doc__ = f"{text}\n\nExamples\n--------\n{lines.format(name=function.__name__, **values)}"
        return function

    return complete


def with_call(cells: str, value: float) -> Callable[[F], F]:
    """Make a decorator that ends a metric's docstring with a call for two cells, as source code, and its value."""
    return with_example(">>> import causaleval_pd as ce\n>>> ce.{name}({cells})\n{value}", cells=cells, value=value)


def metric_docstring(metric: Any) -> str:
    """Complete the docstring of a metric's function by what its declaration has, so that no metric repeats it."""
    text = inspect.getdoc(metric.function) or f"Compute the {metric.long_name}."
    head, mark, examples = text.partition("\nExamples\n--------\n")
    prose, *sections = re.split(r"^(?=\w+\n---)", head, flags=re.MULTILINE)
    entries = {
        "pairs": f"pairs : pairs of field {metric.field!r}, or a cell\n"
        "    Aligned pairs; or the true cell, followed by the estimated one.",
        "zero_division": "zero_division : float\n    What 0/0 is; default NaN.",
        **getattr(metric.function, "option_texts", {}),
    }
    if sections and sections[0].startswith("Parameters\n"):
        own = sections.pop(0).rstrip().split("\n", 2)[2]
        entries |= {entry.split(" : ")[0]: entry for entry in re.split(r"\n(?=\S)", own)}
    listed = [entries[name] for name in inspect.signature(metric.function).parameters if name in entries]
    parts = [prose.rstrip(), "", metric.spec_line(), "", "Parameters", "----------", *listed, ""]
    parts += [section.rstrip() + "\n" for section in sections]
    if not any(section.startswith("Returns\n") for section in sections):
        parts += ["Returns", "-------", "(n,) ndarray or float", "    One value per pair.", ""]
    parts += ["Raises", "------", "ValueError"]
    parts += [f"    If the cells are of other kinds than {metric.kinds_line()}, or do not align.", ""]
    if metric.reference:
        parts += ["References", "----------", f".. [1] doi:{metric.reference}", ""]
    return "\n".join(parts) + (mark + examples if mark else "")


class Convention(NamedTuple):
    """An option of a metric by which it takes further kinds of cell; the option's values are these and its default."""

    #: name of the metric's keyword
    option: str
    #: its value
    value: str
    #: kinds that the metric then takes, of the truth too where both sides have the same kinds
    kinds: tuple[str, ...]
    #: what the metric then does, for messages
    meaning: str
