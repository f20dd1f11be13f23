"""Compiled bounds of the SID over the DAGs of a class: `bounds_numpy` says what is found.

The SID adds up over the nodes of the estimate, a node's part depends on its parents alone, and the undirected
components of a CPDAG are oriented independently. A connected undirected chordal graph whose orientations have no
v-structure has one source in each of them; once the source is chosen, what stays undirected falls into smaller
components of the same kind, whose nodes share their parents outside (Wienobst, Bannach and Liskiewicz 2023,
doi:10.48550/arXiv.2205.02654). So the smallest and the largest sum follow from the smaller components'. A *state* is
such a component with its outside parents; a *choice* is a state with one of its nodes as the source.

Components are kept as bit sets over the component of the CPDAG that they are parts of.
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


class Component(NamedTuple):
    """An undirected component of the estimate, its nodes numbered from 0.

    Attributes
    ----------
    member : (k,) int64
        Numbers of the nodes in the graph.
    neighbours : (k, words) uint64
        Undirected edges.
    """

    member: Ints
    neighbours: Words


class Choices(NamedTuple):
    """The states of a component and their choices, stored in lists of fixed length.

    Attributes
    ----------
    states : (limit, 2 words) uint64
        Members and outside parents; state 0 is the whole component.
    first_choice : (limit + 1,) int64
        Choices of state s are first_choice[s] to first_choice[s + 1] - 1.
    source, cost : (limit,) int64
        Source of a choice, and the mistakes that its parents make.
    first_child : (limit + 1,) int64
        Where the states that a choice leaves begin in `children`.
    children : (n,) int64
        Numbers of states; the list is made longer as needed.
    slots : (power of 2,) int64
        Hash table of base + state; numbers below `base` are left from earlier components.
    """

    states: Words
    first_choice: Ints
    source: Ints
    cost: Ints
    first_child: Ints
    children: Ints
    slots: Ints


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
def _read_graph(planes: Words, room: Room) -> Arcs:
    """Read the edges of any graph, in no order; undirected ones point from the smaller number to the larger."""
    n, n_undirected = read_edges(planes, room.places.shape[1] - 1, room.ends, room.undirected)
    return Arcs(room.ends[0, :n].copy(), room.ends[1, :n].copy(), room.undirected[:n].copy(), n, n_undirected)


@njit(nogil=True, cache=True)
def _label_components(arcs: Arcs, label: Ints) -> None:
    """Label the nodes of an undirected component by its smallest node; -1: no undirected edge."""
    label[:] = -1
    for a in range(arcs.n):
        if arcs.undirected[a]:
            label[arcs.tail[a]] = arcs.tail[a]
            label[arcs.head[a]] = arcs.head[a]
    changed = True
    while changed:
        changed = False
        for a in range(arcs.n):
            if arcs.undirected[a]:
                u, v = arcs.tail[a], arcs.head[a]
                low = min(label[u], label[v])
                changed = changed or label[u] != low or label[v] != low
                label[u] = low
                label[v] = low


@njit(nogil=True, cache=True)
def _component(arcs: Arcs, label: Ints, root: int, local: Ints) -> Component:
    """Return the component with a label; `local` is scratch."""
    size = 0
    for v in range(label.size):
        if label[v] == root:
            local[v] = size
            size += 1
    member = np.empty(size, np.int64)
    for v in range(label.size):
        if label[v] == root:
            member[local[v]] = v
    neighbours = np.zeros((size, (size + 63) // 64), np.uint64)
    for a in range(arcs.n):
        if arcs.undirected[a] and label[arcs.tail[a]] == root:
            u, v = np.uint64(local[arcs.tail[a]]), np.uint64(local[arcs.head[a]])
            neighbours[u, v >> SIX] |= bit_of(v)
            neighbours[v, u >> SIX] |= bit_of(u)
    return Component(member, neighbours)


@njit(nogil=True, cache=True)
def _is_simplicial(neighbours: Words, left: Words, v: int) -> bool:
    """Tell whether the neighbours of a node among those left are adjacent to each other."""
    words = np.uint64(left.size)
    for w in range(words):
        rest = neighbours[v, w] & left[w]
        while rest != ZERO:
            u = (w << SIX) + lowest(rest)
            rest &= rest - ONE
            for k in range(words):
                others = neighbours[v, k] & left[k] & ~neighbours[u, k]
                if k == u >> SIX:
                    others &= ~bit_of(u)
                if others != ZERO:
                    return False
    return True


@njit(nogil=True, cache=True)
def _is_orientable(arcs: Arcs, label: Ints, root: int, component: Component) -> bool:
    """Tell whether a component is as in a CPDAG: chordal, and without directed edges between its nodes."""
    for a in range(arcs.n):
        if not arcs.undirected[a] and label[arcs.tail[a]] == root and label[arcs.head[a]] == root:
            return False
    size, words = component.neighbours.shape
    left = np.zeros(words, np.uint64)
    for v in range(np.uint64(size)):
        left[v >> SIX] |= bit_of(v)
    found = True
    while found and not _is_empty(left):
        found = False
        for v in range(np.uint64(size)):
            if (left[v >> SIX] >> (v & LAST)) & ONE and _is_simplicial(component.neighbours, left, v):
                left[v >> SIX] ^= bit_of(v)
                found = True
    return found


@njit(nogil=True, cache=True)
def _state_of(lists: Choices, n_states: int, base: int, state: Words) -> int:
    """Return the number of a state, storing it if it is new; -1 if there is no room."""
    hashed = np.uint64(0x9E3779B97F4A7C15)
    for w in range(state.size):
        hashed = (hashed ^ state[w]) * np.uint64(0xBF58476D1CE4E5B9)
        hashed ^= hashed >> np.uint64(31)
    mask = np.uint64(lists.slots.size - 1)
    slot = hashed & mask
    while lists.slots[slot] >= base:
        known = lists.slots[slot] - base
        same = True
        for w in range(state.size):
            same = same and lists.states[known, w] == state[w]
        if same:
            return known
        slot = (slot + ONE) & mask
    if n_states == lists.states.shape[0]:
        return -1
    lists.states[n_states, : state.size] = state
    lists.slots[slot] = base + n_states
    return n_states


@njit(nogil=True, cache=True)
def _part_of(inside: Words, start: np.uint64, neighbours: Words, part: Words) -> None:
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
                    new = neighbours[v, k] & inside[k] & ~part[k]
                    if new != ZERO:
                        part[k] |= new
                        grown = True


@njit(nogil=True, cache=True)
def _next_front(groups: Words, n_groups: int) -> int:
    """Return the first group that is not empty, -1 if all are."""
    for g in range(n_groups):
        if not _is_empty(groups[g]):
            return g
    return -1


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
def _first_groups(source: np.uint64, state: Words, groups: Words) -> int:
    """Fill the groups of a search that starts at a source: the source, then the other members."""
    words = groups.shape[1]
    groups[0] = ZERO
    groups[0, source >> SIX] = bit_of(source)
    rest = ZERO
    for w in range(words):
        groups[1, w] = state[w] & ~groups[0, w]
        rest |= groups[1, w]
    return 2 if rest != ZERO else 1


@njit(nogil=True, cache=True)
def _after_source(
    component: Component,
    lists: Choices,
    counts: Ints,
    base: int,
    number: int,
    source: np.uint64,
    room: Words,
) -> bool:
    """Store the states that a state leaves once its source is chosen; False if there is no room.

    A lexicographic search from the source visits the nodes group by group; a group that it reaches as a whole, before
    any of its nodes, splits into such components. `counts` holds the numbers of states and children, `room` is scratch;
    there must be room for as many children as the component has nodes.
    """
    words = component.neighbours.shape[1]
    state = lists.states[number]
    seen, told, part, made = room[0, :words], room[1, :words], room[2, :words], room[3]
    size = (room.shape[0] - 4) // 2
    groups, spare = room[4 : 4 + size, :words], room[4 + size :, :words]
    seen[:] = ZERO
    told[:] = ZERO
    n_groups = _first_groups(source, state, groups)
    while True:
        front = _next_front(groups, n_groups)
        if front < 0:
            return True
        v = _lowest_member(groups[front])
        if v != source and not (told[v >> SIX] >> (v & LAST)) & ONE:
            left = spare[0]
            for k in range(words):
                told[k] |= groups[front, k]
                left[k] = groups[front, k]
            while not _is_empty(left):
                first = _lowest_member(left)
                _part_of(groups[front], first, component.neighbours, part)
                for k in range(words):
                    left[k] &= ~part[k]
                    made[k] = part[k]
                    made[words + k] = state[words + k] | (seen[k] & component.neighbours[first, k])
                child = _state_of(lists, counts[0], base, made)
                if child < 0:
                    return False
                counts[0] = max(counts[0], child + 1)
                lists.children[counts[1]] = child
                counts[1] += 1
        seen[v >> SIX] |= bit_of(v)
        groups[front, v >> SIX] &= ~bit_of(v)
        n_groups = _refine(groups, n_groups, component.neighbours[v], spare)


@njit(nogil=True, cache=True)
def _new_lists(limit: int, words: int, slots: Ints) -> Choices:
    return Choices(
        np.empty((limit, 2 * words), np.uint64),
        np.empty(limit + 1, np.int64),
        np.empty(limit, np.int64),
        np.empty(limit, np.int64),
        np.empty(limit + 1, np.int64),
        np.empty(256, np.int64),
        slots,
    )


@njit(nogil=True, cache=True)
def _with_longer_list(lists: Choices, more: int) -> Choices:
    longer = np.empty(2 * lists.children.size + more, np.int64)
    longer[: lists.children.size] = lists.children
    return Choices(lists.states, lists.first_choice, lists.source, lists.cost, lists.first_child, longer, lists.slots)


@njit(nogil=True, cache=True)
def _list_choices(component: Component, lists: Choices, base: int) -> tuple[Choices, int]:
    """List the states of a component and their choices; return the number of states too, -1 if there is no room."""
    size, words = component.neighbours.shape
    limit = lists.source.size
    room = np.empty((2 * size + 12, 2 * words), np.uint64)
    whole = np.zeros(2 * words, np.uint64)
    for v in range(np.uint64(size)):
        whole[v >> SIX] |= bit_of(v)
    _state_of(lists, 0, base, whole)
    counts = np.array([1, 0])
    n_choices = s = 0
    while s < counts[0]:
        lists.first_choice[s] = n_choices
        for w in range(np.uint64(words)):
            left = lists.states[s, w]
            while left != ZERO:
                if n_choices == limit:
                    return lists, -1
                if counts[1] + size > lists.children.size:
                    lists = _with_longer_list(lists, size)
                v = (w << SIX) + lowest(left)
                left &= left - ONE
                lists.source[n_choices] = v
                lists.first_child[n_choices] = counts[1]
                n_choices += 1
                if not _after_source(component, lists, counts, base, s, v, room):
                    return lists, -1
        s += 1
    lists.first_choice[s] = n_choices
    lists.first_child[n_choices] = counts[1]
    return lists, s


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
def _cost_choices(true: Arcs, arcs: Arcs, component: Component, lists: Choices, n_states: int, rows: Words) -> None:
    """Count the mistakes of every choice, whose parents are those outside the state and those of directed edges."""
    words = component.neighbours.shape[1]
    treatment, given = rows[_TREATMENT], rows[_GIVEN]
    n_choices = lists.first_choice[n_states]
    lists.cost[:n_choices] = 0
    state = 0
    for start in range(0, n_choices, 64):
        treatment[:] = ZERO
        given[:] = ZERO
        for c in range(start, min(start + 64, n_choices)):
            while lists.first_choice[state + 1] <= c:
                state += 1
            bit = ONE << np.uint64(c - start)
            treatment[component.member[lists.source[c]]] |= bit
            for w in range(np.uint64(words)):
                left = lists.states[state, words + w]
                while left != ZERO:
                    given[component.member[(w << SIX) + lowest(left)]] |= bit
                    left &= left - ONE
        _count_lanes(true, arcs, rows, lists.cost[start:])


@njit(nogil=True, cache=True)
def _extremes(lists: Choices, n_states: int, size: int, words: int) -> tuple[int, int]:
    """Return the smallest and the largest sum of costs over the orientations of the whole component."""
    low, high = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    members, by_size = np.zeros(n_states, np.int64), np.empty(n_states, np.int64)
    place = np.zeros(size + 2, np.int64)
    for s in range(n_states):
        for w in range(words):
            members[s] += popcount(lists.states[s, w])
        place[members[s] + 1] += 1
    for k in range(size + 1):
        place[k + 1] += place[k]
    for s in range(n_states):
        by_size[place[members[s]]] = s
        place[members[s]] += 1
    for k in range(n_states):  # what a state leaves is smaller
        s = by_size[k]
        least = most = -1
        for c in range(lists.first_choice[s], lists.first_choice[s + 1]):
            low_sum = high_sum = lists.cost[c]
            for q in range(lists.first_child[c], lists.first_child[c + 1]):
                low_sum += low[lists.children[q]]
                high_sum += high[lists.children[q]]
            least = low_sum if least < 0 else min(least, low_sum)
            most = max(most, high_sum)
        low[s], high[s] = least, most
    return low[0], high[0]


@njit(nogil=True, cache=True)
def _local_extremes(true: Arcs, arcs: Arcs, component: Component, limit: int, rows: Words) -> tuple[int, int]:
    """Return the smallest and the largest sum where each node takes any of its neighbours as parents."""
    treatment, given = rows[_TREATMENT], rows[_GIVEN]
    near, cost = np.empty(component.member.size, np.int64), np.empty(64, np.int64)
    low_sum = high_sum = 0
    for v in range(component.member.size):
        degree = 0
        for w in range(np.uint64(component.neighbours.shape[1])):
            left = component.neighbours[v, w]
            while left != ZERO:
                near[degree] = component.member[(w << SIX) + lowest(left)]
                left &= left - ONE
                degree += 1
        if degree > 60 or (1 << degree) > limit:
            high_sum += rows.shape[1] - 1
            continue
        least = most = -1
        for start in range(0, 1 << degree, 64):
            stop = min(start + 64, 1 << degree)
            treatment[:] = ZERO
            given[:] = ZERO
            cost[:] = 0
            for s in range(start, stop):
                bit = ONE << np.uint64(s - start)
                treatment[component.member[v]] |= bit
                for k in range(degree):
                    if (s >> k) & 1:
                        given[near[k]] |= bit
            _count_lanes(true, arcs, rows, cost)
            for s in range(stop - start):
                least = cost[s] if least < 0 else min(least, cost[s])
                most = max(most, cost[s])
        low_sum += least
        high_sum += most
    return low_sum, high_sum


@njit(nogil=True, cache=True)
def _fixed_cost(true: Arcs, arcs: Arcs, label: Ints, rows: Words) -> int:
    """Count the mistakes of the nodes without undirected edges."""
    n_nodes = label.size
    treatment, cost = rows[_TREATMENT], np.zeros(64, np.int64)
    for first in range(0, n_nodes, 64):
        treatment[:] = ZERO
        rows[_GIVEN] = ZERO
        for v in range(first, min(first + 64, n_nodes)):
            if label[v] < 0:
                treatment[v] = ONE << np.uint64(v - first)
        _count_lanes(true, arcs, rows, cost)
    return cost.sum()


@njit(nogil=True, cache=True)
def _sid_bounds(
    truth: Words, estimate: Words, left: Ints, right: Ints, limit: int, slots: Ints, room: Room, out: Ints
) -> None:
    n_nodes = room.places.shape[1] - 1
    rows = np.zeros((_ROWS, n_nodes), np.uint64)
    label, local = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    lists = _new_lists(limit, 1, slots)
    base = 0
    for n in range(left.size):
        if n == 0 or left[n] != left[n - 1]:  # controls of one row share their truth
            true = load_graph(truth[left[n]], room)
        arcs = _read_graph(estimate[right[n]], room)
        out[:, n] = 0
        if true.n < 0:
            out[2, n] = _CYCLIC
            continue
        _label_components(arcs, label)
        fixed = _fixed_cost(true, arcs, label, rows)
        out[0, n] = fixed
        out[1, n] = fixed
        for root in range(n_nodes):
            if label[root] != root:
                continue
            component = _component(arcs, label, root, local)
            size, words = component.neighbours.shape
            if lists.states.shape[1] != 2 * words:
                lists = _new_lists(limit, words, slots)
            n_states = -1
            if _is_orientable(arcs, label, root, component):
                lists, n_states = _list_choices(component, lists, base)
                base += limit
            if n_states > 0:
                _cost_choices(true, arcs, component, lists, n_states, rows)
                low, high = _extremes(lists, n_states, size, words)
            else:
                low, high = _local_extremes(true, arcs, component, limit, rows)
                out[2, n] = _LOCAL
            out[0, n] += low
            out[1, n] += high


def sid_bounds(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int, limit: int
) -> NDArray[np.int64]:
    """Bound the SID over the DAGs of the estimate's class: compiled `bounds_numpy.sid_bounds`."""
    given = checked_comparison(truth, estimate, truth_index, estimate_index)
    blocks = checked_planes(given.truth, n_nodes), checked_planes(given.estimate, n_nodes)
    out = np.empty((3, len(given.truth_index)), np.int64)
    slots = np.full(1 << (2 * limit - 1).bit_length(), -1, np.int64)
    _sid_bounds(*given, limit, slots, workspace(n_nodes, *blocks), out)
    return out.T
