"""Read the text of a BIF file, the interchange format of bnlearn's repository."""

from __future__ import annotations

import math

import numpy as np

from ...contract.checks import shown
from .declarations import Declarations
from .network import DiscreteNetwork
from .tokens import Tokens

#: entries that a table without all its rows may have: it is made from few characters
_MAX_BY_DEFAULT = 2**20


def read_bif(text: str) -> DiscreteNetwork:
    """Read the text of a BIF file: blocks `network`, `variable` and `probability`.

    Anything else is refused with its line: an unknown or repeated block, a number of states that is not that of the
    list, a row of a table that is missing, repeated or of another length, a variable without a table.
    """
    tokens = Tokens(text, "{}()[]|,;", "//")
    found = Declarations(tokens.fault_before)
    if tokens.accept("network"):
        if not tokens.at("{"):
            tokens.name("the name of the network")
        tokens.expect("{")
        while not tokens.accept("}"):
            tokens.expect("property", "}")
            tokens.skip_past(";")
    while tokens.kind != "end":
        if tokens.expect("variable", "probability") == "variable":
            _read_variable(tokens, found)
        else:
            _read_table(tokens, found)
    return found.network()


def _read_variable(tokens: Tokens, found: Declarations) -> None:
    name = tokens.name("the name of a variable")
    tokens.expect("{")
    states: list[str] | None = None
    while not tokens.accept("}"):
        if tokens.expect("type", "property") == "property":
            tokens.skip_past(";")
            continue
        if states is not None:
            raise tokens.fault(f"variable {name!r} has a second type")
        tokens.expect("discrete")
        tokens.expect("[")
        count = tokens.number()
        tokens.expect("]")
        tokens.expect("{")
        states = _list(tokens, "}", "the name of a state", int(count))
        if len(states) != count:
            raise tokens.fault(f"variable {name!r} has {len(states)} states {shown(states)}, but declares {count:g}")
        tokens.expect(";")
    if states is None:
        raise tokens.fault_before(f"variable {name!r} has no type; expected 'type discrete [ n ] {{ states }};'")
    found.add_variable(name, states)


def _list(tokens: Tokens, end: str, what: str, count: int) -> list[str]:
    """Read names up to a mark: separated by commas, or by spaces where several are expected and there is no comma."""
    names: list[list[str]] = [[]]
    while not tokens.accept(end):
        if names[-1] and tokens.accept(","):
            names.append([])
        elif tokens.kind in ("word", "quoted"):
            names[-1].append(tokens.advance().strip())
        else:
            raise tokens.expected(what)
    if len(names) == 1 and (count > 1 or not names[0]):
        return names[0]
    if not names[-1]:
        raise tokens.fault(f"found a comma before {end!r}, expected {what}")
    return [" ".join(words) for words in names]


def _read_table(tokens: Tokens, found: Declarations) -> None:
    name, parents = _read_head(tokens, found)
    shape = found.shape(name, parents)
    at = [{state: i for i, state in enumerate(found.states[p])} for p in parents]
    rows: dict[tuple[int, ...], list[float]] = {}
    default: list[float] | None = None
    table: list[float] | None = None
    tokens.expect("{")
    while not tokens.accept("}"):
        if tokens.accept("property"):
            tokens.skip_past(";")
        elif tokens.accept("table"):
            if table is not None:
                raise tokens.fault(f"the table of {name!r} is given twice")
            table = _numbers(tokens, name, math.prod(shape))
        elif tokens.accept("default"):
            if default is not None:
                raise tokens.fault(f"variable {name!r} has a second default")
            default = _numbers(tokens, name, shape[-1])
        else:
            tokens.expect("(", "table", "default", "property", "}")
            given = _list(tokens, ")", "the state of a parent", len(parents))
            if len(given) != len(parents) or any(state not in known for state, known in zip(given, at, strict=True)):
                raise tokens.fault(f"found the row {shown(given)}, expected a state of each of {shown(parents)}")
            row = tuple(known[state] for state, known in zip(given, at, strict=True))
            if row in rows:
                raise tokens.fault(f"the table of {name!r} has the row {shown(given)} twice")
            rows[row] = _numbers(tokens, name, shape[-1])
    if table is not None:
        if rows or default is not None:
            raise tokens.fault_before(f"variable {name!r} has a table and rows; give one of them")
        # the child's state changes slowest
        found.add_table(name, parents, np.moveaxis(np.reshape(table, (shape[-1], *shape[:-1])), 0, -1).reshape(-1))
        return
    n_rows = math.prod(shape[:-1])
    if len(rows) < n_rows and (default is None or math.prod(shape) > _MAX_BY_DEFAULT):
        missing = next(row for row in np.ndindex(*shape[:-1]) if row not in rows)
        states = [found.states[p][i] for p, i in zip(parents, missing, strict=True)]
        raise tokens.fault_before(
            f"the table of {name!r} has {len(rows)} rows, expected {n_rows}; the row of {shown(states)} is missing"
        )
    values = [value for row in np.ndindex(*shape[:-1]) for value in rows.get(row, default or [])]
    found.add_table(name, parents, values)


def _read_head(tokens: Tokens, found: Declarations) -> tuple[str, list[str]]:
    """Read `( child | parent, parent )`, or the older `( child parent parent )`."""
    tokens.expect("(")
    if tokens.kind == "quoted":
        name, *others = _list_of_quoted(tokens)
    else:
        name, others = tokens.name("the name of a variable"), []
        if name not in found.states and not tokens.at("|"):
            name, *others = name.split()
    if others or not tokens.accept("|"):
        tokens.expect(")")
        return name, others
    return name, [] if tokens.accept(")") else _parents(tokens)


def _parents(tokens: Tokens) -> list[str]:
    names = [tokens.name("the name of a parent")]
    while not tokens.accept(")"):
        tokens.accept(",")
        names.append(tokens.name("the name of a parent"))
    return names


def _list_of_quoted(tokens: Tokens) -> list[str]:
    names = []
    while tokens.kind == "quoted":
        names.append(tokens.advance().strip())
    return names


def _numbers(tokens: Tokens, name: str, count: int) -> list[float]:
    """Read as many numbers as are expected, and the semicolon."""
    found: list[float] = []
    while not tokens.accept(";"):
        if len(found) == count:
            raise tokens.fault(f"the table of {name!r} has more than {count} numbers here, found {shown(tokens.token)}")
        found.append(tokens.number())
        if tokens.accept(",") and tokens.at(";"):
            raise tokens.expected("a number")
    if len(found) != count:
        raise tokens.fault_before(f"the table of {name!r} has {len(found)} numbers here, expected {count}")
    return found
