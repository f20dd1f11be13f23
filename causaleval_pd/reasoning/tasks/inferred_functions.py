"""Functions of nodes inferred from printed values of nodes and noise: AND, OR or XOR where only one agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .printed_values import parse_printed

_FUNCTIONS: dict[str, Callable[[list[bool]], bool]] = {"and": all, "or": any, "xor": lambda bits: sum(bits) % 2 == 1}


def infer_functions(cells: Iterable[str], parents: Mapping[str, Sequence[str]], name: str) -> list[str | None]:
    """Return the function of each node, or None where the values allow several or the node has no parents.

    Each cell is a printed map that holds, at any depth, maps of the true values of all endogenous and of all exogenous
    variables, whose keys say so; `name` stands in messages.
    """
    possible = {node: dict(_FUNCTIONS) for node in parents}
    known = 0
    for cell in cells:
        for values, noise in _observations(parse_printed(cell), list(parents)):
            known += 1
            for node, above in parents.items():
                bits = [noise[node], *(values[parent] for parent in above)]
                possible[node] = {own: join for own, join in possible[node].items() if join(bits) == values[node]}
                if not possible[node]:
                    raise ValueError(f"{name}: the values of node {node!r} agree neither with AND nor with OR nor XOR")
    single = {node: next(iter(left)) for node, left in possible.items() if known and parents[node] and len(left) == 1}
    # data sets published so far have no XOR
    for node, left in possible.items():
        if known and parents[node] and set(left) in ({"and", "xor"}, {"or", "xor"}):
            single[node] = next(own for own in left if own != "xor")
    return [single.get(node) for node in parents]


def _observations(value: Any, nodes: Sequence[str]) -> Iterator[tuple[dict[str, bool], dict[str, bool]]]:
    """Yield values and noise by node wherever a map holds both."""
    if not isinstance(value, dict):
        return
    sides: dict[str, Any] = {}
    for key, inner in value.items():
        for side in ("endogenous", "exogenous"):
            if isinstance(key, str) and key.casefold().endswith(side) and isinstance(inner, dict):
                sides[side] = inner
    if len(sides) == 2:
        yield _by_node(sides["endogenous"], nodes), _by_node(sides["exogenous"], nodes)
        return
    for inner in value.values():
        yield from _observations(inner, nodes)


def _by_node(values: Mapping[Any, Any], nodes: Sequence[str]) -> dict[str, bool]:
    """Return values by node: by name where the names agree, else by their order."""
    if len(values) != len(nodes) or not all(value in (0, 1) for value in values.values()):
        raise ValueError(f"expected a value of 0 or 1 for each of {len(nodes)} variables, found {len(values)} values")
    if set(values) == set(nodes):
        return {node: bool(values[node]) for node in nodes}
    return {node: bool(value) for node, value in zip(nodes, values.values(), strict=True)}
