"""Rows of a printed table, read and checked: numbers of nodes, edges and runs, and the values of metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..contract.checks import check_known, check_type, check_whole, name_row, nearest, shown
from ..contract.metric import METRICS
from ..graphs.column import as_graph, graph_column
from ..graphs.graph import Graph
from ..graphs.kernels.planes import PLAIN_KINDS
from .printed_numbers import are_printed_numbers, decimals_of, half_unit, read_counts, read_number
from .printed_rankings import RANKING_METRICS

#: columns that describe a row; the first three are needed where there is no truth
NEEDED = ("n_nodes", "true_edges", "estimated_edges")
OPTIONAL = ("n_runs", "kind", "truth")
#: columns that describe rows of whatever metrics
SHARED = ("n_settings", "shd_convention")
#: nodes, runs and edges of a row up to which it takes little time and memory
_MOST_NODES, _MOST_RUNS, _MOST_EDGES = 100_000, 100_000, 1_000_000
#: what printed tables call them
_OTHER_NAMES = {
    "n_nodes": ("nodes", "d", "n_variables", "variables", "vars", "n_vars"),
    "true_edges": ("m_true", "edges_true", "n_true_edges", "n_edges_true"),
    "estimated_edges": ("m_est", "edges", "n_edges", "edges_estimated", "n_estimated_edges", "nnz"),
    "n_runs": ("runs", "repetitions", "reps", "n_reps", "replicates", "repeats", "seeds", "n_repetitions", "graphs"),
    "kind": ("class", "graph_class"),
    "shd_convention": ("convention", "shd_type"),
    "accuracy": ("accuracy", "acc"),
    "class_counts": ("true_counts", "label_counts", "n_per_class"),
    "answered_counts": ("answer_counts", "predicted_counts", "given_counts"),
}
#: words of tables that leave open what was counted, adjacencies or directed edges
_UNCLEAR = ("precision", "recall", "f1", "f1_score", "tp", "fp", "fn", "tn", "tpr", "fpr", "fdr", "npv", "mcc", "hd")
#: words of tables that leave open which area was taken
_AREAS = ("auprc", "aupr", "pr_auc", "auc_pr", "prauc")


class Edges(NamedTuple):
    """Numbers of edges of a row's runs: one number for all of them, one number per run, or (`mean`) their mean."""

    numbers: tuple[float, ...]
    mean: bool
    #: half a unit of the last printed digit of a mean, 0 where the mean is known exactly
    slack: float = 0.0

    @property
    def average(self) -> float:
        """The mean over the runs."""
        return float(np.mean(self.numbers))


class Row(NamedTuple):
    """What is known of the runs that a row sums up; None where it is not."""

    name: str
    n_nodes: int | None
    true: Edges | None
    estimated: Edges | None
    n_runs: int | None
    kind: str | None
    truth: Graph | None

    @property
    def n_pairs(self) -> int:
        """Number of node pairs."""
        return 0 if self.n_nodes is None else self.n_nodes * (self.n_nodes - 1) // 2

    @property
    def runs(self) -> list[tuple[int, int]] | None:
        """Edges of truth and estimate, one pair per run; None where those of some run are not known."""
        sides = (self.true, self.estimated)
        if self.n_runs is None or any(side is None or side.mean for side in sides):
            return None
        whole = [[int(x) for x in side.numbers] for side in sides if side is not None]
        true, estimated = (x * self.n_runs if len(x) == 1 else x for x in whole)
        return list(zip(true, estimated, strict=True))


def check_names(table: pd.DataFrame, metrics: Sequence[str] | None) -> None:
    """Refuse tables whose columns have other names than those that are read, and suggest the renaming."""
    check_type(table, pd.DataFrame, "a DataFrame in memory", "table")
    if not table.columns.is_unique:
        raise ValueError(f"the column {table.columns[table.columns.duplicated()][0]!r} occurs twice; rename one")
    of_questions = ("accuracy", "class_counts", "answered_counts") if "n_questions" in table else ()
    for name in ("n_runs", "kind", *["shd_convention"] * ("shd" in table), *of_questions):
        _check_synonyms(table, name)
    scored = [column for column in table.columns if is_metric(column)]
    if "metric" in table:
        _check_claims(table, scored)
    if metrics is not None:
        for name in metrics:
            if name not in table:
                raise ValueError(
                    f"the table has no column {name!r}; rename one of {shown(list(table.columns))} by "
                    f"table.rename(columns={{...: {name!r}}})"
                )
        return
    for column in table.columns:
        if str(column).casefold() in _AREAS and _numeric(table, column):
            raise ValueError(
                f"the column {column!r} may be average precision or an area by the trapezoid rule, whose guesses "
                f"differ; if it is the former, {_renaming(column, 'average_precision')}; metrics= names other columns"
            )
        # a column of one letter may be like any name
        doubtful = str(column).casefold() in _UNCLEAR or (not scored and len(str(column)) > 1)
        if doubtful and _numeric(table, column) and column not in METRICS and column not in (*OPTIONAL, *SHARED):
            hint = METRICS.suggest(column)
            if hint:
                raise ValueError(
                    f"the column {column!r} is not named after a metric; {hint.strip()} Rename it by "
                    f"table.rename(columns={{{column!r}: ...}}), or name the metrics of the table by metrics="
                )
    if not scored:
        raise ValueError(
            f"the table has no column that is named after a metric; rename some of "
            f"{shown(list(table.columns))} by table.rename(columns=...); ce.list_metrics('graph') lists the names, and "
            "'auroc', 'average_precision' and 'accuracy' are read too"
        )


def _check_synonyms(table: pd.DataFrame, name: str) -> None:
    """Refuse a table that has a column under another name."""
    if name in table:
        return
    meant = next((x for x in table.columns if str(x).casefold() in _OTHER_NAMES[name]), None)
    if meant is not None:
        raise ValueError(f"the table has no column {name!r}; {_renaming(meant, name)}")


def _check_claims(table: pd.DataFrame, scored: Sequence[Hashable]) -> None:
    """Refuse a table of one claim per row, whose metrics a column names, unless it holds the claims of one metric."""
    named = table["metric"].dropna().astype(str)
    metrics = [x for x in dict.fromkeys(named) if is_metric(x)]
    one = metrics[0] if metrics else "shd"
    if "value" in table and metrics and not scored:
        raise ValueError(
            f"each row is a claim on the metric that the column 'metric' names; judge one metric at a time: "
            f"from_published(table[table['metric'] == {one!r}].rename(columns={{'value': {one!r}}}))"
        )
    other = np.flatnonzero(~table["metric"].isin([*scored, *set(named) - set(metrics)]) & table["metric"].notna())
    if len(scored) == 1 and len(other):
        raise ValueError(
            f"{name_row(int(other[0]), table.index)}: the column 'metric' says {table['metric'].iloc[other[0]]!r}, but "
            f"the value is in the column {scored[0]!r}; keep the rows of one metric by "
            f"table[table['metric'] == {scored[0]!r}]"
        )


def check_graph_columns(table: pd.DataFrame) -> None:
    """Refuse tables of graph metrics without the numbers of nodes and edges."""
    has_truth = "truth" in table and bool(table["truth"].notna().all())
    for name in NEEDED:
        if name in table or (has_truth and name != "estimated_edges"):
            continue
        _check_synonyms(table, name)
        free = [x for x in table.columns if x not in (*NEEDED, *OPTIONAL, *SHARED) and not is_metric(x)]
        near = nearest(name, free)
        raise ValueError(
            f"the table has no column {name!r}; {near}rename the column that has it by "
            f"table.rename(columns={{...: {name!r}}}), or, where it was not printed, table.assign({name}=None)"
        )


def is_metric(name: Hashable) -> bool:
    """Return whether a column is named after a metric that is read, one with a better end."""
    if name in ("accuracy", *RANKING_METRICS):
        return True
    known = name not in (*NEEDED, *OPTIONAL, *SHARED) and name in METRICS
    return known and METRICS[str(name)].field == "graph" and METRICS[str(name)].direction is not None


def _numeric(table: pd.DataFrame, column: Hashable) -> bool:
    return not pd.api.types.is_bool_dtype(table[column]) and are_printed_numbers(table[column])


def _renaming(old: Hashable, new: str) -> str:
    return f"table.rename(columns={{{old!r}: {new!r}}}) names it so"


def read_rows(table: pd.DataFrame, constant: Sequence[str]) -> list[Row]:
    """Read and check what each row states of its runs."""
    if "truth" in table:
        table = table.assign(truth=graph_column(table["truth"]))
    # trailing zeros are lost when numbers are read: a column has the most decimals of its numbers
    places = {
        name: max((decimals_of(float(x)) for x in table[name] if _is_number(x) and math.isfinite(x)), default=0)
        for name in ("true_edges", "estimated_edges")
        if name in table
    }
    return [_read_row(table, i, constant, places) for i in range(len(table))]


def _read_row(table: pd.DataFrame, i: int, constant: Sequence[str], places: Mapping[str, int]) -> Row:
    name = name_row(i, table.index)
    cells = {x: table[x].iloc[i] if x in table else None for x in (*NEEDED, *OPTIONAL)}
    decimals: dict[str, int | None] = dict(places)
    for x in (*NEEDED, "n_runs"):
        cell = cells[x]
        if x.endswith("_edges") and isinstance(cell, str) and re.search(r"\d\s*[,;]", cell):
            cells[x] = read_counts(cell, f"{name}: {x}")
        elif isinstance(cell, str):
            cells[x], decimals[x], *_ = read_number(cells[x], f"{name}: {x}")
    truth = None if _missing(cells["truth"]) else as_graph(cells["truth"])
    if truth is not None and not (truth.kind in PLAIN_KINDS and truth.kind != "digraph"):
        raise ValueError(f"{name}: truth is a graph of the class {truth.kind!r}, from which no controls are drawn")
    n_nodes = _whole(cells["n_nodes"], f"{name}: n_nodes", 2, _MOST_NODES)
    n_runs = _whole(cells["n_runs"], f"{name}: n_runs", 1, _MOST_RUNS)
    kind = None if _missing(cells["kind"]) else cells["kind"]
    if kind is not None:
        check_known(kind, PLAIN_KINDS, f"kind in {name}")
    if truth is not None:
        if n_nodes not in (None, truth.n_nodes):
            raise ValueError(
                f"{name}: n_nodes is {n_nodes}, but the truth has {truth.n_nodes} nodes; "
                "ce.graph_column(..., nodes=) adds nodes without edges"
            )
        n_nodes = truth.n_nodes
    n_pairs = None if n_nodes is None else n_nodes * (n_nodes - 1) // 2
    sides: dict[str, Edges | None] = {}
    for column in ("true_edges", "estimated_edges"):
        fixed = column in constant or (column == "true_edges" and truth is not None)
        side = _edges(cells[column], f"{name}: {column}", n_runs, n_pairs, fixed, decimals.get(column))
        if side is not None and len(side.numbers) > 1:
            n_runs = len(side.numbers)
        sides[column] = side
    if truth is not None:
        if sides["true_edges"] not in (None, (known := Edges((float(truth.n_edges),), False))):
            raise ValueError(f"{name}: true_edges is {cells['true_edges']}, but the truth has {truth.n_edges} edges")
        sides["true_edges"] = known if sides["true_edges"] else Edges((float(truth.n_edges),), False)
    sides = {column: _settled(side, f"{name}: {column}", n_runs) for column, side in sides.items()}
    lengths = {len(side.numbers) for side in sides.values() if side is not None} - {1}
    if len(lengths) > 1:
        raise ValueError(f"{name}: true_edges and estimated_edges are lists of different lengths")
    return Row(name, n_nodes, sides["true_edges"], sides["estimated_edges"], n_runs, kind, truth)


def _missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and math.isnan(cell))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float, np.integer, np.floating)) and not isinstance(cell, bool)


def _settled(side: Edges | None, what: str, n_runs: int | None) -> Edges | None:
    """Return a mean exactly if one whole number of edges in all runs rounds to it; refuse it if none does."""
    if side is None or not side.mean or n_runs is None:
        return side
    mean, room = side.average, side.slack + 1e-9
    first, last = math.ceil((mean - room) * n_runs), math.floor((mean + room) * n_runs)
    if first > last:
        below = math.floor(mean * n_runs)
        raise ValueError(
            f"{what} is {mean:g}, but the nearest are {below / n_runs:.6g} and {(below + 1) / n_runs:.6g} as means of "
            f"{n_runs} whole numbers; n_runs counts the runs in the mean; text such as '{mean:g}' keeps decimals"
        )
    return Edges((first / n_runs,), True) if first == last else side


def _whole(cell: Any, what: str, least: int, most: int) -> int | None:
    return None if _missing(cell) else check_whole(cell, what, least, most)


def _edges(
    cell: Any, what: str, n_runs: int | None, n_pairs: int | None, fixed: bool, decimals: int | None
) -> Edges | None:
    """Read one cell of numbers of edges: a number, a list of one number per run, or nothing."""
    slack = 0.0
    if isinstance(cell, (list, tuple, np.ndarray)):
        numbers = tuple(float(check_whole(x, f"{what} of a run")) for x in cell)
        if n_runs not in (None, len(numbers)) or not numbers:
            raise ValueError(f"{what} lists {len(numbers)} numbers for {n_runs} runs; it needs one per run")
        mean = False
    elif _missing(cell):
        return None
    else:
        if not _is_number(cell) or not 0 <= cell < math.inf:
            raise ValueError(f"{what} must be a number from 0, or a list of one number per run, found {shown(cell)}")
        numbers, mean = (float(cell),), n_runs != 1 and not fixed
        if mean:
            slack = half_unit(decimals or 0)
        elif cell != math.floor(cell):
            raise ValueError(f"{what} is {cell:g}, but one run has a whole number of edges; n_runs counts the runs")
    if max(numbers) > _MOST_EDGES:
        raise ValueError(f"{what} is {max(numbers):g}; from_published takes up to {_MOST_EDGES:,} edges")
    if n_pairs is not None and max(numbers) > n_pairs:
        raise ValueError(f"{what} is {max(numbers):g}, but the nodes have only {n_pairs} pairs")
    return Edges(numbers, mean, slack)
