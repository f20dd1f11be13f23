"""Placebos: tables whose estimates are relabelled, so that they owe nothing to the labels of the truths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_type, name_row, warn
from ..contract.null import Controls, Matcher, Matching
from ..execution.random_streams import RNGLike, hash_rows, resolve_seed, uniforms
from .clusters import BY_TRUTH, read_clusters
from .columns import column, labels_of, with_cells
from .history import call, calls, remember
from .settings import Cells
from .tasks import Metrics, Task, cells_field, read_tasks, select

Joint = Literal["truth", "all"]

#: keeps relabellings apart from the draws of a test that has the same seed
_STREAM = 0x91ACEB0
#: share of the truths' relations above which they follow the order of the labels, and number from which on it counts
MOST_FORWARD, FEWEST_RELATIONS = 0.9, 10


def placebo(
    table: pd.DataFrame,
    *,
    rng: RNGLike = None,
    cluster: Hashable = BY_TRUTH,
    joint: Joint = "truth",
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Relabel the estimates of a table at random, so that they agree with the truths by chance only.

    The nodes of all estimates of a cluster are renamed by one random permutation. Numbers of edges, classes, and how
    algorithms, bootstraps and repeats resemble each other survive; agreement with the truth does not. An analysis of
    the result shows what it makes of estimates that know nothing of the truth. Over many seeds, the share of results
    below .05 is the size of its tests, whatever the dependence of the runs.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    rng : int, Generator or None
        Seed; relabellings depend on it and on the clusters only, not on other rows or their order. Where estimates are
        exchanged, they depend on what the rows of the cluster hold, not on their order.
    cluster : hashable
        "truth", or the name of a column whose clusters hold whole truths, such as a data set. For cells without labels,
        such as answers, a column is needed, and the estimates of a cluster are exchanged among its rows.
    joint : {"truth", "all"}
        Whether each cluster has a permutation of its own, or all rows have one. "all" needs truths over the same nodes;
        use it where guesses may be shared between truths, as by an algorithm that always follows the order of columns.
    truth, estimate, field, context
        As in `evaluate`.

    Returns
    -------
    DataFrame
        A new table with other estimates, in canonical form; the truths and all other columns stay.

    Raises
    ------
    ValueError
        If cells cannot be read or aligned, or truths that are to be relabelled jointly have different nodes.

    Warns
    -----
    UserWarning
        If more than 90 % of the truths' edges, of at least ten, point from earlier to later columns. Guesses that
        follow the order of columns are then right without data: relabelling takes this away from a placebo, but not
        from the estimates.

    Notes
    -----
    Networks are relabelled as by their null model "permutation", with parameters that fit the truth; formulas as by
    "relabel", which exchanges exogenous factors and their values.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 100 and algorithm == 'pc'")
    >>> guesses = runs.ceval.placebo(rng=7)
    >>> [float(x.ceval.evaluate(["shd"])["shd"].mean().round(1)) for x in (runs, guesses)]
    [6.4, 13.8]
    >>> bool((guesses["estimate"].graph.n_edges == runs["estimate"].graph.n_edges).all())
    True
    """
    check_type(table, pd.DataFrame, "a table of runs", "table")
    seed = resolve_seed(rng)
    made = Placebos.of(table, Cells(truth, estimate, field, context), cluster=cluster, joint=joint, seed=seed)
    made.warn_of_order()
    settings = {"seed": seed, "cluster": str(cluster), "joint": joint, "truth": truth, "estimate": estimate}
    return remember(made.table(0), [*calls(table.attrs), call("placebo", settings)], table.attrs)


@dataclass(frozen=True, eq=False)
class Placebos:
    """A table and the random streams by which its estimates are relabelled again and again."""

    runs: pd.DataFrame
    estimate: Hashable
    task: Task
    #: (n,): number of each row's cluster, 0 without a truth, and the names of the random streams of clusters and rows
    clusters: NDArray[np.int64]
    keys: NDArray[np.uint64]
    row_keys: NDArray[np.uint64]
    #: makes the controls that are placebos, where estimates are not relabelled but moved within strata
    moving: Matcher | None = None

    @classmethod
    def of(
        cls,
        runs: pd.DataFrame,
        cells: Cells,
        *,
        cluster: Hashable,
        joint: Joint,
        seed: int,
        metrics: Metrics = (),
        row_keys: NDArray[np.uint64] | None = None,
        strata: Callable[[Task], NDArray[np.int64]] | None = None,
    ) -> Placebos:
        """Read the cells of a table of runs, and name the streams of its clusters; see `placebo`.

        `metrics` settle the field of cells that may be of several; `row_keys` name streams, by default the contents of
        rows do. Placebos of cells without labels, but with clusters whose estimates move together, move these within
        the `strata`, as controls do.
        """
        check_choice(joint, ("truth", "all"), "joint")
        columns = {role: column(runs, name, role) for role, name in cells.names.items()}
        cell_field = cells_field(columns, None if metrics is None else select(metrics), cells.field)
        [task], _ = read_tasks(runs, (), replace(cells, field=cell_field.name))
        if task.truth is None:
            raise ValueError("a placebo relabels estimates against their truths, and truth=None names none")
        if cluster is None:
            raise ValueError("cluster names no cluster; a placebo needs 'truth', or the column of coarser clusters")
        seed ^= _STREAM
        together = None if strata is None else cell_field.nulls.find(cell_field.default_null).together
        if strata is not None and together is not None:
            # rows that count as independent may depend on each other by the field's usual clusters
            usual = task.field.unit if cluster == BY_TRUTH and task.field.unit in runs.columns else cluster
            clusters = read_clusters(runs, usual, task, task.field.identify(task.truth)).ids
            if row_keys is None:
                row_keys = hash_rows([pd.Series(np.arange(len(runs)))], seed)
            keys = row_keys ^ np.uint64(_STREAM)
            placed = Matching(task.truth, task.estimate, None, strata(task), together.options)
            matching = replace(placed, context=task.context, cluster=clusters, keys=keys)
            return cls(runs, cells.estimate, task, clusters, keys, keys, together.match(matching))
        if task.field.relabelling is None:
            if cluster == BY_TRUTH:
                raise ValueError(
                    f"cells of field {task.field.name!r} have no labels; name the column within whose values estimates "
                    "are exchanged by cluster="
                )
            clusters = pd.factorize(labels_of(runs, cluster, "cluster"))[0].astype(np.int64) + 1
        else:
            clusters = read_clusters(runs, cluster, task, task.field.of_truth.identify(task.truth)).ids
        if joint == "all":
            _check_labels(task, runs.index)
            clusters = np.where(clusters == 0, 0, 1)
        if row_keys is None:
            places = pd.Series(np.arange(len(runs)))
            row_keys = content_keys(runs, seed) if task.field.relabelling is None else hash_rows([places], seed)
        return cls(
            runs, cells.estimate, task, clusters, hash_rows([pd.Series(clusters)], seed), row_keys ^ np.uint64(_STREAM)
        )

    def warn_of_order(self) -> None:
        """Warn where the truths follow the order of their labels."""
        relabelling = self.task.field.relabelling
        if relabelling is None or relabelling.forward is None:
            return
        forward, total = relabelling.forward(self.task.truth)
        if total >= FEWEST_RELATIONS and forward / total > MOST_FORWARD:
            warn(
                f"{forward / total:.0%} of the truths' edges point from earlier to later columns, so an algorithm that "
                "follows the order of columns is right without data, which relabelling by truth does not show; shuffle "
                "columns before a study, or relabel all truths alike by joint='all'",
            )

    def table(self, number: int) -> pd.DataFrame:
        """Return placebo `number`."""
        return with_cells(self.runs, {self.estimate: self._estimates(number)})

    def _estimates(self, number: int) -> pd.Series:
        estimates = self.task.estimate
        relabelling = self.task.field.relabelling
        if self.moving is not None:
            return self._moved(self.moving, number)
        if relabelling is None:
            return self._exchanged(number)
        relabelled = estimates.copy()
        for rows, controls in self._controls:
            cells = relabelling.cells(controls.draw(number, 1), self.task.truth.iloc[rows])
            relabelled.iloc[rows] = cells.array
        return relabelled

    @cached_property
    def _controls(self) -> list[tuple[NDArray[np.int64], Controls]]:
        """The rows of each batch, with their relabelled estimates."""
        task = self.task
        model = task.field.joint_null
        matching = Matching(
            task.truth, task.estimate, None, None, model.options, context=task.context, cluster=self.clusters
        )
        match = model.match(matching)
        return [(batch.rows, match(batch.rows, batch.pairs, self.keys[batch.rows])) for batch in task.batches()]

    def _moved(self, moving: Matcher, number: int) -> pd.Series:
        """Return the estimates of other clusters."""
        estimates = self.task.estimate.copy()
        for batch in self.task.batches():
            drawn: Any = moving(batch.rows, batch.pairs, self.row_keys[batch.rows]).draw(number, 1)
            estimates.iloc[batch.rows] = drawn.estimate
        return estimates

    def _exchanged(self, number: int) -> pd.Series:
        """Return the estimates, those of a cluster in random order."""
        rows = np.flatnonzero(~self.task.failed())
        order = uniforms(self.row_keys[rows], number, 1)[:, 0]
        # in the order of the streams' names, so that the order of the table does not matter
        sources, taken = (rows[np.lexsort([by, self.clusters[rows]])] for by in (order, self.row_keys[rows]))
        estimates = self.task.estimate.copy()
        estimates.iloc[taken] = self.task.estimate.iloc[sources].array
        return estimates


def content_keys(table: pd.DataFrame, seed: int) -> NDArray[np.uint64]:
    """Return a name for the stream of each row, by what the row holds; equal rows are numbered."""
    columns = [table.iloc[:, i].reset_index(drop=True) for i in range(table.shape[1])]
    hashes = hash_rows(columns, seed) if columns else np.zeros(len(table), np.uint64)
    number = pd.Series(hashes).groupby(hashes).cumcount()
    return hash_rows([pd.Series(hashes.view(np.int64)), number], seed)


def _check_labels(task: Task, index: pd.Index) -> None:
    """Refuse truths with different labels, which no permutation relabels alike."""
    field = task.field.of_truth
    if field.labels is None:
        return
    if task.context is not None and field.labels_in_context is not None:
        label_sets = field.labels_in_context(task.truth, task.context)
    else:
        # with a context the labels are those that a run sees, without latent nodes
        label_sets = field.labels(task.truth if task.context is None or field is not task.field else task.estimate)
    known = np.flatnonzero(label_sets != 0)
    other = known[label_sets[known] != label_sets[known[:1]]]
    if len(other):
        raise ValueError(
            f"joint='all' relabels all truths alike, but those of {name_row(int(known[0]), index)} and "
            f"{name_row(int(other[0]), index)} have different labels; use joint='truth', or one table for each set of "
            "labels"
        )
