"""Compiled bounds of the SID over the DAGs of a class: the smallest and the largest one.

The SID adds up over the nodes of the estimate, a node's part depends on its parents alone, and the undirected
components of a CPDAG are oriented independently. A connected undirected chordal graph whose orientations have no
v-structure has one source in each of them; once the source is chosen, what stays undirected falls into smaller
components of the same kind, whose nodes share their parents outside (Wienobst, Bannach and Liskiewicz 2023,
doi:10.48550/arXiv.2205.02654). So the smallest and the largest sum of a component follow from those of the smaller
components that each source leaves.

A *state* is such a component with its outside parents, two sets of nodes; a *choice* is a state with one of its nodes
as the source. A node without undirected edges is a component of its own. A set of nodes is a row of words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from . import bits
from .inputs import Comparison, Ints, Words, checked_comparison
from .lanes import Arcs, Workspace, load_graph, walk_open, workspace
from .planes import row_words

#: counters
_STATES, _CHOICES, _CHILDREN, _BASE = range(4)
#: columns of the table of states and choices
_FIRST_CHOICE, _SIZE, _LOW, _HIGH, _BY_SIZE, _SOURCE, _COST, _FIRST_CHILD, _COLUMNS = range(9)
#: results of listing a component: whole; not within the limit; after more room for numbers of children only
_LISTED, _OVER_LIMIT, _MORE_CHILDREN = range(3)


class Choices(NamedTuple):
    """The states of the components of one graph and their choices, in lists of fixed length."""

    #: (limit, 2 words): members and outside parents
    states: Words
    #: (limit + 1, 8): by state: its first choice, its number of members, the smallest and the largest sum, and the
    #: states by number of members. By choice: its source, the mistakes that its parents make, and where the states that
    #: it leaves begin in `children`.
    table: Ints
    #: (n,): numbers of states; the caller makes the list longer as needed
    children: Ints
    #: (power of 2,): hash table of base + state; numbers below the base are left from earlier graphs
    slots: Ints
    #: (4,): numbers of states, choices and children, and the base
    counts: Ints


@kernel_part
def _lowest_member(row: Words) -> np.uint64:
    """Return the first node of a set that is not empty."""
    w = bits.ZERO
    while row[w] == bits.ZERO:
        w += bits.ONE
    return (w << bits.SIX) + bits.lowest(row[w])


@kernel_part
def _fill_part(inside: Words, start: np.uint64, near: Words, part: Words) -> None:
    """Fill `part` with the connected component of `start` within the nodes of `inside`."""
    bits.compact()
    words = inside.size
    part[:] = bits.ZERO
    bits.add(part, start)
    grown = True
    while grown:
        grown = False
        for w in range(np.uint64(words)):
            for v in bits.members(w, part[w]):
                for k in range(words):
                    new = near[v, k] & inside[k] & ~part[k]
                    if new != bits.ZERO:
                        part[k] |= new
                        grown = True


@kernel_part
def _is_orientable(arcs: Arcs, near: Words, part: Words, left: Words, others: Words) -> bool:
    """Return whether a component is as in a CPDAG: chordal, and without directed edges between its nodes."""
    bits.compact()
    for a in range(arcs.size[0]):
        ends = np.uint64(arcs.tail[a]), np.uint64(arcs.head[a])
        if not arcs.undirected[a] and bits.has(part, ends[0]) and bits.has(part, ends[1]):
            return False
    bits.copy_row(part, left, part.size)
    progress = True
    while progress and not bits.is_empty(left):
        progress = False
        for v in range(np.uint64(near.shape[0])):
            if bits.has(left, v):
                for w in range(left.size):
                    others[w] = near[v, w] & left[w]
                if bits.is_clique(others, near):
                    bits.drop(left, v)
                    progress = True
    return progress


@kernel_part
def _state_of(lists: Choices, state: Words) -> int:
    """Return the number of a state, storing it if it is new; -1 if there is no room."""
    bits.compact()
    slots, states, counts = lists.slots, lists.states, lists.counts
    hashed = np.uint64(0x9E3779B97F4A7C15)
    words = state.shape[1]
    for side in range(2):
        for w in range(words):
            hashed = (hashed ^ state[side, w]) * np.uint64(0xBF58476D1CE4E5B9)
            hashed ^= hashed >> np.uint64(31)
    mask = np.uint64(slots.size - 1)
    slot = hashed & mask
    base, number = counts[_BASE], counts[_STATES]
    while slots[slot] >= base:
        known = slots[slot] - base
        same = True
        for w in range(words):
            same = same and states[known, w] == state[0, w] and states[known, words + w] == state[1, w]
        if same:
            return known
        slot = (slot + bits.ONE) & mask
    if number == states.shape[0]:
        return -1
    for w in range(words):
        states[number, w], states[number, words + w] = state[0, w], state[1, w]
    slots[slot] = base + number
    counts[_STATES] = number + 1
    return number


@kernel_part
def _empty_lists(lists: Choices) -> None:
    """Forget all states; what the hash table holds of them lies below the new base."""
    lists.counts[_BASE] += lists.states.shape[0]
    lists.counts[:_BASE] = 0


@kernel_part
def _list_single(lists: Choices, v: np.uint64) -> None:
    """Append a node without undirected edges: one state, one choice, nothing left."""
    bits.compact()
    table, states, counts = lists.table, lists.states, lists.counts
    s, c = counts[_STATES], counts[_CHOICES]
    for w in range(states.shape[1]):
        states[s, w] = bits.ZERO
    bits.add(states[s], v)
    table[s, _FIRST_CHOICE], table[s + 1, _FIRST_CHOICE] = c, c + 1
    table[s, _SIZE], table[c, _SOURCE] = 1, v
    table[c, _FIRST_CHILD] = table[c + 1, _FIRST_CHILD] = counts[_CHILDREN]
    counts[_STATES] += 1
    counts[_CHOICES] += 1


@kernel_part
def _refine(groups: Words, n_groups: int, near: Words, spare: Words) -> int:
    """Split every group into the neighbours of a node and the others, in this order; return the number of groups."""
    bits.compact()
    words = groups.shape[1]
    made = 0
    for g in range(n_groups):
        some, rest = bits.ZERO, bits.ZERO
        for w in range(words):
            spare[made, w] = groups[g, w] & near[w]
            spare[made + 1, w] = groups[g, w] & ~near[w]
            some |= spare[made, w]
            rest |= spare[made + 1, w]
        if some != bits.ZERO:
            made += 1
            if rest != bits.ZERO:
                made += 1
        elif rest != bits.ZERO:
            for w in range(words):
                spare[made, w] = spare[made + 1, w]
            made += 1
    for g in range(made):
        for w in range(words):
            groups[g, w] = spare[g, w]
    return made


@kernel_part
def _list_parts(lists: Choices, number: int, group: Words, seen: Words, near: Words, spare: Words) -> bool:
    """Store the components of a group as children, with the state's parents and those among the nodes seen."""
    bits.compact()
    words = group.size
    left, part, made = spare[0], spare[1], spare[2:4]
    bits.copy_row(group, left, words)
    while not bits.is_empty(left):
        first = _lowest_member(left)
        _fill_part(group, first, near, part)
        for k in range(words):
            left[k] &= ~part[k]
            made[0, k] = part[k]
            made[1, k] = lists.states[number, words + k] | (seen[k] & near[first, k])
        child = _state_of(lists, made)
        if child < 0:
            return False
        lists.children[lists.counts[_CHILDREN]] = child
        lists.counts[_CHILDREN] += 1
    return True


@kernel_part
def _list_children(lists: Choices, number: int, source: np.uint64, near: Words, sets: Words) -> bool:
    """Store the states that a state leaves once its source is chosen; False if there is no room."""
    # a lexicographic search visits groups of nodes; one that it reaches whole, before its nodes, splits into states
    bits.compact()
    words = near.shape[1]
    seen, covered = sets[0], sets[1]
    size = (sets.shape[0] - 2) // 2
    groups, spare = sets[2 : 2 + size], sets[2 + size :]
    seen[:] = bits.ZERO
    covered[:] = bits.ZERO
    bits.add(covered, source)
    bits.copy_row(covered, groups[0], words)
    for w in range(words):
        groups[1, w] = lists.states[number, w] & ~covered[w]
    n_groups = 1 if bits.is_empty(groups[1]) else 2
    while n_groups > 0:
        front = groups[0]
        v = _lowest_member(front)
        if not bits.has(covered, v):
            for k in range(words):
                covered[k] |= front[k]
            if not _list_parts(lists, number, front, seen, near, spare):
                return False
        bits.add(seen, v)
        bits.drop(front, v)
        n_groups = _refine(groups, n_groups, near[v], spare)
    return True


@kernel_part
def _list_choices(lists: Choices, part: Words, near: Words, sets: Words) -> int:
    """Append the states of a component and their choices; return _LISTED, or what there is no room for."""
    bits.compact()
    table, states, counts = lists.table, lists.states, lists.counts
    words = np.uint64(near.shape[1])
    whole = sets[:2]
    whole[:] = bits.ZERO
    bits.copy_row(part, whole[0], part.size)
    s = _state_of(lists, whole)
    if s < 0:
        return _OVER_LIMIT
    while s < counts[_STATES]:
        table[s, _FIRST_CHOICE] = counts[_CHOICES]
        size = 0
        for w in range(words):
            size += bits.popcount(states[s, w])
        table[s, _SIZE] = size
        for w in range(words):
            for v in bits.members(w, states[s, w]):
                if counts[_CHOICES] == states.shape[0]:
                    return _OVER_LIMIT
                if counts[_CHILDREN] + size > lists.children.size:
                    return _MORE_CHILDREN
                table[counts[_CHOICES], _SOURCE] = v
                table[counts[_CHOICES], _FIRST_CHILD] = counts[_CHILDREN]
                counts[_CHOICES] += 1
                if size > 1 and not _list_children(lists, s, v, near, sets):
                    return _OVER_LIMIT
        s += 1
    table[s, _FIRST_CHOICE] = counts[_CHOICES]
    table[counts[_CHOICES], _FIRST_CHILD] = counts[_CHILDREN]
    return _LISTED


#: status of a comparison, else 0: a component is over the limit or not as in a CPDAG, so that each of its nodes takes
#: any of its undirected neighbours as parents, with too many of these counts from 0 to d - 1; the truth has a cycle
_LOCAL, _CYCLIC = 1, -1
#: result of listing a component, besides those of `_list_choices`
_UNORIENTABLE = 3
#: rows of words per node that a comparison works with: four of `walk_open`, then
_DESCENDANT, _TREATMENT, _GIVEN, _ROWS = 4, 5, 6, 7


@kernel_part
def _read_graph(planes: Words, near: Words, arcs: Arcs) -> None:
    """Read the edges of any graph, in no order, and fill the rows of undirected neighbours."""
    bits.compact()
    arcs.size[0], arcs.size[1] = bits.read_edges(planes, near.shape[0], arcs.tail, arcs.head, arcs.undirected)
    near[:] = bits.ZERO
    for a in range(arcs.size[0]):
        if arcs.undirected[a]:
            u, v = np.uint64(arcs.tail[a]), np.uint64(arcs.head[a])
            bits.add(near[u], v)
            bits.add(near[v], u)


@kernel_part
def _count_lanes(true: Arcs, arcs: Arcs, rows: Words, cost: Ints) -> None:
    """Add to each lane's cost the outcomes for which parents, given and by directed edges, are wrong in the truth."""
    treatment, parents, descendant = rows[_TREATMENT], rows[_GIVEN], rows[_DESCENDANT]
    for a in range(arcs.size[0]):
        if not arcs.undirected[a]:
            parents[arcs.tail[a]] |= treatment[arcs.head[a]]
    walk_open(true, parents, treatment, descendant, rows[0:4])
    used = bits.ZERO
    for v in range(parents.size):
        used |= treatment[v]
    for v in range(parents.size):
        wrong = ((parents[v] & descendant[v]) | (~parents[v] & rows[0, v])) & ~treatment[v] & used
        for lane in bits.members(bits.ZERO, wrong):
            cost[lane] += 1


@kernel_part
def _cost_choices(true: Arcs, arcs: Arcs, lists: Choices, rows: Words, cost: Ints) -> None:
    """Count the mistakes of every choice, whose parents are those outside the state and those of directed edges."""
    bits.compact()
    treatment, parents = rows[_TREATMENT], rows[_GIVEN]
    table, states = lists.table, lists.states
    words = np.uint64(states.shape[1] >> 1)
    n_choices = lists.counts[_CHOICES]
    state = 0
    for start in range(0, n_choices, 64):
        stop = start + 64 if start + 64 < n_choices else n_choices
        treatment[:] = bits.ZERO
        parents[:] = bits.ZERO
        for c in range(start, stop):
            while table[state + 1, _FIRST_CHOICE] <= c:
                state += 1
            bit = bits.ONE << np.uint64(c - start)
            treatment[table[c, _SOURCE]] |= bit
            for w in range(words):
                for v in bits.members(w, states[state, words + w]):
                    parents[v] |= bit
        cost[:] = 0
        _count_lanes(true, arcs, rows, cost)
        for c in range(start, stop):
            table[c, _COST] = cost[c - start]


@kernel_part
def _sort_states(lists: Choices, place: Ints) -> None:
    """Sort the states by their numbers of members; `place` counts them."""
    bits.compact()
    table, n_states = lists.table, lists.counts[_STATES]
    place[:] = 0
    for s in range(n_states):
        place[table[s, _SIZE] + 1] += 1
    for k in range(place.size - 1):
        place[k + 1] += place[k]
    for s in range(n_states):
        size = table[s, _SIZE]
        table[place[size], _BY_SIZE] = s
        place[size] += 1


@kernel_part
def _add_extremes(lists: Choices, out: Ints) -> None:
    """Add the smallest and the largest sums of the listed components, whose choices have costs, by sorted states."""
    bits.compact()
    table, children, states = lists.table, lists.children, lists.states
    n_states, words = lists.counts[_STATES], states.shape[1] >> 1
    for k in range(n_states):  # what a state leaves is smaller
        s = table[k, _BY_SIZE]
        least = most = -1
        for c in range(table[s, _FIRST_CHOICE], table[s + 1, _FIRST_CHOICE]):
            low_sum = high_sum = table[c, _COST]
            for q in range(table[c, _FIRST_CHILD], table[c + 1, _FIRST_CHILD]):
                child = children[q]
                low_sum += table[child, _LOW]
                high_sum += table[child, _HIGH]
            if least < 0 or low_sum < least:
                least = low_sum
            if high_sum > most:  # noqa: PLR1730  max() takes longer to compile
                most = high_sum
        table[s, _LOW] = least
        table[s, _HIGH] = most
        if bits.is_empty(states[s, words:]):  # a component of the graph, as nothing lies outside
            out[0] += least
            out[1] += most


@kernel_part
def _local_extremes(
    true: Arcs, arcs: Arcs, near: Words, v: np.uint64, limit: int, rows: Words, place: Ints
) -> tuple[int, int]:
    """Return the fewest and the most mistakes of a node that takes any of its undirected neighbours as parents."""
    bits.compact()
    treatment, parents = rows[_TREATMENT], rows[_GIVEN]
    degree = 0
    for w in range(near.shape[1]):
        degree += bits.popcount(near[v, w])
    if degree > 60 or (1 << degree) > limit:
        return 0, near.shape[0] - 1
    cost, neighbours = place[-64:], place[:-64]
    listed = 0
    for u in range(np.uint64(near.shape[0])):
        if bits.has(near[v], u):
            neighbours[listed] = u
            listed += 1
    least = most = -1
    for start in range(0, 1 << degree, 64):
        stop = start + 64 if degree > 6 else 1 << degree
        treatment[:] = bits.ZERO
        parents[:] = bits.ZERO
        cost[:] = 0
        for s in range(start, stop):
            bit = bits.ONE << np.uint64(s - start)
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
    pairs: Comparison,
    first: int,
    lists: Choices,
    work: Workspace,
    near: Words,
    rows: Words,
    sets: Words,
    place: Ints,
    out: Ints,
) -> int:
    """Fill lower bound, upper bound and status of each pair from the first one on; return the pair to go on with."""
    # every call may be compiled into a copy of its own: each function is called in one place, and most from here
    bits.compact()
    (room, true, arcs), counts = work, lists.counts
    n_nodes, words = near.shape
    done, everything, part = sets[0], sets[1], sets[2]
    everything[:] = bits.ZERO
    for v in range(np.uint64(n_nodes)):
        bits.add(everything, v)
    for n in range(first, pairs.truth_index.size):
        if n == first or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            load_graph(pairs.truth[pairs.truth_index[n]], room, true)
        out[n] = 0
        if true.size[0] < 0:
            out[n, 2] = _CYCLIC
            continue
        _read_graph(pairs.estimate[pairs.estimate_index[n]], near, arcs)
        done[:] = bits.ZERO
        v = bits.ZERO
        while v <= np.uint64(n_nodes):
            status = _OVER_LIMIT  # behind the last node, the sums of what is listed are added
            if v < np.uint64(n_nodes):
                status = _LISTED
                if bits.is_empty(near[v]) and counts[_CHOICES] < lists.states.shape[0]:
                    _list_single(lists, v)
                elif not bits.has(done, v):
                    _fill_part(everything, v, near, part)
                    status = _UNORIENTABLE
                    if _is_orientable(arcs, near, part, sets[3], sets[4]):
                        states, choices, children = counts[_STATES], counts[_CHOICES], counts[_CHILDREN]
                        status = _list_choices(lists, part, near, sets[3:])
                        if status != _LISTED:  # leave the lists as they were
                            counts[_STATES], counts[_CHOICES], counts[_CHILDREN] = states, choices, children
            if status == _MORE_CHILDREN:
                _empty_lists(lists)
                return n
            if status == _OVER_LIMIT:
                some = counts[_STATES] > 0
                if some:  # it may need the room of those before it
                    _cost_choices(true, arcs, lists, rows, place[-64:])
                    _sort_states(lists, place[:-64])
                    _add_extremes(lists, out[n])
                _empty_lists(lists)
                if some:
                    continue
            if status != _LISTED and v < np.uint64(n_nodes):
                for u in range(np.uint64(n_nodes)):  # each node of the component by itself
                    if bits.has(part, u):
                        low, high = _local_extremes(true, arcs, near, u, lists.states.shape[0], rows, place)
                        out[n, 0] += low
                        out[n, 1] += high
                out[n, 2] = _LOCAL
            if v < np.uint64(n_nodes) and not bits.is_empty(near[v]) and not bits.has(done, v):
                for w in range(words):
                    done[w] |= part[w]
            v += bits.ONE
    return pairs.truth_index.size


def sid_bounds(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int, limit: int
) -> NDArray[np.int64]:
    """Bound the SID over the DAGs of the estimate's class, the truth being a DAG: lower, upper bound, status (n, 3)."""
    # `limit` is on choices, each an evaluation of a node with parents, and on parent sets of a node bounded locally
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_nodes=n_nodes)
    words = row_words(n_nodes)
    lists = Choices(
        states=np.empty((limit, 2 * words), np.uint64),
        table=np.empty((limit + 1, _COLUMNS), np.int64),
        children=np.empty(256, np.int64),
        slots=np.full(1 << (2 * limit - 1).bit_length(), -1, np.int64),
        counts=np.zeros(4, np.int64),
    )
    scratch = (
        workspace(n_nodes, *pairs[:2]),
        np.empty((n_nodes, words), np.uint64),
        np.zeros((_ROWS, n_nodes), np.uint64),
        np.empty((2 * n_nodes + 17, words), np.uint64),  # sets of nodes
        np.empty(n_nodes + 2 + 64, np.int64),  # counts by size, and the costs of 64 lanes
    )
    out = np.empty((len(pairs.truth_index), 3), np.int64)
    done = 0
    while (done := _sid_bounds(pairs, done, lists, *scratch, out)) < len(out):
        lists = lists._replace(children=np.empty(2 * len(lists.children) + n_nodes, np.int64))
    return out
