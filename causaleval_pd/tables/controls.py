"""Matched negative controls for any field: closed forms where they exist, else draws summarised as they stream."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_known
from ..contract.metric import Metric
from ..contract.null import Null
from ..execution.random_streams import RNGLike, resolve_seed
from .best_of import best_chunks, check_drawing, find_candidates, match_candidates
from .clusters import BY_TRUTH, row_clusters
from .columns import add_columns, typed
from .history import call, calls, metric_settings, null_settings, remember
from .matching import Matches, check_columns, check_directions, find_models, find_null, match_rows
from .row_summary import METHODS, RowControls, at_floor, method_words, skill, spread, with_p_of_worse, without_p
from .settings import (
    Cells,
    Drawing,
    Invalid,
    Method,
    NDraws,
    NullChoice,
    NullLike,
    first_draws,
    settle_draws,
)
from .simulate import Chunk, control_chunks
from .tasks import Metrics, Task, read_tasks

Columns = Literal["short", "full"]
#: what follows a metric's name in the short columns
_SHORT = ("", "_control_mean", "_control_low", "_control_high", "_p", "_skill", "_p_method")


def with_controls(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    n_draws: NDraws = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    truth: Hashable | None = "truth",
    estimate: Hashable = "estimate",
    key: Hashable | Sequence[Hashable] | None = None,
    control_kind: str | None = None,
    method: Method = "auto",
    level: float = 0.95,
    best_of: Hashable | None = None,
    cluster: Hashable | None = "truth",
    context: Mapping[str, Any] | None = None,
    invalid: Invalid = "raise",
    columns: Columns = "short",
    overwrite: bool = False,
) -> pd.DataFrame:
    """Add the metrics and, for each, what matched negative controls score.

    A control is a random estimate that knows nothing of the truth but is matched to the row's estimate. Its
    distribution shows which values random guessing reaches.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set. Each needs a direction.
    n_draws : int or "auto"
        Controls a row, where they are simulated. "auto" chooses R for K tests (rows x metrics) under Holm's
        correction at .05: R + 1 = 200 K, rounded up to thousands; above 100,000 R is 9,999.
    null : str, callable or ChosenNull, optional
        Null model; default the field's ("edges" for graphs). `ce.null_model(name, ...)` sets options, and a function
        `null(estimate, rng)` draws what it likes. A model of reference ("oracle_skeleton", "empty", "complete") has no
        p-values.
    rng : int, Generator or None
        Seed; the one used is in the column `control_seed`.
    truth, estimate : hashable
        Names of the columns of cells. A missing estimate keeps its row, with missing results.
    key : hashable or sequence of hashable, optional
        Columns that name a row's random stream; default the index. The same seed and key give the same draws in any row
        order.
    control_kind : str, optional
        Class of the controls, or the name of a column that holds it; default the class of the estimate. A CPDAG
        without undirected edges looks like a DAG: set "cpdag" for algorithms that return equivalence classes. PDAGs
        are matched by CPDAGs, which they are not, so that p is approximate (`control_kind` names these rows);
        "pdag" draws graphs with as many undirected edges, also for undirected estimates.
    method : {"auto", "exact", "simulate"}
        "auto" takes for each output the closed form where one exists, else draws. "exact" never draws and leaves the
        outputs without a closed form missing. "simulate" always draws.
    level : float
        Probability between `_control_low` and `_control_high`, which is a reference interval of the null distribution,
        not a confidence interval.
    best_of : hashable, optional
        Column of settings that were tried on the same data, such as the alpha of PC, of which the best by each metric
        counts. Rows that agree in the other columns of `key`, by default in the truth, are a group of candidates. Each
        draw relabels the nodes of all candidates alike (`null="permutation"`, the default then) and takes the best
        again, so that p keeps its level. The result has one row per group: the columns of `key`, the truth,
        `n_candidates`, and for each metric its columns and `m_chosen`, the level of the best candidate (the first level
        among equals).
    cluster : "truth", hashable or None
        Rows that depend on each other: those on one truth, or those with one value of a column, which may hold several
        truths over the same nodes, but no part of one. Under null models that relabel estimates ("permutation" of
        graphs and networks, "relabel" of formulas) draw r of all rows of a cluster is one relabelling, so that equal
        estimates get equal results. Other null models draw for each row by itself. A row's p-value has the same law
        either way; only joint draws may be combined over the rows of a cluster, which a cube does. None draws for each
        row by itself. Answers and quantities have clusters by a column only.
    context, invalid, overwrite
        As in `evaluate`. With the default `zero_division` controls whose metric is undefined are excluded and their
        share is in `_control_undefined` (full columns); with a number all count.
    columns : {"short", "full"}
        Which columns to add: those that a result needs, or also Monte Carlo standard errors, shares of undefined
        controls, and how each mean was found.

    Returns
    -------
    DataFrame
        A new table with the columns of `table`, the cells as they came, and for each metric `m`: `m`,
        `m_control_mean`, `m_control_low`, `m_control_high`, `m_p` (one-sided: a control is as good or better),
        `m_skill` = 1 - L / E[L of controls] with `L = |m - optimum|` (NaN where the denominator is 0 or the optimum
        infinite), `m_p_method` ("exact" or "simulated"; of edge scores also "mixture" or "normal"); then
        `control_null`, `control_kind`, `control_seed`, `n_draws`.

        With `columns="full"` also `m_control_mean_se` and `m_p_se`, the Monte Carlo standard errors (0 where exact),
        `m_p_at_floor` (no draw was as good, so that more draws may make p smaller), `m_mean_method` and
        `m_control_undefined`. Where the metrics of one call belong to fields with different null models,
        `control_null` names all of them, and `m_control_null` that of each.

    Raises
    ------
    ValueError
        As `evaluate`; also for a metric without direction, keys that repeat, an unknown null, a null that needs strata,
        or `method="exact"` where no closed form exists.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025.
    .. [2] Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero. doi:10.2202/1544-6115.1585

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A -> B; B -> C; C -> D"], "estimate": ["A -> B; B -> C; D"]})
    >>> scored = ce.with_controls(runs, ["adjacency_precision"], rng=7)
    >>> scored[["adjacency_precision", "adjacency_precision_control_mean", "adjacency_precision_p"]].round(3)
       adjacency_precision  adjacency_precision_control_mean  adjacency_precision_p
    0                  1.0                               0.5                    0.2
    """
    check_known(columns, get_args(Columns), "choice of columns")
    how = Drawing(first_draws(n_draws), method, level, invalid)
    read = Cells(truth, estimate, context=context)
    tasks, chosen = read_tasks(table, metrics, read)
    check_directions(chosen)
    check_columns(chosen)
    choice = NullChoice(null, resolve_seed(rng), key, control_kind, best_of)
    if best_of is not None:
        if not isinstance(cluster, str) or cluster != BY_TRUTH:
            raise ValueError("best_of= relabels all candidates on one truth alike and takes no cluster=")
        return _with_best_controls(table, tasks, chosen, choice, how, read, n_draws=n_draws, columns=columns)
    models = [find_null(task.field, null) for task in tasks]
    clusters = row_clusters(table, cluster, tasks[0], relabelled=any(model.joint for model in models))
    matches = match_rows(table, choice, clusters)
    how = settle_draws(how, n_draws, len(table) * len(chosen))
    by_metric: dict[str, dict[str, Any]] = {}
    kinds = []
    for task, model in zip(tasks, models, strict=True):
        summaries, kind = _control_task(task, model, matches, how, table.index)
        kinds.append(kind)
        for m in task.metrics:
            by_metric[m.name] = control_columns(m, summaries[m.name], how)
    added = _metric_columns(chosen, by_metric, columns, [])
    added |= _row_columns(tasks, [model.name for model in models], kinds, matches.seed, how, columns)
    settings = _settings(tasks, chosen, models, read, choice, how, cluster=clusters.setting)
    result = add_columns(table, added, overwrite=overwrite)
    return remember(result, [*calls(table.attrs), call("with_controls", settings)], table.attrs)


def _control_task(
    task: Task, model: Null, matches: Matches, how: Drawing, index: pd.Index
) -> tuple[dict[str, RowControls], NDArray[np.object_]]:
    """Summarise the controls of a task's rows by metric, and return the class of each row's controls."""
    chunks = control_chunks(task, matches.matcher(model, task), matches.keys_of(model), how, index)
    summaries, kind = _gathered(chunks, task.metrics, len(index))
    for name, summary in summaries.items():
        if not how.draws and not task.failed().all() and (summary.mean_method < 0).all():
            raise ValueError(
                f"{name} has no closed form under null={model.name!r} for controls of these classes; use "
                "method='auto' to simulate"
            )
    if model.worse:
        return {name: with_p_of_worse(x) for name, x in summaries.items()}, kind
    return {name: without_p(x) for name, x in summaries.items()} if model.reference else summaries, kind


def _gathered(
    chunks: Iterable[Chunk], metrics: Sequence[Metric], n: int
) -> tuple[dict[str, RowControls], NDArray[np.object_]]:
    """Put the rows of chunks back to their places among n, by metric; and the class of each row's controls."""
    parts: dict[str, list[RowControls]] = {m.name: [] for m in metrics}
    kind, order = np.full(n, None, object), [np.empty(0, np.int64)]
    for chunk in chunks:
        order.append(chunk.rows)
        kind[chunk.rows] = chunk.kind
        for name, summaries in parts.items():
            summaries.append(chunk.summaries[name])
    rows = np.concatenate(order)
    return {name: spread(summaries, rows, n) for name, summaries in parts.items()}, kind


def _with_best_controls(
    table: pd.DataFrame,
    tasks: Sequence[Task],
    chosen: Sequence[Metric],
    choice: NullChoice,
    how: Drawing,
    read: Cells,
    *,
    n_draws: NDraws,
    columns: Columns,
) -> pd.DataFrame:
    """Return the best of the candidates of each group, and what the best of their controls score."""
    check_drawing(how)
    candidates = find_candidates(table, choice.best_of, choice.key, tasks[0])
    matches = match_candidates(table, choice, tasks[0])
    how = settle_draws(how, n_draws, len(candidates.first) * len(chosen))
    [models] = find_models(tasks, choice)
    by_metric: dict[str, dict[str, Any]] = {}
    kinds, n = [], len(candidates.first)
    for task, model in zip(tasks, models, strict=True):
        values = {m.name: np.full(len(table), np.nan) for m in task.metrics}
        chunks = best_chunks(candidates, task, model, matches, how, table.index, values)
        summaries, kind = _gathered(chunks, task.metrics, n)
        kinds.append(kind)
        for m in task.metrics:
            by_metric[m.name] = control_columns(m, summaries[m.name], how)
            by_metric[m.name][f"{m.name}_chosen"] = candidates.levels_of(candidates.chosen(m, values[m.name])).array
    added = _metric_columns(chosen, by_metric, columns, ["_chosen"])
    added |= _row_columns(tasks, [model.name for model in models], kinds, matches.seed, how, columns)
    settings = _settings(tasks, chosen, models, read, choice, how)
    result = add_columns(candidates.frame(table[read.names["truth"]]), added, overwrite=False)
    return remember(result, [*calls(table.attrs), call("with_controls", settings)], table.attrs)


def _settings(
    tasks: Sequence[Task],
    chosen: Sequence[Metric],
    models: Sequence[Null],
    read: Cells,
    choice: NullChoice,
    how: Drawing,
    **more: str,
) -> dict[str, Any]:
    """Return the settings for the history of the table."""
    settings = metric_settings(chosen) | read.settings() | {"field": [x.field.name for x in tasks], **more}
    return settings | null_settings(models) | choice.settings() | how.settings()


def _metric_columns(
    chosen: Sequence[Metric], by_metric: Mapping[str, Mapping[str, Any]], columns: Columns, more: Sequence[str]
) -> dict[str, Any]:
    """Return the columns of all metrics, of short ones `more` too, in the order of the metrics."""
    added: dict[str, Any] = {}
    for m in chosen:
        mine, short = by_metric[m.name], (m.name + part for part in (*_SHORT, *more))
        added |= mine if columns == "full" else {name: mine[name] for name in short}
    return added


def _row_columns(
    tasks: Sequence[Task],
    names: Sequence[str],
    kinds: Sequence[NDArray[np.object_]],
    seed: int,
    how: Drawing,
    columns: Columns,
) -> dict[str, Any]:
    """Return null model (where metrics differ, one per metric for full columns), class, seed and number of controls."""
    n, different = len(kinds[0]), list(dict.fromkeys(names))
    row_columns = {"control_null": pd.array([", ".join(different)] * n, dtype="str")}
    if columns == "full" and len(different) > 1:
        for task, name in zip(tasks, names, strict=True):
            row_columns |= {f"{m.name}_control_null": pd.array([name] * n, dtype="str") for m in task.metrics}
    return row_columns | {
        "control_kind": pd.array(_joined_words(kinds), dtype="str"),
        "control_seed": np.full(n, seed, np.int64),
        "n_draws": np.full(n, how.n_draws if how.draws else 0, np.int64),
    }


def _joined_words(kinds: Sequence[NDArray[np.object_]]) -> list[str | None]:
    """Return the classes of each row's controls, where the fields of a call differ separated by commas."""
    if len(kinds) == 1:
        return list(kinds[0])
    return [
        ", ".join(dict.fromkeys(word for word in words if word is not None)) or None
        for words in zip(*kinds, strict=True)
    ]


def control_columns(metric: Metric, rows: RowControls, how: Drawing) -> dict[str, Any]:
    """Name one metric's columns."""
    name = metric.name
    mean_method, p_method = (
        pd.Categorical.from_codes(codes, categories=pd.Index(words))
        for codes, words in (
            (rows.mean_method, METHODS),
            (rows.p_method, method_words(metric)),
        )
    )
    return {
        name: typed(rows.observed, metric),
        f"{name}_control_mean": rows.mean,
        f"{name}_control_mean_se": rows.mean_se,
        f"{name}_control_low": rows.low,
        f"{name}_control_high": rows.high,
        f"{name}_p": rows.p,
        f"{name}_skill": skill(metric.optimum, rows.observed, rows.loss),
        f"{name}_mean_method": mean_method,
        f"{name}_p_method": p_method,
        f"{name}_p_se": rows.p_se,
        f"{name}_p_at_floor": pd.arrays.BooleanArray(at_floor(rows), np.isnan(rows.p)),
        f"{name}_control_undefined": rows.undefined,
    }
