"""Compiled lists of the ways to orient undirected components without v-structures.

A connected undirected chordal graph whose orientations have no v-structure has one source in each of them; once the
source is chosen, what stays undirected falls into smaller components of the same kind, whose nodes share their parents
outside (Wienobst, Bannach and Liskiewicz 2023, doi:10.48550/arXiv.2205.02654).

A *state* is such a component with its outside parents, two sets of nodes; a *choice* is a state with one of its nodes
as the source. A node without undirected edges is a component of its own. A set of nodes is a row of words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel_part

from .bits import LAST, ONE, SIX, ZERO, bit_of, compact, copy_row, lowest, popcount
from .inputs import Ints, Words
from .lanes import Arcs

#: counters
STATES, CHOICES, CHILDREN, BASE = range(4)
#: columns of the table of states and choices
FIRST_CHOICE, LOW, HIGH, BY_SIZE, SOURCE, COST, FIRST_CHILD, COLUMNS = range(8)
#: results of listing a component: whole; not within the limit; after more room for numbers of children only
LISTED, OVER_LIMIT, MORE_CHILDREN = range(3)


class Choices(NamedTuple):
    """The states of the components of one graph and their choices, in lists of fixed length."""

    #: (limit, 2 words): members and outside parents
    states: Words
    #: (limit + 1, 7): by state: its first choice, the smallest and the largest sum, and the states by number of
    #: members. By choice: its source, the mistakes that its parents make, and where the states that it leaves begin in
    #: `children`.
    table: Ints
    #: (n,): numbers of states; the caller makes the list longer as needed
    children: Ints
    #: (power of 2,): hash table of base + state; numbers below the base are left from earlier graphs
    slots: Ints
    #: (4,): numbers of states, choices and children, and the base
    counts: Ints


@kernel_part
def is_empty(row: Words) -> bool:
    """Return whether a set has no member."""
    some = ZERO
    for w in range(row.size):
        some |= row[w]
    return some == ZERO


@kernel_part
def _lowest_member(row: Words) -> np.uint64:
    """Return the first node of a set that is not empty."""
    w = ZERO
    while row[w] == ZERO:
        w += ONE
    return (w << SIX) + lowest(row[w])


@kernel_part
def holds(row: Words, node: np.uint64) -> bool:
    """Return whether a node is in a set."""
    return (row[node >> SIX] >> (node & LAST)) & ONE != ZERO


@kernel_part
def fill_part(inside: Words, start: np.uint64, near: Words, part: Words) -> None:
    """Fill `part` with the connected component of `start` within the nodes of `inside`."""
    compact()
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


@kernel_part
def _is_simplicial(near: Words, left: Words, v: np.uint64) -> bool:
    """Return whether the neighbours of a node among those left are adjacent to each other."""
    compact()
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


@kernel_part
def is_orientable(arcs: Arcs, near: Words, part: Words, left: Words) -> bool:
    """Return whether a component is as in a CPDAG: chordal, and without directed edges between its nodes."""
    compact()
    for a in range(arcs.size[0]):
        ends = np.uint64(arcs.tail[a]), np.uint64(arcs.head[a])
        if not arcs.undirected[a] and holds(part, ends[0]) and holds(part, ends[1]):
            return False
    copy_row(part, left, part.size)
    progress = True
    while progress and not is_empty(left):
        progress = False
        for v in range(np.uint64(near.shape[0])):
            if holds(left, v) and _is_simplicial(near, left, v):
                left[v >> SIX] ^= bit_of(v)
                progress = True
    return progress


@kernel_part
def _state_of(lists: Choices, state: Words) -> int:
    """Return the number of a state, storing it if it is new; -1 if there is no room."""
    compact()
    slots, states, counts = lists.slots, lists.states, lists.counts
    hashed = np.uint64(0x9E3779B97F4A7C15)
    words = state.shape[1]
    for side in range(2):
        for w in range(words):
            hashed = (hashed ^ state[side, w]) * np.uint64(0xBF58476D1CE4E5B9)
            hashed ^= hashed >> np.uint64(31)
    mask = np.uint64(slots.size - 1)
    slot = hashed & mask
    base, number = counts[BASE], counts[STATES]
    while slots[slot] >= base:
        known = slots[slot] - base
        same = True
        for w in range(words):
            same = same and states[known, w] == state[0, w] and states[known, words + w] == state[1, w]
        if same:
            return known
        slot = (slot + ONE) & mask
    if number == states.shape[0]:
        return -1
    for w in range(words):
        states[number, w], states[number, words + w] = state[0, w], state[1, w]
    slots[slot] = base + number
    counts[STATES] = number + 1
    return number


@kernel_part
def empty_lists(lists: Choices) -> None:
    """Forget all states; what the hash table holds of them lies below the new base."""
    lists.counts[BASE] += lists.states.shape[0]
    lists.counts[:BASE] = 0


@kernel_part
def list_single(lists: Choices, v: np.uint64) -> None:
    """Append a node without undirected edges: one state, one choice, nothing left."""
    compact()
    table, states, counts = lists.table, lists.states, lists.counts
    s, c = counts[STATES], counts[CHOICES]
    for w in range(states.shape[1]):
        states[s, w] = ZERO
    states[s, v >> SIX] = bit_of(v)
    table[s, FIRST_CHOICE], table[s + 1, FIRST_CHOICE] = c, c + 1
    table[c, SOURCE] = v
    table[c, FIRST_CHILD] = table[c + 1, FIRST_CHILD] = counts[CHILDREN]
    counts[STATES] += 1
    counts[CHOICES] += 1


@kernel_part
def _refine(groups: Words, n_groups: int, near: Words, spare: Words) -> int:
    """Split every group into the neighbours of a node and the others, in this order; return the number of groups."""
    compact()
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


@kernel_part
def _list_parts(lists: Choices, number: int, group: Words, seen: Words, near: Words, spare: Words) -> bool:
    """Store the components of a group as children, with the state's parents and those among the nodes seen."""
    compact()
    words = group.size
    left, part, made = spare[0], spare[1], spare[2:4]
    copy_row(group, left, words)
    while not is_empty(left):
        first = _lowest_member(left)
        fill_part(group, first, near, part)
        for k in range(words):
            left[k] &= ~part[k]
            made[0, k] = part[k]
            made[1, k] = lists.states[number, words + k] | (seen[k] & near[first, k])
        child = _state_of(lists, made)
        if child < 0:
            return False
        lists.children[lists.counts[CHILDREN]] = child
        lists.counts[CHILDREN] += 1
    return True


@kernel_part
def _list_children(lists: Choices, number: int, source: np.uint64, near: Words, sets: Words) -> bool:
    """Store the states that a state leaves once its source is chosen; False if there is no room.

    A lexicographic search from the source visits the nodes group by group; a group that it reaches as a whole, before
    any of its nodes, splits into such components.
    """
    compact()
    words = near.shape[1]
    seen, covered = sets[0], sets[1]
    size = (sets.shape[0] - 2) // 2
    groups, spare = sets[2 : 2 + size], sets[2 + size :]
    seen[:] = ZERO
    covered[:] = ZERO
    covered[source >> SIX] = bit_of(source)
    copy_row(covered, groups[0], words)
    for w in range(words):
        groups[1, w] = lists.states[number, w] & ~covered[w]
    n_groups = 1 if is_empty(groups[1]) else 2
    while n_groups > 0:
        front = groups[0]
        v = _lowest_member(front)
        if not holds(covered, v):
            for k in range(words):
                covered[k] |= front[k]
            if not _list_parts(lists, number, front, seen, near, spare):
                return False
        seen[v >> SIX] |= bit_of(v)
        front[v >> SIX] &= ~bit_of(v)
        n_groups = _refine(groups, n_groups, near[v], spare)
    return True


@kernel_part
def list_choices(lists: Choices, part: Words, near: Words, sets: Words) -> int:
    """Append the states of a component and their choices; return LISTED, or what there is no room for."""
    compact()
    table, states, counts = lists.table, lists.states, lists.counts
    words = np.uint64(near.shape[1])
    whole = sets[:2]
    whole[:] = ZERO
    copy_row(part, whole[0], part.size)
    s = _state_of(lists, whole)
    if s < 0:
        return OVER_LIMIT
    while s < counts[STATES]:
        table[s, FIRST_CHOICE] = counts[CHOICES]
        size = 0
        for w in range(words):
            size += popcount(states[s, w])
        for w in range(words):
            left = states[s, w]
            while left != ZERO:
                if counts[CHOICES] == states.shape[0]:
                    return OVER_LIMIT
                if counts[CHILDREN] + size > lists.children.size:
                    return MORE_CHILDREN
                v = (w << SIX) + lowest(left)
                left &= left - ONE
                table[counts[CHOICES], SOURCE] = v
                table[counts[CHOICES], FIRST_CHILD] = counts[CHILDREN]
                counts[CHOICES] += 1
                if size > 1 and not _list_children(lists, s, v, near, sets):
                    return OVER_LIMIT
        s += 1
    table[s, FIRST_CHOICE] = counts[CHOICES]
    table[counts[CHOICES], FIRST_CHILD] = counts[CHILDREN]
    return LISTED
