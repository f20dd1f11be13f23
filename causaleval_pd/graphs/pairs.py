"""Blocks of graphs as bit planes, and aligned pairs of them, with the counts that metrics share."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..contract.confusion import Confusion
from ..contract.context import Context
from ..contract.pairs import ANY_KIND, PairError, StoredPairs
from .classes import MEND_CLASS, misdeclared
from .edge_types import CLAIMS, EDGES, PLAIN_TYPES, AncestorCounts, EdgeCounts, EdgeTypes, Origins, PairCounts, Weight
from .graph import Graph
from .kernels import kernels
from .kernels.planes import ADMG, CPDAG, DAG, KINDS, MAG, MIXED, N_ADJACENCY_COUNTS, PAG, PLAIN_KINDS, SKELETON, a_kind
from .mixed import paths
from .mixed.marks import Planes, count_bits, count_edges, directed_part, is_mixed, lift, types_of, where

_PLAIN = range(len(PLAIN_KINDS))

#: classes of truths that estimates of a class are compared with; a skeleton is compared with all
_COMPARED: dict[int, tuple[int, ...]] = {
    **{kind: (*_PLAIN, MIXED) for kind in _PLAIN},
    DAG: (*_PLAIN, MAG, ADMG, MIXED),
    MAG: (DAG, MAG, MIXED),
    ADMG: (DAG, MAG, ADMG, MIXED),
    PAG: (PAG, MIXED),
    MIXED: (PAG, MIXED),
    SKELETON: tuple(range(len(KINDS))),
}


#: whether a truth of the class of a row is compared with an estimate of the class of a column
COMPARABLE = np.zeros((len(KINDS), len(KINDS)), bool)
for _estimate, _truths in _COMPARED.items():
    COMPARABLE[[*_truths, SKELETON], _estimate] = True


def explain_classes(truth: int, estimate: int) -> str:
    """Describe the classes of a truth and an estimate, and how to compare them where the marks mean other things."""
    sides = f"truth is {a_kind(truth)} and estimate {a_kind(estimate)}"
    if COMPARABLE[truth, estimate]:
        return sides
    if estimate in (PAG, MIXED):
        return (
            f"{sides}, which is compared with the truth's PAG: pass context={{'latents': []}}, with the names of the "
            "latent nodes; .graph.pag(latents=) returns that PAG"
        )
    if truth == PAG and estimate in (DAG, MAG, ADMG):
        return f"{sides}, whose PAG is compared with it: .graph.pag() of the estimate returns that"
    if truth == ADMG and estimate == MAG:
        return f"{sides}, which is compared with the truth's MAG: pass context={{'latents': []}}, or take .graph.mag()"
    return (
        f"{sides}, whose marks mean other things: context={{'target': 'pag'}} reads the estimate's marks as they are, "
        "-- as two tails, which is not o-o"
    )


Values = NDArray[np.float64]

#: of at least as many pairs only some are looked at for their mean size
_SAMPLED = 4096
#: nanoseconds that a call of a costly metric takes, roughly
_AT_ONCE = 1e8


#: bytes among which Arrow finds equal rows; of more, their digests are compared
MOST_BYTES = 2**31 - 1


def distinct_rows(cells: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first position of each distinct row of words, and the number of the distinct row of each row."""
    cells = np.ascontiguousarray(cells)
    if cells.nbytes > MOST_BYTES:
        digests = b"".join(blake2b(row, digest_size=16).digest() for row in cells)
        cells = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    rows = pa.Array.from_buffers(pa.binary(8 * cells.shape[1]), len(cells), [None, pa.py_buffer(cells)])
    codes = rows.dictionary_encode().indices.to_numpy().astype(np.int64)
    first = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(cells))[::-1]
    return first, codes


class Inputs(NamedTuple):
    """The names of the nodes of graphs, and the inputs of their rows besides the cells, such as data."""

    #: distinct node sets, names in code-point order
    node_sets: tuple[tuple[str, ...], ...]
    #: (N,): each graph's node set
    node_set: NDArray[np.int64]
    #: inputs, one graph each, where given
    context: Context | None = None

    def take(self, positions: NDArray[Any]) -> Inputs:
        """Return the inputs of the graphs at `positions`."""
        context = None if self.context is None else self.context.take(positions)
        return Inputs(self.node_sets, self.node_set[positions], context)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """What tells the inputs of graphs apart, (N, 2): numbers of the set of inputs and of the node set."""
        codes = np.zeros_like(self.node_set) if self.context is None else self.context.codes
        return np.stack([codes, self.node_set], axis=1)


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Graphs with the same numbers of nodes and planes."""

    #: number of nodes d
    n_nodes: int
    #: (N, 2, W): bit k of plane 0 (1) is set if pair k = (i < j) has the mark i -> j (j -> i), and in both for an
    #: undirected edge; (N, 4, W) for mixed graphs, whose planes `mixed.marks` explains
    planes: Planes
    #: (N,): position of each graph's class in `KINDS`
    kinds: NDArray[np.uint8]
    #: keys of the blocks whose graphs are known to be in these classes, of the column that they were read from; None:
    #: these graphs are
    checked: set[tuple[int, int]] | None = None
    #: the graphs with latent nodes that these are projections of, where they are
    origins: Origins | None = None
    #: of truths, or of estimates that stand in for them: the names of the nodes, which estimates share, and inputs
    inputs: Inputs | None = None

    def __len__(self) -> int:
        return len(self.planes)

    @property
    def possible(self) -> slice:
        """Positions in `KINDS` of the classes that graphs of as many planes may have."""
        n_plain = len(PLAIN_KINDS)
        return slice(n_plain, None) if is_mixed(self.planes) else slice(n_plain)

    def take(self, positions: NDArray[Any]) -> GraphBatch:
        """Return the graphs at `positions`."""
        checked = None if self.checked is None else set(self.checked)
        parts = (None if part is None else part.take(positions) for part in (self.origins, self.inputs))
        return GraphBatch(self.n_nodes, self.planes[positions], self.kinds[positions], checked, *parts)  # type: ignore[arg-type]

    @cached_property
    def known_origins(self) -> Origins:
        """The graphs that these are projections of, by default these themselves."""
        if self.origins is not None:
            return self.origins
        every = np.broadcast_to(np.arange(self.n_nodes), (len(self), self.n_nodes))
        return Origins(self.n_nodes, self.planes, self.kinds, every)

    @cached_property
    def misdeclared(self) -> NDArray[np.bool_]:
        """Which graphs are not in the class that their cell declares, as cells of a foreign file may be."""
        return misdeclared(self.planes, self.n_nodes, self.kinds, self.checked)

    @cached_property
    def contiguous(self) -> Planes:
        """The planes one after another, for kernels that do not read them in place in packed cells."""
        return np.ascontiguousarray(self.planes)

    @cached_property
    def lifted(self) -> Planes:
        """The graphs with four planes."""
        return lift(self.planes)

    @cached_property
    def types(self) -> list[int]:
        """The types of edges that the graphs have, as `edge_types` codes them."""
        return types_of(self.planes) if is_mixed(self.planes) else PLAIN_TYPES

    @cached_property
    def statements(self) -> Planes:
        """MAGs or PAGs, four planes, with the m-separations of each DAG, MAG, PAG or ADMG."""
        return paths.as_statements(self.planes, self.kinds, self.n_nodes)

    @cached_property
    def models(self) -> Planes:
        """Graphs of -> and <->, four planes, with the m-separations of each DAG, MAG, PAG or ADMG."""
        return paths.as_models(self.planes, self.kinds, self.n_nodes)

    @cached_property
    def effects(self) -> paths.EffectGraphs:
        """What decides the effects of nodes: the ADMG of what a graph is a projection of, else the graph itself."""
        planes, kinds = self.lifted, self.kinds
        if self.origins is not None:
            known = np.flatnonzero(np.isin(self.origins.kinds, (DAG, ADMG)))
            origins = self.origins.take(known)
            planes, kinds = planes.copy(), kinds.copy()
            planes[known] = paths.project(origins.planes, origins.n_nodes, origins.observed, to_admg=True)
            kinds[known] = ADMG
        return paths.EffectGraphs(planes, paths.as_models(planes, kinds, self.n_nodes), kinds)

    @cached_property
    def edge_counts(self) -> EdgeCounts:
        """Number of edges, directed edges and undirected edges of each graph."""
        planes = self.planes
        if is_mixed(planes):
            counts = count_edges(planes), count_edges(directed_part(planes)), count_bits(where(planes, 1, 1))
        else:
            edges, undirected = count_bits(planes[:, 0] | planes[:, 1]), count_bits(planes[:, 0] & planes[:, 1])
            counts = edges, edges - undirected, undirected
        return EdgeCounts(*(x.astype(np.float64) for x in counts))

    @cached_property
    def degrees(self) -> NDArray[np.int32]:
        """In-degree, out-degree (directed edges) and undirected degree, (N, d, 3)."""
        return np.asarray(kernels().degrees(self.contiguous, self.n_nodes))

    @cached_property
    def cpdag(self) -> GraphBatch:
        """The CPDAG of each DAG, and every other graph as it is."""
        if is_mixed(self.planes):
            raise ValueError(f"{a_kind(self.kinds[0])} has no CPDAG")
        planes = self.planes.copy()
        dags = np.flatnonzero(self.kinds == DAG)
        planes[dags] = kernels().dag_to_cpdag(planes[dags], self.n_nodes)[0]
        return GraphBatch(self.n_nodes, planes, np.full(len(planes), CPDAG, np.uint8))


@dataclass(frozen=True, eq=False)
class GraphPairs(StoredPairs):
    """Aligned pairs over graphs with the same number of nodes."""

    kinds_of_sides = (KINDS, KINDS)

    truth: GraphBatch
    estimate: GraphBatch

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every graph."""
        return self.truth.n_nodes

    @cached_property
    def work(self) -> float:
        """Rough nanoseconds of a plain metric for a pair: nodes and edges of an estimate, in the mean of some."""
        if not self.n:
            return float(self.n_nodes)
        some = self.estimate.take(self.estimate_index[:: 1 + self.n // _SAMPLED])
        return self.n_nodes + float(some.edge_counts.edges.mean())

    @property
    def at_once(self) -> int:
        """Number of pairs that a costly metric is given at a time, which take it well below a second."""
        # such metrics look at nodes and edges from every node, at up to 20 ns each
        return max(1, int(_AT_ONCE / (20 * max(1, self.n_nodes) * max(1.0, self.work))))

    def parts(self, most: int) -> Iterator[GraphPairs]:
        """Cut the pairs; adjacency counts of the parts stand one after another in arrays over all of them."""
        out = tuple(np.empty(self.n) for _ in range(N_ADJACENCY_COUNTS))
        for first in range(0, self.n, most):
            part = self.take(slice(first, min(first + most, self.n)))
            vars(part).update(out=out, first=first)  # of these pairs alone: take and replace do not hand it on
            yield part

    def cells(self, position: int) -> tuple[Graph, Graph]:
        """Return the truth and the estimate of a pair as graphs."""
        at = int(self.truth_index[position]), int(self.estimate_index[position])
        inputs = self.truth.inputs
        if inputs is None:
            raise ValueError("these pairs of graphs do not know the names of their nodes; make them with the truths")
        names = inputs.node_sets[inputs.node_set[at[0]]]
        truth, estimate = (
            Graph._of_checked(names, KINDS[graphs.kinds[i]], graphs.planes[i])
            for graphs, i in zip((self.truth, self.estimate), at, strict=True)
        )
        return truth, estimate

    def unique(self) -> tuple[GraphPairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        return self._unique

    @cached_property
    def _unique(self) -> tuple[GraphPairs, NDArray[np.int64]]:
        truth, estimate = self.truth.take(self.truth_index), self.estimate.take(self.estimate_index)
        parts = [truth.planes.reshape(self.n, -1), estimate.planes.reshape(self.n, -1)]
        if truth.origins is not None:
            parts += [truth.origins.planes.reshape(self.n, -1), truth.origins.observed.astype(np.uint64)]
        if truth.inputs is not None and truth.inputs.context is not None:
            parts += [truth.inputs.numbers.astype(np.uint64)]
        cells = np.ascontiguousarray(
            np.hstack([*parts, truth.kinds[:, None], estimate.kinds[:, None]], dtype=np.uint64)
        )
        first, inverse = distinct_rows(cells)
        return self.take(first), inverse

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have a graph whose class is not among `kinds`, or the truth's not among `truth_kinds`."""
        # classes that are not compared with each other
        other = np.zeros(self.n, bool)
        if truth_kinds is not ANY_KIND and self.truth.origins is None and self.is_mixed:
            other = ~COMPARABLE[self.truth.kinds[self.truth_index], self.estimate.kinds[self.estimate_index]]
        of_truth = kinds if truth_kinds is None else truth_kinds
        if self.truth.origins is not None and KINDS[DAG] in of_truth:
            of_truth = KINDS  # the metric reads the graph beside its projection
        sides = (of_truth, self.truth), (kinds, self.estimate)
        allowed = [[kind in some for kind in KINDS[graphs.possible]] for some, graphs in sides]
        if all(map(all, allowed)):
            return other
        if not all(map(any, allowed)):
            return np.ones(self.n, bool)
        return super().refused(kinds, of_truth) | self._misdeclared | other

    @property
    def _misdeclared(self) -> NDArray[np.bool_]:
        """Which pairs have a graph that is not in the class that its cell declares."""
        return self.truth.misdeclared[self.truth_index] | self.estimate.misdeclared[self.estimate_index]

    def _check_classes(self) -> None:
        """Refuse pairs with a graph that is not in the class that its cell declares."""
        if self._misdeclared.any():
            positions = np.flatnonzero(self._misdeclared)
            raise PairError(positions, f"{self.describe(int(positions[0]))}; {MEND_CLASS}")

    def describe(self, position: int) -> str:
        """Name the classes of the pair at `position`; without a truth that of the estimate."""
        places = (self.truth, self.truth_index[position]), (self.estimate, self.estimate_index[position])
        kinds = [graphs.kinds[at] for graphs, at in places]
        # an estimate without a truth stands in for it
        alone = self.truth.planes is self.estimate.planes and places[0][1] == places[1][1]
        sides = [
            f"declared {a_kind(kind)}, which it is not" if graphs.misdeclared[at] else a_kind(kind)
            for kind, (graphs, at) in zip(kinds, places, strict=True)
        ]
        if alone:
            return f"the estimate is {sides[1]}"
        wrong = self._misdeclared[position]
        return f"truth is {sides[0]} and estimate {sides[1]}" if wrong else explain_classes(*kinds)

    @cached_property
    def counts(self) -> PairCounts:
        """Counts over node pairs that most metrics are functions of."""
        rows = [whole[self.first : self.first + self.n] for whole in self.out] or None
        inputs = self._sides("lifted" if self.is_mixed else "planes")
        loops = kernels()
        adjacencies = partial(loops.adjacency_counts, *inputs, self.n_nodes, rows)
        directions = (lambda: self.edge_types.directions) if self.is_mixed else partial(loops.direction_counts, *inputs)
        return PairCounts(self.n_nodes, self.n, adjacencies, directions)

    @property
    def is_mixed(self) -> bool:
        """Whether truths or estimates are mixed graphs."""
        return is_mixed(self.truth.planes) or is_mixed(self.estimate.planes)

    @cached_property
    def edge_types(self) -> EdgeTypes:
        """Pairs of nodes by the types of both edges, and all counts of marks and directions."""
        return self._table(self.truth.planes, self.truth.types, EDGES)

    @cached_property
    def claims(self) -> EdgeTypes:
        """Counts of what the estimates' marks claim about the graphs that the truths are projections of."""
        relations = self.truth.known_origins.relation_planes
        return self._table(relations, types_of(relations), CLAIMS)

    def _table(self, planes: Planes, types: list[int], weights: Mapping[str, Weight]) -> EdgeTypes:
        """Count pairs of nodes by a relation of the truths and the type of the estimate's edge."""
        index, estimated = (self.truth_index, self.estimate_index), self.estimate.types
        counts = kernels().type_counts(planes, self.estimate.planes, *index, types, estimated)
        cells = {(s, t): counts[i, j] for i, s in enumerate((0, *types)) for j, t in enumerate((0, *estimated))}
        return EdgeTypes(self.n_nodes, cells, weights)

    def _sides(self, name: str) -> tuple[Any, Any, NDArray[np.int64], NDArray[np.int64]]:
        """Return what the graphs of both sides are under a name of theirs, and the positions of the pairs."""
        return getattr(self.truth, name), getattr(self.estimate, name), self.truth_index, self.estimate_index

    def _counted(self, kernel: Callable[..., NDArray[np.int64]], name: str = "contiguous") -> Values:
        """Return the counts of a kernel that compares graphs, one row per count."""
        return np.asarray(kernel(*self._sides(name), self.n_nodes), np.float64).T

    @cached_property
    def v_structures(self) -> Confusion:
        """Unshielded colliders."""
        if self.is_mixed:
            paths.check_size(self.n_nodes)
        name = "lifted" if self.is_mixed else "contiguous"
        true, estimated, both = self._counted(kernels().collider_counts, name)
        return Confusion(both, true, estimated)

    @cached_property
    def cpdags(self) -> GraphPairs:
        """The same pairs with every graph replaced by its CPDAG."""
        self._check_classes()
        return GraphPairs(self.truth.cpdag, self.estimate.cpdag, self.truth_index, self.estimate_index)

    @property
    def swapped(self) -> GraphPairs:
        """The same pairs with truth and estimate exchanged."""
        return GraphPairs(self.estimate, self.truth, self.estimate_index, self.truth_index)

    @cached_property
    def ancestors(self) -> AncestorCounts:
        """Counts of directed paths."""
        self._check_classes()
        return AncestorCounts(*self._counted(kernels().ancestor_counts))

    @cached_property
    def blankets(self) -> Confusion:
        """Members of Markov blankets, summed over the nodes."""
        true, estimated, both = self._counted(kernels().blanket_counts)
        return Confusion(both, true, estimated)

    def adjustment_mistakes(self, strategy: str) -> Values:
        """Count the ordered pairs of nodes for which the estimate adjusts wrongly."""
        return self._acyclic(kernels().adjustment_mistakes(*self._sides("contiguous"), self.n_nodes, strategy))

    def separation_mistakes(self, separator: str) -> Values:
        """Count the ordered pairs of nodes that the estimate separates and the truth does not."""
        if separator == "parent" or not self.is_mixed:
            return self._acyclic(kernels().separation_mistakes(*self._sides("contiguous"), self.n_nodes, separator))
        sides = self.truth.models, self.estimate.statements, self.truth_index, self.estimate_index
        mistakes = paths.separation_mistakes(*sides, self.n_nodes, nearest=separator == "nearest")
        return mistakes.astype(np.float64)

    def latent_adjustment_mistakes(self) -> Values:
        """Count the ordered pairs of nodes for which the estimate, a DAG, MAG, PAG or ADMG, answers wrongly."""
        return paths.adjustment_mistakes(*self._sides("effects"), self.n_nodes).astype(np.float64)

    def sid_bounds(self, limit: int) -> NDArray[np.int64]:
        """Bound the SID over the DAGs of the estimate's class; return lower, upper and status, as the kernel does."""
        compute = partial(kernels().sid_bounds, *self._sides("contiguous"), self.n_nodes, limit)
        bounds: NDArray[np.int64] = self.remember(("sid_bounds", limit), compute)
        self._acyclic(bounds[:, 2])
        return bounds

    def _acyclic(self, counts: NDArray[np.int64]) -> Values:
        """Return counts as floats; refuse the -1 by which kernels report a cycle."""
        if (counts < 0).any():
            raise PairError(np.flatnonzero(counts < 0), "a graph that is declared a DAG or CPDAG has a directed cycle")
        return counts.astype(np.float64)
