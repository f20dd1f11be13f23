"""P-values of strata by multilevel splitting, where no draw reached the statistic of the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...contract.metric import Metric
from ...contract.null import Controls, Null
from ...statistics.direction import merit
from ...statistics.tails.splitting import MOVES, Splitting, splitting
from ...tables.matching import Matches, find_models
from ...tables.scoring import score
from ...tables.settings import Invalid, NullChoice
from ...tables.tails import Member, WalkedRows, splitting_stream
from ...tables.tasks import Task
from ..p_values import NEGLIGIBLE_P, stratum_p
from ..reading import null_stratum
from ..runs import Runs
from ..schema import LAW_STATISTICS, TAIL_METHODS, TAIL_VARIABLES
from ..strata import Grid
from .exact_strata import without_tails

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: scores that the splitting of a stratum may compute; what it reached by then is a bound
MOST_SCORES = 2e7
#: controls in which scores must be defined
_PILOT = 2000
#: clusters from which on particles move less often between levels: 10 times a cluster, and 5 times
_SEVERAL, _MANY = 4, 10


class _Place(NamedTuple):
    """Where a row's controls are: those of a batch, and the row's number among them."""

    controls: Controls
    row: int


def split_strata(cube: xr.Dataset, runs: Runs, grid: Grid, choice: NullChoice, invalid: Invalid) -> xr.Dataset:
    """Return a cube in which strata whose statistic no draw reached have p-values by splitting, where these exist.

    Parameters
    ----------
    cube : Dataset
        As assembled.
    runs, grid : Runs, Grid
        What it was made of.
    choice : NullChoice
        Null models and seed.
    invalid : {"raise", "nan"}
        As in `with_controls`.
    """
    if runs.matches is None:
        return cube
    models = find_models(runs.tasks, choice, runs.given)
    repeated = runs.clusters.repeats(grid.stratum, ~runs.failed)
    shape = (len(models), grid.n_strata)
    for i, task in enumerate(runs.tasks):
        for m in task.metrics:
            if m.component is not None:
                continue
            found = _tails_of(cube, m, shape)
            for statistic in LAW_STATISTICS:
                known = stratum_p(null_stratum(cube), m.name, statistic)
                # p below the last level needs no splitting
                floor = (known.at_floor & (known.p > NEGLIGIBLE_P)).reshape(shape)
                for k in np.flatnonzero(floor.any(axis=1)).tolist():
                    strata = _Strata(runs, runs.matches, grid, task, models[k][i], repeated, invalid)
                    for at in np.flatnonzero(floor[k]).tolist():
                        split = strata.split(m, cube, at)
                        if not math.isnan(split.p):
                            method = TAIL_METHODS.index("splitting" if split.reached else "splitting to a bound")
                            values = (split.p, split.low, split.high, method)
                            for part, value in zip(("p", "p_low", "p_high", "p_method"), values, strict=True):
                                found[f"{statistic}_{part}"][k, at] = value
            if any(found[f"{statistic}_p_method"].any() for statistic in LAW_STATISTICS):
                cube = _with_variables(cube, m, found, grid)
    return cube


def _tails_of(cube: xr.Dataset, metric: Metric, shape: tuple[int, int]) -> dict[str, NDArray[np.float64]]:
    """Return the tails that a metric has, (n_nulls, n_strata) each."""
    nothing = without_tails(shape[1])
    found = {}
    for part, absent in nothing.items():
        variable = TAIL_VARIABLES[part]
        name = variable.name(metric.name)
        values = cube[name].to_numpy().reshape(shape) if name in cube else np.tile(absent, (shape[0], 1))
        found[part] = values.astype(variable.dtype)
    return found


def _with_variables(cube: xr.Dataset, metric: Metric, found: dict[str, Floats], grid: Grid) -> xr.Dataset:
    """Write the tails of a metric into the cube."""
    dims = (*(["null"] if "null" in cube.dims else []), *grid.strata_dims)
    sizes = [cube.sizes[dim] for dim in dims]
    made = {}
    for part, values in found.items():
        variable = TAIL_VARIABLES[part]
        label = variable.describe(metric.long_name, metric.name)
        made[variable.name(metric.name)] = (dims, values.reshape(sizes), label)
    return cube.assign(made)


class _Strata:
    """The rows of a task under a null model, by stratum, with controls that can be walked."""

    def __init__(
        self,
        runs: Runs,
        matches: Matches,
        grid: Grid,
        task: Task,
        model: Null,
        repeated: NDArray[np.bool_],
        invalid: Invalid,
    ) -> None:
        self.runs, self.matches, self.grid, self.task, self.model = runs, matches, grid, task, model
        self.repeated, self.invalid = repeated, invalid
        self.places: dict[str, dict[int, _Place]] = {}

    def split(self, metric: Metric, cube: xr.Dataset, stratum: int) -> Splitting:
        """Return the p-value of a stratum; NaN where its controls cannot be walked."""
        rows = np.flatnonzero((self.grid.stratum == stratum) & ~self.runs.failed)
        joint = bool(self.repeated[rows].any())
        places = self._places(joint=joint)
        nothing = Splitting(math.nan, math.nan, math.nan, math.nan, math.nan, False)
        if any(row not in places or places[row].controls.walk is None for row in rows.tolist()):
            return nothing
        observed = merit(
            cube[metric.name]
            .transpose(*self.grid.strata_dims, "replicate")
            .to_numpy()
            .reshape(-1)[self.grid.cell[rows]],
            direction=metric.direction,
            optimum=metric.optimum,
        )
        keys = self.matches.keys[rows]
        rng = splitting_stream(np.bitwise_xor.reduce(keys), metric)
        clusters: dict[int, list[int]] = {}
        for i in np.argsort(keys, kind="stable").tolist():
            clusters.setdefault(int(self.runs.clusters.ids[rows[i]]) if joint else i, []).append(i)
        parts, total = [], 0.0
        for members in clusters.values():
            part = self._cluster(metric, [places[int(rows[i])] for i in members], observed[members], rng)
            if part is None:
                return nothing
            parts += part[0]
            total += part[1]
        moves = MOVES if len(parts) < _SEVERAL else MOVES // 2 if len(parts) < _MANY else MOVES // 4
        if not parts:
            return nothing
        return splitting(parts, total, rng, moves=moves, most_scores=MOST_SCORES, least=NEGLIGIBLE_P)

    def _places(self, *, joint: bool) -> dict[int, _Place]:
        """Return the controls of every row, relabelled by cluster if `joint`."""
        name = "joint" if joint else "own"
        if name not in self.places:
            by_cluster = self.model.by_cluster(self.task.field.joint_null) if joint else None
            model, ids = (by_cluster, self.runs.clusters.ids) if by_cluster else (self.model, None)
            match = self.matches.matcher(model, self.task, self.grid.stratum, ids)
            found: dict[int, _Place] = {}
            for batch in self.task.batches():
                controls = match(batch.rows, batch.pairs, self.matches.keys[batch.rows])
                able, tested = np.ones(len(batch.rows), bool), controls.tested
                if tested is not None:
                    controls, able = tested
                found |= {row: _Place(controls, i) for i, row in enumerate(batch.rows.tolist()) if able[i]}
            self.places[name] = found
        return self.places[name]

    def _cluster(
        self, metric: Metric, places: Sequence[_Place], observed: Floats, rng: np.random.Generator
    ) -> tuple[list[WalkedRows], float] | None:
        """Return a cluster as a component of the sum, and what it adds; None where undefined scores forbid a sum."""
        walks = [(place.controls.walk, place.row) for place in places]
        first, start = walks[0]
        if first is None:
            return None
        states = first.start(start, _PILOT, rng)
        x = np.stack(
            [
                merit(
                    score(metric, walk.pairs(row, states), self.invalid, distinct=False),
                    direction=metric.direction,
                    optimum=metric.optimum,
                )
                for walk, row in walks
                if walk is not None
            ]
        )
        if np.isinf(x).any() or np.isinf(observed).any():
            return None
        if np.isnan(x).any() or np.isnan(observed).any():
            return None
        members = [Member(walk, row, 0.0, 1.0) for walk, row in walks if walk is not None]
        return [WalkedRows(metric, members, self.invalid)], float(np.sort(observed).sum())
