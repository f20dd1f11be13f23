"""Tables of runs with one row per run and metric, lists of what is registered, and columns that each verb prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ..inference.statistical_test import TESTS
from ..statistics.words import COMPARED, SHOWS, effect_words
from ..tables.history import calls

#: shares are shown where one is not 0
Kind = Literal["count", "share", "number", "p", "word", "note"]


class Column(NamedTuple):
    """A shown column: its header, the column of the table, how it is written, and the limits of its interval."""

    header: str
    name: str
    kind: Kind = "number"
    limits: tuple[str, str] | None = None


_COUNTS = (Column("failed", "n_failed", "count"), Column("undefined", "n_undefined", "count"))
_P = (Column("p", "p_value", "p"), Column("adjusted p", "p_adjusted", "p"))
_EFFECT = Column("effect", "effect", limits=("ci_low", "ci_high"))
_SKILL = ("skill", "skill")
_NOTE = Column("note", "note", "note")
_WAYS = (Column("mean by", "mean_method", "word"), Column("p by", "p_method", "word"))
#: what settings are called where a table shows them, by their columns
CALLED: Mapping[str, Callable[[str], str]] = {
    "test": lambda name: TESTS[name].long_name if name in TESTS else name,
    "alternative": lambda name: SHOWS.get(name, name),
    "on": lambda name: COMPARED.get(name, name),
    "effect_size": effect_words,
}
#: verbs whose tables have one row per run and one column per metric; they are shown with one row per run and metric
ROW_VERBS = ("with_controls", "from_published")
_ROWS = (
    *(Column("null model", "control_null", "word"), Column("class", "control_kind", "word")),
    *(Column("runs", "n_runs", "count"), Column("value", "value")),
    Column("controls", "control_mean", limits=("control_low", "control_high")),
    *(Column("skill", "skill"), *_P, Column("verdict", "verdict", "word"), *_WAYS, _NOTE),
)

#: columns that are shown of the table of each verb, after the strata and the metric
SHOWN: dict[str, tuple[Column, ...]] = {
    "summary": (
        *(Column("null model", "null", "word"), Column("member", "control_null", "word")),
        *(Column("runs", "n_runs", "count"), *_COUNTS, Column("without controls", "n_without_controls", "count")),
        *(Column("share undefined", "undefined_share", "share"), Column("share infinite", "infinite_share", "share")),
        *(Column("mean", "mean"), Column("controls", "control_mean"), _EFFECT),
        *(Column(*_SKILL, limits=("skill_low", "skill_high")), *_P, Column("verdict", "verdict", "word"), _NOTE),
    ),
    "compare": (
        *(Column("comparison", "comparison", "word"), Column("null model", "null", "word"), _EFFECT, *_P),
        *(Column("pairs", "n_pairs", "count"), Column("truths", "n_truths", "count"), *_COUNTS),
        *(Column("test", "test", "word"), Column("a small p shows", "alternative", "word")),
        *(Column("compared", "on", "word"), Column("effect of first - second", "effect_size", "word"), _NOTE),
    ),
    "rank_test": (
        *(Column("mean rank", "mean_rank"), Column("critical difference", "critical_difference"), *_P),
        *(Column("blocks", "n_blocks", "count"), Column("runs", "n_runs", "count"), _COUNTS[0]),
    ),
    "model": (
        *(Column("null model", "null", "word"), Column("of", "response", "word"), Column("term", "term", "word")),
        *(Column("estimate", "estimate", limits=("ci_low", "ci_high")), Column("standard error", "se"), *_P),
        *(Column("runs", "n_runs", "count"), Column("clusters", "n_clusters", "count"), *_COUNTS),
        *(Column("variance of clusters", "cluster_variance"), Column("residual variance", "residual_variance"), _NOTE),
    ),
    "control_distribution": (
        *(Column("null model", "control_null", "word"), Column("class", "control_kind", "word")),
        *(Column("value", "observed"), Column("controls", "mean", limits=("low", "high"))),
        *(Column("standard deviation", "sd"), Column("skill", "skill"), _P[0], *_WAYS),
    ),
    "expected_metric": (
        *(Column("nodes", "n_nodes", "count"), Column("true edges", "true_edges", "count")),
        *(Column("estimated edges", "estimated_edges", "count"), Column("controls", "mean", limits=("low", "high"))),
    ),
    **dict.fromkeys(ROW_VERBS, _ROWS),
}
#: further columns of these tables, which are not shown
LEFT_OUT = {
    "summary": {
        *("n_scored", "n_clusters", "low", "high", "control_low", "control_high", "control_mean_se", "n_draws"),
        *("control_as_good_share", "p_se", "p_at_floor", "p_method", "n_no_information", "__reading"),
    },
    "model": {"df", "converged", "n_scored"},
    "control_distribution": {"median", "p", "p_se", "sd_method", "control_undefined", "control_seed"},
    "expected_metric": {"median"},
    **{verb: {"p_at_floor"} for verb in ROW_VERBS},
}
#: columns by which a table without history is recognised
MARKS = {
    "rank_test": {"mean_rank"},
    "compare": {"comparison", "n_truths"},
    "summary": {"mean", "control_mean"},
    "model": {"term", "estimate"},
    "control_distribution": {"observed", "control_seed"},
    "expected_metric": {"metric", "estimated_edges", "median"},
}


#: what follows the name of a metric in a table of runs, and the column that it becomes
_PARTS = {
    **{x: x for x in ("control_mean", "control_low", "control_high", "skill", "mean_method", "p_method", "p_at_floor")},
    **{x: x for x in ("p_adjusted", "verdict")},
    **{"p": "p_value", "needed": "note", "control_null": "control_null"},
}
#: what else follows it, and is not shown
_LEFT_OUT = ("control_mean_se", "p_se", "p_draws", "control_undefined", "chosen", "p_low", "p_high")
#: columns that describe the controls of a run
_OF_CONTROLS = ("control_null", "control_kind", "control_seed", "n_draws")
#: columns by which tables of declarations are recognised
_LISTS = (
    {"long_name", "kinds", "closed_form"},
    {"long_name", "options"},
    {"default_metrics", "default_null"},
    {"field", "explanation"},
    {"long_name", "concludes"},
    {"long_name", "design", "binary"},
    {"tool", "by_name"},
)


def is_list(table: pd.DataFrame) -> bool:
    """Return whether a table lists metrics, null models, fields or other declarations."""
    return not calls(table.attrs) and any(marks <= set(table.columns) for marks in _LISTS)


def metrics_of_rows(table: pd.DataFrame) -> list[str]:
    """Return the metrics of a table of runs that have controls."""
    columns = [str(x) for x in table.columns]
    return [name for name in columns if f"{name}_control_mean" in columns]


def long_form(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of runs with one row per run and metric, run by run; graphs are left out."""
    metrics = metrics_of_rows(table)
    made = next((one for one in reversed(calls(table.attrs)) if one["verb"] in ROW_VERBS), {})
    cells = {str(made.get(name, name)) for name in ("truth", "estimate")}
    parts = {f"{m}_{part}" for m in metrics for part in (*_PARTS, *_LEFT_OUT)}
    of_rows = [x for x in table.columns if x not in parts and x not in metrics and x not in (*cells, *_OF_CONTROLS)]
    results = {"metric", "value", *_PARTS.values()}
    # a column of the user keeps its place beside a result of the same name
    kept = table[of_rows].rename(columns={x: f"{x} (column)" for x in of_rows if x in results})
    blocks = []
    for m in metrics:
        part_columns = {new: table[f"{m}_{part}"] for part, new in _PARTS.items() if f"{m}_{part}" in table}
        shared = {name: table[name] for name in _OF_CONTROLS[:2] if name in table and name not in part_columns}
        if f"{m}_p_high" in table:
            # of a printed value p may only be bounded
            part_columns["p_value"] = table[f"{m}_p_high"]
        at_floor = {} if "p_at_floor" in part_columns else _floors(table, m, made)
        blocks.append(kept.assign(metric=m, value=table[m], **shared, **part_columns, **at_floor))
    if not blocks:
        return kept.assign(metric="", value=np.nan).head(0)
    stacked = pd.concat(blocks, ignore_index=True)
    order = np.arange(len(stacked)).reshape(len(blocks), len(table)).T.reshape(-1)
    return stacked.iloc[order].reset_index(drop=True)


def _floors(table: pd.DataFrame, metric: str, made: Mapping[str, Any]) -> dict[str, pd.Series]:
    """Mark the p-values that are bounds: the least that the draws can give, or without a known law."""
    bounded = table[f"{metric}_p"].isna() if f"{metric}_p_high" in table else False
    draws = table["n_draws"] if "n_draws" in table else made.get("n_draws")
    if draws is None or f"{metric}_p" not in table or f"{metric}_p_method" not in table:
        return {}
    simulated = table[f"{metric}_p_method"].astype(str).str.startswith("simulated")
    return {"p_at_floor": bounded | (simulated & (table[f"{metric}_p"] * (draws + 1) <= 1 + 1e-9))}


def list_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a list of declarations as texts; nothing where a value is missing, "yes" where one is true."""
    named = table.reset_index() if any(table.index.names) else table.reset_index(drop=True)

    def text(x: object) -> str:
        if isinstance(x, (bool, np.bool_)):
            return "yes" if x else ""
        missing = x is None or x is pd.NA or (isinstance(x, float) and np.isnan(x))
        return "" if missing else f"{x:g}" if isinstance(x, float) else str(x)

    texts = {name: [text(x) for x in named[name]] for name in named}
    shown = {name: values for name, values in texts.items() if any(values)}
    return pd.DataFrame(shown, index=pd.RangeIndex(len(named)), dtype=object)
