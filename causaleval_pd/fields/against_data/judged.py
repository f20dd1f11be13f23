"""Judges, data sets with a test of independence, and parts of pairs by the judge and level that they have."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_number, warn
from ...contract.context import MissingInputError
from ...contract.data_sets import DataError, DataSet, read_data
from ...contract.pairs import PairError
from ...graphs.packing import group_rows
from ...graphs.pairs import GraphPairs
from .ci_tests import (
    MOST_TABULATED,
    Bools,
    CountTests,
    Floats,
    Ints,
    Kept,
    KernelTests,
    PartialCorrelations,
    Test,
    call_test,
    check_cells,
    fisher_z_p,
    name_of,
    strata,
    student_t_p,
)
from .implied import Implications, Statements

#: tests by name; "pearsonr" is another name of "t"
NAMES = ("fisher_z", "t", "pearsonr", "chi_squared", "g", "kci")
ALPHA = 0.05
#: eigenvalues of a correlation matrix below this are 0: a column is a linear combination of others
SINGULAR = 1e-10


def _find_test(given: Any, data: DataSet) -> str | Test:
    """Return the test that a context names, by default the one for the types of the columns."""
    if given is not None:
        if not callable(given):
            check_choice(given, NAMES, "context 'test'")
        return "t" if given == "pearsonr" else given
    if data.is_float:
        return "fisher_z"
    if data.is_discrete:
        return "chi_squared"
    raise DataError(
        "the data have columns of floats and others; name the test, by context={..., 'test': ...}: 'fisher_z' takes "
        "integers as numbers, and a function test(x, y, z) takes any"
    )


class Judge:
    """A data set and a test of conditional independence: a name, or `test(x, y, z)`, which returns a p-value."""

    def __init__(self, data: DataSet, test: str | Test | None = None) -> None:
        self.data, self.test = data, _find_test(test, data)
        self._unnamed = test is None
        self._kept = Kept(self._compute)

    @property
    def name(self) -> str:
        """Name of the test."""
        return self.test if isinstance(self.test, str) else name_of(self.test)

    @property
    def takes_levels(self) -> bool:
        """Whether the data are levels: they hold no floats, and no test of numbers is named."""
        return self.data.is_discrete and self.test not in ("fisher_z", "t")

    @property
    def largest_set(self) -> int:
        """Size of the largest set that the test can condition on."""
        rest = {"fisher_z": 4, "t": 3}.get(self.name if isinstance(self.test, str) else "")
        return self.data.n if rest is None else self.data.n - rest

    @cached_property
    def gaussian(self) -> PartialCorrelations:
        """Partial correlations of the data."""
        return PartialCorrelations(_correlations(self.data))

    @cached_property
    def _table(self) -> Floats:
        """The p-values of all sets and pairs, for few nodes."""
        d = len(self.data.names)
        subsets = (np.arange(1 << d)[:, None] >> np.arange(d)) & 1 == 1
        low, high = np.triu_indices(d, 1)
        sets, pair = np.nonzero(~subsets[:, low] & ~subsets[:, high])
        x, y, given = low[pair], high[pair], subsets[sets]
        table = np.full((1 << d, d, d), np.nan)
        table[sets, x, y] = table[sets, y, x] = self._gaussian_p(x, y, given, given.sum(axis=1))
        return table

    def _gaussian_p(self, x: Ints, y: Ints, given: Bools, sizes: Ints) -> Floats:
        rule = fisher_z_p if self.test == "fisher_z" else student_t_p
        return rule(self.gaussian.partials(x, y, given), self.data.n, sizes)

    def p_values(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the p-values of pairs of nodes, (m,), given sets, (m, d)."""
        data = self.data
        if self._unnamed and data.is_float and (data.values == np.round(data.values)).all():
            # they may be levels, such as integers that pandas made floats because of missing values
            warn(
                f"the columns {list(data.names)[:5]} are floats that hold whole numbers, and are tested as numbers by "
                "Fisher's z; convert levels to integers, as by data.astype(int), for chi-squared tests, or name the "
                "test by context={..., 'test': 'fisher_z'}"
            )
        self._unnamed = False
        if self.test in ("fisher_z", "t") and len(data.names) <= MOST_TABULATED:
            at = given @ (1 << np.arange(len(data.names), dtype=np.int64))
            return np.asarray(self._table[at, x, y])
        return self._kept.find(np.minimum(x, y), np.maximum(x, y), given)

    @cached_property
    def _compute(self) -> Callable[[Ints, Ints, Bools], Floats]:
        """The test for pairs that are not known yet."""
        test = self.test
        if callable(test):
            function: Test = test
            return lambda x, y, given: call_test(function, self.data.values, x, y, given)
        if test in ("chi_squared", "g"):
            return CountTests(*self.data.coded, ratio=test == "g").p_values
        if test == "kci":
            return KernelTests(self.data.numbers).p_values
        return lambda x, y, given: self._gaussian_p(x, y, given, given.sum(axis=1))


def _correlations(data: DataSet) -> Floats:
    """Return the correlation matrix; refuse columns that are linear combinations of others."""
    if data.n < 2:
        raise DataError(f"the data have {data.n} rows; correlations need more")
    if data.n <= len(data.names):
        raise DataError(
            f"the data have {data.n} rows for {len(data.names)} columns, so that these are linearly dependent; "
            "give more rows than columns, or graphs over fewer nodes"
        )
    matrix = np.atleast_2d(np.corrcoef(data.numbers, rowvar=False))
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < SINGULAR:
        joined = [data.names[i] for i in np.flatnonzero(np.abs(vectors[:, 0]) > 1e-3)]
        raise DataError(
            f"the columns {joined} are linearly dependent over {data.n} rows (their correlation matrix is "
            "singular): duplicates, or sums of one another; leave one out"
        )
    return matrix


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

    def share_dependent(self, found: Statements) -> Floats:
        """Return the share of statements of each graph whose pairs are dependent, NaN for graphs without any."""
        return self.means(found, self.dependent(found))

    def n_independent(self, found: Statements) -> Floats:
        """Count the statements of each graph whose pairs are not dependent, NaN for graphs without any."""
        return self.number(found, ~self.dependent(found))

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
    def distinct_p(self) -> Floats:
        """The p-values of the distinct statements of the local Markov property."""
        return self.local_p[self.implied.is_distinct]

    def defined(self, values: Any) -> Floats:
        """Return numbers, NaN for graphs that have no DAG in their class."""
        return np.where(self.implied.has_dag, values, np.nan)

    def log_likelihoods(self, *, folds: int | None = None) -> Floats:
        """Return the log-likelihood of each graph, or that of rows left out, by folds."""
        implications = self.implied
        shape = self.n, implications.d
        graph, node = (x.reshape(-1) for x in np.indices(shape))
        parents = implications.arcs.transpose(0, 2, 1).reshape(-1, implications.d)
        values = self.checked(lambda: self.likelihoods.of_families(node, parents, folds))
        if np.isnan(values).any():
            bad = np.unique(graph[np.isnan(values)])
            raise PairError(
                self.rows[bad],
                f"the data have {self.judge.data.n} rows, too few to fit a node with "
                f"{int(parents[np.isnan(values)].sum(axis=1).max())} parents; give more rows or a sparser graph",
            )
        return self.defined(values.reshape(shape).sum(axis=1))

    def n_parameters(self) -> Floats:
        """Count the parameters of each graph."""
        return self.checked(lambda: self.defined(self.likelihoods.n_parameters(self.implied.arcs)))


def _parts(pairs: GraphPairs) -> list[Part]:
    """Return the parts of pairs; refuse pairs without data, or with data that cannot judge them."""
    inputs = pairs.truth.inputs
    if inputs is None or inputs.context is None or not inputs.context.gives(["data"]):
        raise MissingInputError(
            "this metric judges estimates by data; pass the data by context={'data': frame}, or by "
            "context={'data': (column, {name: frame})} where a column names each row's"
        )
    numbers = inputs.numbers[pairs.truth_index]
    distinct, part = np.unique(numbers, axis=0, return_inverse=True)
    parts = []
    for place, rows in group_rows(part.reshape(-1).astype(np.int64)):
        code, node_set = distinct[place].tolist()
        values, names = inputs.context.values[code], inputs.node_sets[node_set]
        try:
            _refuse_perturbed(values)
            # the context keeps the data, so that no other object has their number
            test = values.get("test")
            test = test if isinstance(test, str) else id(test)
            key = "judge", id(values["data"]), test, repr(values.get("missing")), names
            judge, likelihoods = inputs.context.memory.remember(key, partial(_read, values, names))
        except DataError as error:
            raise PairError(rows, str(error)) from error
        graphs = pairs.estimate.take(pairs.estimate_index[rows])
        # dependence is p <= alpha
        alpha = check_number(values.get("alpha", ALPHA), "context 'alpha'", "(0, 1)")
        parts.append(Part(rows, Implications(graphs), judge, likelihoods, alpha))
    return parts


def _refuse_perturbed(values: Mapping[str, Any]) -> None:
    """Refuse data with cases in which a node is perturbed: they are of another distribution."""
    data, label = values["data"], values.get("perturbed")
    if not isinstance(data, pd.DataFrame) or not isinstance(label, str) or label not in data.columns:
        return
    named = data[label].notna() & (data[label].astype(str) != "")
    if named.any():
        raise DataError(
            f"this metric judges estimates by observational cases, and in {int(named.sum())} of {len(data)} cases a "
            f"node is perturbed, by perturbed={label!r}; score it on the others, as data[data[{label!r}].isna()]"
        )


def _read(values: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Judge, Likelihoods]:
    """Return the judge and the likelihoods that a context gives graphs over some nodes."""
    missing = values.get("missing", "raise")
    check_choice(missing, ("raise", "drop"), "context 'missing'")
    judge = Judge(read_data(values["data"], names, drop_missing=missing == "drop"), values.get("test"))
    return judge, Likelihoods(judge.data, lambda: judge.gaussian, levels=judge.takes_levels)


def by_data(pairs: GraphPairs, value: Callable[[Part], Floats]) -> Floats:
    """Compute one number per pair, part by part."""
    scores = np.full(pairs.n, np.nan)
    for part in pairs.remember("judged by data", lambda: _parts(pairs)):
        scores[part.rows] = value(part)
    return scores


#: added to the count of every level where rows that were left out are predicted
SMOOTHING = 0.5


class Likelihoods:
    """Log-likelihoods of families in data, each computed once: multinomial with `levels`, else linear-Gaussian."""

    def __init__(self, data: DataSet, gaussian: Callable[[], PartialCorrelations], *, levels: bool) -> None:
        self.data, self._gaussian, self._of_levels = data, gaussian, levels
        self._counted = Kept(self._multinomial)
        self._left_out: dict[int, Kept] = {}

    @cached_property
    def _log_variances(self) -> Floats:
        """Logarithms of the columns' variances, divisor n."""
        return np.asarray(np.log(self.data.numbers.var(axis=0)))

    def of_families(self, nodes: Ints, given: Bools, folds: int | None = None) -> Floats:
        """Return log-likelihoods of nodes (m,) given parents (m, d), NaN for few rows; of `folds` by the others."""
        if folds is not None:
            if folds not in self._left_out:
                self._left_out[folds] = Kept(self._predicted(folds))
            return self._left_out[folds].find(nodes, nodes, given)
        if self._of_levels:
            return self._counted.find(nodes, nodes, given)
        n = self.data.n
        variances = self._log_variances[nodes] + self._gaussian().log_variances(nodes, given)
        densities = -n / 2 * (math.log(2 * math.pi) + variances + 1)
        return np.where(given.sum(axis=1) + 1 < n, densities, np.nan)

    def n_parameters(self, arcs: NDArray[np.bool_]) -> Floats:
        """Count the parameters of DAGs, (N, d, d): coefficients, intercept and variance a node, or free chances."""
        if not self._of_levels:
            return (arcs.sum(axis=1) + 2.0).sum(axis=1)
        _, sizes = self.data.coded
        rows = np.exp(np.log(sizes) @ arcs.astype(np.float64))
        return np.round(rows * (sizes - 1)).sum(axis=1)

    def _counts(self, node: int, parents: tuple[int, ...], rows: Bools | None = None) -> tuple[Ints, Floats]:
        """Return the stratum of each row by its parents' levels, and counts of the node's levels in the strata."""
        levels, sizes = self.data.coded
        number, n_strata = strata(levels, sizes, parents)
        check_cells(n_strata, int(sizes[node]))
        at = number * sizes[node] + levels[:, node]
        counts = np.bincount(at if rows is None else at[rows], minlength=n_strata * int(sizes[node]))
        return at, counts.reshape(n_strata, -1).astype(np.float64)

    def _multinomial(self, nodes: Ints, _: Ints, given: Bools) -> Floats:
        likelihoods = np.empty(len(nodes))
        for row, (node, parents) in enumerate(zip(nodes.tolist(), given, strict=True)):
            _, counts = self._counts(node, tuple(np.flatnonzero(parents).tolist()))
            total = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
            seen = counts > 0
            likelihoods[row] = (counts[seen] * np.log(counts[seen] / total[seen])).sum()
        return likelihoods

    def _predicted(self, folds: int) -> Callable[[Ints, Ints, Bools], Floats]:
        """Return the function that predicts rows left out."""
        # folds depend on the data alone, and are the same for all graphs
        digest = hashlib.blake2b(b"folds" + np.ascontiguousarray(self.data.values).tobytes(), digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "little"))
        fold = rng.permutation(np.arange(self.data.n, dtype=np.int64) % folds)
        if self._of_levels:
            return lambda nodes, _, given: np.array(
                [
                    self._predicted_levels(node, tuple(np.flatnonzero(parents).tolist()), fold)
                    for node, parents in zip(nodes.tolist(), given, strict=True)
                ]
            )
        moments = [_fold_moments(self.data.numbers, fold == k) for k in range(folds)]
        return lambda nodes, _, given: np.array(
            [
                sum(self._predicted_numbers(node, np.flatnonzero(parents), *part) for part in moments)
                for node, parents in zip(nodes.tolist(), given, strict=True)
            ]
        )

    def _predicted_levels(self, node: int, parents: tuple[int, ...], fold: Ints) -> float:
        total = 0.0
        for k in range(int(fold.max()) + 1):
            at, counts = self._counts(node, parents, fold != k)
            chances = (counts + SMOOTHING) / (counts.sum(axis=1, keepdims=True) + SMOOTHING * counts.shape[1])
            total += float(np.log(chances.reshape(-1)[at[fold == k]]).sum())
        return total

    def _predicted_numbers(
        self, node: int, parents: Ints, n_kept: int, n_rest: int, covariances: Floats, squares: Floats
    ) -> float:
        """Return the log-density of rows left out, by the regression of a node on its parents in the others."""
        if len(parents) + 1 >= n_kept:
            return math.nan
        family = [*parents.tolist(), node]
        scale = np.sqrt(np.diag(covariances)[family])
        scale[scale == 0] = 1.0
        correlations = covariances[np.ix_(family, family)] / np.outer(scale, scale)
        if np.linalg.eigvalsh(correlations)[0] < SINGULAR:
            raise DataError(
                f"the columns {[self.data.names[i] for i in family]} are constant or linearly dependent in the "
                f"{n_kept} rows that remain when a fold is left out; leave one out of the graph, or use other folds"
            )
        weights = np.zeros(len(covariances))
        weights[parents] = -np.linalg.solve(covariances[np.ix_(parents, parents)], covariances[parents, node])
        weights[node] = 1.0
        variance = float(weights @ covariances @ weights)
        return -(n_rest * math.log(2 * math.pi * variance) + float(weights @ squares @ weights) / variance) / 2


def _fold_moments(values: Floats, left_out: Bools) -> tuple[int, int, Floats, Floats]:
    """Return numbers of rows kept and left out, covariances of the former, squares of the latter about their mean."""
    kept, rest = values[~left_out], values[left_out]
    mean = kept.mean(axis=0)
    # of a constant column exactly 0
    deviations = np.where(np.ptp(kept, axis=0) > 0, kept - mean, 0.0)
    return len(kept), len(rest), deviations.T @ deviations / len(kept), (rest - mean).T @ (rest - mean)
