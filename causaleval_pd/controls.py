"""Matched negative controls for any field: closed forms where they exist, else draws summarised as they stream."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .engine import Engine, RNGLike, job_count, resolve_seed, row_keys
from .evaluate import Invalid, Metrics, Task, add_columns, column, plan, select, typed, with_cells
from .field import Field, Pairs
from .messages import check_known, check_number, check_type, check_whole, nearest
from .metric import Metric
from .null import ClosedForm, Matcher, Matching, Null, NullLike, null_model
from .row_controls import METHODS, Method, Plan, PRule, RowControls, skill, spread, without_p
from .streaming import control_chunks


def with_controls(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    n_draws: int = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    key: Hashable | Sequence[Hashable] | None = None,
    control_kind: str | None = None,
    permute: bool = True,
    method: Method = "auto",
    level: float = 0.95,
    p_rule: PRule = "add_one",
    stop_after: int | None = None,
    share_draws: bool = False,
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    overwrite: bool = False,
    progress: bool = False,
    engine: Engine = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Add the metrics and, for each, what matched negative controls score.

    A control is a random estimate that knows nothing of the truth but is matched to the row's estimate. Its
    distribution says what the estimate's number is worth.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set. Each needs a direction.
    n_draws : int
        Controls a row, where they are simulated.
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
        Class of the controls, or the name of a column that holds it; default the class of the estimate. One CPDAG
        without undirected edges looks like a DAG: say "cpdag" for algorithms that return equivalence classes.
    permute : bool
        Random node order for every control (default); False keeps the order of the nodes' names as causal order.
    method : {"auto", "exact", "moments", "simulate"}
        "auto" takes for each output the closed form where one exists, else draws. "exact" never draws and leaves the
        outputs without a closed form missing. "moments" never draws either: where the mean and the variance are exact,
        but not the distribution, p and limits are those of the normal distribution. "simulate" always draws.
    level : float
        Probability between `_control_low` and `_control_high`, which is a reference interval of the null distribution,
        not a confidence interval.
    p_rule : {"add_one", "share", "mid"}
        Simulated p: (b + 1) / (n + 1), or the published b / n, where b of n controls are as good as or better than the
        estimate. "mid" counts ties half, also in exact p-values: less conservative for metrics of few values, but not
        guaranteed to keep its level.
    stop_after : int, optional
        Stop drawing for a row's p once so many controls h were as good as or better than the estimate, at most
        `n_draws`: p is h / l if that happens at control l, else (b + 1) / (n + 1), which is valid [3]_. Small p-values
        get many draws, large ones few. Means, intervals and skill rest on the first 100 draws.
    share_draws : bool
        Take the draws of all rows from one pool: rows with as many nodes and edges and the same class then meet the
        same controls, which is faster. Each row's p stays valid by itself, but the p-values depend on one another:
        adjust them by Holm or Benjamini-Yekutieli, and do not combine them.
    field, context, zero_division, invalid, overwrite
        As in `evaluate`. With the default `zero_division` controls whose metric is undefined are excluded and their
        share is in `_control_undefined`; with a number all count.
    progress : bool
        Show a progress bar.
    engine, n_jobs
        As in `evaluate`.

    Returns
    -------
    DataFrame
        A new table with, for each metric `m`: `m`, `m_control_mean` with `m_control_mean_se`, its Monte Carlo standard
        error (0 where exact), `m_control_low`, `m_control_high`, `m_p` (one-sided: a control is as good or better),
        `m_skill` = 1 - L / E[L of controls] with L = |m - optimum| (NaN where the denominator is 0 or the optimum
        infinite), `m_mean_method`, `m_p_method` ("exact", "moments" or "simulated"), `m_p_se` (Monte Carlo standard
        error), with `stop_after` also `m_p_draws`, `m_control_undefined`; then `control_null`, `control_kind`,
        `control_seed`, `n_draws`.

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
    .. [3] Besag, J., Clifford, P. (1991). Sequential Monte Carlo p-values. doi:10.1093/biomet/78.2.301

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
    check_whole(n_draws, "n_draws", 1)
    check_settings(n_draws, level, method, p_rule, stop_after)
    job_count(engine, n_jobs)
    seed = resolve_seed(rng)
    tasks, cells = plan(
        table, metrics, truth=truth, estimate=estimate, field=field, context=context, zero_division=zero_division
    )
    how = Plan(n_draws, method, level, p_rule, invalid, keep=False, stop_after=stop_after)
    keys = row_keys(table, key, seed)
    if share_draws:
        keys = np.full(len(table), shared_key(seed))
    kinds = control_kinds(table, control_kind)
    check_directions([m for task in tasks for m in task.metrics])
    collected: dict[str, RowControls] = {}
    kind_column = np.full(len(table), None, object)
    for task in tasks:
        model = find_null(task.field, null, permute=permute)
        matching = Matching(task.truth, task.estimate, kinds, None, model.options, task.context)
        parts: dict[str, list[RowControls]] = {m.name: [] for m in task.metrics}
        order = []
        for chunk in control_chunks(
            task, model.match(matching), keys, how, table.index, progress=progress, engine=engine, n_jobs=n_jobs
        ):
            order.append(chunk.rows)
            kind_column[chunk.rows] = chunk.kind
            for name, summary in chunk.summaries.items():
                parts[name].append(summary)
        rows = np.concatenate(order) if order else np.empty(0, np.int64)
        for m in task.metrics:
            found = spread(parts[m.name], rows, len(table))
            collected[m.name] = without_p(found) if model.reference else found
            if method in ("exact", "moments") and len(rows) and (found.mean_method < 0).all():
                raise ValueError(
                    f"{m.name} has no closed form under null={model.name!r} for controls of these classes; use "
                    "method='auto' to simulate"
                )
    columns: dict[str, Any] = {}
    for m in select(metrics, tasks):
        columns |= _columns(m, collected[m.name], stopped=stop_after is not None)
    columns["control_null"] = pd.array([find_null(tasks[0].field, null).name] * len(table), dtype="str")
    columns["control_kind"] = pd.array(kind_column, dtype="str")
    columns["control_seed"] = np.full(len(table), seed, np.int64)
    columns["n_draws"] = np.full(len(table), 0 if method in ("exact", "moments") else n_draws, np.int64)
    return add_columns(with_cells(table, cells), columns, overwrite=overwrite)


def shared_key(seed: int) -> np.uint64:
    """Return the one random stream of rows that share their draws."""
    return np.uint64(row_keys(pd.DataFrame(index=[0]), None, seed)[0])


def check_settings(n_draws: int | None, level: float, method: str, p_rule: str, stop_after: int | None = None) -> None:
    """Refuse settings that no control can be made with."""
    for name, number in (("n_draws", n_draws), ("stop_after", stop_after)):
        if number is not None:
            check_whole(number, name, 1)
    check_number(level, "level", "(0, 1)")
    check_known(method, ("auto", "exact", "moments", "simulate"), "method")
    check_known(p_rule, ("add_one", "share", "mid"), "p_rule")
    if stop_after is not None and p_rule != "add_one":
        raise ValueError(f"p_rule={p_rule!r} does not go with stop_after=, whose p is h / l or (b + 1) / (n + 1)")


def check_directions(metrics: Sequence[Metric]) -> None:
    """Refuse metrics that know no better and worse: a control can be neither."""
    if not metrics:
        raise ValueError("no metrics were named; controls need at least one")
    aimless = [m.name for m in metrics if m.direction is None]
    if aimless:
        raise ValueError(
            f"{', '.join(aimless)} describes a row and has no direction, so no control can be as good; "
            "use evaluate for it"
        )


def find_null(field: Field, null: NullLike | None, *, permute: bool = True) -> Null:
    """Return a field's null model with the user's options."""
    if isinstance(null, (list, tuple)):
        raise ValueError(f"null must be one null model here, found {len(null)}; cube(null=[...]) takes several")
    chosen = null_model(field.default_null if null is None else null)
    if isinstance(chosen.model, str):
        if chosen.model not in field.nulls:
            raise ValueError(
                f"unknown null {chosen.model!r} for field {field.name!r}; {nearest(chosen.model, field.nulls)}its null "
                f"models: {', '.join(field.nulls)}"
            )
        model = field.nulls[chosen.model]
    elif field.custom_null is None:
        raise ValueError(f"field {field.name!r} takes no function as null; its null models: {', '.join(field.nulls)}")
    else:
        model = field.custom_null(chosen.model, chosen.name)
    options = {**chosen.options, **({} if permute else {"permute": False})}
    for name in options:
        if name not in model.options:
            raise ValueError(
                f"null {model.name!r} has no option {name!r}; its options: {', '.join(model.options) or 'none'}"
            )
    return replace(model, name=chosen.name, options={**model.options, **options})


def control_kinds(table: pd.DataFrame, control_kind: str | None) -> NDArray[np.object_] | None:
    """Return the stated class of each row's controls: one word for all, or a column's words."""
    if control_kind is None:
        return None
    check_type(control_kind, str, "a class of graphs or the name of a column", "control_kind")
    if control_kind in table.columns:
        return column(table, control_kind, "control_kind").to_numpy(object)
    return np.full(len(table), control_kind, object)


def _columns(metric: Metric, rows: RowControls, *, stopped: bool) -> dict[str, Any]:
    """Name one metric's columns."""
    name = metric.name
    mean_method, p_method = (
        pd.Categorical.from_codes(codes, categories=pd.Index(METHODS)) for codes in (rows.mean_method, rows.p_method)
    )
    return {
        name: typed(rows.observed, metric),
        f"{name}_control_mean": rows.mean,
        f"{name}_control_mean_se": rows.mean_se,
        f"{name}_control_low": rows.low,
        f"{name}_control_high": rows.high,
        f"{name}_p": rows.p,
        f"{name}_skill": skill(metric, rows.observed, rows.loss),
        f"{name}_mean_method": mean_method,
        f"{name}_p_method": p_method,
        f"{name}_p_se": rows.p_se,
        **({f"{name}_p_draws": rows.n} if stopped else {}),
        f"{name}_control_undefined": rows.undefined,
    }


@dataclass(frozen=True)
class GivenControls:
    """One control a row that the user's table holds."""

    pairs: Pairs
    kind: NDArray[np.object_]
    cost: int = 0
    work: float = 0.0

    def draw(self, start: int, count: int) -> Pairs:
        """Return the given pairs; there is one draw, number 0."""
        if (start, count) != (0, 1):
            raise ValueError(
                f"a column of controls holds one draw a row, asked for draws {start} to {start + count - 1}"
            )
        return self.pairs

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return None: given controls have no law."""
        return None


def given_controls(task: Task, cells: pd.Series, name: str) -> Null:
    """Make a null model of a column that holds one control a row.

    Parameters
    ----------
    task : Task
        The cells that the controls belong to.
    cells : Series
        The controls, in the rows' order.
    name : str
        Name of the column.

    Returns
    -------
    Null
        A model whose draw 0 is the column.

    Raises
    ------
    ValueError
        If a row with an estimate has no control, or one over other nodes.
    """
    controls = task.field.coerce(cells, name)
    lacking = task.field.missing(controls) & ~task.field.missing(task.estimate) & ~task.field.missing(task.truth)
    if lacking.any():
        raise ValueError(
            f"column {name!r} has no control in rows {np.flatnonzero(lacking)[:5].tolist()}, which have an estimate"
        )

    def match(matching: Matching) -> Matcher:
        def of(rows: NDArray[np.int64], pairs: Pairs, keys: NDArray[np.uint64]) -> GivenControls:
            extra = None if matching.context is None else matching.context.take(rows)
            [(order, found)] = task.field.batches(matching.truth.iloc[rows], controls.iloc[rows], extra)
            return GivenControls(found.take(np.argsort(order)), np.full(len(rows), "given", object))

        return of

    return Null(f"column {name}", f"the controls of column {name}", match)
