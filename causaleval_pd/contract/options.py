"""Signatures and docstrings that are written once: of verbs that pass arguments on, and of options that metrics share.

Conventions are options by which metrics take further kinds of cell.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from .pairs import Pairs

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


def option_entries(section: str) -> dict[str, str]:
    """Return the entries of a section of parameters by name."""
    return {entry.split(" : ")[0]: entry.rstrip() for entry in re.split(r"\n(?=\S)", section.rstrip()) if entry}


def with_options(texts: Mapping[str, str]) -> Callable[[F], F]:
    """Make a decorator that completes the parameters in a metric's docstring."""

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
    }
    if sections and sections[0].startswith("Parameters\n"):
        entries |= option_entries(sections.pop(0).split("\n", 2)[2])
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


def what_applies(metrics: Sequence[Any], refused: Sequence[Pairs]) -> str:
    """Return a hint that names metrics and their conventions for refused pairs, "; use ..." or nothing."""
    n = sum(pairs.n for pairs in refused)
    remedies: dict[tuple[int, str], list[str]] = {}
    for x in metrics:
        most = n - sum(int(x.refused(pairs).sum()) for pairs in refused)
        if most:
            remedies.setdefault((most, ""), []).append(repr(x.name))
        for option, value, _, meaning in x.conventions:
            taken = n - sum(int(x.refused(pairs, {**x.options, option: value}).sum()) for pairs in refused)
            if taken > most:
                call = f"ce.tweak({x.name!r}, {option}={value!r})"
                remedies.setdefault((taken, f" ({meaning})"), []).append(call)
    words = []
    for (taken, meaning), names in remedies.items():
        either = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        words.append(f"{either}{f' for {taken} of them' if taken < n else ''}{meaning}")
    return f"; use {'; or '.join(words)}" if words else ""
