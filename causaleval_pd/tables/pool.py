"""Ensembles: many rows of one run, such as bootstrap or posterior graphs, pooled into one row per run."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_column_name, check_whole, name_row
from ..contract.metric import Metric
from ..contract.null import Controls, Matcher
from ..contract.pairs import PairError
from ..execution.random_streams import RNGLike, hash_rows, resolve_seed
from ..fields.edge_scores.ensembles import graphs_without_edges, pool_graphs, truths_in_class
from .columns import column_or_level, labels_of, numbers
from .controls import control_columns
from .history import call, calls, remember
from .matching import Matches, check_columns
from .row_summary import summarise
from .scoring import check_kinds, score_rows
from .settings import Cells, Drawing
from .simulate import control_chunks
from .tasks import Metrics, Task, read_tasks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Failed = Literal["drop", "empty"]

#: bytes of draws of all members of some runs that are kept at a time
_BLOCK_BYTES = 1 << 27
_STREAM = 0x9001ED
#: spread, relative to the mean, that is rounding
_ROUNDING = 1e-12
_MEND_KINDS = "map truths and estimates to one class first, as by .graph.cpdag(), or leave these rows out"


def pool(
    table: pd.DataFrame,
    by: Hashable | Sequence[Hashable],
    metrics: Metrics = (),
    *,
    weight: Hashable | None = None,
    log_weight: Hashable | None = None,
    rule: Literal["threshold", "pairwise", "acyclic"] = "threshold",
    cyclic: Literal["missing", "break"] = "missing",
    undirected: Literal["half", "both", "none", "class"] = "half",
    class_of_truth: Literal["dag", "cpdag"] | None = None,
    failed: Failed = "drop",
    n_draws: int | None = None,
    level: float = 0.95,
    rng: RNGLike = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    context: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Pool the graphs of each run, such as those of bootstrap samples or of a posterior, into one row per run.

    Parameters
    ----------
    table : DataFrame
        One member of one run per row: a truth, an estimate, and the columns that name the run.
    by : hashable or sequence of hashable
        Columns whose values name a run, such as ``["algorithm", "dataset"]``. The result has one row for each
        combination, in the order of their first rows.
    metrics : str, Metric or iterable of these
        Metrics of graphs whose weighted mean and standard deviation over members are added as ``e_<metric>`` and
        ``sd_<metric>``: the expected metric, which is not the metric of the consensus.
    weight, log_weight : hashable, optional
        Column of the members' weights, finite and not negative, or of their logarithms, as of posterior densities.
        Default equal weights.
    rule : {"threshold", "pairwise", "acyclic"}
        How the consensus is made. "threshold": pairs that are adjacent in more than half of the members, each with its
        likeliest mark. "pairwise": the likeliest of no edge, ->, <-, -- and <-> of each pair. "acyclic": arcs of pairs
        that are adjacent in more than half, by descending probability, without those that close a cycle. Directions
        that are equally likely make an undirected edge.
    cyclic : {"missing", "break"}
        What becomes of a consensus with a directed cycle, which a majority of DAGs can have: missing, or the graph by
        the rule "acyclic".
    undirected : {"half", "both", "none", "class"}
        What an undirected edge of a member counts for either of its directions: half an edge, which is a convention and
        not the share in its class; a whole one ("is this direction possible"); nothing; or the share of the DAGs of the
        member's class that have this direction, by exact counts. The consensus does not depend on it.
    class_of_truth : {"dag", "cpdag"}, optional
        Class of the one truth that metrics compare the members of a run with, whatever their own classes: the DAG, or
        the CPDAG of its class. Members stay as they are. Default the truth as it is in the table.
    failed : {"drop", "empty"}
        Rows without an estimate: no members, or members without edges over the nodes of the run's other members, or of
        the truth where all failed.
    n_draws : int, optional
        Relabellings a run: each draw exchanges the nodes of all members of a run in one random way, so that members
        keep their dependence. Up to six nodes all are listed instead, and p is exact. Default none.
    level : float
        Probability of the null reference interval of expected metrics.
    rng : int, Generator or None
        Seed of these; a run's draws depend on it and on the values of `by`.
    truth, estimate, context
        As in `evaluate`. The truths of a run must be equal.

    Returns
    -------
    DataFrame
        One row per run: the columns `by`; the truth; `estimate`, probabilities of edges as a score cell
        (`series.score`), which metrics of scores such as "auroc" take, under the null model "permutation" by default;
        `consensus`, a graph; `n_members` and, not among them unless they count as empty, `n_failed` (rows without an
        estimate); `weight_sum`; `effective_size`, (sum w)^2 / sum w^2, which does not see autocorrelation;
        `instability` and `adjacency_instability`, the probability that two distinct members disagree about the edge of
        a pair, and about whether there is one, averaged over pairs (the second is that of StARS); `member_kinds`; and
        ``e_<metric>``, ``sd_<metric>``, with draws also ``e_<metric>_control_mean``, ``_control_low``,
        ``_control_high``, ``_p``, ``_skill`` and `pool_seed` and `pool_draws`, the number of draws or of all
        relabellings. `class_of_truth` is a column where it is given.

    Raises
    ------
    ValueError
        If `by` names no column or has missing values, the truths of a run differ, weights are negative, infinite,
        missing or sum to 0, members have different nodes, a metric does not apply to the members' classes, a truth
        is not of the class, or with ``undirected="class"`` a member with undirected edges is not a CPDAG, or its class
        takes too many steps to count.

    Notes
    -----
    The p-value answers: were the names of nodes attached at random to this whole ensemble, how often would its expected
    metric be as good? It is one test per run, whatever the number of members. Controls drawn for each member alone
    would average to a constant, and reject ensembles of one random graph in a third of all cases at .05.

    Members with circles (PAGs) pool into probabilities of adjacency, and their consensus is a skeleton.

    References
    ----------
    Liu, Roeder and Wasserman (2010), Stability approach to regularization selection (StARS), NeurIPS,
    doi:10.48550/arXiv.1006.3316.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> members = pd.DataFrame({"run": ["r"] * 3, "truth": ["A -> B; B -> C"] * 3})
    >>> members["estimate"] = ["A -> B; B -> C", "A -> B; C", "A -> B; C -> B"]
    >>> found = members.ceval.pool("run", ["shd"])
    >>> found[["n_members", "e_shd", "sd_shd"]].round(2).values.tolist(), found["consensus"].graph.to_strings()[0]
    ([[3.0, 0.67, 0.47]], 'A -> B; B -- C')
    """
    for name, role in ((weight, "weight"), (log_weight, "log_weight")):
        check_column_name(name, role)
    keys = [by] if isinstance(by, (str, int)) or not isinstance(by, Sequence) else list(by)
    read = Cells(truth, estimate, context=context)
    tasks, chosen = read_tasks(table, metrics, read)
    first_task = tasks[0]
    _check_graphs(first_task)
    codes, first = _runs(table, keys)
    _check_truths(first_task, codes, first, table, truth)
    lacking = first_task.field.missing(first_task.estimate)
    check_choice(failed, ("drop", "empty"), "failed")
    if failed == "empty":
        tasks = _with_empty_members(tasks, codes, lacking)
        first_task = tasks[0]
    if class_of_truth is not None:
        tasks = _with_truths_in(tasks, class_of_truth, table.index, truth)
    used = ~first_task.field.missing(first_task.estimate)
    others = table.drop(columns=[x for x in (*keys, truth, estimate, weight, log_weight) if x in table.columns])
    _check_settings(first_task, others, codes, used, table, keys, first)
    raw = _weights(table, weight, log_weight, codes, ~used)
    sums = np.bincount(codes, raw, len(first)).astype(np.float64)
    _check_sums(sums, codes, used, table, keys, first)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(used, raw / sums[codes], 0.0)
        size = np.where(sums > 0, 1 / np.bincount(codes, shares**2, len(first)), 0.0)
    options: dict[str, Any] = {"rule": rule, "cyclic": cyclic, "undirected": undirected}
    with _naming_rows(np.flatnonzero(used), table.index, estimate):
        pooled = pool_graphs(first_task.estimate[used], codes[used], shares[used], len(first), **options)
    columns: dict[Hashable, Any] = {key: column_or_level(table, key, "by").iloc[first].array for key in keys}
    if truth is not None:
        columns[truth] = column_or_level(table, truth, "truth").iloc[first].array
    columns |= {"estimate": pooled["estimate"].array, "consensus": pooled["consensus"].array}
    columns |= {"n_members": np.bincount(codes[used], minlength=len(first)).astype(np.int64)}
    columns |= {"n_failed": np.bincount(codes[lacking], minlength=len(first)).astype(np.int64)}
    columns |= {"weight_sum": sums, "effective_size": size}
    columns |= {name: pooled[name] for name in ("instability", "adjacency_instability", "member_kinds")}
    seed = resolve_seed(rng)
    how = None if n_draws is None else Drawing(check_whole(n_draws, "n_draws", 1), "simulate", level)
    for task in tasks:
        columns |= _expected(task, shares, codes, len(first), table.index)
        if how is not None and task.metrics:
            check_columns(task.metrics)
            streams = _streams(table, keys, seed, first)
            columns |= _controls(task, shares, codes, streams, how, table.index, columns)
    if how is not None:
        drawn = columns.pop("pool_draws", np.full(len(first), how.n_draws))
        columns |= {"pool_seed": np.full(len(first), seed, np.int64), "pool_draws": drawn}
    if class_of_truth is not None:
        columns |= {"class_of_truth": pd.array([class_of_truth] * len(first), dtype="str")}
    settings = {"by": keys, "weight": weight, "log_weight": log_weight, **options, "failed": failed, "seed": seed}
    settings |= {"class_of_truth": class_of_truth, "n_draws": n_draws, "metrics": [m.name for m in chosen]}
    return remember(pd.DataFrame(columns), [*calls(table.attrs), call("pool", settings)], table.attrs)


def _runs(table: pd.DataFrame, keys: Sequence[Hashable]) -> tuple[Ints, Ints]:
    """Return the number of each row's run, in the order of first rows, and the first row of each run."""
    if not keys:
        raise ValueError("by names no column; give the columns whose values name a run")
    if not len(table):
        raise ValueError("the table has no rows to pool")
    columns = [labels_of(table, key, "by") for key in keys]
    for key, values in zip(keys, columns, strict=True):
        lacking = values.isna().to_numpy()
        if lacking.any():
            raise ValueError(f"{name_row(int(np.argmax(lacking)), table.index)}: by={key!r} has no value")
    parts = np.stack([pd.factorize(values)[0] for values in columns], axis=1)
    _, first, inverse = np.unique(parts, axis=0, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse.reshape(-1)], np.sort(first).astype(np.int64)


def _check_graphs(task: Task) -> None:
    """Refuse cells that cannot be pooled."""
    if task.field.name != "graph":
        raise ValueError(f"cells of field {task.field.name!r} cannot be pooled; pool graphs")


def _with_truths_in(tasks: Sequence[Task], kind: str, index: pd.Index, truth: Hashable) -> list[Task]:
    """Return tasks whose truths are of one class."""
    if truth is None:
        raise ValueError(f"class_of_truth={kind!r} chooses the truth of metrics, and truth=None names none; give one")
    for task in tasks:
        if task.truth is not None:
            _check_graphs(task)
    with _naming_rows(np.arange(len(index)), index, truth):
        return [x if x.truth is None else x._replace(truth=truths_in_class(x.truth, kind)) for x in tasks]


@contextmanager
def _naming_rows(rows: Ints, index: pd.Index, name: Hashable) -> Iterator[None]:
    """Name the row of a cell that is refused by its position."""
    try:
        yield
    except PairError as error:
        raise ValueError(f"{name_row(int(rows[error.positions[0]]), index, name)}: {error.reason}") from None


def _with_empty_members(tasks: Sequence[Task], codes: Ints, lacking: NDArray[np.bool_]) -> list[Task]:
    """Return tasks whose failed members are estimates without edges."""
    filled = []
    for task in tasks:
        estimates = task.estimate.reset_index(drop=True)
        # the nodes of another member, else those of the truth
        models = estimates.groupby(codes).transform("first")
        if task.truth is not None:
            models = models.where(models.notna(), task.truth.reset_index(drop=True))
        some = np.flatnonzero(lacking & models.notna().to_numpy())
        if len(some):
            _check_graphs(task)
            estimates = estimates.copy()
            estimates.iloc[some] = graphs_without_edges(models.iloc[some]).array
        filled.append(task._replace(estimate=estimates.set_axis(task.estimate.index)))
    return filled


def _check_truths(task: Task, codes: Ints, first: Ints, table: pd.DataFrame, truth: Hashable) -> None:
    """Refuse runs whose members have different truths."""
    if task.truth is None:
        return
    number = task.field.of_truth.identify(task.truth)
    other = np.flatnonzero(number != number[first[codes]])
    if len(other):
        row, begin = int(other[0]), int(first[codes[other[0]]])
        raise ValueError(
            f"{name_row(begin, table.index)} and {name_row(row, table.index)} are of one run, but have different truths"
            f" ({truth!r}); name the column that tells them apart in by="
        )


def _check_settings(
    task: Task,
    others: pd.DataFrame,
    codes: Ints,
    used: NDArray[np.bool_],
    table: pd.DataFrame,
    keys: Sequence[Hashable],
    first: Ints,
) -> None:
    """Refuse runs whose members are of several algorithms or other settings: texts that differ and recur in a run."""
    for name in others.columns:
        values = others[name][used]
        if not (pd.api.types.is_string_dtype(values.dtype) or isinstance(values.dtype, pd.CategoricalDtype)):
            continue
        if not isinstance(values, pd.Series) or task.field.holds(values):
            continue
        counts = values.reset_index(drop=True).groupby(codes[used]).agg(["nunique", "count"])
        mixed = counts.index[(counts["nunique"] > 1) & (counts["nunique"] < counts["count"])]
        if len(mixed):
            run = int(mixed[0])
            shown = ", ".join(map(repr, values[codes[used] == run].dropna().unique()[:3].tolist()))
            named = ", ".join(f"{key} {column_or_level(table, key, 'by').iloc[first[run]]}" for key in keys)
            raise ValueError(
                f"the run with {named} has members of {counts['nunique'][run]} values of {name!r} ({shown}); name "
                f"the column in by={[*keys, name]!r}, or drop it where its values are to be pooled: "
                f"table.drop(columns={name!r})"
            )


def _weights(
    table: pd.DataFrame,
    weight: Hashable | None,
    log_weight: Hashable | None,
    codes: Ints,
    failed: NDArray[np.bool_],
) -> Floats:
    """Return the members' weights, 0 of failed ones; logarithms are shifted by their largest in the run."""
    if weight is not None and log_weight is not None:
        raise ValueError("weight and log_weight both name the members' weights; give one")
    if weight is None and log_weight is None:
        return np.where(failed, 0.0, 1.0)
    role = "weight" if weight is not None else "log_weight"
    name = weight if weight is not None else log_weight
    values = numbers(table, name, role)
    wrong = ~np.isfinite(values) & ~failed
    if role == "weight":
        wrong |= (values < 0) & ~failed
    else:
        wrong &= values != -np.inf
    if wrong.any():
        row = int(np.argmax(wrong))
        expected = "a finite number from 0" if role == "weight" else "a number, or -inf for a weight of 0"
        raise ValueError(f"{name_row(row, table.index)}: {role}={name!r} is {values[row]}, expected {expected}")
    if role == "weight":
        return np.where(failed, 0.0, values)
    largest = np.full(int(codes.max()) + 1, -np.inf)
    np.maximum.at(largest, codes[~failed], values[~failed])
    shift = np.where(np.isfinite(largest), largest, 0.0)
    return np.where(failed, 0.0, np.exp(np.where(failed, 0.0, values) - shift[codes]))


def _check_sums(
    sums: Floats,
    codes: Ints,
    used: NDArray[np.bool_],
    table: pd.DataFrame,
    keys: Sequence[Hashable],
    first: Ints,
) -> None:
    """Refuse runs whose weights sum to 0."""
    empty = np.flatnonzero((sums <= 0) & (np.bincount(codes[used], minlength=len(sums)) > 0))
    if len(empty):
        row = int(first[empty[0]])
        named = ", ".join(f"{key} {column_or_level(table, key, 'by').iloc[row]}" for key in keys)
        raise ValueError(f"the weights of the run with {named} sum to 0; leave the run out")


def _expected(task: Task, shares: Floats, codes: Ints, n_runs: int, index: pd.Index) -> dict[Hashable, Any]:
    """Return the weighted mean and standard deviation of the members' metrics."""
    if not task.metrics:
        return {}
    check_kinds(task.metrics, list(task.batches()), "raise", index, _MEND_KINDS)
    columns: dict[Hashable, Any] = {}
    for name, values in score_rows(task, "raise", index).items():
        mean = _weighted(values, shares, codes, n_runs)
        square = _weighted((values - mean[codes]) ** 2, shares, codes, n_runs)
        spread = np.sqrt(square)
        # the mean of members that agree is rounded
        rounding = spread <= _ROUNDING * np.abs(mean)
        columns |= {f"e_{name}": mean, f"sd_{name}": np.where(rounding, 0.0, spread)}
    return columns


def _weighted(values: Floats, shares: Floats, codes: Ints, n_runs: int) -> Floats:
    """Return the weighted mean of each run's defined values, (rows, ...) to (runs, ...); NaN without any."""
    flat = values.reshape(len(values), -1)
    means = np.empty((n_runs, flat.shape[1]))
    for k in range(flat.shape[1]):
        known = np.where(np.isnan(flat[:, k]), 0.0, shares)
        total = np.bincount(codes, known, n_runs)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[:, k] = np.bincount(codes, known * np.nan_to_num(flat[:, k], nan=0.0), n_runs) / total
    return means.reshape(n_runs, *values.shape[1:])


def _streams(table: pd.DataFrame, keys: Sequence[Hashable], seed: int, first: Ints) -> NDArray[np.uint64]:
    """Return the random stream of each run, named by its values of `by`."""
    named = [column_or_level(table, key, "by").iloc[first].reset_index(drop=True) for key in keys]
    return hash_rows(named, seed) ^ np.uint64(_STREAM)


def _controls(
    task: Task,
    shares: Floats,
    codes: Ints,
    streams: NDArray[np.uint64],
    how: Drawing,
    index: pd.Index,
    expected: Mapping[Hashable, Any],
) -> dict[Hashable, Any]:
    """Relabel the members of a run alike, and return what their expected metrics are by chance."""
    model = task.field.joint_null
    keys = streams[codes]
    match = Matches(0, keys, None, keys).matcher(model, task, None, codes + 1)
    listed = np.zeros(len(streams), np.int64)
    for batch in task.batches():
        listing = match(batch.rows, batch.pairs, keys[batch.rows]).listing
        listed[codes[batch.rows]] = 0 if listing is None else listing.n
    columns: dict[Hashable, Any] = {}
    for n in np.unique(listed).tolist():
        runs = np.flatnonzero(listed == n)
        drawing = replace(how, n_draws=n, listed=True) if n else how
        draws = _draws(task, shares, codes, keys, runs, drawing, index)
        for m in task.metrics:
            summary = summarise(m, expected[f"e_{m.name}"][runs], None, draws[m.name], drawing)
            for name, values in _named(m, control_columns(m, summary, drawing)).items():
                columns.setdefault(name, np.full(len(streams), np.nan))[runs] = values
    return columns | {"pool_draws": np.where(listed > 0, listed, how.n_draws)}


def _draws(
    task: Task,
    shares: Floats,
    codes: Ints,
    keys: NDArray[np.uint64],
    wanted: Ints,
    how: Drawing,
    index: pd.Index,
) -> dict[str, Floats]:
    """Return the expected metrics of runs' relabelled members, (runs, draws): drawn, or all where these are few."""
    alone = replace(how, summarise=False, keep=how.n_draws)
    draws = {m.name: np.empty((len(wanted), how.n_draws)) for m in task.metrics}
    sizes = np.bincount(codes, minlength=int(codes.max()) + 1)[wanted]
    most = max(1, _BLOCK_BYTES // (8 * how.n_draws * max(1, len(task.metrics))))
    block = np.cumsum(sizes) // most
    for number in np.unique(block).tolist():
        places = np.flatnonzero(block == number)
        runs = wanted[places]
        rows = np.flatnonzero(np.isin(codes, runs))
        some = task._replace(
            truth=task.truth.iloc[rows],
            estimate=task.estimate.iloc[rows],
            context=None if task.context is None else task.context.take(rows),
        )
        drawing = Matches(0, keys[rows], None, keys[rows]).matcher(task.field.joint_null, some, None, codes[rows] + 1)
        match = partial(_listed, drawing) if how.listed else drawing
        drawn = {m.name: np.full((len(rows), how.n_draws), np.nan) for m in task.metrics}
        for chunk in control_chunks(some, match, keys[rows], alone, index[rows]):
            for name, values in chunk.draws.items():
                drawn[name][chunk.rows] = values
        within = np.searchsorted(runs, codes[rows])
        for name, values in drawn.items():
            draws[name][places] = _weighted(values, shares[rows], within, len(runs))
    return draws


def _listed(match: Matcher, rows: Ints, pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Return the controls of a batch one by one."""
    listing = match(rows, pairs, keys).listing
    if listing is None:  # pragma: no cover - callers check
        raise ValueError("no listing")
    return listing.controls


def _named(metric: Metric, columns: Mapping[str, Any]) -> dict[Hashable, Any]:
    """Return the columns of an expected metric that tables show."""
    parts = ("_control_mean", "_control_low", "_control_high", "_p", "_skill")
    return {f"e_{metric.name}{part}": columns[metric.name + part] for part in parts}
