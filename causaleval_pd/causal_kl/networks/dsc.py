"""Read the text of a DSC file of Microsoft's belief networks, as bnlearn writes it."""

from __future__ import annotations

import math

from ...contract.checks import shown
from .declarations import Declarations
from .network import DiscreteNetwork
from .tokens import Tokens


def read_dsc(text: str) -> DiscreteNetwork:
    """Read the text of a DSC file: the line `belief network`, blocks `node` (discrete) and `probability`.

    Anything else is refused with its line: an unknown or repeated block, a number of states that is not that of the
    list, a row of a table that is missing, repeated or of another length, a node without a table.
    """
    tokens = Tokens(text, "{}()[]|,;:=", "//")
    found = Declarations(tokens.fault_before)
    if tokens.accept("belief"):
        tokens.expect("network")
        if tokens.kind == "quoted":
            tokens.advance()
        if tokens.accept("{"):
            tokens.expect("}")
    while tokens.kind != "end":
        if tokens.expect("node", "probability") == "node":
            _read_node(tokens, found)
        else:
            _read_table(tokens, found)
    return found.network()


def _read_node(tokens: Tokens, found: Declarations) -> None:
    name = tokens.name("the name of a node")
    states: list[str] | None = None
    tokens.expect("{")
    while not tokens.accept("}"):
        attribute = tokens.name("an attribute")
        tokens.expect(":", "=")
        if attribute != "type":
            while not tokens.accept(";"):
                if tokens.kind == "end" or tokens.at("{") or tokens.at("}"):
                    raise tokens.expected("';' after the attribute")
                tokens.advance()
            continue
        if states is not None:
            raise tokens.fault(f"node {name!r} has a second type")
        tokens.expect("discrete")
        tokens.expect("[")
        count = tokens.number()
        tokens.expect("]")
        tokens.expect("=")
        states = _states(tokens)
        if len(states) != count:
            raise tokens.fault(f"node {name!r} has {len(states)} states {shown(states)}, but declares {count:g}")
        tokens.expect(";")
    if states is None:
        raise tokens.fault_before(f"node {name!r} has no type; expected 'type : discrete [ n ] = {{ states }};'")
    found.add_variable(name, states)


def _states(tokens: Tokens) -> list[str]:
    tokens.expect("{")
    names = [tokens.name("the name of a state")]
    while not tokens.accept("}"):
        tokens.expect(",", "}")
        names.append(tokens.name("the name of a state"))
    return names


def _read_table(tokens: Tokens, found: Declarations) -> None:
    tokens.expect("(")
    name, parents = tokens.name("the name of a node"), []
    if tokens.accept("|"):
        parents.append(tokens.name("the name of a parent"))
        while tokens.accept(","):
            parents.append(tokens.name("the name of a parent"))
    tokens.expect(")")
    shape = found.shape(name, parents)
    rows: dict[tuple[int, ...], list[float]] = {}
    tokens.expect("{")
    while not tokens.accept("}"):
        row = _row(tokens, shape[:-1], parents)
        if row in rows:
            raise tokens.fault(f"the table of {name!r} has the row {shown(list(row))} twice")
        rows[row] = _numbers(tokens, name, shape[-1])
    expected = math.prod(shape[:-1])
    if len(rows) < expected:
        raise tokens.fault_before(
            f"the table of {name!r} has {len(rows)} rows, expected {expected}; is the file cut short?"
        )
    found.add_table(name, parents, [value for row in sorted(rows) for value in rows[row]])


def _row(tokens: Tokens, cards: tuple[int, ...], parents: list[str]) -> tuple[int, ...]:
    """Read the numbers of the parents' states, from 0, in parentheses; nothing where there are no parents."""
    row: list[int] = []
    if not cards:
        return ()
    tokens.expect("(")
    while not tokens.accept(")"):
        state = tokens.number()
        if len(row) == len(cards) or not state.is_integer() or not 0 <= state < cards[len(row)]:
            raise tokens.fault(f"found the state {state:g}, expected the number of a state of each of {shown(parents)}")
        row.append(int(state))
        if not tokens.at(")"):
            tokens.expect(",", ")")
    if len(row) != len(cards):
        raise tokens.fault(f"found {len(row)} states, expected one of each of {shown(parents)}")
    tokens.expect(":")
    return tuple(row)


def _numbers(tokens: Tokens, name: str, count: int) -> list[float]:
    """Read as many numbers as are expected, separated by commas, and the semicolon."""
    numbers = [tokens.number()]
    while not tokens.accept(";"):
        tokens.accept(",")
        if len(numbers) == count:
            raise tokens.fault(f"the table of {name!r} has more than {count} numbers here, found {shown(tokens.token)}")
        numbers.append(tokens.number())
    if len(numbers) != count:
        raise tokens.fault_before(f"the table of {name!r} has {len(numbers)} numbers here, expected {count}")
    return numbers
