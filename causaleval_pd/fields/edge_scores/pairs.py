"""Aligned pairs of graphs and edge scores, and the universe of an evaluation: which pairs of nodes are candidates."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_flag, shown
from ...contract.metric import Metric
from ...contract.pairs import PairError, Remark, StoredPairs
from ...graphs.kernels import planes as graph_planes
from ...graphs.kernels.inputs import read_only
from .cells import DIAGONAL, KINDS, ORDERED, TYPES, UNORDERED, WEIGHT, ScoreBatch

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

#: nanoseconds that ranking one ordered pair of nodes takes, roughly
_RANKING = 60.0


@dataclass(frozen=True, eq=False)
class Truths:
    """Graphs as matrices of marks."""

    #: number of nodes d
    n_nodes: int
    #: (T, d, d): the mark i -> j, in both cells for an undirected edge; any edge of a pair in both, where mixed
    marks: Bools
    #: (T,): position in the classes of graphs
    kinds: NDArray[np.uint8]
    #: the distinct node sets
    node_sets: tuple[tuple[str, ...], ...]
    #: (T,): position of each truth's nodes
    node_set: NDArray[np.int64]

    def take(self, at: NDArray[Any]) -> Truths:
        """Return the truths at some positions."""
        return replace(self, marks=self.marks[at], kinds=self.kinds[at], node_set=self.node_set[at])

    @cached_property
    def undirected(self) -> NDArray[np.bool_]:
        """Which truths have no directed edge, but an edge."""
        both = self.marks & self.marks.transpose(0, 2, 1)
        return np.asarray((self.marks == both).all(axis=(1, 2)) & self.marks.any(axis=(1, 2)))

    @property
    def mixed(self) -> NDArray[np.bool_]:
        """Which truths have marks other than arrows and lines, so that pairs are adjacent or not."""
        return np.asarray(self.kinds >= len(graph_planes.PLAIN_KINDS))


@dataclass(frozen=True, eq=False)
class ScorePairs(StoredPairs):
    """Aligned pairs over as many nodes."""

    kinds_of_sides = (graph_planes.KINDS, KINDS)
    truth: Truths
    estimate: ScoreBatch

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every cell."""
        return self.truth.n_nodes

    @property
    def work(self) -> float:
        """Rough time of ranking one pair's scores in nanoseconds."""
        return _RANKING * self.n_nodes**2 + 1000.0

    @property
    def symmetric(self) -> NDArray[np.bool_]:
        """Whether the scores of each pair are of unordered pairs."""
        return self.estimate.symmetric[self.estimate_index]

    @property
    def stored(self) -> tuple[Bools, Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Marks of the truths, scores, and the positions of each pair's own, for kernels."""
        return self.truth.marks, read_only(self.estimate.values, np.float64), self.truth_index, self.estimate_index

    def by_size(self, magnitude: bool | None) -> Bools:
        """Return which pairs rank by absolute values, as an option of metrics has it: default weights only."""
        kinds = self.estimate.kinds[self.estimate_index]
        return kinds == WEIGHT if magnitude is None else np.full(self.n, magnitude)

    def remarks(self, metrics: Sequence[Any]) -> Iterator[Remark]:
        """Yield the pairs of symmetric scores, where metrics take the candidates that scores of these kinds have."""
        by_symmetry = [(m, x) for m, x in metric_universes(metrics) if x.universe is None and x.sources is None]
        # numbers of candidates show what they are
        judged = [m.name for m, _ in by_symmetry if m.direction is not None]
        if judged:
            then = (
                f"the candidates of {', '.join(judged)} are unordered pairs of nodes in these rows and ordered pairs "
                "in the others, so that values do not compare; pass symmetric=False to score_column if all scores "
                f"are of directions, or take one universe for all rows, as "
                f"ce.tweak({judged[0]!r}, universe='unordered')"
            )
            yield Remark(np.flatnonzero(self.symmetric), "have symmetric scores", then, if_others_differ=True)

    def describe(self, position: int) -> str:
        """Name the class of the truth and the kind of the scores at `position`."""
        truth = graph_planes.a_kind(self.truth.kinds[self.truth_index[position]])
        kind = KINDS[self.estimate.kinds[self.estimate_index[position]]]
        return (
            f"the truth is {truth} and the estimate holds {'probabilities of types' if kind == KINDS[TYPES] else kind}"
        )


#: names of universes; None is "ordered" for scores of ordered pairs, and "unordered" for symmetric ones
UNIVERSES = ("ordered", "unordered", "ordered_with_diagonal", "beeline", "beeline_sources")
_BEELINE = ("beeline", "beeline_sources")
_UNDIRECTED = ("both", "none", "ignore")
Sources = Iterable[str] | None


@dataclass(frozen=True, kw_only=True)
class Universe:
    """Options by which metrics and null models choose candidates; those of the metrics, which describe them."""

    universe: str | None = None
    sources: Sources = None
    undirected: str = "both"
    reduce: str = "max"
    unscored: str = "drop"
    magnitude: bool | None = None

    def __post_init__(self) -> None:
        if self.sources is not None:
            if isinstance(self.sources, str) or not isinstance(self.sources, Iterable):
                raise TypeError(f"sources must be a list of names of nodes, found {shown(self.sources)}")
            object.__setattr__(self, "sources", tuple(sorted(set(map(str, self.sources)))))
        check_choice(self.universe, (*UNIVERSES, None), "universe")
        check_choice(self.undirected, _UNDIRECTED, "undirected")
        check_choice(self.reduce, ("max", "mean"), "reduce")
        check_choice(self.unscored, ("drop", "last"), "unscored")
        if self.sources is not None and self.universe not in (None, "ordered", "ordered_with_diagonal"):
            raise ValueError(f"sources= restricts ordered pairs, and universe={self.universe!r} has others")
        if self.magnitude is not None:
            check_flag(self.magnitude, "magnitude")

    def codes(self, pairs: ScorePairs) -> NDArray[np.int8]:
        """Return the shape of each pair's universe: ordered, unordered, or with the diagonal."""
        if self.universe is None and self.sources is None:
            return np.where(pairs.symmetric, UNORDERED, ORDERED).astype(np.int8)
        one = {"unordered": UNORDERED, "ordered_with_diagonal": DIAGONAL}.get(self.universe or "", ORDERED)
        return np.full(pairs.n, one, np.int8)

    def words(self, pairs: ScorePairs) -> NDArray[np.object_]:
        """Return the name of each pair's universe."""
        if self.universe is not None:
            return np.full(pairs.n, self.universe, object)
        return np.array(["ordered", "unordered"], object)[self.codes(pairs)]


def universe_options(metric: Metric) -> dict[str, Any]:
    """Return the options of a metric that choose its candidates."""
    return {name: metric.options[name] for name in Universe.__dataclass_fields__ if name in metric.options}


def metric_universes(metrics: Iterable[Metric]) -> list[tuple[Metric, Universe]]:
    """Return the metrics that have a universe, with it."""
    ranking = [m for m in metrics if "universe" in inspect.signature(m.function).parameters]
    return [(m, Universe(**universe_options(m))) for m in ranking]


class Candidates(NamedTuple):
    """The candidates of pairs, one row each, padded at the end."""

    #: (n, most): what ranks them, -inf for those that are ranked last
    keys: Floats
    #: (n, most): whether they are true
    labels: NDArray[np.bool_]
    #: (n,): number of candidates N, and of true ones K
    size: NDArray[np.int64]
    n_true: NDArray[np.int64]
    #: (n,): true edges that are not candidates
    n_true_unscored: NDArray[np.int64]
    #: (n, d, d): the cell of each candidate; of unordered pairs that above the diagonal
    slots: NDArray[np.bool_]
    #: pairs whose candidates have no labels, (n,), and why
    faults: list[tuple[NDArray[np.bool_], str]]

    @property
    def faulty(self) -> NDArray[np.bool_]:
        """Which pairs have candidates without labels, (n,)."""
        return np.logical_or.reduce([np.zeros(len(self.size), np.bool_), *(rows for rows, _ in self.faults)])


def candidates(pairs: ScorePairs, chosen: Universe) -> Candidates:
    """Collect the candidates of pairs; pairs without labels are refused."""
    collected = all_candidates(pairs, chosen)
    for rows, why in collected.faults:
        raise PairError(np.flatnonzero(rows), why)
    return collected


def all_candidates(pairs: ScorePairs, chosen: Universe) -> Candidates:
    """Collect the candidates of pairs, faulty ones too; they are kept with the pairs, so that metrics share them."""
    return pairs.remember(("candidates", chosen), lambda: _collect(pairs, chosen))


def _collect(pairs: ScorePairs, chosen: Universe) -> Candidates:
    from .kernels import collect

    codes, d = chosen.codes(pairs), pairs.n_nodes
    most = np.where(codes == UNORDERED, d * (d - 1) // 2, np.where(codes == DIAGONAL, d * d, d * (d - 1)))
    keys, labels = np.zeros((pairs.n, most.max(initial=0))), np.zeros((pairs.n, most.max(initial=0)), np.bool_)
    counts, slots = np.zeros((3, pairs.n), np.int64), np.zeros((pairs.n, d, d), np.bool_)
    # a pair without score: no candidate, ranked last, or 0
    fill = 0.0 if chosen.universe in _BEELINE else {"drop": np.nan, "last": -np.inf}[chosen.unscored]
    options = _UNDIRECTED.index(chosen.undirected), chosen.reduce == "mean", fill
    out = keys, labels, counts, slots
    collect(pairs.stored, codes, pairs.by_size(chosen.magnitude), _nodes(pairs, chosen), options, out)
    return Candidates(keys, labels, counts[0], counts[1], counts[2], slots, list(_faults(pairs, chosen, codes)))


def _faults(pairs: ScorePairs, chosen: Universe, codes: NDArray[np.int8]) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield the pairs whose candidates have no labels, and why."""
    truth = pairs.truth
    mixed = truth.mixed[pairs.truth_index] & (codes != UNORDERED)
    if mixed.any():
        yield (
            mixed,
            "the truth has marks other than -> and --, which do not direct every edge; use universe='unordered'",
        )
    if chosen.sources is None:
        return
    numbers = truth.node_set[pairs.truth_index]
    absent = {k: sorted({*chosen.sources}.difference(truth.node_sets[k])) for k in np.unique(numbers).tolist()}
    lacking = np.isin(numbers, [k for k, names in absent.items() if names])
    if lacking.any():
        at = int(numbers[lacking.argmax()])
        nodes = list(truth.node_sets[at])[:10]
        yield lacking, f"sources names {absent[at][:5]}, which are not among the nodes {nodes}"


def _nodes(pairs: ScorePairs, chosen: Universe) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which nodes of each truth are in the universe, and which may be the first of a pair, (T, d) each."""
    truth = pairs.truth
    member: NDArray[np.bool_] = np.ones((len(truth.marks), truth.n_nodes), np.bool_)
    source = member
    if chosen.universe in _BEELINE:
        member = np.asarray(truth.marks.any(axis=1) | truth.marks.any(axis=2))
        source = np.asarray(truth.marks.any(axis=2)) if chosen.universe == "beeline_sources" else member
    elif chosen.sources is not None:
        # node sets of truths with other numbers of nodes are among `node_sets`
        used, place = np.unique(truth.node_set, return_inverse=True)
        by_set = [[name in chosen.sources for name in truth.node_sets[number]] for number in used.tolist()]
        source = np.array(by_set, np.bool_).reshape(len(used), truth.n_nodes)[place]
    return member, source
