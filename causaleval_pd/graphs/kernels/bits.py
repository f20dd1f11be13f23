"""Compiled operations on one graph held as rows of bits: bit i of row j relates node i to node j.

Rows are a 2-d array of words (d, words), or for at most 64 nodes a 1-d array with one word per node, which is about
half again as fast. Numba drops the branch on `ndim` that does not apply.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import RefType, iternext_impl
from numba.core.types.common import SimpleIteratorType
from numba.extending import intrinsic, lower_builtin, models, register_model
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel_part

from .inputs import Ints, Words

# Numba makes a float of an unsigned and a signed integer: whatever meets a word must be unsigned.
ZERO, ONE, SIX, LAST = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
#: marks at an end of an edge, those of `planes` as words
NONE, TAIL, ARROW, CIRCLE = np.arange(4, dtype=np.uint64)
#: in place of a node of an empty row
NO_NODE = np.uint64(2**64 - 1)

_WORD, _FLAG = ir.IntType(64), ir.IntType(1)


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Count the ones of a word (a signed number, to be added up)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [_WORD]), args)

    return types.int64(types.uint64), generate


def _zeros(builder: Any, name: str, word: Any) -> Any:
    # the second argument promises that the word is never zero
    function = builder.module.declare_intrinsic(name, [_WORD], ir.FunctionType(_WORD, [_WORD, _FLAG]))
    return builder.call(function, [word, ir.Constant(_FLAG, 1)])


def _count_zeros(name: str) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _zeros(builder, name, args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest(typing_context: Any, word: Any) -> Any:
    """Return the position of the lowest one of a word that is not zero."""
    return _count_zeros("llvm.cttz")


@intrinsic
def zeros_above(typing_context: Any, word: Any) -> Any:
    """Return the number of zeros above the highest one of a word that is not zero."""
    return _count_zeros("llvm.ctlz")


class _Members(SimpleIteratorType):
    """The type of the iterator over the ones of a word: the node of its lowest bit, and where the rest of it stands."""

    def __init__(self) -> None:
        super().__init__("members", types.uint64)


@register_model(_Members)
class _MembersModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("first", types.uint64), ("rest", types.CPointer(types.uint64))])


@intrinsic
def members(typing_context: Any, w: Any, word: Any) -> Any:
    """Iterate over the nodes of the ones in word `w` of a row; a generator would not be inlined in `compact` code."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        iterator = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        iterator.first = builder.shl(args[0], ir.Constant(_WORD, 6))
        iterator.rest = cgutils.alloca_once_value(builder, args[1])
        return iterator._getvalue()

    return _Members()(types.uint64, types.uint64), generate


@lower_builtin("getiter", _Members)
def _iterate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return args[0]


@lower_builtin("iternext", _Members)
@iternext_impl(RefType.UNTRACKED)
def _take_next(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    iterator = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
    rest = builder.load(iterator.rest)
    some = builder.icmp_unsigned("!=", rest, ir.Constant(_WORD, 0))
    result.set_valid(some)
    with builder.if_then(some):
        result.yield_(builder.add(iterator.first, _zeros(builder, "llvm.cttz", rest)))
        builder.store(builder.and_(rest, builder.sub(rest, ir.Constant(_WORD, 1))), iterator.rest)


@intrinsic
def compact(typing_context: Any) -> Any:
    """Have the function that calls this optimised for size: without unrolled loops, which take long to compile."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("optsize")
        return context.get_dummy_value()

    return types.none(), generate


@kernel_part
def copy_row(source: Words, target: Words, length: int) -> None:
    """Copy the first items of a row. Numba compiles an assignment of slices into far more code, messages included."""
    for v in range(length):
        target[v] = source[v]


@kernel_part
def bit_of(node: np.uint64) -> np.uint64:
    """Return the bit of a node in its word, which is word `node >> 6` of a row."""
    return ONE << (node & LAST)


@kernel_part
def has(row: Words, node: np.uint64) -> np.uint64:
    """Return the bit of a node in a row: 0 or 1."""
    compact()
    return (row[node >> SIX] >> (node & LAST)) & ONE


@kernel_part
def add(row: Words, node: np.uint64) -> None:
    """Set the bit of a node in a row."""
    compact()
    row[node >> SIX] |= bit_of(node)


@kernel_part
def drop(row: Words, node: np.uint64) -> None:
    """Clear the bit of a node in a row."""
    compact()
    row[node >> SIX] &= ~bit_of(node)


@kernel_part
def take_lowest(row: Words) -> np.uint64:
    """Remove the first node of a row and return it, or `NO_NODE` if the row is empty."""
    compact()
    for w in range(np.uint64(row.size)):
        if row[w] != ZERO:
            node = (w << SIX) + lowest(row[w])
            row[w] &= row[w] - ONE
            return node
    return NO_NODE


@kernel_part
def is_empty(row: Words) -> bool:
    """Return whether no bit of a row is set."""
    compact()
    union = ZERO
    for w in range(row.size):
        union |= row[w]
    return union == ZERO


@kernel_part
def is_clique(row: Words, near: Words) -> bool:
    """Return whether the nodes of a row are joined to each other; empty it."""
    while True:
        v = take_lowest(row)
        if v == NO_NODE:
            break
        for w in range(row.size):
            if row[w] & ~near[v, w]:
                return False
    return True


@kernel_part
def is_set(rows: Words, row: np.uint64, node: np.uint64) -> np.uint64:
    """Return the bit of `node` in a row: 0 or 1."""
    if rows.ndim == 1:
        return (rows[row] >> node) & ONE
    else:
        return (rows[row, node >> SIX] >> (node & LAST)) & ONE


@kernel_part
def flip(rows: Words, row: np.uint64, node: np.uint64, change: np.uint64) -> None:
    """Change the bit of `node` in a row if `change` is 1, not if it is 0."""
    if rows.ndim == 1:
        rows[row] ^= change << node
    else:
        rows[row, node >> SIX] ^= change << (node & LAST)


@kernel_part
def pair_of(i: np.uint64, j: np.uint64, n_nodes: np.uint64) -> np.uint64:
    """Return the number of the pair i < j."""
    return ((i * (n_nodes + n_nodes - i - ONE)) >> ONE) + j - i - ONE


@kernel_part
def row_of(pair: np.uint64, i: np.uint64, end: np.uint64, n_nodes: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the first node of a pair that does not come before node i, whose pairs end before `end`, and its end."""
    while pair >= end:
        i += ONE
        end += n_nodes - ONE - i
    return i, end


@kernel_part
def mark_rows(planes: Words, into: Words, out: Words) -> None:
    """Set bit i of `into[j]` and bit j of `out[i]` for each mark i -> j of a graph, and clear the other bits."""
    into[:] = ZERO
    out[:] = ZERO
    n_nodes = np.uint64(into.shape[0])
    i, end = ZERO, n_nodes - ONE
    for w in range(np.uint64(planes.shape[1])):
        for pair in members(w, planes[0, w] | planes[1, w]):
            i, end = row_of(pair, i, end, n_nodes)
            j = pair + n_nodes - end
            forward = (planes[0, w] >> (pair & LAST)) & ONE
            backward = (planes[1, w] >> (pair & LAST)) & ONE
            flip(into, j, i, forward)
            flip(out, i, j, forward)
            flip(into, i, j, backward)
            flip(out, j, i, backward)


@kernel_part
def count_colliders(parents: Words, adjacent: Words) -> int:
    """Count pairs of parents of a node that are not adjacent, over all nodes."""
    colliders = 0
    words = np.uint64(parents.shape[1])
    for k in range(parents.shape[0]):
        for w in range(words):
            left = parents[k, w]
            while left != ZERO:
                i = (w << SIX) + lowest(left)
                left &= left - ONE
                colliders += popcount(left & ~adjacent[i, w])
                for v in range(w + ONE, words):
                    colliders += popcount(parents[k, v] & ~adjacent[i, v])
    return colliders


@kernel_part
def set_mark(planes: Words, source: np.uint64, target: np.uint64, n_nodes: np.uint64, undirected: np.uint64) -> None:
    """Set the mark source -> target in planes (2, W), and if `undirected` is 1 the opposite one too."""
    i, j = source, target
    if i > j:
        i, j = j, i
    pair = pair_of(i, j, n_nodes)
    planes[0, pair >> SIX] |= (undirected | np.uint64(source < target)) << (pair & LAST)
    planes[1, pair >> SIX] |= (undirected | np.uint64(source > target)) << (pair & LAST)


@kernel_part
def marks_of(planes: Words, w: np.uint64, pair: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the codes at both ends of a pair, which is in word `w` of planes (4, W)."""
    compact()
    at = pair & LAST
    here = ((planes[0, w] >> at) & ONE) | (((planes[1, w] >> at) & ONE) << ONE)
    there = ((planes[2, w] >> at) & ONE) | (((planes[3, w] >> at) & ONE) << ONE)
    return here, there


@kernel_part
def list_edges(graph: Words, n_nodes: np.uint64, low: Words, high: Words) -> int:
    """List the edges i < j in the order of their bits; return how many there are."""
    e, i, end = 0, ZERO, n_nodes - ONE
    for w in range(np.uint64(graph.shape[1])):
        for pair in members(w, graph[0, w] | graph[1, w]):
            i, end = row_of(pair, i, end, n_nodes)
            low[e], high[e] = i, pair + n_nodes - end
            e += 1
    return e


@kernel_part
def read_edges(
    planes: Words, n_nodes: int, tail: NDArray[Any], head: NDArray[Any], undirected: NDArray[Any]
) -> tuple[int, int]:
    """Fill in the edges (tail, head) of a graph and whether they are undirected; return the numbers of both."""
    compact()
    forwards, backwards = planes[0], planes[1]
    n_edges = loose = 0
    nodes = np.uint64(n_nodes)
    i, end = ZERO, nodes - ONE
    for w in range(np.uint64(planes.shape[1])):
        forward, backward = forwards[w], backwards[w]
        for pair in members(w, forward | backward):
            i, end = row_of(pair, i, end, nodes)
            j, bit = pair + nodes - end, pair & LAST
            if (forward >> bit) & ONE:
                tail[n_edges], head[n_edges] = i, j
            else:
                tail[n_edges], head[n_edges] = j, i
            both = (forward & backward) >> bit & ONE
            undirected[n_edges] = both
            loose += np.int64(both)
            n_edges += 1
    return n_edges, loose


@kernel_part
def causal_order(parents: Words, children: Words, waiting: Ints, order: Words) -> bool:
    """Fill `order` so that each node comes after its parents; False if there is a cycle."""
    n_nodes = order.size
    placed = 0
    for v in range(n_nodes):
        waiting[v] = 0
        for w in range(parents.shape[1]):
            waiting[v] += popcount(parents[v, w])
        if waiting[v] == 0:
            order[placed] = v
            placed += 1
    done = 0
    while done < placed:
        v = np.int64(order[done])
        done += 1
        for w in range(np.uint64(children.shape[1])):
            for child in members(w, children[v, w]):
                waiting[child] -= 1
                if waiting[child] == 0:
                    order[placed] = child
                    placed += 1
    return placed == n_nodes


@kernel_part
def fill_compelled(parents: Words, compelled: Words) -> None:
    """Fill the rows of compelled parents of a DAG whose nodes are numbered in a causal order."""
    # The labelling of Chickering (2002, Learning equivalence classes of Bayesian-network structures, JMLR 2) comes down
    # to one test per node. Let x be the last parent of y. If a parent of y other than x is not a parent of x, or a
    # compelled parent of x not one of y, all edges into y are compelled; else those from the compelled parents of x.
    n_nodes = np.uint64(parents.shape[0])
    if parents.ndim == 1:
        for y in range(n_nodes):
            mine = parents[y]
            if mine == ZERO:
                compelled[y] = ZERO
                continue
            x = LAST - zeros_above(mine)
            whole = ((mine ^ bit_of(x)) & ~parents[x]) | (compelled[x] & ~mine)
            compelled[y] = mine if whole else compelled[x]
    else:
        words = np.uint64(parents.shape[1])
        for y in range(n_nodes):
            top = words
            while top > ZERO and parents[y, top - ONE] == ZERO:
                top -= ONE
            if top == ZERO:
                compelled[y] = ZERO
                continue
            top -= ONE
            x = (top << SIX) + LAST - zeros_above(parents[y, top])
            whole = ZERO
            for w in range(words):
                others = parents[y, w] ^ (bit_of(x) * np.uint64(w == top))
                whole |= (others & ~parents[x, w]) | (compelled[x, w] & ~parents[y, w])
            for w in range(words):
                compelled[y, w] = parents[y, w] if whole else compelled[x, w]
