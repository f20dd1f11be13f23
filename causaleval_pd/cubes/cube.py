"""From a table of runs to an xarray cube over strata, replicates and control draws, and from a cube to its summary."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_type
from ..contract.context import describe_context
from ..contract.metric import Metric
from ..contract.null import Null, Nulls
from ..execution.engines import Engine
from ..execution.random_streams import RNGLike, resolve_seed
from ..tables.columns import column
from ..tables.matching import check_directions, find_null, given_controls, match_rows
from ..tables.scoring import score_rows
from ..tables.settings import Cells, Drawing, Execution, Invalid, Method
from ..tables.simulate import control_chunks
from ..tables.tasks import Metrics, Task, read_tasks
from .assembly import Builder, Collector, metric_attrs
from .schema import FAILED, NO_RUN, RESERVED, SCORED
from .strata import Axis, By, check_cells, cube_size, replicate_axis, strata_axes, stratum_numbers

#: raw draws are kept by default up to this many bytes
_DRAWS_BYTES = 256 * 2**20
#: cells of strata x replicates that a cube may have
_MAX_CELLS = 200_000_000


def cube(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    n_draws: int | None = 1000,
    null: Nulls = None,
    control: Hashable | None = None,
    rng: RNGLike = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    replicate: Hashable | None = None,
    key: Hashable | Sequence[Hashable] | None = None,
    control_kind: str | None = None,
    permute: bool = True,
    share_draws: bool = False,
    method: Method = "auto",
    level: float = 0.95,
    keep_draws: bool | Literal["auto"] = "auto",
    values: Sequence[str] = (),
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    progress: bool = False,
    engine: Engine = None,
    n_jobs: int | None = None,
) -> xr.Dataset:
    """Score runs and their controls into an array over strata.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set. An empty list with `n_draws=None` makes a cube of `values`.
    by : sequence of str or {name: edges}
        The strata, a dimension each, in this order. A name is a column or a metric that describes the row
        (`"true_density"`); edges cut numbers into intervals, the lowest edge included. Rows whose value is missing form
        a category of their own.
    n_draws : int or None
        Controls a row; None makes no controls.
    null : str, callable, ChosenNull or list of these, optional
        Null models as in `with_controls`; default the field's. `"stratum"` draws edge numbers from the stratum's
        estimates. A list gives controls of all of them, along a further dimension `null`.
    control : hashable, optional
        Column that holds one given control a row, in place of a null model.
    rng, truth, estimate, key, control_kind, permute, method, level, field, context, zero_division, invalid, progress
        As in `with_controls`.
    engine, n_jobs
        As in `with_controls`.
    share_draws : bool
        As in `with_controls`. Rows that share draws are not independent under random guessing, so the randomisation
        test of a stratum is refused.
    replicate : hashable, optional
        Column that numbers the runs of a stratum and pairs them across strata. By default rows take the number of their
        truth, so that strata that share truths are paired by truth; repeats follow `key`.
    keep_draws : {"auto"} or bool
        Keep every draw (dimension `draw`). "auto" keeps them where they take at most 256 MiB; otherwise the cube
        carries sums by draw and tables of values a stratum, enough for `summary` and `test_controls`.
    values : sequence of str
        Numeric columns of the table to carry along (run times, for example).

    Returns
    -------
    Dataset
        Dimensions: the strata, `replicate`, and `draw` where draws are kept. For each metric `m`: `m` and, with
        controls, `m_control_mean`, `m_control_low`, `m_control_high`, `m_control_loss`, `m_p`, `m_as_good`, `m_better`
        (stratum x replicate), and `m_control` or the accumulators `m_control_sum`, `m_control_count`,
        `m_control_value`, `m_control_weight`. Further `status` (0 no run, 1 scored, 2 failed), `n_obs` and `truth_id`.
        Variables carry their metric's spec as attributes, the cube its seed, null model and conventions. It can be
        saved to netCDF and Zarr as it is.

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
    from .. import __version__

    Drawing(1 if n_draws is None else n_draws, method, level)
    work = Execution(engine, n_jobs, progress)
    seed = resolve_seed(rng)
    tasks, _, _ = read_tasks(table, metrics, Cells(truth, estimate, field, context, zero_division))
    chosen = [m for task in tasks for m in task.metrics]
    if not chosen and not values:
        raise ValueError("no metrics were named; a cube needs at least one, or values= to carry along")
    own = tasks[0]
    axes = strata_axes(table, by, own)
    stratum = stratum_numbers(axes, len(table))
    identity = own.field.of_truth.identify(own.truth)
    labels, position = replicate_axis(table, stratum, identity, replicate=replicate, key=key)
    n_strata = cube_size(axes, len(labels), _MAX_CELLS)
    check_type(values, (list, tuple), "a list of columns", "values")
    _check_names(axes, chosen, values)

    builder = Builder(axes, labels, n_strata, stratum, position)
    check_cells(builder.cell, n_strata * len(labels), labels, replicate)
    builder.place("status", np.where(own.failed(), FAILED, SCORED).astype(np.int8), NO_RUN, role="status", flags=True)
    builder.place("truth_id", identity, 0, role="identity")
    builder.variables["n_obs"] = (
        builder.strata_dims,
        np.bincount(stratum, minlength=n_strata).reshape(builder.strata_shape),
        {"long_name": "number of runs", "role": "count"},
    )
    for name in values:
        carried = column(table, name, "values")
        if not pd.api.types.is_numeric_dtype(carried.dtype):
            raise ValueError(f"values={name!r} holds {carried.dtype}, and a cube carries numbers only")
        numbers = carried.to_numpy(np.float64, na_value=np.nan)
        builder.place(name, numbers, np.nan, role="value", long_name=name)

    n_drawn = 0 if n_draws is None else 1 if control is not None else n_draws
    attrs: dict[str, Any] = {
        "strata": json.dumps([axis.name for axis in axes]),
        "metrics": json.dumps([m.name for m in chosen]),
        "field": own.field.name,
        "n_draws": n_drawn,
        "draws_kept": 0,
        "zero_division": float(zero_division),
        "context": json.dumps(describe_context(context)),
        "causaleval_pd_version": __version__,
    }
    if n_draws is None:
        _place_scores(builder, tasks, invalid, table.index, work)
        return builder.dataset(attrs)

    models = _models(tasks, null, control, table, permute)
    keep = keep_draws is True or (
        keep_draws == "auto" and len(models) * n_strata * len(labels) * n_drawn * 8 * len(chosen) <= _DRAWS_BYTES
    )
    check_directions(chosen)
    matches = match_rows(table, seed, key=key, control_kind=control_kind, share_draws=share_draws)
    how = Drawing(n_drawn, method, level, invalid=invalid, keep=True)
    words = []
    for by_task in models:
        builder.layers.append({})
        found_kinds: set[str] = set()
        for task, model in zip(tasks, by_task, strict=True):
            match = matches.matcher(model, task, stratum)
            collector = Collector(builder, task.metrics, n_drawn, keep)
            for chunk in control_chunks(
                task,
                match,
                matches.keys,
                how,
                table.index,
                work,
                None if keep else stratum,
            ):
                collector.add(chunk, row_p=not (model.by_stratum or model.reference))
                found_kinds |= set(chunk.kind.tolist())
            collector.finish()
        words.append(", ".join(sorted(found_kinds)))
    names = [by_task[-1].name for by_task in models]
    attrs |= {
        "control_null": ", ".join(names),
        "control_kind": "; ".join(dict.fromkeys(words)),
        "control_reference": json.dumps([by_task[-1].name for by_task in models if by_task[-1].reference]),
        "control_seed": seed,
        "draws_kept": int(keep),
        "draws_shared": int(share_draws),
        "control_level": level,
    }
    return builder.dataset(attrs, names)


def _models(
    tasks: Sequence[Task], null: Nulls, control: Hashable | None, table: pd.DataFrame, permute: bool
) -> list[list[Null]]:
    """Return the null models, a list of one for each task."""
    if control is not None:
        return [[given_controls(task, column(table, control, "control"), str(control)) for task in tasks]]
    wanted = [null] if null is None or isinstance(null, str) or not isinstance(null, Sequence) else list(null)
    if not wanted:
        raise ValueError("null is an empty list; name a null model, or make no controls by n_draws=None")
    models = [[find_null(task.field, one, permute=permute) for task in tasks] for one in wanted]
    names = [by_task[-1].name for by_task in models]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"null has {', '.join(twice)} twice; name each by ce.null_model(..., name=)")
    return models


def _check_names(axes: Sequence[Axis], metrics: Sequence[Metric], values: Sequence[str]) -> None:
    names = [axis.name for axis in axes] + [m.name for m in metrics] + list(values)
    names += ["status", "truth_id", "n_obs", *RESERVED]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"a cube cannot use the name {', '.join(twice)} twice; rename a column, or a metric by tweak(name=)"
        )


def _place_scores(builder: Builder, tasks: Sequence[Task], invalid: Invalid, index: pd.Index, work: Execution) -> None:
    for task in tasks:
        scores = score_rows(task, invalid, index, work)
        for m in task.metrics:
            builder.place(m.name, scores[m.name], np.nan, **metric_attrs(m))
