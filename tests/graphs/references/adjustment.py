"""Which adjustments an estimate gets wrong, in plain numpy, from the definitions.

An estimate's strategy answers, for each ordered pair of a treatment t and an outcome y, one of

- t has no effect on y: y is a parent of t ("parent"), or no possible descendant of t ("ancestor", "optimal");
- the effect cannot be found by adjustment: a possibly causal path from t to y begins with an undirected edge;
- adjust for a set: the parents of t, its ancestors, or the parents of the nodes on causal paths without those that are
  possible descendants of t.

The answer is wrong if the truth says that y is a possible descendant of t; that the effect can be found; or that the
set is no adjustment set, by the generalised adjustment criterion (Perkovic, Textor, Kalisch and Maathuis 2018,
doi:10.48550/arXiv.1606.06903). The counts are the adjustment identification distances of Henckel, Wuertzen and
Weichwald (2024, doi:10.48550/arXiv.2402.08616).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.graphs.kernels.inputs import STRATEGIES, Words, checked_comparison, checked_planes
from causaleval_pd.graphs.kernels.planes import matrices_from_planes

Marks = NDArray[np.bool_]


def closure(marks: Marks) -> Marks:
    """Return which nodes reach which along marks; a node reaches itself."""
    reach = marks | np.eye(len(marks), dtype=bool)
    while True:
        further = reach @ reach
        if np.array_equal(further, reach):
            return reach
        reach = further


@dataclass(frozen=True, eq=False)
class Relations:
    """One graph as a matrix of marks, with what follows from it.

    Attributes
    ----------
    marks : (d, d) bool
        Mark i -> j in cell (i, j), both cells for an undirected edge.
    """

    marks: Marks

    @cached_property
    def directed(self) -> Marks:
        return self.marks & ~self.marks.T

    @cached_property
    def undirected(self) -> Marks:
        return self.marks & self.marks.T

    @cached_property
    def possible(self) -> Marks:
        """Possible descendants in cell (node, descendant)."""
        return closure(self.marks)

    @cached_property
    def dag(self) -> Marks | None:
        """A DAG of the class, None if a cycle is found: sinks whose neighbours are all adjacent are taken off."""
        marks, dag = self.marks.copy(), np.zeros_like(self.marks)
        left = set(range(len(marks)))
        while left:
            sink = next((x for x in sorted(left) if _is_sink(marks, x)), None)
            if sink is None:
                sink = next((x for x in sorted(left) if not (marks[x] & ~marks[:, x]).any()), None)
                if sink is None:
                    return None
            dag[:, sink] = marks[:, sink]
            marks[sink] = False
            marks[:, sink] = False
            left.remove(sink)
        return dag

    def beyond(self, t: int) -> Marks:
        """Return the closure of the graph without node t."""
        marks = self.marks.copy()
        marks[t] = False
        marks[:, t] = False
        return closure(marks)

    def unclear(self, t: int) -> Marks:
        """Tell to which nodes a possibly causal path leads from t whose first edge is undirected."""
        found = self.beyond(t)[self.undirected[t]].any(axis=0)
        found[t] = False
        return found

    def is_adjustment_set(self, t: int, y: int, given: Marks) -> bool:
        """Return whether `given` fulfils the criterion for t and y, where no possibly causal path begins undirected."""
        if self.dag is None:
            raise ValueError("a graph with a cycle has no adjustment sets")
        beyond = self.beyond(t)
        on_path = beyond[self.directed[t]].any(axis=0) & beyond[:, y]
        on_path[t] = False
        if on_path.any() and (self.possible[on_path].any(axis=0) & given).any():
            return False
        backdoor = self.dag.copy()
        backdoor[t] &= ~on_path
        return not connected(backdoor, t, y, given)


def _is_sink(marks: Marks, x: int) -> bool:
    if (marks[x] & ~marks[:, x]).any():
        return False
    near = marks[x] | marks[:, x]
    for y in np.flatnonzero(marks[x] & marks[:, x]):
        others = near.copy()
        others[y] = False
        if (others & ~(marks[y] | marks[:, y])).any():
            return False
    return True


def moral(marks: Marks) -> Marks:
    """Return the adjacencies of a graph and of the parents of its directed edges."""
    directed = marks & ~marks.T
    result = marks | marks.T | (directed @ directed.T)
    np.fill_diagonal(result, False)
    return result


def connected(dag: Marks, x: int, y: int, given: Marks) -> bool:
    """Return whether `given` fails to d-separate x and y, that is, to part them in the moral graph of the ancestors."""
    ends = given.copy()
    ends[[x, y]] = True
    inside = np.asarray(closure(dag)[:, ends].any(axis=1))
    graph = moral(dag & inside[:, None] & inside[None, :])
    graph &= ~given[:, None] & ~given[None, :]
    return bool(closure(graph)[x, y])


def _mistakes(truth: Relations, estimate: Relations, strategy: str) -> int:
    d = len(truth.marks)
    wrong = 0
    above = closure(estimate.directed)
    for t in range(d):
        unclear, truly_unclear = estimate.unclear(t), truth.unclear(t)
        beyond = estimate.beyond(t)
        given = estimate.directed[:, t] if strategy == "parent" else above[:, t] & (np.arange(d) != t)
        no_effect = given if strategy == "parent" else ~estimate.possible[t]
        for y in range(d):
            if y == t:
                continue
            if no_effect[y]:
                wrong += bool(truth.possible[t, y])
            elif unclear[y] or truly_unclear[y]:
                wrong += bool(unclear[y] != truly_unclear[y])
            else:
                if strategy == "optimal":
                    on_path = estimate.possible[t] & beyond[:, y]
                    on_path[t] = False
                    given = estimate.directed[:, on_path].any(axis=1) & ~estimate.possible[t]
                wrong += not truth.is_adjustment_set(t, y, given)
    return wrong


def relation_pairs(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> Iterator[tuple[Relations, Relations]]:
    """Yield the pairs of a comparison as relations."""
    given = checked_comparison(truth, estimate, truth_index, estimate_index)
    sides: list[list[Relations]] = []
    for block in (given.truth, given.estimate):
        planes: Words = checked_planes(block, n_nodes)
        sides.append([Relations(marks) for marks in matrices_from_planes(planes, n_nodes).astype(bool)])
    for i, j in zip(given.truth_index.tolist(), given.estimate_index.tolist(), strict=True):
        yield sides[0][i], sides[1][j]


def adjustment_mistakes(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    strategy: str,
) -> NDArray[np.int64]:
    """Count the ordered pairs of nodes for which the estimate's adjustment is wrong in the truth."""
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, found {strategy!r}")
    pairs = relation_pairs(truth, estimate, truth_index, estimate_index, n_nodes)
    return np.array([-1 if t.dag is None or e.dag is None else _mistakes(t, e, strategy) for t, e in pairs], np.int64)
