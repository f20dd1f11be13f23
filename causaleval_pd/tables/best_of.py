"""Selection over settings, done again in each draw: of the candidates on a truth the best counts, of controls too.

The best of ten guesses is better than one random guess. The controls of a group of candidates are therefore its
estimates under one random relabelling of the nodes, of which again the best counts. If estimates owe nothing to the
truth's labels, the group's value and those of its draws are exchangeable, however the candidates depend on each other.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_column_name, name_row, shown
from ..contract.metric import Metric
from ..contract.null import Null
from ..execution.random_streams import hash_rows, key_columns
from ..statistics.direction import merit
from .columns import labels_of
from .matching import Matches, control_kinds
from .row_summary import summarise
from .scoring import check_kinds, warn_of_rows
from .settings import Drawing, NullChoice
from .simulate import Chunk, control_chunks
from .tasks import Task

Floats = NDArray[np.float64]

#: bytes of draws of groups that are held at once
GROUP_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Candidates:
    """Rows of which the best counts."""

    #: tells the candidates of a group apart
    column: Hashable
    #: its value, one per row
    levels: pd.Series
    #: (n,): number of each row's group, by first appearance
    group: NDArray[np.int64]
    #: (n_groups,): the first row of each group
    first: NDArray[np.int64]
    #: columns of the table that name a group; none where the truth does
    named_by: list[pd.Series]

    @cached_property
    def ordered(self) -> tuple[NDArray[np.int64], list[Any]]:
        """Number of each row's level, by which equally good candidates are chosen, and the levels in this order."""
        codes, labels = pd.factorize(self.levels, use_na_sentinel=False)
        try:
            order = np.argsort(np.asarray(labels))
        except TypeError:
            # levels of several types
            order = np.argsort(np.asarray([str(x) for x in labels]))
        return np.argsort(order)[codes].astype(np.int64), [labels[i] for i in order]

    def index(self) -> pd.RangeIndex:
        """Return the index of a table of groups."""
        return pd.RangeIndex(len(self.first))

    def frame(self, truth: pd.Series) -> pd.DataFrame:
        """Return the groups as a table: the columns that name them and their truth, `n_candidates` of each."""
        columns = {x.name: x.iloc[self.first].array for x in [*self.named_by, truth]}
        return pd.DataFrame(columns | {"n_candidates": np.bincount(self.group)}, index=self.index())

    def chosen(self, metric: Metric, observed: Floats) -> NDArray[np.int64]:
        """Return the row of the best candidate of each group by a metric, -1 where none has a value."""
        merits = merit(observed, direction=metric.direction, optimum=metric.optimum)
        order = np.lexsort([self.ordered[0], -merits, self.group])
        best = order[np.unique(self.group[order], return_index=True)[1]]
        return np.where(np.isnan(merits[best]), -1, best).astype(np.int64)

    def levels_of(self, rows: NDArray[np.int64]) -> pd.Series:
        """Return the levels of rows, missing for -1."""
        return self.levels.iloc[rows].reset_index(drop=True).where(rows >= 0)

    def numbers_of(self, rows: NDArray[np.int64]) -> Floats:
        """Return the numbers of the levels of rows, NaN for -1."""
        return np.where(rows < 0, np.nan, self.ordered[0][rows])

    def describe(self) -> str:
        """Return the column and its levels, in the order of their numbers, as JSON."""
        levels = [x.item() if isinstance(x, np.generic) else x for x in self.ordered[1]]
        return json.dumps({"column": self.column, "levels": levels}, default=str)


def find_candidates(
    table: pd.DataFrame,
    best_of: Hashable,
    key: Hashable | Sequence[Hashable] | None,
    task: Task,
    by: Sequence[pd.Series] = (),
) -> Candidates:
    """Group the rows of a table that differ by the column `best_of` alone.

    Groups are named by the columns of `key`, or the levels of an index that has the column, besides the column itself,
    else by the truth; and by the columns `by`.
    """
    check_column_name(best_of, "best_of")
    levels = labels_of(table, best_of, "best_of").reset_index(drop=True)
    identity = task.identity() if task.truth is not None else None
    if identity is None:
        raise ValueError("best_of= compares candidates on one truth, and truth=None names no truth")
    names = [] if key is None and best_of not in table.index.names else key_columns(table, key)
    names = [x.reset_index(drop=True) for x in names if x.name != best_of]
    parts: list[pd.Series] = [*names, *(x.reset_index(drop=True) for x in by)]
    parts = parts if names else [*parts, pd.Series(identity)]
    frame = pd.DataFrame(dict(enumerate(x.array for x in parts)), index=pd.RangeIndex(len(table)))
    group = frame.groupby(list(frame.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy(np.int64)
    first: NDArray[np.int64] = np.unique(group, return_index=True)[1].astype(np.int64)
    other = np.flatnonzero(identity != identity[first][group])
    if len(other):
        rows = [int(first[group[other[0]]]), int(other[0])]
        raise ValueError(
            f"{' and '.join(name_row(row, table.index) for row in rows)} are candidates of one group but have "
            "different truths; name the columns that tell groups apart by key="
        )
    twice = pd.DataFrame({"group": group, "level": levels.array}).duplicated().to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise ValueError(
            f"{name_row(row, table.index)}: its group has the level {shown(levels.iloc[row])} of {best_of!r} (best_of) "
            "twice; name the columns that tell groups apart by key=, as in key=['algorithm', 'data_set']"
        )
    return Candidates(best_of, levels, group.astype(np.int64), first.astype(np.int64), names)


def match_candidates(table: pd.DataFrame, choice: NullChoice, task: Task) -> Matches:
    """Give the rows of a truth one random stream, so that they are relabelled alike."""
    identity = pd.Series(task.identity())
    return Matches(choice.seed, hash_rows([identity], choice.seed), control_kinds(table, choice.control_kind))


def check_drawing(how: Drawing) -> None:
    """Refuse what does not go with drawing the controls of candidates together."""
    if not how.draws:
        raise ValueError(f"best_of= draws the controls of all candidates together and takes no method={how.method!r}")


def best_chunks(
    candidates: Candidates,
    task: Task,
    model: Null,
    matches: Matches,
    how: Drawing,
    index: pd.Index,
    values: dict[str, Floats],
) -> Iterator[Chunk]:
    """Score groups of candidates and their controls, as `control_chunks` does rows: the rows of chunks are groups.

    Groups without a candidate that has a truth and an estimate are left out. The values of the candidates, (n,) by
    metric, are written into `values`.
    """
    batches = list(task.batches())
    check_kinds(task.metrics, batches, how.invalid, index)
    warn_of_rows(task.metrics, batches, index)
    n_groups = len(candidates.first)
    scored = np.bincount(candidates.group, ~task.failed(), n_groups) > 0
    order = np.flatnonzero(scored)
    n_bytes = 8 * how.n_draws * max(1, len(task.metrics)) * len(order)
    for groups in np.array_split(order, min(len(order), -(-n_bytes // GROUP_BYTES))) if len(order) else ():
        place = np.full(n_groups, -1)
        place[groups] = np.arange(len(groups))
        rows = np.flatnonzero(place[candidates.group] >= 0)
        every = {m.name: np.full((len(groups), how.n_draws), np.nan) for m in task.metrics}
        kind = np.full(len(groups), None, object)
        for chunk in _scored(task, model, matches, how, index, rows):
            here = place[candidates.group[chunk.rows]]
            kind[here[::-1]] = chunk.kind[::-1]
            for m in task.metrics:
                values[m.name][chunk.rows] = chunk.summaries[m.name].observed
                _keep_best(m, every[m.name], here, chunk.draws[m.name])
        summaries = {}
        for m in task.metrics:
            observed = np.full((len(groups), 1), np.nan)
            _keep_best(m, observed, place[candidates.group[rows]], values[m.name][rows, None])
            summaries[m.name] = summarise(m, observed[:, 0], None, every[m.name], how)
        kept = {name: draws[:, : how.keep] for name, draws in every.items()} if how.keep else {}
        yield Chunk(groups, kind, summaries, kept)


def _scored(
    task: Task,
    model: Null,
    matches: Matches,
    how: Drawing,
    index: pd.Index,
    rows: NDArray[np.int64],
) -> Iterator[Chunk]:
    """Score some rows and all draws of their controls; rows of a truth are drawn together."""
    context = None if task.context is None else task.context.take(rows)
    part = task._replace(truth=task.truth.iloc[rows], estimate=task.estimate.iloc[rows], context=context)
    kinds = None if matches.kinds is None else matches.kinds[rows]
    mine = replace(matches, keys=matches.keys[rows], kinds=kinds)
    drawing = replace(how, method="simulate", keep=how.n_draws)
    for chunk in control_chunks(
        part, mine.matcher(model, part, None, part.identity()), mine.keys, drawing, index[rows]
    ):
        yield chunk._replace(rows=rows[chunk.rows])


def _keep_best(metric: Metric, best: Floats, group: NDArray[np.int64], values: Floats) -> None:
    """Replace the values of groups, (n_groups, r), by those of candidates, (n, r), that are better."""
    turn = pd.Series(group).groupby(group).cumcount().to_numpy()
    for number in range(int(turn.max(initial=-1)) + 1):
        rows = np.flatnonzero(turn == number)
        old, new = best[group[rows]], values[rows]
        before, after = (merit(x, direction=metric.direction, optimum=metric.optimum) for x in (old, new))
        # of values equally far from the optimum the smaller, so that the order of rows does not matter
        nearer = (after > before) | ((after == before) & (new < old)) | np.isnan(old)
        best[group[rows]] = np.where(nearer, new, old)
