"""Scores of the runs of a cube and of their controls under each null model, gathered by row, cell and stratum."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
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
    """

    metric: Metric
    observed: Floats
    nulls: list[ControlScores] = field(default_factory=list)
    chosen: Floats | None = None


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
    """

    null: str
    rows: dict[str, Floats]
    methods: dict[str, str]
    draws: dict[str, NDArray[Any]]


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
    n_bytes = len(models) * grid.n_cells * drawing.n_draws * 8 * len(runs.metrics)
    kept = keep is True or (keep == "auto" and n_bytes <= DRAWS_BYTES)
    scores: dict[str, MetricScores] = {}
    kinds = []
    for by_task in models:
        found: set[str] = set()
        for task, model in zip(runs.tasks, by_task, strict=True):
            own_strata = grid.stratum if runs.candidates is None else None
            match = runs.matches.matcher(model, task, own_strata)
            strata = None if kept else grid.stratum
            values = {m.name: np.full(len(runs.index), np.nan) for m in task.metrics}
            if runs.candidates is None:
                chunks = control_chunks(task, match, runs.matches.keys, drawing, runs.index, execution, strata)
            else:
                chunks = best_chunks(
                    runs.candidates, task, model, runs.matches, drawing, runs.index, execution, values, strata
                )
            gathered = _Gathered(task, model, grid, drawing.n_draws, keep=kept)
            for chunk in chunks:
                gathered.add(chunk)
                found |= set(chunk.kind.tolist())
            for m in task.metrics:
                observed = gathered.rows[m.name].pop("observed")
                scores.setdefault(m.name, MetricScores(m, observed)).nulls.append(gathered.scores(m.name))
                if runs.candidates is not None:
                    scores[m.name].chosen = runs.candidates.numbers_of(runs.candidates.chosen(m, values[m.name]))
        kinds.append(", ".join(sorted(found)))
    return list(scores.values()), {
        "control_kind": "; ".join(dict.fromkeys(kinds)),
        **composite_attrs(composites(choice.null) if runs.given is None else {}),
        **({} if runs.candidates is None else {"best_of": runs.candidates.describe()}),
        "control_reference": json.dumps(sorted({x.name for by_task in models for x in by_task if x.reference})),
        "control_seed": choice.seed,
        "draws_kept": int(kept),
        "draws_shared": int(choice.share_draws),
        "control_level": drawing.level,
    }


class _Gathered:
    """Chunks of one task under one null model, gathered: row summaries, and raw draws or sums by stratum."""

    def __init__(self, task: Task, model: Null, grid: Grid, n_draws: int, *, keep: bool) -> None:
        self.task, self.model, self.grid, self.n_draws, self.cell = task, model, grid, n_draws, grid.cell
        names, parts = [m.name for m in task.metrics], ("observed", *ROW_VARIABLES)
        self.rows = {name: {part: np.full(len(self.cell), np.nan) for part in parts} for name in names}
        self.methods: dict[str, dict[str, set[int]]] = {name: {"mean": set(), "p": set()} for name in names}
        self.strata: dict[str, dict[int, StratumDraws]] = {name: {} for name in names}
        # draws are the bulk of a cube, so they are written to their cells at once
        self.draws = {name: np.full((grid.n_cells, n_draws), np.nan) for name in names} if keep else {}
        self.defined = {name: np.zeros(grid.n_cells, np.int64) for name in self.draws}

    def add(self, chunk: Chunk) -> None:
        """Add the rows of a chunk, without p-values where the null model gives rows none of their own."""
        row_p = not (self.model.by_stratum or self.model.reference)
        for name, summary in chunk.summaries.items():
            for part, values in self.rows[name].items():
                values[chunk.rows] = getattr(summary, part) if row_p or part not in ("p", "p_se") else np.nan
            self.methods[name]["mean"] |= set(summary.mean_method.tolist())
            self.methods[name]["p"] |= set(summary.p_method.tolist()) if row_p else set()
            if self.draws:
                self.draws[name][self.cell[chunk.rows]] = chunk.draws[name]
                self.defined[name][self.cell[chunk.rows]] = (~np.isnan(chunk.draws[name])).sum(axis=1)
                continue
            strata = self.strata[name]
            for number, found in chunk.strata[name].items():
                strata[number] = strata[number].merge(found) if number in strata else found

    def scores(self, metric: str) -> ControlScores:
        """Return what was gathered of a metric."""
        codes = {part: sorted(found - {NONE}) for part, found in self.methods[metric].items()}
        named = {"mean": METHODS, "p": method_words(self.model.p_given)}
        words = {part: ", ".join(named[part][code] for code in found) or "none" for part, found in codes.items()}
        if self.draws:
            draws = {"control": self.draws[metric], "control_defined": self.defined[metric]}
        else:
            draws = self._sums(self.strata[metric])
        return ControlScores(self.model.name, self.rows[metric], words, draws)

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
