"""Estimates that are graphs: DAGs, CPDAGs and PDAGs whose parameters are fitted to each row's data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.pairs import Batch
from ...graphs.graph import Graph
from ...structure.field import different_nodes
from ..context_fits import Fits, fits_of_row
from ..family_fits import FamilyFits
from ..fitting import parameterise, parents_of
from ..networks.column import unpack_networks
from ..networks.pairs import NetworkPairs, Networks
from ..networks.structure import Structure
from .class_pairs import Classes, ClassPairs, DagClass, class_of_graph

Ints = NDArray[np.int64]


def fitted_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align true networks with graphs and fit these, one batch a set of variables for DAGs and one for classes."""
    truths, truth_codes = unpack_networks(truth)
    codes, distinct = pd.factorize(estimate)
    graphs = [Graph.from_bytes(cell) for cell in distinct.tolist()]
    true_network = cache(truths.network)
    rows = np.flatnonzero((truth_codes >= 0) & (codes >= 0))
    known: dict[int, tuple[object, FamilyFits]] = {}
    fits: Fits = {}
    found: dict[tuple[object, bool], list[int]] = {}
    for row in rows.tolist():
        structure, graph = truths.structures[truths.structure[truth_codes[row]]], graphs[codes[row]]
        if graph.nodes != structure.nodes:
            raise ValueError(
                f"{name_row(row, truth.index)}: {different_nodes(list(structure.nodes), list(graph.nodes))}"
            )
        try:
            own = fits_of_row(context, row, true_network(int(truth_codes[row])), fits)
        except ValueError as error:
            raise ValueError(f"{name_row(row, truth.index)}: {error}") from None
        variables = (structure.kind, structure.nodes, structure.states)
        known[row] = (variables, own)
        found.setdefault((variables, graph.kind == "dag"), []).append(row)
    classes = [class_of_graph(graph) for graph in graphs]
    for (_, of_dags), members in found.items():
        at = np.array(members, np.int64)
        like = truths.structures[truths.structure[truth_codes[at[0]]]]
        wanted = [(int(codes[row]), known[row][1]) for row in members]
        if of_dags and all(_fits_in(graphs[i], like) for i, _ in wanted):
            networks, index = _networks(graphs, wanted, like, members, truth.index)
            yield Batch(at, NetworkPairs(truths, networks, truth_codes[at], index))
        else:
            some, index = _classes(classes, wanted, like)
            yield Batch(at, ClassPairs(truths, some, truth_codes[at], index))


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
    number: dict[tuple[int, int], int] = {}
    made, position = [], np.empty(len(wanted), np.int64)
    for at, (graph, fits) in enumerate(wanted):
        key = (graph, id(fits))
        if key not in number:
            structure = Structure(like.nodes, like.states, parents_of(graphs[graph]))
            try:
                made.append(parameterise(structure, fits))
            except ValueError as error:
                raise ValueError(f"{name_row(rows[at], index)}: {error}") from None
            number[key] = len(number)
        position[at] = number[key]
    return Networks.of(made), position


def _classes(classes: list[DagClass], wanted: list[tuple[int, FamilyFits]], like: Structure) -> tuple[Classes, Ints]:
    """Return the distinct classes with their fits, and which of them each row has."""
    number: dict[tuple[int, int], int] = {}
    found: list[tuple[DagClass, FamilyFits]] = []
    position = np.empty(len(wanted), np.int64)
    for at, (graph, fits) in enumerate(wanted):
        key = (graph, id(fits))
        if key not in number:
            number[key] = len(found)
            found.append((classes[graph], fits))
        position[at] = number[key]
    return Classes.of(found, like), position
