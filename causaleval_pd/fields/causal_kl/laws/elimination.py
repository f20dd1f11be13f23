"""Exact marginals of products of tables by variable elimination.

The steps of an elimination depend on the scopes alone and are kept, so that the same network with other numbers only
multiplies and sums.

References
----------
.. [1] Dechter, R. (1999). Bucket elimination: a unifying framework for reasoning. doi:10.1016/S0004-3702(99)00059-4
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Scope = tuple[int, ...]

#: entries of the largest table that an elimination may make
WIDTH_LIMIT = 2**24
#: tables up to this size are multiplied and summed in one pass
ONE_PASS = 2**12
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class WidthError(ValueError):
    """An exact answer would need a table of more than `WIDTH_LIMIT` entries."""


class Step(NamedTuple):
    """Multiply the tables at `operands` and sum; `expressions` are applied from left to right, two tables at a time."""

    operands: tuple[int, ...]
    expressions: tuple[str, ...]


def marginal(scopes: Sequence[Scope], tables: Sequence[Floats], cards: tuple[int, ...], keep: Scope) -> Floats:
    """Return the sum of the product of tables over all variables but `keep`; tables beyond `WIDTH_LIMIT` are refused.

    `scopes` are the variables of each table and `cards` their numbers of states.
    """
    if not scopes:
        return np.ones(())
    made = list(tables)
    for step in elimination_steps(tuple(scopes), cards, keep):
        operands = [made[i] for i in step.operands]
        if len(step.expressions) == 1:
            made.append(np.einsum(step.expressions[0], *operands))
            continue
        result = operands[0]
        for expression, operand in zip(step.expressions, operands[1:], strict=True):
            result = np.einsum(expression, result, operand)
        made.append(result)
    return np.asarray(made[-1])


@lru_cache(maxsize=4096)
def elimination_steps(scopes: tuple[Scope, ...], cards: tuple[int, ...], keep: Scope) -> tuple[Step, ...]:
    """Order the variables greedily by the size of the table that their elimination makes."""
    active: dict[int, Scope] = dict(enumerate(scopes))
    holders: dict[int, set[int]] = {}
    for at, scope in active.items():
        for v in scope:
            holders.setdefault(v, set()).add(at)
    waiting = {v: math.nan for v in holders if v not in keep}
    stale = set(waiting)
    steps: list[Step] = []
    n_tables = len(scopes)
    while waiting:
        for v in stale:
            met = set().union(*(active[at] for at in holders[v]))
            waiting[v] = math.prod([cards[u] for u in met])
        v = min(waiting, key=lambda u: (waiting[u], u))
        del waiting[v]
        used = sorted(holders.pop(v), key=lambda at: (math.prod([cards[u] for u in active[at]]), at))
        found = [active.pop(at) for at in used]
        result = tuple(sorted(set().union(*found) - {v}))
        steps.append(_step(used, found, result, cards))
        active[n_tables] = result
        for u in result:
            holders[u].difference_update(used)
            holders[u].add(n_tables)
        n_tables += 1
        stale = {u for u in result if u in waiting}
    rest = sorted(active, key=lambda at: (math.prod([cards[u] for u in active[at]]), at))
    steps.append(_step(rest, [active[at] for at in rest], keep, cards))
    return tuple(steps)


def _step(used: Sequence[int], scopes: Sequence[Scope], result: Scope, cards: tuple[int, ...]) -> Step:
    """Write the product of tables, summed to the variables of `result`, as Einstein sums."""
    together = sorted(set(result).union(*scopes))
    size = math.prod(cards[v] for v in together)
    if size > WIDTH_LIMIT or len(together) > len(_LETTERS):
        raise WidthError(f"a table over {len(together)} variables with {size:.3g} entries")
    letter = dict(zip(together, _LETTERS, strict=False))

    def word(scope: Sequence[int]) -> str:
        return "".join(letter[v] for v in scope)

    if len(used) <= 2 or size <= ONE_PASS:
        return Step(tuple(used), (f"{','.join(map(word, scopes))}->{word(result)}",))
    expressions, left = [], scopes[0]
    for i, scope in enumerate(scopes[1:], 1):
        product = result if i == len(scopes) - 1 else tuple(sorted({*left, *scope}))
        expressions.append(f"{word(left)},{word(scope)}->{word(product)}")
        left = product
    return Step(tuple(used), tuple(expressions))
