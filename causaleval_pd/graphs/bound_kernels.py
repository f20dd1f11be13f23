"""Compiled bounds of the SID over the DAGs of a class: `bounds_numpy` says what is found.

The SID adds up over the nodes of the estimate, a node's part depends on its parents alone, and the undirected
components of a CPDAG are oriented independently. A connected undirected chordal graph whose orientations have no
v-structure has one source in each of them; once the source is chosen, what stays undirected falls into smaller
components of the same kind, whose nodes share their parents outside (Wienobst, Bannach and Liskiewicz 2023,
doi:10.48550/arXiv.2205.02654). So the smallest and the largest sum follow from the smaller components'.

A *state* is such a component with its outside parents, two sets of nodes; a *choice* is a state with one of its nodes
as the source. A node without undirected edges is a component of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .bit_kernels import LAST, ONE, SIX, ZERO, bit_of, lowest, popcount
from .kernel_inputs import Ints, Words, checked_comparison, checked_planes
from .lane_kernels import Arcs, Room, load_graph, read_edges, walk_open, workspace

#: what became of a comparison
_EXACT, _LOCAL, _CYCLIC = 0, 1, -1
#: rows of words a node that a comparison works with: four of `walk_open`, then
_DESCENDANT, _TREATMENT, _GIVEN, _ROWS = 4, 5, 6, 7
#: counters
_STATES, _CHOICES, _CHILDREN, _BASE = range(4)
#: columns of the table of states and choices
_FIRST_CHOICE, _LOW, _HIGH, _BY_SIZE, _SOURCE, _COST, _FIRST_CHILD, _COLUMNS = range(8)


class Choices(NamedTuple):
    """The states of the components of one graph and their choices, in lists of fixed length.

    Attributes
    ----------
    states : (limit, 2 words) uint64
        Members and outside parents.
    table : (limit + 1, 7) int64
        By state: its first choice, the smallest and the largest sum, and the states by number of members. By choice:
        its source, the mistakes that its parents make, and where the states that it leaves begin in `children`.
    children : (n,) int64
        Numbers of states; the list is made longer as needed.
    slots : (power of 2,) int64
        Hash table of base + state; numbers below the base are left from earlier graphs.
    counts : (4,) int64
        Numbers of states, choices and children, and the base.
    """

    states: Words
    table: Ints
    children: Ints
    slots: Ints
    counts: Ints


@njit(nogil=True, cache=True)
def _is_empty(row: Words) -> bool:
    some = ZERO
    for w in range(row.size):
        some |= row[w]
    return some == ZERO


@njit(nogil=True, cache=True)
def _lowest_member(row: Words) -> np.uint64:
    """Return the first node of a set that is not empty."""
    w = ZERO
    while row[w] == ZERO:
        w += ONE
    return (w << SIX) + lowest(row[w])


@njit(nogil=True, cache=True)
def _holds(row: Words, node: np.uint64) -> bool:
    return (row[node >> SIX] >> (node & LAST)) & ONE != ZERO


@njit(nogil=True, cache=True)
def _read_graph(planes: Words, room: Room, near: Words) -> Arcs:
    """Read the edges of any graph, in no order, and fill the rows of undirected neighbours."""
    n, n_undirected = read_edges(planes, room.places.shape[1] - 1, room.ends, room.undirected)
    near[:] = ZERO
    for a in range(n):
        if room.undirected[a]:
            u, v = np.uint64(room.ends[0, a]), np.uint64(room.ends[1, a])
            near[u, v >> SIX] |= bit_of(v)
            near[v, u >> SIX] |= bit_of(u)
    return Arcs(room.ends[0], room.ends[1], room.undirected, n, n_undirected)


@njit(nogil=True, cache=True)
def _fill_part(inside: Words, start: np.uint64, near: Words, part: Words) -> None:
    """Fill `part` with the connected component of `start` within the nodes of `inside`."""
    words = inside.size
    part[:] = ZERO
    part[start >> SIX] = bit_of(start)
    grown = True
    while grown:
        grown = False
        for w in range(np.uint64(words)):
            left = part[w]
            while left != ZERO:
                v = (w << SIX) + lowest(left)
                left &= left - ONE
                for k in range(words):
                    new = near[v, k] & inside[k] & ~part[k]
                    if new != ZERO:
                        part[k] |= new
                        grown = True


@njit(nogil=True, cache=True)
def _is_simplicial(near: Words, left: Words, v: np.uint64) -> bool:
    """Tell whether the neighbours of a node among those left are adjacent to each other."""
    words = np.uint64(left.size)
    for w in range(words):
        rest = near[v, w] & left[w]
        while rest != ZERO:
            u = (w << SIX) + lowest(rest)
            rest &= rest - ONE
            for k in range(words):
                others = near[v, k] & left[k] & ~near[u, k]
                if k == u >> SIX:
                    others &= ~bit_of(u)
                if others != ZERO:
                    return False
    return True


@njit(nogil=True, cache=True)
def _is_orientable(arcs: Arcs, near: Words, part: Words, left: Words) -> bool:
    """Tell whether a component is as in a CPDAG: chordal, and without directed edges between its nodes."""
    for a in range(arcs.n):
        ends = np.uint64(arcs.tail[a]), np.uint64(arcs.head[a])
        if not arcs.undirected[a] and _holds(part, ends[0]) and _holds(part, ends[1]):
            return False
    left[:] = part
    found = True
    while found and not _is_empty(left):
        found = False
        for v in range(np.uint64(near.shape[0])):
            if _holds(left, v) and _is_simplicial(near, left, v):
                left[v >> SIX] ^= bit_of(v)
                found = True
    return found


@njit(nogil=True, cache=True)
def _state_of(lists: Choices, state: Words) -> int:
    """Return the number of a state, storing it if it is new; -1 if there is no room."""
    hashed = np.uint64(0x9E3779B97F4A7C15)
    for w in range(state.size):
        hashed = (hashed ^ state[w]) * np.uint64(0xBF58476D1CE4E5B9)
        hashed ^= hashed >> np.uint64(31)
    mask = np.uint64(lists.slots.size - 1)
    slot = hashed & mask
    base, number = lists.counts[_BASE], lists.counts[_STATES]
    while lists.slots[slot] >= base:
        known = lists.slots[slot] - base
        same = True
        for w in range(state.size):
            same = same and lists.states[known, w] == state[w]
        if same:
            return known
        slot = (slot + ONE) & mask
    if number == lists.states.shape[0]:
        return -1
    for w in range(state.size):
        lists.states[number, w] = state[w]
    lists.slots[slot] = base + number
    lists.counts[_STATES] = number + 1
    return number


@njit(nogil=True, cache=True)
def _empty(lists: Choices) -> None:
    lists.counts[_BASE] += lists.states.shape[0]
    lists.counts[:_BASE] = 0


@njit(nogil=True, cache=True)
def _list_single(lists: Choices, v: np.uint64) -> None:
    """Append a node without undirected edges: one state, one choice, nothing left."""
    s, c = lists.counts[_STATES], lists.counts[_CHOICES]
    for w in range(lists.states.shape[1]):
        lists.states[s, w] = ZERO
    lists.states[s, v >> SIX] = bit_of(v)
    lists.table[s, _FIRST_CHOICE], lists.table[s + 1, _FIRST_CHOICE] = c, c + 1
    lists.table[c, _SOURCE] = v
    lists.table[c, _FIRST_CHILD] = lists.table[c + 1, _FIRST_CHILD] = lists.counts[_CHILDREN]
    lists.counts[_STATES] += 1
    lists.counts[_CHOICES] += 1


@njit(nogil=True, cache=True)
def _refine(groups: Words, n_groups: int, near: Words, spare: Words) -> int:
    """Split every group into the neighbours of a node and the others, in this order; return the number of groups."""
    words = groups.shape[1]
    made = 0
    for g in range(n_groups):
        some, rest = ZERO, ZERO
        for w in range(words):
            spare[made, w] = groups[g, w] & near[w]
            spare[made + 1, w] = groups[g, w] & ~near[w]
            some |= spare[made, w]
            rest |= spare[made + 1, w]
        if some != ZERO:
            made += 1
            if rest != ZERO:
                made += 1
        elif rest != ZERO:
            for w in range(words):
                spare[made, w] = spare[made + 1, w]
            made += 1
    for g in range(made):
        for w in range(words):
            groups[g, w] = spare[g, w]
    return made


@njit(nogil=True, cache=True)
def _list_parts(lists: Choices, number: int, group: Words, seen: Words, near: Words, spare: Words) -> bool:
    """Store the components of a group as children, with the state's parents and those among the nodes seen."""
    words = group.size
    left, part, made = spare[0], spare[1], spare[2:4].reshape(2 * words)
    left[:] = group
    while not _is_empty(left):
        first = _lowest_member(left)
        _fill_part(group, first, near, part)
        for k in range(words):
            left[k] &= ~part[k]
            made[k] = part[k]
            made[words + k] = lists.states[number, words + k] | (seen[k] & near[first, k])
        child = _state_of(lists, made)
        if child < 0:
            return False
        lists.children[lists.counts[_CHILDREN]] = child
        lists.counts[_CHILDREN] += 1
    return True


@njit(nogil=True, cache=True)
def _list_children(lists: Choices, number: int, source: np.uint64, near: Words, sets: Words) -> bool:
    """Store the states that a state leaves once its source is chosen; False if there is no room.

    A lexicographic search from the source visits the nodes group by group; a group that it reaches as a whole, before
    any of its nodes, splits into such components.
    """
    words = near.shape[1]
    seen, told = sets[0], sets[1]
    size = (sets.shape[0] - 2) // 2
    groups, spare = sets[2 : 2 + size], sets[2 + size :]
    seen[:] = ZERO
    told[:] = ZERO
    told[source >> SIX] = bit_of(source)
    groups[0] = told
    for w in range(words):
        groups[1, w] = lists.states[number, w] & ~told[w]
    n_groups = 1 if _is_empty(groups[1]) else 2
    while n_groups > 0:
        front = groups[0]
        v = _lowest_member(front)
        if not _holds(told, v):
            for k in range(words):
                told[k] |= front[k]
            if not _list_parts(lists, number, front, seen, near, spare):
                return False
        seen[v >> SIX] |= bit_of(v)
        front[v >> SIX] &= ~bit_of(v)
        n_groups = _refine(groups, n_groups, near[v], spare)
    return True


@njit(nogil=True, cache=True)
def _with_longer_list(lists: Choices, more: int) -> Choices:
    longer = np.empty(2 * lists.children.size + more, np.int64)
    longer[: lists.children.size] = lists.children
    return Choices(lists.states, lists.table, longer, lists.slots, lists.counts)


@njit(nogil=True, cache=True)
def _list_choices(lists: Choices, part: Words, near: Words, sets: Words) -> tuple[Choices, bool]:
    """Append the states of a component and their choices; False if there is no room."""
    words = near.shape[1]
    whole = sets[:2].reshape(2 * words)
    whole[:words] = part
    whole[words:] = ZERO
    s = _state_of(lists, whole)
    if s < 0:
        return lists, False
    counts = lists.counts
    while s < counts[_STATES]:
        lists.table[s, _FIRST_CHOICE] = counts[_CHOICES]
        size = 0
        for w in range(words):
            size += popcount(lists.states[s, w])
        for w in range(np.uint64(words)):
            left = lists.states[s, w]
            while left != ZERO:
                if counts[_CHOICES] == lists.states.shape[0]:
                    return lists, False
                v = (w << SIX) + lowest(left)
                left &= left - ONE
                if counts[_CHILDREN] + size > lists.children.size:
                    lists = _with_longer_list(lists, size)
                lists.table[counts[_CHOICES], _SOURCE] = v
                lists.table[counts[_CHOICES], _FIRST_CHILD] = counts[_CHILDREN]
                counts[_CHOICES] += 1
                if size > 1 and not _list_children(lists, s, v, near, sets):
                    return lists, False
        s += 1
    lists.table[s, _FIRST_CHOICE] = counts[_CHOICES]
    lists.table[counts[_CHOICES], _FIRST_CHILD] = counts[_CHILDREN]
    return lists, True


@njit(nogil=True, cache=True)
def _count_lanes(true: Arcs, arcs: Arcs, rows: Words, cost: Ints) -> None:
    """Add to each lane's cost the outcomes for which its treatment's parents are wrong in the truth, a DAG.

    The directed edges' parents are added to those that are given.
    """
    treatment, given, descendant = rows[_TREATMENT], rows[_GIVEN], rows[_DESCENDANT]
    for a in range(arcs.n):
        if not arcs.undirected[a]:
            given[arcs.tail[a]] |= treatment[arcs.head[a]]
    walk_open(true, given, treatment, descendant, rows[0:4])
    used = ZERO
    for v in range(given.size):
        used |= treatment[v]
    for v in range(given.size):
        wrong = ((given[v] & descendant[v]) | (~given[v] & rows[0, v])) & ~treatment[v] & used
        while wrong != ZERO:
            cost[lowest(wrong)] += 1
            wrong &= wrong - ONE


@njit(nogil=True, cache=True)
def _cost_choices(true: Arcs, arcs: Arcs, lists: Choices, rows: Words, cost: Ints) -> None:
    """Count the mistakes of every choice, whose parents are those outside the state and those of directed edges."""
    treatment, given = rows[_TREATMENT], rows[_GIVEN]
    words = lists.states.shape[1] // 2
    n_choices = lists.counts[_CHOICES]
    state = 0
    for start in range(0, n_choices, 64):
        treatment[:] = ZERO
        given[:] = ZERO
        for c in range(start, min(start + 64, n_choices)):
            while lists.table[state + 1, _FIRST_CHOICE] <= c:
                state += 1
            bit = ONE << np.uint64(c - start)
            treatment[lists.table[c, _SOURCE]] |= bit
            for w in range(np.uint64(words)):
                left = lists.states[state, words + w]
                while left != ZERO:
                    given[(w << SIX) + lowest(left)] |= bit
                    left &= left - ONE
        cost[:] = 0
        _count_lanes(true, arcs, rows, cost)
        for c in range(start, min(start + 64, n_choices)):
            lists.table[c, _COST] = cost[c - start]


@njit(nogil=True, cache=True)
def _sort_states(lists: Choices, place: Ints) -> None:
    """Sort the states by their numbers of members; `place` counts them."""
    n_states, words = lists.counts[_STATES], lists.states.shape[1] // 2
    place[:] = 0
    for s in range(n_states):
        size = 0
        for w in range(words):
            size += popcount(lists.states[s, w])
        lists.table[s, _LOW] = size
        place[size + 1] += 1
    for k in range(place.size - 1):
        place[k + 1] += place[k]
    for s in range(n_states):
        lists.table[place[lists.table[s, _LOW]], _BY_SIZE] = s
        place[lists.table[s, _LOW]] += 1


@njit(nogil=True, cache=True)
def _add_extremes(true: Arcs, arcs: Arcs, lists: Choices, rows: Words, place: Ints, out: Ints) -> None:
    """Add the smallest and the largest sums of the listed components, and empty the lists."""
    n_states, words = lists.counts[_STATES], lists.states.shape[1] // 2
    _cost_choices(true, arcs, lists, rows, place[-64:])
    _sort_states(lists, place[:-64])
    for k in range(n_states):  # what a state leaves is smaller
        s = lists.table[k, _BY_SIZE]
        least = most = -1
        for c in range(lists.table[s, _FIRST_CHOICE], lists.table[s + 1, _FIRST_CHOICE]):
            low_sum = high_sum = lists.table[c, _COST]
            for q in range(lists.table[c, _FIRST_CHILD], lists.table[c + 1, _FIRST_CHILD]):
                low_sum += lists.table[lists.children[q], _LOW]
                high_sum += lists.table[lists.children[q], _HIGH]
            least = low_sum if least < 0 else min(least, low_sum)
            most = max(most, high_sum)
        lists.table[s, _LOW], lists.table[s, _HIGH] = least, most
        if _is_empty(lists.states[s, words:]):  # a component of the graph, as nothing lies outside
            out[0] += least
            out[1] += most
    _empty(lists)


@njit(nogil=True, cache=True)
def _local_extremes(true: Arcs, arcs: Arcs, near: Words, v: np.uint64, limit: int, rows: Words) -> tuple[int, int]:
    """Return the fewest and the most mistakes of a node that takes any of its undirected neighbours as parents."""
    treatment, given = rows[_TREATMENT], rows[_GIVEN]
    degree = 0
    for w in range(near.shape[1]):
        degree += popcount(near[v, w])
    if degree > 60 or (1 << degree) > limit:
        return 0, near.shape[0] - 1
    cost, neighbours = np.empty(64, np.int64), np.empty(degree, np.int64)
    listed = 0
    for u in range(np.uint64(near.shape[0])):
        if _holds(near[v], u):
            neighbours[listed] = u
            listed += 1
    least = most = -1
    for start in range(0, 1 << degree, 64):
        stop = min(start + 64, 1 << degree)
        treatment[:] = ZERO
        given[:] = ZERO
        cost[:] = 0
        for s in range(start, stop):
            bit = ONE << np.uint64(s - start)
            treatment[v] |= bit
            for k in range(degree):
                if (s >> k) & 1:
                    given[neighbours[k]] |= bit
        _count_lanes(true, arcs, rows, cost)
        for s in range(stop - start):
            least = cost[s] if least < 0 else min(least, cost[s])
            most = max(most, cost[s])
    return least, most


@njit(nogil=True, cache=True)
def _add_component(
    true: Arcs, arcs: Arcs, lists: Choices, part: Words, near: Words, sets: Words, rows: Words, place: Ints, out: Ints
) -> Choices:
    """List a component; where it cannot be oriented as a whole, add what its nodes can make at least and at most."""
    listed = False
    if _is_orientable(arcs, near, part, sets[0]):
        states, choices, children = lists.counts[_STATES], lists.counts[_CHOICES], lists.counts[_CHILDREN]
        lists, listed = _list_choices(lists, part, near, sets)
        if not listed:  # it may need the room of those before it
            lists.counts[_STATES], lists.counts[_CHOICES], lists.counts[_CHILDREN] = states, choices, children
            _add_extremes(true, arcs, lists, rows, place, out)
            lists, listed = _list_choices(lists, part, near, sets)
            if not listed:
                _empty(lists)
    if listed:
        return lists
    out[2] = _LOCAL
    for v in range(np.uint64(near.shape[0])):
        if _holds(part, v):
            low, high = _local_extremes(true, arcs, near, v, lists.states.shape[0], rows)
            out[0] += low
            out[1] += high
    return lists


@njit(nogil=True, cache=True)
def _sid_bounds(
    truth: Words, estimate: Words, left: Ints, right: Ints, lists: Choices, room: Room, near: Words, out: Ints
) -> None:
    n_nodes, words = near.shape
    rows = np.zeros((_ROWS, n_nodes), np.uint64)
    sets = np.empty((2 * n_nodes + 14, words), np.uint64)
    done, everything, part = np.empty(words, np.uint64), np.zeros(words, np.uint64), np.empty(words, np.uint64)
    place = np.empty(n_nodes + 2 + 64, np.int64)  # counts by size, and the costs of 64 lanes
    for v in range(np.uint64(n_nodes)):
        everything[v >> SIX] |= bit_of(v)
    for n in range(left.size):
        if n == 0 or left[n] != left[n - 1]:  # controls of one row share their truth
            true = load_graph(truth[left[n]], room)
        out[n] = 0
        if true.n < 0:
            out[n, 2] = _CYCLIC
            continue
        arcs = _read_graph(estimate[right[n]], room, near)
        done[:] = ZERO
        for v in range(np.uint64(n_nodes)):
            if _is_empty(near[v]) and lists.counts[_CHOICES] < lists.states.shape[0]:
                _list_single(lists, v)
            elif not _holds(done, v):
                _fill_part(everything, v, near, part)
                for w in range(words):
                    done[w] |= part[w]
                lists = _add_component(true, arcs, lists, part, near, sets, rows, place, out[n])
        _add_extremes(true, arcs, lists, rows, place, out[n])


def sid_bounds(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int, limit: int
) -> NDArray[np.int64]:
    """Bound the SID over the DAGs of the estimate's class: compiled `bounds_numpy.sid_bounds`."""
    given = checked_comparison(truth, estimate, truth_index, estimate_index)
    blocks = checked_planes(given.truth, n_nodes), checked_planes(given.estimate, n_nodes)
    words = max(1, -(-n_nodes // 64))
    lists = Choices(
        states=np.empty((limit, 2 * words), np.uint64),
        table=np.empty((limit + 1, _COLUMNS), np.int64),
        children=np.empty(256, np.int64),
        slots=np.full(1 << (2 * limit - 1).bit_length(), -1, np.int64),
        counts=np.zeros(4, np.int64),
    )
    out = np.empty((len(given.truth_index), 3), np.int64)
    _sid_bounds(*given, lists, workspace(n_nodes, *blocks), np.empty((n_nodes, words), np.uint64), out)
    return out
