"""Read the text of a NET file of Hugin."""

from __future__ import annotations

import math

from ...contract.checks import shown
from .declarations import Declarations
from .network import DiscreteNetwork
from .tokens import Tokens


def read_net(text: str) -> DiscreteNetwork:
    """Read the text of a NET file: blocks `net`, `node` (discrete) and `potential`.

    Anything else is refused with its line: an unknown or repeated block, data of another shape than the states, a node
    without a potential.
    """
    tokens = Tokens(text, "{}()|=;,", "%|//")
    found = Declarations(tokens.fault_before)
    if tokens.accept("net"):
        _read_attributes(tokens)
    while tokens.kind != "end":
        block = tokens.expect("node", "discrete", "potential")
        if block == "potential":
            _read_potential(tokens, found)
            continue
        if block == "discrete":
            tokens.expect("node")
        name = tokens.name("the name of a node")
        states = _read_attributes(tokens, "states")
        if states is None:
            raise tokens.fault_before(f"node {name!r} has no states")
        found.add_variable(name, states)
    return found.network()


def _read_attributes(tokens: Tokens, wanted: str = "") -> list[str] | None:
    """Read `{ name = value; ... }`, and return the list of the wanted attribute."""
    result: list[str] | None = None
    tokens.expect("{")
    while not tokens.accept("}"):
        name = tokens.name("an attribute")
        tokens.expect("=")
        if name == wanted:
            if result is not None:
                raise tokens.fault(f"found a second list of {wanted}")
            result = _read_list(tokens)
            tokens.expect(";")
        else:
            _skip_value(tokens)
    return result


def _read_list(tokens: Tokens) -> list[str]:
    names: list[str] = []
    tokens.expect("(")
    while not tokens.accept(")"):
        if tokens.kind not in ("word", "quoted"):
            raise tokens.expected("the name of a state")
        names.append(tokens.advance().strip())
        tokens.accept(",")
    return names


def _skip_value(tokens: Tokens) -> None:
    """Move past the value of an attribute and its semicolon."""
    depth = 0
    while depth or not tokens.at(";"):
        if tokens.kind == "end" or tokens.at("{") or tokens.at("}"):
            raise tokens.expected("';' after the attribute")
        depth += tokens.at("(") - tokens.at(")")
        if depth < 0:
            raise tokens.expected("';' after the attribute")
        tokens.advance()
    tokens.advance()


def _read_potential(tokens: Tokens, found: Declarations) -> None:
    tokens.expect("(")
    if tokens.kind not in ("word", "quoted"):
        raise tokens.expected("the name of a node")
    name = tokens.advance().strip()
    parents: list[str] = []
    if tokens.accept("|"):
        while tokens.kind in ("word", "quoted"):
            parents.append(tokens.advance().strip())
            tokens.accept(",")
    tokens.expect(")")
    shape = found.shape(name, parents)
    values: list[float] | None = None
    tokens.expect("{")
    while not tokens.accept("}"):
        attribute = tokens.name("'data'")
        tokens.expect("=")
        if attribute != "data":
            _skip_value(tokens)
            continue
        if values is not None:
            raise tokens.fault(f"node {name!r} has a second list of data")
        values = []
        tokens.expect("(")
        # one list, or a list in a list for every parent
        inner = shape if tokens.at("(") else (math.prod(shape),)
        _read_data(tokens, name, inner, values)
        tokens.expect(";")
    if values is None:
        raise tokens.fault_before(f"the potential of {name!r} has no data; other forms than tables are not read")
    found.add_table(name, parents, values)


def _read_data(tokens: Tokens, name: str, shape: tuple[int, ...], values: list[float]) -> None:
    """Read what follows an opening parenthesis, up to its closing one."""
    count = 0
    while not tokens.at(")"):
        if count == shape[0]:
            raise tokens.fault(f"the data of {name!r} have more than {count} entries here, found {shown(tokens.token)}")
        if len(shape) == 1:
            values.append(tokens.number())
        else:
            tokens.expect("(")
            _read_data(tokens, name, shape[1:], values)
        count += 1
        tokens.accept(",")
    if count != shape[0]:
        raise tokens.fault(f"the data of {name!r} have {count} entries here, expected {shape[0]}")
    tokens.advance()
