"""Scores of the runs of a cube and of their controls under each null model, gathered by row, cell and stratum."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import shown
from ..contract.metric import Metric
from ..contract.null import Null
from ..tables.best_of import best_chunks
from ..tables.matching import composites, find_models
from ..tables.row_summary import METHODS, NONE, method_words
from ..tables.scoring import score_rows
from ..tables.settings import Drawing, Execution, NullChoice
from ..tables.simulate import Chunk, control_chunks
from ..tables.stratum_draws import StratumDraws, pad_tables
from ..tables.tasks import Task
from .composite_nulls import composite_attrs
from .runs import Runs
from .schema import ROW_VARIABLES
from .strata import Grid
from .stratum_tests import MOST_RUNS
from .tails.combined_strata import combinable, combine_draws
from .tails.exact_strata import RowLaws, exact_strata, without_tails

Floats = NDArray[np.float64]

#: raw draws are kept by default up to this many bytes
DRAWS_BYTES = 256 * 2**20


@dataclass
class MetricScores:
    """Scores of one metric, and of its controls under each null model.

    Attributes
    ----------
    metric : Metric
        The metric.
    observed : (n,) float
        Score of each row.
    nulls : list of ControlScores
        Scores of the controls, by null model; empty without controls.
    chosen : (n,) float or None
        Number of the level whose candidate counts, where candidates were compared.
    relabelled : dict
        Scores of the estimates relabelled by cluster, where a stratum repeats one and draws are kept: arrays over
        cells, by name in `schema.DRAW_VARIABLES`.
    """

    metric: Metric
    observed: Floats
    nulls: list[ControlScores] = field(default_factory=list)
    chosen: Floats | None = None
    relabelled: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass
class ControlScores:
    """Scores of the controls of one metric under one null model.

    Attributes
    ----------
    null : str
        Name of the null model.
    rows : dict
        Row summaries, (n,) float each, by name in `schema.ROW_VARIABLES`.
    methods : dict
        How row summaries were computed, in words.
    draws : dict
        Arrays over cells or strata, by name in `schema.DRAW_VARIABLES`.
    tails : dict
        P-values of strata that do not rest on draws, by name in `schema.TAIL_VARIABLES`; empty in a cube without any.
    """

    null: str
    rows: dict[str, Floats]
    methods: dict[str, str]
    draws: dict[str, NDArray[Any]]
    tails: dict[str, NDArray[Any]]


def score_runs(
    runs: Runs, grid: Grid, drawing: Drawing, choice: NullChoice | None, execution: Execution, keep: bool | str
) -> tuple[list[MetricScores], dict[str, Any]]:
    """Score runs and their controls.

    Parameters
    ----------
    runs : Runs
        The rows.
    grid : Grid
        Their places in the cube.
    drawing, choice, execution
        Settings; without `choice` no controls are made.
    keep : {"auto"} or bool
        Keep every draw, rather than sums and value tables by stratum; "auto" keeps them up to 256 MiB.

    Returns
    -------
    scores : list of MetricScores
        In the order of the metrics.
    attrs : dict
        Attributes of the cube about its controls.
    """
    if not isinstance(keep, (bool, np.bool_)) and not (isinstance(keep, str) and keep == "auto"):
        raise ValueError(f"keep_draws must be 'auto', True or False, found {shown(keep)}")
    if choice is None or runs.matches is None:
        scored = [(task, score_rows(task, drawing.invalid, runs.index, execution)) for task in runs.tasks]
        return [MetricScores(m, found[m.name]) for task, found in scored for m in task.metrics], {}
    models = find_models(runs.tasks, choice, runs.given)
    repeated = runs.clusters.repeats(grid.stratum, ~runs.failed)
    joint, tails = _joint_models(runs, choice, models, repeated), drawing.tails
    if runs.candidates is not None:
        # candidates are relabelled by truth anyway, and the best of them has no exact law
        joint, drawing = [None] * len(joint), replace(drawing, tails="combinations" if tails else None)
    n_bytes = drawing.n_draws * 8 * len(runs.metrics)
    n_layers = len(models) + any(joint)
    kept = keep is True or (keep == "auto" and n_layers * grid.n_cells * n_bytes <= DRAWS_BYTES)
    # the same p-values, whether the cube keeps its draws or not, and whether all rows are here or a partition of them
    few = len(models) * runs.n_rows * n_bytes <= DRAWS_BYTES
    independent = bool(tails) and not choice.share_draws and runs.given is None
    combined = combinable(_small(runs, grid) & (independent and few and not kept), runs.clusters.ids, grid)
    strata = None if kept else grid.stratum
    relabelled = [
        None
        if model is None
        else _relabelled(runs, task, model, grid, drawing, execution, repeated, keep=kept, hold=combined)
        for task, model in zip(runs.tasks, joint, strict=True)
    ]
    scores: dict[str, MetricScores] = {}
    kinds = []
    for by_task in models:
        found: set[str] = set()
        for task, model, jointly in zip(runs.tasks, by_task, relabelled, strict=True):
            joint_draws = jointly if model.by_cluster(task.field.joint_null) else None
            ids, counted, hold = runs.clusters.ids, None if joint_draws is None else ~repeated, bool(combined.any())
            values = {m.name: np.full(len(runs.index), np.nan) for m in task.metrics}
            gathered = _Gathered(task, model, grid, drawing, keep=kept, hold=combined)
            if runs.candidates is None:
                match = runs.matches.matcher(model, task, grid.stratum)
                chunks = control_chunks(
                    *(task, match, runs.matches.keys_of(model), drawing, runs.index, execution, strata, ids, counted),
                    hold=hold,
                )
            else:
                how = (drawing, runs.index, execution)
                chunks = best_chunks(runs.candidates, task, model, runs.matches, *how, values, strata, ids, hold=hold)
                joint_draws = gathered if model.by_cluster(task.field.joint_null) else None
            for chunk in chunks:
                gathered.add(chunk)
                found |= set(chunk.kind.tolist())
            for m in task.metrics:
                observed = gathered.rows[m.name]["observed"]
                mine = scores.setdefault(m.name, MetricScores(m, observed))
                made = gathered.scores(m.name, joint_draws)
                if m.name in gathered.laws and not choice.share_draws and not model.reference:
                    made.tails = gathered.tails(m, observed, runs, repeated, joint_draws, choice.seed)
                mine.nulls.append(made)
                if jointly is not None and kept:
                    mine.relabelled = _as_relabelled(jointly, m.name)
                if runs.candidates is not None:
                    mine.chosen = runs.candidates.numbers_of(runs.candidates.chosen(m, values[m.name]))
                    mine.relabelled = _as_relabelled(gathered, m.name) if kept and repeated.any() else {}
        kinds.append(", ".join(sorted(found)))
    _settle_tails([null for found in scores.values() for null in found.nulls], grid.n_strata, runs, drawing)
    return list(scores.values()), {
        "control_relabelled": json.dumps(
            sorted(
                {
                    x.name
                    for by_task in models
                    for task, x in zip(runs.tasks, by_task, strict=True)
                    if x.by_cluster(task.field.joint_null)
                }
            )
        ),
        "control_combined": json.dumps(
            sorted({x.name for by_task in models for x in by_task if independent and _independent(x)})
        ),
        "control_kind": "; ".join(dict.fromkeys(kinds)),
        **composite_attrs(composites(choice.null) if runs.given is None else {}),
        **({} if runs.candidates is None else {"best_of": runs.candidates.describe()}),
        "control_reference": json.dumps(sorted({x.name for by_task in models for x in by_task if x.reference})),
        "control_seed": choice.seed,
        "draws_kept": int(kept),
        "draws_shared": int(choice.share_draws),
        "control_level": drawing.level,
    }


def _settle_tails(nulls: Sequence[ControlScores], n_strata: int, runs: Runs, drawing: Drawing) -> None:
    """Give all metrics and null models the tails that some have, or none where no stratum has one.

    Those of a partition are the same whatever its rows, so that partitions fit together.
    """
    part_of_table = runs.clusters.whole is not None and bool(drawing.tails)
    found = any(x.tails[part].any() for x in nulls for part in x.tails if part.endswith("_method"))
    nothing = without_tails(n_strata) if found or part_of_table else {}
    if not part_of_table and not any(x.tails["rank_p_method"].any() for x in nulls if x.tails):
        nothing = {part: values for part, values in nothing.items() if not part.startswith("rank")}
    for x in nulls:
        x.tails = {part: x.tails.get(part, values) for part, values in nothing.items()}


def _joint_models(
    runs: Runs, choice: NullChoice, models: Sequence[Sequence[Null]], repeated: NDArray[np.bool_]
) -> list[Null | None]:
    """Return, for each task, the model that draws controls jointly by cluster, or None where no stratum needs it."""
    needed = (repeated.any() or runs.clusters.anywhere) and not choice.share_draws
    found = ([by_task[i].by_cluster(task.field.joint_null) for by_task in models] for i, task in enumerate(runs.tasks))
    return [next((model for model in some if model and needed), None) for some in found]


def _relabelled(
    runs: Runs,
    task: Task,
    model: Null,
    grid: Grid,
    drawing: Drawing,
    execution: Execution,
    repeated: NDArray[np.bool_],
    *,
    keep: bool,
    hold: NDArray[np.bool_],
) -> _Gathered:
    """Relabel the estimates of strata that repeat a cluster, those of a cluster alike."""
    if runs.matches is None:
        raise ValueError("a cube without controls has no clusters")
    ids, strata = runs.clusters.ids, None if keep else grid.stratum
    match = runs.matches.matcher(model, task, grid.stratum, ids)
    alone = replace(drawing, method="simulate", summarise=False, tails=None)
    keys = runs.clusters.keys(runs.matches.seed)
    gathered = _Gathered(task, model, grid, alone, keep=keep, hold=hold, undrawn=-1)
    how = (alone, runs.index, execution, strata, ids, repeated)
    for chunk in control_chunks(task, match, keys, *how, hold=bool(hold.any())):
        gathered.add(chunk)
    return gathered


def _as_relabelled(found: _Gathered, metric: str) -> dict[str, NDArray[Any]]:
    """Return a metric's draws as those of estimates that were relabelled by cluster."""
    return {"relabelled": found.draws[metric], "relabelled_defined": found.defined[metric]}


def _independent(model: Null) -> bool:
    """Return whether the draws of clusters are independent: they depend on no other run of the stratum."""
    return not (model.by_stratum or model.estimated)


def _small(runs: Runs, grid: Grid) -> NDArray[np.bool_]:
    """Return which runs that have not failed are in strata whose p-values may rest on more than draws."""
    return ~runs.failed & runs.whole & (np.bincount(grid.stratum)[grid.stratum] <= MOST_RUNS)


class _Gathered:
    """Chunks of one task under one null model, gathered: row summaries, and raw draws or sums by stratum.

    Raw draws are there to `keep` in the cube, by cell, or until the tests of strata have combined those of the rows
    to `hold`.
    """

    def __init__(
        self,
        task: Task,
        model: Null,
        grid: Grid,
        drawing: Drawing,
        *,
        keep: bool,
        hold: NDArray[np.bool_],
        undrawn: int = 0,
    ) -> None:
        self.keep, self.hold = keep, hold
        self.task, self.model, self.grid = task, model, grid
        self.n_draws = drawing.n_draws
        self.convolve = drawing.tails == "exact"
        names, parts, n = [m.name for m in task.metrics], ("observed", *ROW_VARIABLES), len(grid.stratum)
        self.rows = {name: {part: np.full(n, np.nan) for part in parts} for name in names}
        self.methods: dict[str, dict[str, set[int]]] = {name: {"mean": set(), "p": set()} for name in names}
        self.strata: dict[str, dict[int, StratumDraws]] = {name: {} for name in names}
        self.laws = {name: RowLaws(n) for name in names} if drawing.tails else {}
        # draws are the bulk of a cube, so they are written to their cells at once
        # places of the rows in them, -1 of those that have none
        self.place, n_places = grid.cell, grid.n_cells
        if not keep:
            self.place, n_places = np.where(hold, np.cumsum(hold) - 1, -1), int(hold.sum())
        kept = names if keep or n_places else []
        self.draws = {name: np.full((n_places, self.n_draws), np.nan) for name in kept}
        self.defined = {name: np.full(n_places, undrawn, np.int64) for name in self.draws}

    def add(self, chunk: Chunk) -> None:
        """Add the rows of a chunk, without p-values or skill where the null model gives rows none of their own."""
        row_p = not (self.model.by_stratum or self.model.reference)
        lacking = {"p": not row_p, "p_se": not row_p, "loss": self.model.worse}
        for name, summary in chunk.summaries.items():
            for part, values in self.rows[name].items():
                values[chunk.rows] = np.nan if lacking.get(part) else getattr(summary, part)
            self.methods[name]["mean"] |= set(summary.mean_method.tolist())
            self.methods[name]["p"] |= set(summary.p_method.tolist()) if row_p else set()
            for rows, distribution in chunk.laws.get(name, []):
                self.laws[name].add(rows, distribution)
        for name, draws in chunk.draws.items():
            place = self.place[chunk.rows]
            self.draws[name][place[place >= 0]] = draws[place >= 0]
            self.defined[name][place[place >= 0]] = (~np.isnan(draws[place >= 0])).sum(axis=1)
        for name, by_stratum in chunk.strata.items():
            strata = self.strata[name]
            for number, found in by_stratum.items():
                strata[number] = strata[number].merge(found) if number in strata else found

    def scores(self, metric: str, relabelled: _Gathered | None) -> ControlScores:
        """Return what was gathered of a metric; the tests of some strata rest on `relabelled` estimates."""
        codes = {part: sorted(found - {NONE}) for part, found in self.methods[metric].items()}
        of_metric = next(m for m in self.task.metrics if m.name == metric)
        named = {"mean": METHODS, "p": method_words(self.model.p_given, metric=of_metric)}
        words = {part: ", ".join(named[part][code] for code in found) or "none" for part, found in codes.items()}
        if self.keep:
            draws = {"control": self.draws[metric], "control_defined": self.defined[metric]}
        else:
            draws = self._sums(self.strata[metric])
            draws |= self._test_sums(self.strata[metric] | ({} if relabelled is None else relabelled.strata[metric]))
        return ControlScores(self.model.name, self.rows[metric], words, draws, {})

    def tails(
        self,
        metric: Metric,
        observed: Floats,
        runs: Runs,
        repeated: NDArray[np.bool_],
        relabelled: _Gathered | None,
        seed: int,
    ) -> dict[str, NDArray[Any]]:
        """Return p-values of strata that rest on exact laws or on combinations of draws."""
        name, grid = metric.name, self.grid
        found = without_tails(grid.n_strata)
        if self.convolve:
            found = exact_strata(metric, observed, self.laws[name], _small(runs, grid) & ~repeated, grid)
        if self.hold.any() and _independent(self.model):
            where = (runs.clusters.ids, grid, self.place, seed)
            combine_draws(found, metric, observed, self.draws[name], self.hold & ~repeated, *where)
            if relabelled is not None:
                combine_draws(found, metric, observed, relabelled.draws[name], self.hold & repeated, *where)
        return found

    def _sums(self, strata: dict[int, StratumDraws]) -> dict[str, NDArray[Any]]:
        """Return sums and value tables of all strata, also of those without runs."""
        shape = (self.grid.n_strata, self.n_draws)
        sums, counts = np.zeros(shape), np.zeros(shape, np.int64)
        for number, found in strata.items():
            sums[number] += found.sums
            counts[number] += found.counts
        empty = pd.Series(dtype=np.float64)
        values, weights = pad_tables([strata[i].values if i in strata else empty for i in range(shape[0])])
        return {"control_sum": sums, "control_count": counts, "control_value": values, "control_weight": weights}

    def _test_sums(self, strata: dict[int, StratumDraws]) -> dict[str, NDArray[Any]]:
        """Return what the tests of strata rest on; 0 where they have none."""
        n = self.grid.n_strata
        sums, counts = np.zeros((n, self.n_draws)), np.zeros((n, self.n_draws), np.int64)
        columns, numbers = np.zeros((2, n, self.n_draws + 1)), np.zeros((3, n), np.int64)
        for number, found in strata.items():
            if found.clusters is not None:
                sums[number], counts[number] = found.sums, found.counts
                columns[0, number], columns[1, number] = found.clusters.mean, found.clusters.rank
                numbers[:, number] = found.clusters.n
        return {
            "tested_sum": sums,
            "tested_count": counts,
            "tested_mean": columns[0, :, 1:],
            "tested_rank": columns[1, :, 1:],
            "mean": columns[0, :, 0],
            "rank": columns[1, :, 0],
            **dict(zip(("runs_tested", "no_information", "outside_draws"), numbers, strict=True)),
        }
