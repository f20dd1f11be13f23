"""Why a graph is not in a class, in words, and how to mend it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from .classes import class_cpdag
from .edge_strings import write_edges, write_names
from .kernels.planes import ADMG, ARROW, CIRCLE, CPDAG, DAG, DIGRAPH, MAG, PAG, PLAIN_KINDS, SKELETON, TAIL, a_kind
from .mixed.marks import Planes, edges_of, lift, lower, marks_from_planes, spouses
from .mixed.paths import mag_to_pag, pag_to_mag

#: nodes of a path that a message names at most
_LONGEST_PATH = 20
#: which cells hold two nodes that cause each other
_KEEP_TWO_CYCLES = (
    "; lagged graphs keep two-cycles, as lagged_column(['A@-1 -> B; B@-1 -> A']), with metrics such as summary_f1"
)


def explain_kind(planes: Planes, names: Sequence[str], kind: int) -> str:
    """Return why a graph, planes (2, W) or (4, W), is not in the class it declares, and how to mend it."""
    fault, mend = fault_of(planes, names, kind) or ("", "")
    return f"is declared {a_kind(kind)}, but {fault}; {mend}"


def fault_of(planes: Planes, names: Sequence[str], kind: int) -> tuple[str, str] | None:
    """Return why a graph is not in a class ("has the directed cycle A -> B -> A") and how to mend it, or None."""
    graph = _Written(planes, write_names(names))
    if kind < len(PLAIN_KINDS):
        return _plain_fault(graph, kind)
    fault = _mixed_fault(graph, kind)
    mend = "mend the graph" + ", or declare it mixed, which keeps it as it is" * (kind in (MAG, PAG))
    return None if fault is None else (fault, mend)


class _Written:
    """One graph as names and a matrix of codes: the mark at j of i - j in cell (i, j)."""

    def __init__(self, planes: Planes, names: Sequence[str]) -> None:
        self.names, self.planes = names, lift(planes[None])
        [self.ends] = edges_of(self.planes, len(names))
        self.directed: nx.DiGraph[int] = nx.DiGraph()
        self.directed.add_nodes_from(range(len(names)))
        directed = ((i, j) if b == ARROW else (j, i) for i, j, a, b in self.ends if (a == ARROW) != (b == ARROW))
        self.directed.add_edges_from(directed)

    @cached_property
    def marks(self) -> NDArray[np.uint8]:
        """The codes as a matrix."""
        return marks_from_planes(self.planes, len(self.names))[0]

    @cached_property
    def spouses(self) -> NDArray[np.bool_]:
        """Which pairs have a bidirected edge."""
        return spouses(self.planes, len(self.names))[0]

    def edge(self, i: int, j: int) -> str:
        """Write the edge or edges of a pair."""
        return " and ".join(write_edges(self.names, [x for x in self.ends if set(x[:2]) == {i, j}]))

    def first(self, odd: Callable[[int, int], bool]) -> str | None:
        """Write the first edge whose codes are odd."""
        return next((self.edge(i, j) for i, j, a, b in self.ends if odd(a, b)), None)

    def path(self, nodes: Sequence[int], arrow: str = "->") -> str:
        """Write a directed path; of a long one its beginning and end."""
        shown = [self.names[node] for node in nodes]
        if len(shown) > _LONGEST_PATH:
            shown[_LONGEST_PATH // 2 : -_LONGEST_PATH // 2] = ["..."]
        return f" {arrow} ".join(shown)


def _cycle(graph: _Written) -> str | None:
    try:
        cycle = [s for s, _ in nx.find_cycle(graph.directed)]
    except nx.NetworkXNoCycle:
        return None
    return f"has the directed cycle {graph.path([*cycle, cycle[0]])}"


def _plain_fault(graph: _Written, kind: int) -> tuple[str, str] | None:
    odd = graph.first(lambda a, b: (a, b) not in ((TAIL, TAIL), (TAIL, ARROW), (ARROW, TAIL)))
    if odd:
        return f"has the edge {odd}", "declare it a mag, pag, admg or mixed, or leave kind out"
    undirected = graph.first(lambda a, b: a == b)
    if undirected and kind in (DAG, DIGRAPH):
        opposite = " (two opposite arcs are one undirected edge)" if kind == DIGRAPH else ""
        keep = _KEEP_TWO_CYCLES if kind == DIGRAPH else ""
        mend = f"orient it, or declare the graph a cpdag or pdag{keep}"
        return f"has the undirected edge {undirected}{opposite}", mend
    cycle = _cycle(graph)
    if cycle and kind in (DAG, CPDAG):
        return cycle, f"mend the graph, or declare it a {'pdag' if undirected else 'digraph'}"
    if kind != CPDAG:
        return None
    [completed], [extends] = class_cpdag(lower(graph.planes), len(graph.names))
    if not extends:
        words = "no DAG has its skeleton, directed edges and v-structures"
        return words, "mend the graph, or declare it a pdag"
    other = _difference(graph, completed, "CPDAG")
    return None if other is None else (other, "declare it a pdag, or use its cpdag()")


def _mixed_fault(graph: _Written, kind: int) -> str | None:
    if kind == ADMG:
        other = graph.first(lambda a, b: ARROW not in (a, b) or CIRCLE in (a, b))
        return f"has the edge {other}" if other else _cycle(graph)
    if kind == SKELETON:
        other = graph.first(lambda a, b: (a, b) != (TAIL, TAIL))
        return f"has the edge {other}, which has marks; take its skeleton()" if other else None
    two = graph.first(lambda a, b: not (a and b))
    if two:
        return f"has the two edges {two} of one pair; only an admg has such pairs"
    if kind == MAG:
        circle = graph.first(lambda a, b: CIRCLE in (a, b))
        return f"has the edge {circle}, and a MAG has no circles" if circle else _mag_fault(graph)
    return _pag_fault(graph) if kind == PAG else None


def _difference(graph: _Written, completed: Planes, what: str) -> str | None:
    """Return the first edge that is another one in the graph of its equivalence class."""
    other = _Written(completed, graph.names)
    for i, j, a, b in graph.ends:
        if (a, b) != (other.marks[j, i], other.marks[i, j]):
            return f"has {graph.edge(i, j)} where the {what} of its equivalence class has {other.edge(i, j)}"
    return None


def _mag_fault(graph: _Written) -> str | None:
    """Return why a graph with one edge of tails and arrows per pair is not a MAG."""
    undirected = graph.first(lambda a, b: (a, b) == (TAIL, TAIL))
    if undirected:
        return f"has the undirected edge {undirected}, which stands for selection bias"
    cycle = _cycle(graph)
    if cycle:
        return cycle
    for x, y in np.argwhere(graph.spouses).tolist():
        if nx.has_path(graph.directed, x, y):
            path = graph.path(nx.shortest_path(graph.directed, x, y))
            return f"has the almost directed cycle {graph.edge(x, y)}, {path}"
    for x, y in itertools.combinations(range(len(graph.names)), 2):
        if not (graph.marks[x, y] or graph.marks[y, x]):
            inducing = _inducing_path(graph, x, y)
            if inducing:
                edges = ", ".join(graph.edge(a, b) for a, b in itertools.pairwise(inducing))
                return f"is not maximal: {graph.names[x]} and {graph.names[y]} have the inducing path {edges}"
    return None


def _inducing_path(graph: _Written, x: int, y: int) -> list[int] | None:
    """Return an inducing path between two nodes that are not adjacent."""
    above = (nx.ancestors(graph.directed, x) | nx.ancestors(graph.directed, y)) - {x, y}
    walks = nx.Graph([(a, b) for a, b in np.argwhere(graph.spouses).tolist() if {a, b} <= above])
    walks.add_nodes_from([x, y])
    for end in (x, y):
        walks.add_edges_from((end, node) for node in above if graph.marks[end, node] == ARROW)
    return list(nx.shortest_path(walks, x, y)) if nx.has_path(walks, x, y) else None


def _pag_fault(graph: _Written) -> str | None:
    tails = graph.first(lambda a, b: TAIL in (a, b) and ARROW not in (a, b))
    if tails:
        return f"has the edge {tails}, which stands for selection bias"
    circles = nx.Graph([(i, j) for i, j, a, b in graph.ends if a == b == CIRCLE])
    hole = _chordless_cycle(circles)
    if hole:
        return f"has circle edges that are not chordal: {graph.path([*hole, hole[0]], 'o-o')}"
    mag = pag_to_mag(graph.planes, len(graph.names))
    fault = _mag_fault(_Written(mag[0], graph.names))
    if fault:
        return f"is not the PAG of any MAG: with its circles oriented it {fault}"
    return _difference(graph, mag_to_pag(mag, len(graph.names))[0], "PAG")


def _chordless_cycle(graph: nx.Graph[int]) -> list[int] | None:
    """Return a cycle of at least four nodes that no further edge joins, or None in a chordal graph."""
    for v in graph:
        for a, b in itertools.combinations(graph[v], 2):
            if not graph.has_edge(a, b):
                rest = graph.subgraph(set(graph) - {v, *graph[v]} | {a, b})
                if nx.has_path(rest, a, b):
                    return [v, *nx.shortest_path(rest, a, b)]
    return None
