"""The cube: a table of runs and their controls as an xarray Dataset over strata, replicates and draws."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import name_row, shown
from ..execution.random_streams import RNGLike, resolve_seed
from ..tables.best_of import check_drawing
from ..tables.clusters import Cluster, units_of, warn_of_units
from ..tables.context import describe_context
from ..tables.history import HISTORY, call, metric_settings, null_settings
from ..tables.matching import find_models
from ..tables.settings import (
    Cells,
    Drawing,
    Invalid,
    NDraws,
    NullChoice,
    Nulls,
    first_draws,
    settle_draws,
)
from ..tables.tasks import Metrics
from ..versions import __version__
from .assembly import assemble
from .runs import Runs, Values, read_runs
from .scores import score_runs
from .strata import By, check_names, lay_out

#: cells of strata x replicates that a cube may have
_MAX_CELLS = 200_000_000


def cube(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    n_draws: NDraws | None = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    truth: Hashable | None = "truth",
    estimate: Hashable = "estimate",
    replicate: Hashable | None = None,
    key: Hashable | Sequence[Hashable] | None = None,
    control_kind: str | None = None,
    best_of: Hashable | None = None,
    cluster: Cluster = "truth",
    values: Values = (),
    context: Mapping[str, Any] | None = None,
    invalid: Invalid = "raise",
) -> xr.Dataset:
    """Score runs and their controls into an array over strata.

    Parameters
    ----------
    table : DataFrame
        One run per row. A column `weight` of answers says how much each one counts in means, effects, skill and tests,
        unless another argument names the column.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set. An empty list with `n_draws=None` makes a cube of `values`.
    by : sequence of str or {name: edges}
        The strata, a dimension each, in this order. A name is a column or a metric that describes the row
        (`"true_density"`); edges cut numbers into intervals, the lowest edge included. Rows whose value is missing form
        a category of their own.
    n_draws : int, "auto" or None
        Controls a row; None makes no controls. "auto" chooses R as in `with_controls`, for K tests of strata (strata x
        metrics x null models). Means and p-values of runs rest on all R draws; the cube keeps them all up to 256 MiB,
        of more the first ones, at least 99.
    null : str, callable, ChosenNull or list of these, optional
        Null models as in `with_controls`; default the field's. A list gives controls of all of them, along a further
        dimension `null`. Where it is not known by which of them a guesser guesses, the largest of their p-values keeps
        its level.
    rng, truth, estimate, key, control_kind, context, invalid
        As in `with_controls`.
    best_of : hashable, optional
        Column of settings of which the best by each metric counts, as in `with_controls`. Rows that agree in the strata
        and in the other columns of `key`, by default in the truth, are candidates for one run of the cube.
        `m_chosen` is the number of the chosen level, in the order of the attribute `best_of`, and `n_candidates` that
        of the candidates. The runs on one truth are relabelled alike.
    cluster : "truth", hashable or None
        Which runs depend on each other: those on one truth, or those with one value of a column, which may hold several
        truths over the same nodes, but no part of one. A stratum that repeats a cluster is tested by relabelling: draw
        r exchanges the nodes of all estimates of a cluster in one way. None takes all runs for independent, also those
        on one truth. Without truths, runs on one data set that a column of `context=` names are a cluster. Answers and
        quantities have no clusters unless a column names them: the answers of a cluster (a sample) then move together
        to another cluster of the stratum that answered the same questions, named by `context={"group": ...}`.
    replicate : hashable, optional
        Column that numbers the runs of a stratum and pairs them across strata. By default rows take the number of their
        truth, so that strata that share truths are paired by truth; repeats follow `key`.
    values : sequence of str or {name: {"minimize", "maximize", None}}
        Numeric columns of the table to carry along, such as run times. Verbs that need no controls take them as they
        take metrics, when they are named: `summary("seconds")`. A direction says which values are better, for
        `compare`, `rank_test` and figures; without one, rank 1 is the smallest value.

    Returns
    -------
    Dataset
        Dimensions: the strata, `replicate`, and `draw` with controls. For each metric `m`: `m` and, with controls,
        `m_control_mean`, `m_control_mean_se` (its Monte Carlo standard error), `m_control_low`, `m_control_high`,
        `m_control_loss` (mean distance from the optimum), `m_p` and `m_control` (by draw), and `m_relabelled` where a
        stratum repeats a cluster: its estimates, those of a cluster relabelled alike.

        Further `status` (0 no run, 1 scored, 2 failed) and, as coordinates of each run, `truth_id`, `cluster_id` where
        a column names clusters, `run_weight` of answers with a column `weight`, and the seed, number and null model of
        its draws: `control_seed`, `control_draws`, `control_null`. Each metric carries its spec and its null model as
        attributes, the cube its conventions. It can be saved to netCDF and Zarr as it is.

    Raises
    ------
    ValueError
        As `with_controls`; also for unknown strata, values outside the edges, replicates that repeat in a stratum, or a
        cube of more than 200 million cells.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x", "x", "y", "y"],
    ...     "truth": ["A -> B; B -> C", "A -> B; C"] * 2,
    ...     "estimate": ["A -> B; B -> C", "A; B; C", "C -> B; A", None],
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> dict(found.sizes)
    {'algorithm': 2, 'replicate': 2, 'draw': 100}
    >>> found.shd.to_numpy()
    array([[ 0.,  1.],
           [ 2., nan]])
    """
    cells = Cells(truth, estimate, context=context)
    asked = 1 if n_draws is None else n_draws
    drawing = Drawing(first_draws(asked), invalid=invalid, keep=1)
    choice = None
    if n_draws is not None:
        choice = NullChoice(null, resolve_seed(rng), key, control_kind, best_of)
    if best_of is not None:
        if choice is None:
            raise ValueError("best_of= compares the best candidates with the best of their controls; give n_draws=")
        check_drawing(drawing)

    columns: dict[str, Any] = {"key": key, "replicate": replicate, "values": values}
    runs = read_runs(table, metrics, by, cells, choice, cluster=cluster, **columns)
    grid = lay_out(runs.strata, runs.keys, runs.truth_id, runs.replicate, _MAX_CELLS)
    metric_dims = {dim for m in runs.metrics if m.component for dim in m.component.whole.dims}
    names = dict.fromkeys(m.name if m.component is None else m.component.whole.name for m in runs.metrics)
    check_names([*grid.strata_dims, *metric_dims], list(names), list(runs.carried), controls=choice is not None)
    units, unit = units_of(table, cluster, runs.tasks[0]), runs.tasks[0].field.unit
    # the rows of a cube of the best candidates are groups of the table's
    if units is not None and runs.candidates is None:
        warn_of_units(
            unit, units, grid.stratum, lambda row: f"{name_row(row, table.index)}: {shown(table[unit].iloc[row])}"
        )
    if choice is not None:
        n_models = len(find_models(runs.tasks, choice)) if asked == "auto" else 1
        drawing = settle_draws(drawing, asked, len(np.unique(grid.stratum)) * len(runs.metrics) * n_models)
    n_drawn = 0 if choice is None else drawing.n_draws
    scores, attrs = score_runs(runs, grid, drawing, choice)
    settings: dict[str, Any] = {"by": by, "replicate": replicate, "values": values}
    settings["cluster"] = runs.clusters.setting
    settings |= drawing.settings() | {"n_draws": n_drawn}
    attrs = _attributes(cells) | attrs | _history(runs, cells, choice, settings)
    attrs["control_cluster"] = runs.clusters.setting
    return assemble(runs, grid, scores, attrs)


def _history(runs: Runs, cells: Cells, choice: NullChoice | None, settings: dict[str, Any]) -> dict[str, str]:
    """Return the attribute that holds the call with its settings, and what was settled on."""
    record = metric_settings(runs.metrics) | cells.settings() | {"field": [task.field.name for task in runs.tasks]}
    if choice is not None:
        models = [model for by_task in find_models(runs.tasks, choice) for model in by_task]
        record |= null_settings(models) | choice.settings()
    return {HISTORY: json.dumps([call("cube", record | settings)])}


def _attributes(cells: Cells) -> dict[str, Any]:
    """Return the attributes that follow from the settings."""
    return {
        "zero_division": float(cells.zero_division),
        "context": json.dumps(describe_context(cells.context)),
        "causaleval_pd_version": __version__,
    }
