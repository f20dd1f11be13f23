"""The network field: how the verbs coerce, align and match networks with parameters, and graphs that are fitted.

Estimates that are graphs are DAGs, CPDAGs and PDAGs, whose members get parameters from fits as they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, identify_cells, register_field
from ...contract.null import Controls, DrawnControls, Matching, Null, custom_draws, register_null
from ...contract.pairs import Batch
from ...graphs.column import as_graph, coerce_graphs, is_graph_column
from ...graphs.graph import Graph
from ...graphs.kernels import kernels
from ...graphs.orientations import Sets, bits, close, components, ways
from ...graphs.packing import group_rows
from ..structure.field import GRAPHS, different_nodes, forward_edges
from ..structure.field import relabelled_cells as graph_cells
from .cells import Network, Structure, contents
from .fitting import FamilyFits, Fits, fits_of_row, parameterise, parents_of
from .formats import as_network, is_network
from .laws import Scope
from .pairs import (
    NetworkPairs,
    Networks,
    coerce_networks,
    differing,
    graphs_of_networks,
    is_network_column,
    network_column,
    numbered,
    pair,
    unpack_networks,
)

__all__ = ["FITTED_GRAPHS", "NETWORKS"]

Ints = NDArray[np.int64]


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
        for nodes, parents in parts_of(self, 0):
            for node, of_node in zip(nodes, parents[0], strict=True):
                scopes[node] = of_node
        return tuple(scopes)


#: nodes that are directed together: the parents of each, one row per way
Part = tuple[Scope, tuple[tuple[Scope, ...], ...]]


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
        pieces.append((nodes, parents))
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

    def structure_of(self, index: int) -> Structure:
        """Return the structure of a member of one of the classes."""
        return self.structures[index]


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
        kind = self.truth.structure_of(self.truth_index[position]).kind
        return self.class_of(position)[0].fault or f"the estimate is a class of DAGs, whose members are {kind} networks"


def fitted_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align true networks with graphs and fit these, one batch per set of variables for DAGs and one for classes."""
    truths, truth_codes = unpack_networks(truth)
    codes, distinct = pd.factorize(estimate)
    graphs = [Graph.from_bytes(cell) for cell in distinct.tolist()]
    true_network, class_of = cache(truths.network), cache(lambda code: class_of_graph(graphs[code]))
    row_fits: dict[int, FamilyFits] = {}
    fits: Fits = {}
    groups: dict[Any, list[int]] = {}
    for row in np.flatnonzero((truth_codes >= 0) & (codes >= 0)).tolist():
        like, graph = truths.structure_of(truth_codes[row]), graphs[codes[row]]
        try:
            if graph.nodes != like.nodes:
                raise ValueError(different_nodes(list(like.nodes), list(graph.nodes)))
            row_fits[row] = fits_of_row(context, row, true_network(int(truth_codes[row])), fits)
        except ValueError as error:
            raise ValueError(f"{name_row(row, truth.index)}: {error}") from None
        groups.setdefault((like.kind, like.nodes, like.states, graph.kind == "dag"), []).append(row)
    for rows in groups.values():
        at, like = np.array(rows, np.int64), truths.structure_of(truth_codes[rows[0]])
        wanted, index = numbered((int(codes[row]), row_fits[row]) for row in rows)
        try:
            structures = [Structure(like.nodes, like.states, parents_of(graphs[code])) for code, _ in wanted]
        except ValueError:
            # graphs that are no DAGs, and DAGs whose tables are too large together: tables are made one by one
            members, of_wanted = numbered((class_of(code), of_row) for code, of_row in wanted)
            yield Batch(at, ClassPairs(truths, Classes(members, like), truth_codes[at], of_wanted[index]))
            continue
        networks = []
        for number, (structure, (_, of_row)) in enumerate(zip(structures, wanted, strict=True)):
            try:
                networks.append(parameterise(structure, of_row))
            except ValueError as error:
                raise ValueError(f"{name_row(rows[int(np.argmax(index == number))], truth.index)}: {error}") from None
        yield Batch(at, NetworkPairs(truths, Networks.of(networks), truth_codes[at], index))


DEFAULT_METRICS = ("edit_distance", "kl", "ckl1", "ckl2", "ckl3")


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two packed columns, one batch per set of variables with their states; graphs are fitted to data."""
    if is_graph_column(estimate) and not is_network_column(estimate):
        yield from fitted_batches(truth, estimate, context)
        return
    (truths, truth_codes), (estimates, estimate_codes) = (unpack_networks(cells) for cells in (truth, estimate))
    rows = np.flatnonzero((truth_codes >= 0) & (estimate_codes >= 0))
    if not len(rows):
        return
    # structures are few, so they are compared rather than rows
    left, right = truths.structure[truth_codes[rows]], estimates.structure[estimate_codes[rows]]
    for key in np.unique(left * len(estimates.structures) + right).tolist():
        a, b = divmod(key, len(estimates.structures))
        fault = differing(truths.structures[a], estimates.structures[b])
        if fault:
            row = int(rows[np.argmax((left == a) & (right == b))])
            raise ValueError(f"{name_row(row, truth.index)}: {fault}")
    variables = numbered((x.kind, x.nodes, x.states) for x in truths.structures)[1]
    for _, at in group_rows(variables[left]):
        yield Batch(rows[at], NetworkPairs(truths, estimates, truth_codes[rows[at]], estimate_codes[rows[at]]))


def labels(truths: pd.Series) -> NDArray[np.int64]:
    """Return one number per cell that stands for its variables and their states, 0 where missing."""
    networks, codes = unpack_networks(truths)
    words = [repr((x.kind, x.nodes, x.states)) for x in networks.structures]
    numbers = identify_cells(pd.Series(words, dtype=object))
    return np.append(numbers[networks.structure], 0)[codes]


def forward_arcs(truths: pd.Series) -> tuple[int, int]:
    """Count the arcs that point to a later variable, and all."""
    return forward_edges(graphs_of_networks(truths))


def table_bytes(pairs: NetworkPairs) -> int:
    """Return the bytes that a control takes while it is scored, roughly: its tables, their logarithms, and copies."""
    return 64 * max((structure.size for structure in pairs.estimate.structures), default=1)


#: draws one control for an estimate
DrawOne = Callable[[Network, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model from a function that draws one control."""
    # `function(estimate, rng)` returns a DAG over the estimate's nodes in any format of `as_graph`, which gets its
    # parameters as those of the other null models, or a whole network.

    def controls(matching: Matching, rows: Ints, pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        def checked(position: int, estimate: Network, found: Any) -> Network:
            row = int(rows[position])
            what = f"{matching.where(row)}: null {name!r} returned {type(found).__name__}"
            try:
                if is_network(found):
                    control = as_network(found)
                else:
                    graph = as_graph(found, nodes=estimate.nodes if isinstance(found, str) else None)
                    structure = Structure(graph.nodes, estimate.structure.states, parents_of(graph))
                    truth = pairs.true_network(int(pairs.truth_index[position]))
                    control = parameterise(structure, fits_of_row(matching.context, row, truth, matching.prepared))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{what}, which is not a DAG or network over the estimate's nodes: {error}") from error
            fault = differing(estimate.structure, control.structure, ("estimate", "control"))
            if fault:
                raise ValueError(f"{what}, which does not match the estimate: {fault}")
            return control

        def drawn(start: int, count: int) -> NetworkPairs:
            estimates = map(pairs.estimate.network, pairs.estimate_index.tolist())
            networks = [checked(*one) for one in custom_draws(function, estimates, keys, start, count)]
            every = np.arange(len(networks), dtype=np.int64)
            return NetworkPairs(pairs.truth, Networks.of(networks), np.repeat(pairs.truth_index, count), every)

        return DrawnControls(pairs, "dag", drawn, cost=table_bytes(pairs), work=1e6)

    return Null(name, f"random networks drawn by the function {name}", controls, prepare=lambda matching: {})


NETWORKS = register_field(
    Field(
        name="network",
        default_metrics=DEFAULT_METRICS,
        default_null="dags",
        holds=is_network_column,
        coerce=coerce_networks,
        identify=lambda cells: identify_cells(cells, contents),
        batches=batches,
        pair=pair,
        views={"graph": graphs_of_networks},
        context=("data", "estimator"),
        custom_null=custom_null,
        labels=labels,
        relabelling=Relabelling(
            lambda pairs, truths: network_column(map(pairs.estimate.network, pairs.estimate_index), index=truths.index),
            forward_arcs,
        ),
    )
)


def _pair(truth: Any, estimate: Any) -> Any:
    raise TypeError(
        "a graph has no parameters: score a table by evaluate(context={'data': ..., 'estimator': ...}), or give the "
        "graph parameters by ce.causal_kl.from_data(graph, data)"
    )


FITTED_GRAPHS = register_field(
    Field(
        name="fitted_graph",
        default_metrics=tuple(name for name in DEFAULT_METRICS if name != "edit_distance"),
        default_null="permutation",
        holds=is_graph_column,
        coerce=coerce_graphs,
        # metrics with parameters are those of the field of networks, which fits the graphs
        batches=lambda truth, estimate, context: GRAPHS.batches(graphs_of_networks(truth), estimate, None),
        pair=_pair,
        identify=GRAPHS.identify,
        truth_field="network",
        views={"network": lambda cells: cells, "graph": lambda cells: cells},
        context=NETWORKS.context,
        labels=NETWORKS.labels,
        relabelling=Relabelling(lambda pairs, truths: graph_cells(pairs, graphs_of_networks(truths)), forward_arcs),
    )
)
# of whole analyses (placebo); metrics have the null models of their own fields
register_null("fitted_graph", GRAPHS.nulls["permutation"])
