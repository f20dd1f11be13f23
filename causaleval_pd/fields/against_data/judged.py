"""Pairs by the data that judge them: each part has a judge, a level and the graphs that it judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.context import MissingInputError
from ...contract.pairs import PairError
from ...graphs.packing import group_rows
from ...graphs.pairs import GraphPairs
from .ci_tests import Floats, Ints
from .data_sets import DataError, refuse_perturbed
from .implied import Implications, Statements
from .judge import Judge, read_alpha, read_judge
from .likelihoods import Likelihoods


class Part:
    """Graphs, at `rows` (k,) of the pairs, that one data set judges, by one test: dependence is p <= alpha."""

    def __init__(self, rows: Ints, implied: Implications, judge: Judge, likelihoods: Likelihoods, alpha: float) -> None:
        self.rows, self.implied, self.judge, self.alpha = rows, implied, judge, alpha
        self.likelihoods = likelihoods

    @property
    def n(self) -> int:
        """Number of graphs."""
        return len(self.rows)

    def p_values(self, found: Statements) -> Floats:
        """Return the p-values of statements."""
        sizes = found.given.sum(axis=1)
        most = self.judge.largest_set
        if len(sizes) and sizes.max() > most:
            large = np.unique(found.graph[sizes > most])
            raise PairError(
                self.rows[large],
                f"the data have {self.judge.data.n} rows, and the test {self.judge.name!r} given {sizes.max()} nodes "
                f"needs at least {self.judge.data.n - most + int(sizes.max())}; give more rows or a sparser graph",
            )
        return self.checked(lambda: self.judge.p_values(found.x, found.y, found.given))

    def partials(self, found: Statements) -> Floats:
        """Return the partial correlations of the pairs of statements."""
        return self.checked(lambda: self.judge.gaussian.partials(found.x, found.y, found.given))

    def checked(self, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returns; refuse all pairs where the data cannot give it."""
        try:
            return compute()
        except DataError as error:
            raise PairError(self.rows, str(error)) from error

    def dependent(self, found: Statements) -> NDArray[np.bool_]:
        """Return which statements' pairs of nodes are dependent."""
        return np.asarray(self.p_values(found) <= self.alpha)

    def count(self, found: Statements, which: NDArray[np.bool_] | None = None) -> Floats:
        """Count the statements of each graph, or some of them."""
        graph = found.graph if which is None else found.graph[which]
        return np.bincount(graph, minlength=self.n).astype(np.float64)

    def number(self, found: Statements, which: NDArray[np.bool_]) -> Floats:
        """Count some of the statements of each graph, NaN for graphs without any."""
        return np.where(self.count(found) > 0, self.count(found, which), np.nan)

    def means(self, found: Statements, values: Any) -> Floats:
        """Return the mean of one number per statement for each graph, NaN for graphs without any."""
        total, n = np.bincount(found.graph, values, self.n), self.count(found)
        return np.divide(total, n, out=np.full(self.n, np.nan), where=n > 0)

    @cached_property
    def local_p(self) -> Floats:
        """The p-values of the local Markov property."""
        return self.p_values(self.implied.local_markov)

    @cached_property
    def distinct_p(self) -> tuple[Ints, Floats]:
        """The graphs and p-values of the distinct statements of the local Markov property."""
        found = self.implied.distinct
        return self.implied.local_markov.graph[found], self.local_p[found]

    def defined(self, values: Any) -> Floats:
        """Return numbers, NaN for graphs that have no DAG in their class."""
        return np.where(self.implied.has_dag, values, np.nan)

    def log_likelihoods(self, *, folds: int | None = None) -> Floats:
        """Return the log-likelihood of each graph, or that of rows left out, by folds."""
        found = self.implied
        shape = self.n, found.d
        graph, node = (x.reshape(-1) for x in np.indices(shape))
        given = found.arcs.transpose(0, 2, 1).reshape(-1, found.d)
        values = self.checked(lambda: self.likelihoods.of_families(node, given, folds))
        if np.isnan(values).any():
            bad = np.unique(graph[np.isnan(values)])
            raise PairError(
                self.rows[bad],
                f"the data have {self.judge.data.n} rows, too few to fit a node with "
                f"{int(given[np.isnan(values)].sum(axis=1).max())} parents; give more rows or a sparser graph",
            )
        return self.defined(values.reshape(shape).sum(axis=1))

    def n_parameters(self) -> Floats:
        """Count the parameters of each graph."""
        return self.checked(lambda: self.defined(self.likelihoods.n_parameters(self.implied.arcs)))


def parts_of(pairs: GraphPairs) -> list[Part]:
    """Return the parts of pairs; refuse pairs without data, or with data that cannot judge them."""
    found: list[Part] = pairs.remember("judged by data", lambda: _parts(pairs))
    return found


def _parts(pairs: GraphPairs) -> list[Part]:
    inputs = pairs.truth.inputs
    if inputs is None or not inputs.context.gives(["data"]):
        raise MissingInputError(
            "this metric judges estimates by data; pass the data by context={'data': frame}, or by "
            "context={'data': (column, {name: frame})} where a column names each row's"
        )
    numbers = inputs.numbers[pairs.truth_index]
    distinct, part = np.unique(numbers, axis=0, return_inverse=True)
    found = []
    for place, rows in group_rows(part.reshape(-1).astype(np.int64)):
        code, node_set = distinct[place].tolist()
        values, names = inputs.context.values[code], inputs.node_sets[node_set]
        try:
            refuse_perturbed(values)
            judge, likelihoods = inputs.context.memory.remember(_key(values, names), partial(_read, values, names))
        except DataError as error:
            raise PairError(rows, str(error)) from error
        graphs = pairs.estimate.take(pairs.estimate_index[rows])
        found.append(Part(rows, Implications(graphs), judge, likelihoods, read_alpha(values)))
    return found


def _read(values: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Judge, Likelihoods]:
    judge = read_judge(values, names)
    return judge, Likelihoods(judge.data, lambda: judge.gaussian, levels=judge.takes_levels)


def _key(values: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what judges of a call differ by; the context keeps the data, so that no other object has their number."""
    test = values.get("test")
    return "judge", id(values["data"]), test if isinstance(test, str) else id(test), repr(values.get("missing")), names


def by_data(pairs: GraphPairs, value: Callable[[Part], Floats]) -> Floats:
    """Compute one number per pair, part by part."""
    found = np.full(pairs.n, np.nan)
    for part in parts_of(pairs):
        found[part.rows] = value(part)
    return found
