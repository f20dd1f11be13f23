"""The smallest and the largest SID over the DAGs of a class, in plain numpy."""

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .adjustment import Marks, Relations, closure, relation_pairs

State = tuple[frozenset[int], frozenset[int]]


class _OverLimit(Exception):
    """A component has more choices than the limit, or is not as in a CPDAG."""


class _Component:
    """The orientations of one undirected component, found from the smaller ones that each source leaves."""

    def __init__(self, truth: Relations, estimate: Relations, limit: int) -> None:
        self.truth, self.estimate, self.limit = truth, estimate, limit
        self.bounds: dict[State, tuple[int, int]] = {}
        self.n_choices = 0

    def solve(self, state: State) -> tuple[int, int]:
        """Return the smallest and the largest sum of mistakes over the orientations of a state."""
        if state not in self.bounds:
            self.n_choices += len(state[0])
            if self.n_choices > self.limit:
                raise _OverLimit
            sums = []
            for source in sorted(state[0]):
                cost = node_mistakes(self.truth, self.estimate, source, state[1])
                parts = after_source(self.estimate.undirected, state, source)
                found = [self.solve(part) for part in parts]
                sums.append((cost + sum(low for low, _ in found), cost + sum(high for _, high in found)))
            self.bounds[state] = min(low for low, _ in sums), max(high for _, high in sums)
        return self.bounds[state]


def after_source(undirected: Marks, state: State, source: int) -> list[State]:
    """Orient a component away from its source as far as is compelled; return what stays undirected."""
    members = sorted(state[0])
    loose = np.zeros_like(undirected)
    loose[np.ix_(members, members)] = undirected[np.ix_(members, members)]
    adjacent = loose.copy()
    arrows = np.zeros_like(loose)
    arrows[source], loose[source], loose[:, source] = loose[source].copy(), False, False
    while True:
        # x -> y - z becomes y -> z where x and z are not adjacent, or where x -> y -> z and x - z then x -> z
        chain = np.array([[(arrows[:, y] & ~adjacent[z]).any() for z in range(len(loose))] for y in range(len(loose))])
        new = loose & (chain | (arrows @ arrows))
        new &= ~np.eye(len(loose), dtype=bool)
        if not new.any():
            break
        arrows |= new
        loose &= ~(new | new.T)
    parts: list[State] = []
    left = set(members) - {source}
    reach = closure(loose)
    while left:
        part = frozenset(int(v) for v in np.flatnonzero(reach[min(left)]))
        outside = frozenset(int(v) for v in np.flatnonzero(arrows[:, min(part)]))
        parts.append((part, state[1] | outside))
        left -= part
    return parts


def is_orientable(estimate: Relations, members: frozenset[int]) -> bool:
    """Return whether a component is as in a CPDAG: chordal, and without directed edges between its nodes."""
    inside = sorted(members)
    if estimate.directed[np.ix_(inside, inside)].any():
        return False
    left = set(members)
    while left:
        near = {v: [u for u in left if estimate.undirected[v, u]] for v in left}
        simplicial = [v for v in left if all(estimate.undirected[a, b] for a, b in itertools.combinations(near[v], 2))]
        if not simplicial:
            return False
        left.remove(simplicial[0])
    return True


def local_extremes(truth: Relations, estimate: Relations, node: int, limit: int) -> tuple[int, int]:
    """Return the fewest and the most mistakes of a node that takes any of its undirected neighbours as parents."""
    near = np.flatnonzero(estimate.undirected[node]).tolist()
    if 2 ** len(near) > limit:
        return 0, len(estimate.marks) - 1
    sets = itertools.chain.from_iterable(itertools.combinations(near, k) for k in range(len(near) + 1))
    costs = [node_mistakes(truth, estimate, node, frozenset(parents)) for parents in sets]
    return min(costs), max(costs)


def node_mistakes(truth: Relations, estimate: Relations, node: int, more_parents: frozenset[int]) -> int:
    """Count the outcomes for which adjusting a treatment for these parents is wrong in the truth, a DAG."""
    given = estimate.directed[:, node].copy()
    given[list(more_parents)] = True
    wrong = 0
    for y in range(len(given)):
        if y != node:
            wrong += bool(truth.possible[node, y]) if given[y] else not truth.is_adjustment_set(node, y, given)
    return wrong


def sid_bounds(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int, limit: int
) -> NDArray[np.int64]:
    """Bound the SID over the DAGs of the estimate's class, the truth being a DAG."""
    rows = []
    for true, estimated in relation_pairs(truth, estimate, truth_index, estimate_index, n_nodes):
        if true.dag is None:
            rows.append((0, 0, -1))
            continue
        low = high = status = 0
        loose = estimated.undirected.any(axis=0)
        for v in np.flatnonzero(~loose).tolist():
            cost = node_mistakes(true, estimated, v, frozenset())
            low, high = low + cost, high + cost
        reach, left = closure(estimated.undirected), set(np.flatnonzero(loose).tolist())
        while left:
            members = frozenset(int(v) for v in np.flatnonzero(reach[min(left)]))
            left -= members
            try:
                if not is_orientable(estimated, members):
                    raise _OverLimit
                least, most = _Component(true, estimated, limit).solve((members, frozenset()))
            except _OverLimit:
                local = [local_extremes(true, estimated, v, limit) for v in members]
                least, most, status = sum(low for low, _ in local), sum(high for _, high in local), 1
            low, high = low + least, high + most
        rows.append((low, high, status))
    return np.array(rows, np.int64).reshape(-1, 3)
