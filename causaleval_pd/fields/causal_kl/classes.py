"""Estimates that are graphs: DAGs, CPDAGs and PDAGs, whose members get parameters from fits as they are needed."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.pairs import Batch
from ...graphs.graph import Graph
from ...graphs.kernels import kernels
from ...graphs.orientations import Sets, bits, close, components, ways
from ..structure.field import different_nodes
from .cells import Structure
from .fitting import FamilyFits, Fits, fits_of_row, parameterise, parents_of
from .laws import Scope
from .pairs import NetworkPairs, Networks, numbered, unpack_networks

Ints = NDArray[np.int64]


class Part(NamedTuple):
    """Nodes that are directed together: the parents of each, one row per way."""

    nodes: Scope
    ways: tuple[tuple[Scope, ...], ...]


@dataclass(frozen=True)
class DagClass:
    """The DAGs with the skeleton, v-structures and directed edges of a graph, both closed under Meek's rules."""

    #: edges into each node
    parents: Sets
    #: edges beside each node
    undirected: Sets
    #: why no DAG extends the graph
    fault: str = ""

    @cached_property
    def fixed(self) -> tuple[int, ...]:
        """Nodes that have the same parents in all members."""
        return tuple(i for i, neighbours in enumerate(self.undirected) if not neighbours)

    @cached_property
    def example(self) -> tuple[Scope, ...]:
        """Parents of each node in one member."""
        scopes = [tuple(bits(mask)) for mask in self.parents]
        for part in () if self.fault else parts_of(self, 0):
            for node, parents in zip(part.nodes, part.ways[0], strict=True):
                scopes[node] = parents
        return tuple(scopes)


@lru_cache(maxsize=4096)
def parts_of(of: DagClass, seed: int) -> tuple[Part, ...]:
    """Return the parts that are directed independently of one another; large ones are drawn from."""
    pieces = []
    for component in components(of.undirected):
        nodes = tuple(bits(component))
        at = {node: i for i, node in enumerate(nodes)}
        inner, beside = (
            tuple(sum(1 << at[b] for b in bits(sets[a] & component)) for a in nodes)
            for sets in (of.parents, of.undirected)
        )
        outer = [[*bits(of.parents[a] & ~component)] for a in nodes]
        parents = tuple(
            tuple(tuple(sorted(out + [nodes[b] for b in bits(mask)])) for out, mask in zip(outer, way, strict=True))
            for way in ways(inner, beside, seed)[0]
        )
        pieces.append(Part(nodes, parents))
    return tuple(pieces)


@lru_cache(maxsize=4096)
def class_of_arcs(n_nodes: int, arcs: frozenset[tuple[int, int]]) -> DagClass:
    """Return the class of a graph that a DAG extends; arcs in both directions are undirected edges."""
    parents, undirected = [0] * n_nodes, [0] * n_nodes
    for a, b in arcs:
        if (b, a) in arcs:
            undirected[b] |= 1 << a
        else:
            parents[b] |= 1 << a
    into, beside = close(parents, undirected)
    return DagClass(tuple(into), tuple(beside))


def class_of_graph(graph: Graph) -> DagClass:
    """Return the class of a DAG (itself alone), CPDAG or PDAG."""
    fault = ""
    if graph.kind not in ("dag", "cpdag", "pdag"):
        fault = f"the estimate is a {graph.kind}, which is not a class of DAGs"
    elif graph.kind == "pdag" and not kernels().extend_to_dag(graph.planes[None], graph.n_nodes)[1][0]:
        fault = "the estimate is a PDAG that no DAG extends: none has its skeleton, directed edges and v-structures"
    if fault:
        return DagClass((0,) * graph.n_nodes, (0,) * graph.n_nodes, fault)
    return class_of_arcs(graph.n_nodes, frozenset(graph._arcs()))


@dataclass(frozen=True, eq=False)
class Classes:
    """Distinct classes with the fits that give their members parameters."""

    members: Sequence[tuple[DagClass, FamilyFits]]
    #: a structure with the variables of all
    like: Structure

    @cached_property
    def structures(self) -> list[Structure]:
        """A member of each class."""
        return [Structure(self.like.nodes, self.like.states, one.example) for one, _ in self.members]

    @property
    def structure(self) -> Ints:
        """Position of each class in `structures`."""
        return np.arange(len(self.members), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ClassPairs(NetworkPairs):
    """Pairs of a true network and a class of DAGs over the same variables."""

    truth: Networks
    estimate: Any  # Classes

    def class_of(self, position: int) -> tuple[DagClass, FamilyFits]:
        """Return the class of a pair and the fits of its members."""
        pair: tuple[DagClass, FamilyFits] = self.estimate.members[int(self.estimate_index[position])]
        return pair

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have a class that is not among `kinds`, such as "discrete class", or that has no DAG."""
        allowed = np.array([f"{x.kind} class" in kinds for x in self.truth.structures], bool)
        faulty = np.array([bool(one.fault) for one, _ in self.estimate.members], bool)
        return faulty[self.estimate_index] | ~allowed[self.truth.structure[self.truth_index]]

    def describe(self, position: int) -> str:
        """Describe the pair at `position`, for messages."""
        kind = self.truth.structures[self.truth.structure[self.truth_index[position]]].kind
        fault = self.class_of(position)[0].fault
        return fault or f"the estimate is a class of DAGs, whose members are {kind} networks"


def fitted_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align true networks with graphs and fit these, one batch per set of variables for DAGs and one for classes."""
    truths, truth_codes = unpack_networks(truth)
    codes, distinct = pd.factorize(estimate)
    graphs = [Graph.from_bytes(cell) for cell in distinct.tolist()]
    true_network = cache(truths.network)
    rows = np.flatnonzero((truth_codes >= 0) & (codes >= 0))
    known: dict[int, tuple[object, FamilyFits]] = {}
    fits: Fits = {}
    groups: dict[tuple[object, bool], list[int]] = {}
    for row in rows.tolist():
        structure, graph = truths.structures[truths.structure[truth_codes[row]]], graphs[codes[row]]
        if graph.nodes != structure.nodes:
            raise ValueError(
                f"{name_row(row, truth.index)}: {different_nodes(list(structure.nodes), list(graph.nodes))}"
            )
        try:
            row_fits = fits_of_row(context, row, true_network(int(truth_codes[row])), fits)
        except ValueError as error:
            raise ValueError(f"{name_row(row, truth.index)}: {error}") from None
        variables = (structure.kind, structure.nodes, structure.states)
        known[row] = (variables, row_fits)
        groups.setdefault((variables, graph.kind == "dag"), []).append(row)
    classes = [class_of_graph(graph) for graph in graphs]
    for (_, of_dags), members in groups.items():
        at = np.array(members, np.int64)
        like = truths.structures[truths.structure[truth_codes[at[0]]]]
        wanted = [(int(codes[row]), known[row][1]) for row in members]
        if of_dags and all(_fits_in(graphs[i], like) for i, _ in wanted):
            networks, index = _networks(graphs, wanted, like, members, truth.index)
            yield Batch(at, NetworkPairs(truths, networks, truth_codes[at], index))
        else:
            some, index = numbered((classes[i], row_fits) for i, row_fits in wanted)
            yield Batch(at, ClassPairs(truths, Classes(some, like), truth_codes[at], index))


def _fits_in(graph: Graph, like: Structure) -> bool:
    """Check the size of a DAG's tables, which are made at once; those of a class are refused one by one."""
    try:
        return Structure(like.nodes, like.states, parents_of(graph)).size >= 0
    except ValueError:
        return False


def _networks(
    graphs: list[Graph], wanted: list[tuple[int, FamilyFits]], like: Structure, rows: list[int], index: pd.Index
) -> tuple[Networks, Ints]:
    """Return the distinct fitted DAGs, and which of them each row has."""
    distinct, place = numbered(wanted)
    made = []
    for graph, fits in distinct:
        try:
            made.append(parameterise(Structure(like.nodes, like.states, parents_of(graphs[graph])), fits))
        except ValueError as error:
            raise ValueError(f"{name_row(rows[wanted.index((graph, fits))], index)}: {error}") from None
    return Networks.of(made), place
