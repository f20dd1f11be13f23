"""Every call that a message proposes exists, with the keywords that it is given."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

PACKAGE = Path(ce.__file__).parent
#: a dotted name of the package, and a call of a verb or maker with its arguments up to the first bracket inside
NAME = re.compile(r"\bce\.[A-Za-z_][\w.]*[\w]")
CALL = re.compile(r"(?<![\w.])(?:ce\.|df\.ceval\.|cube\.ceval\.)?([a-z_]\w*)\(([^()]*)")
KEYWORD = re.compile(r"\b([a-z_]\w*)=(?!=)")


def _text_of(node: ast.AST) -> str | None:
    """Return the literal text of a constant or an f-string, with a mark in place of values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(x.value if isinstance(x, ast.Constant) else "\0" for x in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@cache
def messages() -> tuple[tuple[str, str], ...]:
    """Return place and text of all sentences in the code, docstrings apart: errors, warnings, and parts of these."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
        docstrings = {id(node.value) for node in own}
        for node in ast.walk(tree):
            text = None if id(node) in docstrings else _text_of(node)
            if text and " " in text:
                found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", text))
    return tuple(found)


def callables() -> dict[str, object]:
    """Return the functions of the namespace by name; verbs of tables and cubes take the same keywords."""
    return {name: getattr(ce, name) for name in dir(ce) if callable(getattr(ce, name))}


def resolve(name: str) -> bool:
    """Return whether a dotted name exists in the package."""
    found: object = ce
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_messages_are_collected():
    assert len(messages()) > 2000
    assert sum(len(NAME.findall(text)) for _, text in messages()) > 40


def test_names_that_messages_propose_exist():
    wrong = [(place, name) for place, text in messages() for name in NAME.findall(text) if not resolve(name)]
    assert wrong == []


def test_keywords_that_messages_propose_are_taken():
    named, wrong = callables(), []
    for place, text in messages():
        for name, arguments in CALL.findall(text):
            if name not in named:
                continue
            taken = inspect.signature(named[name]).parameters
            if not any(x.kind is x.VAR_KEYWORD for x in taken.values()):
                wrong += [(place, name, keyword) for keyword in KEYWORD.findall(arguments) if keyword not in taken]
    assert wrong == []


LONG = pd.DataFrame([("A", "B", 0.9), ("B", "C", 0.2)], columns=["from", "to", "strength"])
SCOPE = {"ce": ce, "pd": pd, "np": np, "table": LONG, "nodes": ["A", "B", "C"]} | callables()


@pytest.mark.parametrize(
    ("mistake", "proposal", "result"),
    [
        (lambda: ce.as_graph(LONG), r"table\.loc\[.*?\]\]", lambda x: ce.as_graph(x).to_string() == "A -> B"),
        (lambda: ce.as_graph(LONG), r"score_column\(.*\)", lambda x: x.score.n_scored.tolist() == [6]),
        (
            lambda: ce.score_column([LONG.assign(n=[3, 4])]),
            r"table\[\[.*\]\]",
            lambda x: ce.score_column([x]).notna().all(),
        ),
        (
            lambda: ce.as_graph([("A", "B", 1)]),
            r"pd\.DataFrame\(.*\)",
            lambda x: ce.as_graph(x).to_string() == "A -> B",
        ),
        (
            lambda: ce.as_graph("A -> B; B -> A"),
            r"lagged_column\(.*?\]\)",
            lambda x: x.lagged.to_strings().tolist() == ["lags 0..1: A@-1 -> B; B@-1 -> A"],
        ),
        (
            lambda: ce.with_controls(ce.datasets.runs().head(2), ["shd"], null="knowledge", n_draws=2),
            r"ce\.null_model\(.*\]\)",
            lambda x: x.name == "knowledge",
        ),
    ],
)
def test_proposals_that_are_followed_give_the_right_result(mistake, proposal, result):
    with pytest.raises((TypeError, ValueError)) as error:
        mistake()
    found = re.search(proposal, str(error.value))
    assert found is not None, error.value
    assert result(eval(found[0], SCOPE | {"edges": [("A", "B", 1)]}))
