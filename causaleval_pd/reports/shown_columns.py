"""Columns of result tables that are shown in print, by the verb that made the table."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
        *(Column("test", "test", "word"), Column("side", "alternative", "word")),
        *(Column("of", "on", "word"), Column("effect size", "effect_size", "word"), _NOTE),
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
