"""Scores of the runs of a cube and of their controls under each null model, gathered by row and cell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..contract.null import Null
from ..tables.best_of import best_chunks
from ..tables.matching import find_models
from ..tables.row_summary import METHODS, NONE, method_words
from ..tables.scoring import score_rows
from ..tables.settings import Drawing, NullChoice
from ..tables.simulate import Chunk, control_chunks
from ..tables.tasks import Task
from .runs import Runs
from .schema import ROW_VARIABLES
from .strata import Grid

Floats = NDArray[np.float64]

#: a cube keeps the draws of its runs up to this many bytes, and in any case this many
DRAWS_BYTES, LEAST_DRAWS = 256 * 2**20, 99
#: bytes that the draws of a cube of mostly empty cells may take
SPARSE_BYTES = 2**32


@dataclass
class MetricScores:
    """Scores of one metric, and of its controls under each null model."""

    metric: Metric
    #: (n,): score of each row
    observed: Floats
    #: scores of the controls, by null model; empty without controls
    nulls: list[ControlScores] = field(default_factory=list)
    #: (n,): number of the level whose candidate counts, where candidates were compared
    chosen: Floats | None = None
    #: (n_cells, R): scores of the estimates relabelled by cluster, where a stratum repeats one
    relabelled: Floats | None = None


@dataclass
class ControlScores:
    """Scores of the controls of one metric under one null model."""

    #: name of the null model
    null: str
    #: row summaries, (n,) each, by name in `schema.ROW_VARIABLES`
    rows: dict[str, Floats]
    #: how row summaries were computed, in words
    methods: dict[str, str]
    #: (n_cells, R): scores of the controls
    draws: Floats


def score_runs(
    runs: Runs, grid: Grid, drawing: Drawing, choice: NullChoice | None
) -> tuple[list[MetricScores], dict[str, Any]]:
    """Score runs and their controls."""
    if choice is None or runs.matches is None:
        scored = [(task, score_rows(task, drawing.invalid, runs.index)) for task in runs.tasks]
        return [MetricScores(m, classes[m.name]) for task, classes in scored for m in task.metrics], {"n_draws": 0}
    models = find_models(runs.tasks, choice)
    repeated = runs.clusters.repeats(grid.stratum, ~runs.failed)
    joint = _joint_models(runs, choice, models, repeated)
    # a partition of a table keeps as many draws as the whole table
    n_bytes = 8 * runs.n_rows * len(runs.metrics) * (len(models) + any(joint))
    drawing = replace(drawing, keep=min(drawing.n_draws, max(LEAST_DRAWS, DRAWS_BYTES // max(1, n_bytes))))
    _check_size(grid, len(runs.index), drawing.keep * len(runs.metrics) * (len(models) + any(joint)))
    scores: dict[str, MetricScores] = {}
    kinds = []
    for by_task in models:
        classes: set[str] = set()
        for task, model in zip(runs.tasks, by_task, strict=True):
            values = {m.name: np.full(len(runs.index), np.nan) for m in task.metrics}
            gathered = _Gathered(task, model, grid, drawing.keep)
            if runs.candidates is None:
                match, keys = runs.matches.matcher(model, task, grid.stratum), runs.matches.keys_of(model)
                chunks = control_chunks(task, match, keys, drawing, runs.index, observed=_observed(scores, task))
            else:
                how = (drawing, runs.index)
                chunks = best_chunks(runs.candidates, task, model, runs.matches, *how, values)
            for chunk in chunks:
                gathered.add(chunk)
                classes |= set(chunk.kind.tolist())
            for m in task.metrics:
                mine = scores.setdefault(m.name, MetricScores(m, gathered.rows[m.name]["observed"]))
                mine.nulls.append(gathered.scores(m))
                if runs.candidates is not None:
                    mine.chosen = runs.candidates.numbers_of(runs.candidates.chosen(m, values[m.name]))
                    mine.relabelled = gathered.draws[m.name] if repeated.any() else None
        kinds.append(", ".join(sorted(classes)))
    for task, relabelling in zip(runs.tasks, joint, strict=True):
        if relabelling is not None and runs.candidates is None:
            draws = _relabelled(runs, task, relabelling, grid, drawing, repeated, _observed(scores, task))
            for m in task.metrics:
                scores[m.name].relabelled = draws[m.name]
    return list(scores.values()), {
        "n_draws": drawing.keep,
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
        "control_combined": json.dumps(sorted({x.name for by_task in models for x in by_task if not x.estimated})),
        "control_kind": "; ".join(dict.fromkeys(kinds)),
        **({} if runs.candidates is None else {"best_of": runs.candidates.describe()}),
        "control_reference": json.dumps(sorted({x.name for by_task in models for x in by_task if x.reference})),
        "control_seed": choice.seed,
    }


def _check_size(grid: Grid, n_rows: int, n_draws: int) -> None:
    """Refuse a cube of mostly empty cells whose draws, `n_draws` per cell, take far more memory than its runs need."""
    if 8 * grid.n_cells * n_draws > SPARSE_BYTES and grid.n_cells > 4 * n_rows:
        raise ValueError(
            f"the runs on one truth have one number in all strata, and strata share some truths only, so that "
            f"{len(grid.replicates):,} replicates are needed for {n_rows:,} runs, and the draws take "
            f"{8e-9 * grid.n_cells * n_draws:.0f} GB; name a column that numbers the runs of each stratum by replicate="
        )


def _observed(scores: Mapping[str, MetricScores], task: Task) -> dict[str, Floats] | None:
    """Return the scores of the rows of a task, None before its first null model."""
    known = {m.name: scores[m.name].observed for m in task.metrics if m.name in scores}
    return known if len(known) == len(task.metrics) else None


def _joint_models(
    runs: Runs, choice: NullChoice, models: Sequence[Sequence[Null]], repeated: NDArray[np.bool_]
) -> list[Null | None]:
    """Return, for each task, the model that draws controls jointly by cluster, or None where no stratum needs it."""
    needed = repeated.any() or runs.clusters.anywhere
    model_lists = (
        [by_task[i].by_cluster(task.field.joint_null) for by_task in models] for i, task in enumerate(runs.tasks)
    )
    return [next((model for model in some if model and needed), None) for some in model_lists]


def _relabelled(
    runs: Runs,
    task: Task,
    model: Null,
    grid: Grid,
    drawing: Drawing,
    repeated: NDArray[np.bool_],
    observed: Mapping[str, Floats] | None,
) -> dict[str, Floats]:
    """Relabel the estimates of strata that repeat a cluster, those of a cluster alike."""
    if runs.matches is None:
        raise ValueError("a cube without controls has no clusters")
    match = runs.matches.matcher(model, task, grid.stratum, runs.clusters.ids)
    alone = replace(drawing, n_draws=drawing.keep, method="simulate", summarise=False)
    gathered = _Gathered(task, model, grid, drawing.keep)
    keys = runs.clusters.keys(runs.matches.seed)
    for chunk in control_chunks(task, match, keys, alone, runs.index, repeated, observed):
        gathered.add(chunk)
    return gathered.draws


class _Gathered:
    """Chunks of one task under one null model, gathered: row summaries, and draws by cell."""

    def __init__(self, task: Task, model: Null, grid: Grid, n_draws: int) -> None:
        self.model, self.grid = model, grid
        names, parts, n = [m.name for m in task.metrics], ("observed", *ROW_VARIABLES), len(grid.stratum)
        self.rows = {name: {part: np.full(n, np.nan) for part in parts} for name in names}
        self.methods: dict[str, dict[str, set[int]]] = {name: {"mean": set(), "p": set()} for name in names}
        # draws are the bulk of a cube, so they are written to their cells at once
        self.draws = {name: np.full((grid.n_cells, n_draws), np.nan) for name in names}

    def add(self, chunk: Chunk) -> None:
        """Add the rows of a chunk, without p-values or skill where the null model gives rows none of their own."""
        row_p = not self.model.reference
        lacking = {"p": not row_p, "loss": self.model.worse}
        for name, summary in chunk.summaries.items():
            for part, values in self.rows[name].items():
                values[chunk.rows] = np.nan if lacking.get(part) else getattr(summary, part)
            self.methods[name]["mean"] |= set(summary.mean_method.tolist())
            self.methods[name]["p"] |= set(summary.p_method.tolist()) if row_p else set()
        for name, draws in chunk.draws.items():
            self.draws[name][self.grid.cell[chunk.rows]] = draws

    def scores(self, metric: Metric) -> ControlScores:
        """Return what was gathered of a metric."""
        codes = {part: sorted(method_codes - {NONE}) for part, method_codes in self.methods[metric.name].items()}
        named = {"mean": METHODS, "p": method_words(metric)}
        words = {
            part: ", ".join(named[part][code] for code in method_codes) or "none"
            for part, method_codes in codes.items()
        }
        return ControlScores(self.model.name, self.rows[metric.name], words, self.draws[metric.name])
