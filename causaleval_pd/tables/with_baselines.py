"""Add the estimates of baselines to a table of runs, one row per data set and baseline."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_columns, check_known, check_type, name_row, nearest
from ..contract.context import Context
from ..execution.random_streams import RNGLike, hash_rows, resolve_seed
from ..fields.baselines import rules
from ..graphs.column import as_graph, coerce_graphs, graph_column
from ..graphs.graph import Graph
from ..graphs.packing import group_rows, unpack_column
from .context import fingerprint, resolve_context
from .history import call, calls, remember

Baseline = Callable[..., Any]
#: the rows that an estimate of a baseline stands for, its name and its graph
Added = tuple[NDArray[np.int64], str, Graph]

#: baselines by name
BASELINES: dict[str, Baseline] = {
    function.__name__: function
    for function in (
        rules.var_sort_regress,
        rules.r2_sort_regress,
        rules.random_sort_regress,
        rules.correlation_threshold,
        rules.partial_correlation_threshold,
        rules.empty,
        rules.complete,
    )
}
#: those that take a number of edges
MATCHED = ("correlation_threshold", "partial_correlation_threshold")


def with_baselines(
    table: pd.DataFrame,
    baselines: str | Iterable[str | Baseline] | Mapping[str, str | Baseline],
    *,
    context: Mapping[str, Any],
    n_edges: Literal["match"] | None = None,
    rng: RNGLike = None,
    algorithm: Hashable = "algorithm",
    truth: Hashable | None = "truth",
    estimate: Hashable = "estimate",
) -> pd.DataFrame:
    """Add rows with the estimates of baselines to a table of runs of graphs.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    baselines : str, iterable of str or callable, or mapping
        Names of `baselines`, or functions `f(data, rng)` that return a graph, each called as the function; a mapping
        names them: `{"ten edges": partial(ce.baselines.correlation_threshold, n_edges=10)}`.
    context : mapping
        `{"data": frame}` for all rows, or `{"data": (column, frames)}` where the column names objects of the mapping
        `frames`. A data set is one case per row, with one column per node; further columns are not read. With
        `"missing": "drop"`, complete rows only.
    n_edges : {"match"}, optional
        "match" gives thresholded (partial) correlations as many edges as an estimate has: one row per estimate then,
        whose name is "correlation_threshold like pc" beside pc. By default the level of a test decides, on one row per
        data set.
    rng : int, Generator or None
        Seed; what a baseline draws depends on it, the data and the baseline's name alone.
    algorithm : hashable
        Column that names the algorithms, and the baselines in the new rows.
    truth, estimate : hashable
        Columns of the cells; `truth=None` where the table has no truths.

    Returns
    -------
    DataFrame
        A new table: the rows of `table`, with estimates in canonical form, then one row for each baseline and distinct
        pair of truth and data set. Other columns are copied where all runs on that truth and data set agree, and
        missing where they do not. An index of numbers is continued; in another one, labels name the baseline.

    Raises
    ------
    ValueError
        If a column or baseline is unknown, a name is taken, a node has no column in the data, or a baseline cannot be
        computed; names the row.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> data = ce.datasets.sachs()
    >>> runs = pd.DataFrame({"algorithm": ["mine"], "truth": [ce.datasets.sachs_truth()]})
    >>> runs["estimate"] = "raf -> mek; " + "; ".join(data.columns)
    >>> more = runs.ceval.with_baselines(["var_sort_regress", "empty"], context={"data": data}, rng=7)
    >>> more.ceval.evaluate(["adjacency_recall"])[["algorithm", "adjacency_recall"]]
              algorithm  adjacency_recall
    0              mine              0.05
    1  var_sort_regress              0.90
    2             empty              0.00
    """
    check_columns(table, {"algorithm": algorithm, "estimate": estimate} | ({} if truth is None else {"truth": truth}))
    check_choice(n_edges, ("match", None), "n_edges")
    chosen, seed = _named(baselines), resolve_seed(rng)
    check_type(context, Mapping, "a mapping such as {'data': frame}", "context")
    if "data" not in context:
        raise ValueError(f"baselines need data: pass context={{'data': frame}}; found {sorted(context)}")
    entries = {name: context[name] for name in ("data", "missing") if name in context}
    inputs = cast(Context, resolve_context(table, entries, {"baselines": tuple(entries)}))
    cells = coerce_graphs(table[estimate], estimate)
    truths = None if truth is None else coerce_graphs(table[truth], truth)
    known = set(table[algorithm].dropna().tolist())
    nodes_of_rows = _nodes_of_rows(cells, truths, inputs)
    codes = pd.DataFrame({"truth": 0 if truths is None else pd.factorize(truths)[0], "data": inputs.codes})
    numbers = np.asarray(codes.groupby(["truth", "data"], sort=False).ngroup(), np.int64)
    groups = [(int(rows[0]), rows) for _, rows in group_rows(numbers)]
    # graphs by data set, nodes, baseline and number of edges
    made: dict[Any, Graph] = {}
    added: list[Added] = []
    for name, function in chosen.items():
        matched = n_edges == "match" and function in [BASELINES[x] for x in MATCHED]
        # a row for each estimate, or for each group
        alone = [(int(row), np.array([row])) for row in np.flatnonzero(cells.notna())] if matched else None
        for first, rows in groups if alone is None else alone:
            label, settings = name, dict[str, int]()
            if matched:
                if pd.isna(table[algorithm].iloc[first]):
                    raise ValueError(f"{name_row(first, table.index, algorithm)} is missing; n_edges='match' names it")
                label = f"{name} like {table[algorithm].iloc[first]}"
                settings = {"n_edges": int(cells.iloc[[first]].graph.n_edges.iloc[0])}
            if label in known:
                raise ValueError(
                    f"column {algorithm!r} holds {label!r} already; name the baseline otherwise, as in "
                    f"{{'my {name}': {name!r}}}"
                )
            code, nodes = int(inputs.codes[first]), nodes_of_rows[first]
            key = (code, nodes, name, *settings.values())
            if key not in made:
                try:
                    made[key] = _estimate(inputs, code, nodes, name, partial(function, **settings), seed)
                except (TypeError, ValueError) as error:
                    raise type(error)(f"{name_row(first, table.index)}: baseline {name!r}: {error}") from error
            added.append((rows, label, made[key]))
    result = _appended(table, added, cells, algorithm, estimate)
    entry = call("with_baselines", {"baselines": list(chosen), "n_edges": n_edges, "seed": seed})
    return remember(result, [*calls(table.attrs), entry], table.attrs)


def _named(given: Any) -> dict[str, Baseline]:
    """Return the baselines of a call by name."""
    if isinstance(given, str) or callable(given):
        given = [given]
    check_type(given, (Mapping, Iterable), "names of baselines, functions, or a mapping of these", "baselines")
    entries = list(given.items()) if isinstance(given, Mapping) else [(None, one) for one in given]
    baselines: dict[str, Baseline] = {}
    for name, one in entries:
        if isinstance(one, str):
            check_known(one, BASELINES, "baseline")
        elif not callable(one):
            raise TypeError(f"a baseline is a name or a function f(data, rng), found {one!r}")
        label = name if name is not None else one if isinstance(one, str) else getattr(one, "__name__", None)
        if not isinstance(label, str) or not label:
            raise ValueError(f"{one!r} has no name; give one by a mapping, as in {{'my baseline': function}}")
        if label in baselines:
            raise ValueError(f"baselines names {label!r} twice; give names by a mapping")
        baselines[label] = BASELINES[one] if isinstance(one, str) else one
    if not baselines:
        raise ValueError(f"baselines names no baseline; known are {', '.join(BASELINES)}")
    return baselines


def _nodes_of_rows(cells: pd.Series, truths: pd.Series | None, inputs: Context) -> list[tuple[str, ...] | None]:
    """Return the nodes of each row: of its estimate, else of another estimate on the same data, else of its truth."""
    columns = [unpack_column(column) for column in (cells, truths) if column is not None]
    sides = [[x.node_sets[number] if number >= 0 else None for number in x.row_node_set.tolist()] for x in columns]
    others: dict[int, tuple[str, ...]] = {}
    for code, nodes in zip(inputs.codes.tolist(), sides[0], strict=True):
        if nodes is not None:
            others.setdefault(code, nodes)
    choices = zip(sides[0], map(others.get, inputs.codes.tolist()), sides[-1], strict=True)
    return [next((nodes for nodes in row if nodes is not None), None) for row in choices]


def _estimate(
    inputs: Context, code: int, nodes: tuple[str, ...] | None, name: str, function: Baseline, seed: int
) -> Graph:
    """Return the graph that a baseline makes of a data set."""
    data = rules.complete_data(inputs.values[code], nodes or ())
    check_type(data, pd.DataFrame, "a DataFrame with one case per row and one variable per column", "data")
    lacking = [node for node in nodes or () if node not in data.columns]
    if lacking:
        raise ValueError(
            f"the data have no column {lacking[0]!r}, which is a node; {nearest(lacking[0], data.columns)}"
            f"their columns are {data.columns.tolist()[:10]}"
        )
    seen = data if nodes is None else data[list(nodes)]
    stream = hash_rows([pd.Series([fingerprint(seen)]), pd.Series([name])], seed)
    graph = as_graph(function(seen, np.random.default_rng(int(stream[0]))))
    if nodes is not None and graph.nodes != nodes:
        raise ValueError(f"it returned a graph of the nodes {list(graph.nodes)[:10]}, not {list(nodes)[:10]}")
    return graph


def _appended(
    table: pd.DataFrame, added: list[Added], cells: pd.Series, algorithm: Hashable, estimate: Hashable
) -> pd.DataFrame:
    """Return the table with a row for each name, copied where the rows that it stands for agree."""
    copies, names = [rows for rows, _, _ in added], [name for _, name, _ in added]
    first = np.array([rows[0] for rows in copies], np.int64)
    columns: dict[Hashable, Any] = {}
    for name in table.columns:
        old = table[name]
        if isinstance(old, pd.DataFrame):
            raise ValueError(f"the table has {old.shape[1]} columns called {name!r}; column names must be unique")
        if name == estimate:
            parts = [cells, graph_column([graph for _, _, graph in added])]
        elif name == algorithm:
            kept = old.astype(object) if isinstance(old.dtype, pd.CategoricalDtype) else old
            parts = [kept, pd.Series(names, dtype="str" if pd.api.types.is_string_dtype(kept.dtype) else object)]
        else:
            try:
                codes = pd.factorize(old)[0]
            except TypeError:  # cells that cannot be hashed
                codes = pd.factorize(old.map(repr))[0]
            differ = np.array([(codes[rows] != codes[rows[0]]).any() for rows in copies], bool)
            new = old.iloc[first]
            if differ.any():
                new = (new.astype("boolean") if pd.api.types.is_bool_dtype(new.dtype) else new).mask(differ)
            parts = [old, new]
        columns[name] = pd.concat([x.reset_index(drop=True) for x in parts], ignore_index=True).array
        if name == algorithm and isinstance(old.dtype, pd.CategoricalDtype):
            levels = [*old.cat.categories, *dict.fromkeys(names)]
            columns[name] = pd.Categorical(columns[name], categories=levels, ordered=old.cat.ordered)
    return pd.DataFrame(columns, index=_index(table, first, names, algorithm), columns=table.columns)


def _index(table: pd.DataFrame, first: NDArray[np.int64], names: list[str], algorithm: Hashable) -> pd.Index:
    """Return the index of the table and of the new rows."""
    old = table.index
    if isinstance(old, pd.MultiIndex):
        place = list(old.names).index(algorithm) if algorithm in old.names else 0
        new = [
            tuple(name if i == place else part for i, part in enumerate(old[row]))
            for row, name in zip(first.tolist(), names, strict=True)
        ]
        return cast(pd.Index, old.append(pd.MultiIndex.from_tuples(new, names=old.names)))
    if pd.api.types.is_integer_dtype(old.dtype):
        start = int(old.max()) + 1 if len(old) else 0
        return pd.Index([*old, *range(start, start + len(names))], name=old.name)
    labels = [f"{name}, {old[row]}" for row, name in zip(first.tolist(), names, strict=True)]
    return pd.Index([*old, *labels], name=old.name)
