"""Compiled bounds of the SID over the DAGs of a class: the smallest and the largest one.

The SID adds up over the nodes of the estimate, a node's part depends on its parents alone, and the undirected
components of a CPDAG are oriented independently. So the smallest and the largest sum of a component follow from those
of the smaller components that each source leaves (see `components`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import ONE, SIX, ZERO, bit_of, compact, lowest, popcount
from .components import (
    BY_SIZE,
    CHILDREN,
    CHOICES,
    COLUMNS,
    COST,
    FIRST_CHILD,
    FIRST_CHOICE,
    HIGH,
    LISTED,
    LOW,
    MORE_CHILDREN,
    OVER_LIMIT,
    SOURCE,
    STATES,
    Choices,
    empty_lists,
    fill_part,
    holds,
    is_empty,
    is_orientable,
    list_choices,
    list_single,
)
from .inputs import Ints, Words, checked_comparison, checked_planes
from .lanes import Arcs, GraphRoom, load_dag, read_edges, walk_open, workspace
from .planes import row_words

#: status of a comparison
_LOCAL, _CYCLIC = 1, -1
#: result of listing a component, besides those of `list_choices`
_UNORIENTABLE = 3
#: rows of words per node that a comparison works with: four of `walk_open`, then
_DESCENDANT, _TREATMENT, _GIVEN, _ROWS = 4, 5, 6, 7


@kernel_part
def _read_graph(planes: Words, room: GraphRoom, near: Words, arcs: Arcs) -> None:
    """Read the edges of any graph, in no order, and fill the rows of undirected neighbours."""
    compact()
    n, n_undirected = read_edges(planes, room.nodes.shape[1] - 1, room.ends, arcs.undirected)
    near[:] = ZERO
    for a in range(n):
        arcs.tail[a], arcs.head[a] = room.ends[0, a], room.ends[1, a]
        if arcs.undirected[a]:
            u, v = np.uint64(room.ends[0, a]), np.uint64(room.ends[1, a])
            near[u, v >> SIX] |= bit_of(v)
            near[v, u >> SIX] |= bit_of(u)
    arcs.size[0], arcs.size[1] = n, n_undirected


@kernel_part
def _count_lanes(true: Arcs, arcs: Arcs, rows: Words, cost: Ints) -> None:
    """Add to each lane's cost the outcomes for which its treatment's parents are wrong in the truth, a DAG.

    The directed edges' parents are added to those that are given.
    """
    treatment, parents, descendant = rows[_TREATMENT], rows[_GIVEN], rows[_DESCENDANT]
    for a in range(arcs.size[0]):
        if not arcs.undirected[a]:
            parents[arcs.tail[a]] |= treatment[arcs.head[a]]
    walk_open(true, parents, treatment, descendant, rows[0:4])
    used = ZERO
    for v in range(parents.size):
        used |= treatment[v]
    for v in range(parents.size):
        wrong = ((parents[v] & descendant[v]) | (~parents[v] & rows[0, v])) & ~treatment[v] & used
        while wrong != ZERO:
            cost[lowest(wrong)] += 1
            wrong &= wrong - ONE


@kernel_part
def _cost_choices(true: Arcs, arcs: Arcs, lists: Choices, rows: Words, cost: Ints) -> None:
    """Count the mistakes of every choice, whose parents are those outside the state and those of directed edges."""
    compact()
    treatment, parents = rows[_TREATMENT], rows[_GIVEN]
    table, states = lists.table, lists.states
    words = np.uint64(states.shape[1] >> 1)
    n_choices = lists.counts[CHOICES]
    state = 0
    for start in range(0, n_choices, 64):
        stop = start + 64 if start + 64 < n_choices else n_choices
        treatment[:] = ZERO
        parents[:] = ZERO
        for c in range(start, stop):
            while table[state + 1, FIRST_CHOICE] <= c:
                state += 1
            bit = ONE << np.uint64(c - start)
            treatment[table[c, SOURCE]] |= bit
            for w in range(words):
                left = states[state, words + w]
                while left != ZERO:
                    parents[(w << SIX) + lowest(left)] |= bit
                    left &= left - ONE
        cost[:] = 0
        _count_lanes(true, arcs, rows, cost)
        for c in range(start, stop):
            table[c, COST] = cost[c - start]


@kernel_part
def _sort_states(lists: Choices, place: Ints) -> None:
    """Sort the states by their numbers of members; `place` counts them."""
    compact()
    table, states = lists.table, lists.states
    n_states, words = lists.counts[STATES], states.shape[1] >> 1
    place[:] = 0
    for s in range(n_states):
        size = 0
        for w in range(words):
            size += popcount(states[s, w])
        table[s, LOW] = size
        place[size + 1] += 1
    for k in range(place.size - 1):
        place[k + 1] += place[k]
    for s in range(n_states):
        size = table[s, LOW]
        table[place[size], BY_SIZE] = s
        place[size] += 1


@kernel_part
def _add_extremes(lists: Choices, out: Ints) -> None:
    """Add the smallest and the largest sums of the listed components, whose choices have costs, by sorted states."""
    compact()
    table, children, states = lists.table, lists.children, lists.states
    n_states, words = lists.counts[STATES], states.shape[1] >> 1
    for k in range(n_states):  # what a state leaves is smaller
        s = table[k, BY_SIZE]
        least = most = -1
        for c in range(table[s, FIRST_CHOICE], table[s + 1, FIRST_CHOICE]):
            low_sum = high_sum = table[c, COST]
            for q in range(table[c, FIRST_CHILD], table[c + 1, FIRST_CHILD]):
                child = children[q]
                low_sum += table[child, LOW]
                high_sum += table[child, HIGH]
            if least < 0 or low_sum < least:
                least = low_sum
            if high_sum > most:  # noqa: PLR1730  max() takes longer to compile
                most = high_sum
        table[s, LOW] = least
        table[s, HIGH] = most
        if is_empty(states[s, words:]):  # a component of the graph, as nothing lies outside
            out[0] += least
            out[1] += most


@kernel_part
def _local_extremes(
    true: Arcs, arcs: Arcs, near: Words, v: np.uint64, limit: int, rows: Words, place: Ints
) -> tuple[int, int]:
    """Return the fewest and the most mistakes of a node that takes any of its undirected neighbours as parents."""
    compact()
    treatment, parents = rows[_TREATMENT], rows[_GIVEN]
    degree = 0
    for w in range(near.shape[1]):
        degree += popcount(near[v, w])
    if degree > 60 or (1 << degree) > limit:
        return 0, near.shape[0] - 1
    cost, neighbours = place[-64:], place[:-64]
    listed = 0
    for u in range(np.uint64(near.shape[0])):
        if holds(near[v], u):
            neighbours[listed] = u
            listed += 1
    least = most = -1
    for start in range(0, 1 << degree, 64):
        stop = start + 64 if degree > 6 else 1 << degree
        treatment[:] = ZERO
        parents[:] = ZERO
        cost[:] = 0
        for s in range(start, stop):
            bit = ONE << np.uint64(s - start)
            treatment[v] |= bit
            for k in range(degree):
                if (s >> k) & 1:
                    parents[neighbours[k]] |= bit
        _count_lanes(true, arcs, rows, cost)
        for s in range(stop - start):
            if least < 0 or cost[s] < least:
                least = cost[s]
            if cost[s] > most:  # noqa: PLR1730
                most = cost[s]
    return least, most


@kernel
def _sid_bounds(
    truth: Words,
    estimate: Words,
    left: Ints,
    right: Ints,
    first: int,
    lists: Choices,
    room: GraphRoom,
    true: Arcs,
    arcs: Arcs,
    near: Words,
    rows: Words,
    sets: Words,
    place: Ints,
    out: Ints,
) -> int:
    """Fill lower bound, upper bound and status of each pair from the first one on; return the pair to go on with.

    Each function is called in one place, since every call may be compiled into a copy of its own; and most of them
    from here, since what a function calls is compiled again with it.
    """
    compact()
    counts = lists.counts
    n_nodes, words = near.shape
    done, everything, part = sets[0], sets[1], sets[2]
    everything[:] = ZERO
    for v in range(np.uint64(n_nodes)):
        everything[v >> SIX] |= bit_of(v)
    for n in range(first, left.size):
        if n == first or left[n] != left[n - 1]:  # controls of one row share their truth
            load_dag(truth[left[n]], room, true)
        out[n] = 0
        if true.size[0] < 0:
            out[n, 2] = _CYCLIC
            continue
        _read_graph(estimate[right[n]], room, near, arcs)
        done[:] = ZERO
        v = ZERO
        while v <= np.uint64(n_nodes):
            status = OVER_LIMIT  # behind the last node, the sums of what is listed are added
            if v < np.uint64(n_nodes):
                status = LISTED
                if is_empty(near[v]) and counts[CHOICES] < lists.states.shape[0]:
                    list_single(lists, v)
                elif not holds(done, v):
                    fill_part(everything, v, near, part)
                    status = _UNORIENTABLE
                    if is_orientable(arcs, near, part, sets[3]):
                        states, choices, children = counts[STATES], counts[CHOICES], counts[CHILDREN]
                        status = list_choices(lists, part, near, sets[3:])
                        if status != LISTED:  # leave the lists as they were
                            counts[STATES], counts[CHOICES], counts[CHILDREN] = states, choices, children
            if status == MORE_CHILDREN:
                empty_lists(lists)
                return n
            if status == OVER_LIMIT:
                some = counts[STATES] > 0
                if some:  # it may need the room of those before it
                    _cost_choices(true, arcs, lists, rows, place[-64:])
                    _sort_states(lists, place[:-64])
                    _add_extremes(lists, out[n])
                empty_lists(lists)
                if some:
                    continue
            if status != LISTED and v < np.uint64(n_nodes):
                for u in range(np.uint64(n_nodes)):  # each node of the component by itself
                    if holds(part, u):
                        low, high = _local_extremes(true, arcs, near, u, lists.states.shape[0], rows, place)
                        out[n, 0] += low
                        out[n, 1] += high
                out[n, 2] = _LOCAL
            if v < np.uint64(n_nodes) and not is_empty(near[v]) and not holds(done, v):
                for w in range(words):
                    done[w] |= part[w]
            v += ONE
    return left.size


def sid_bounds(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int, limit: int
) -> NDArray[np.int64]:
    """Bound the SID over the DAGs of the estimate's class, the truth being a DAG; others as in `adjacency_counts`.

    Columns of the result (n, 3): lower bound, upper bound, and 0 where components were oriented as a whole; 1 where one
    is over the limit or not as in a CPDAG, so that each of its nodes takes any of its undirected neighbours as parents,
    and a node with too many of them counts from 0 to d - 1; -1 where the truth has a cycle.

    `limit` is on choices of (undirected part, source) of a component, each an evaluation of a node with parents; and on
    parent sets of one node where a component is bounded locally.
    """
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index)
    blocks = checked_planes(comparison.truth, n_nodes), checked_planes(comparison.estimate, n_nodes)
    words = row_words(n_nodes)
    lists = Choices(
        states=np.empty((limit, 2 * words), np.uint64),
        table=np.empty((limit + 1, COLUMNS), np.int64),
        children=np.empty(256, np.int64),
        slots=np.full(1 << (2 * limit - 1).bit_length(), -1, np.int64),
        counts=np.zeros(4, np.int64),
    )
    scratch = (
        *workspace(n_nodes, *blocks),
        np.empty((n_nodes, words), np.uint64),
        np.zeros((_ROWS, n_nodes), np.uint64),
        np.empty((2 * n_nodes + 17, words), np.uint64),  # sets of nodes
        np.empty(n_nodes + 2 + 64, np.int64),  # counts by size, and the costs of 64 lanes
    )
    out = np.empty((len(comparison.truth_index), 3), np.int64)
    done = 0
    while (done := _sid_bounds(*comparison, done, lists, *scratch, out)) < len(out):
        lists = lists._replace(children=np.empty(2 * len(lists.children) + n_nodes, np.int64))
    return out
