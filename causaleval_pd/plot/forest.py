"""Effects of a table of results with their intervals, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_type
from ..contract.figure import figure
from ..contract.metric import METRICS
from ..cubes.schema import result_columns
from ..drawing import caption as write_caption
from ..drawing import inches, name_rows, place_to_draw, rows_height, tick_names, tone, wrapped_label
from ..inference.result_tables import directions_of
from ..inference.statistical_test import TESTS
from ..inference.statistical_tests import find_test
from ..statistics.words import BETTER, CORRECTIONS, SHOWS, effect_words, level_words, p_text
from ..tables.history import calls

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["forest"]

_NEEDED = ("metric", "comparison", "effect", "ci_low", "ci_high", "p_value")
#: columns of a summary that are drawn, as those of a table of tests
_OF_SUMMARY = {"skill": "effect", "skill_low": "ci_low", "skill_high": "ci_high"}
#: effect sizes without unit, so that several metrics share an axis
_UNITLESS = {"skill", "skill_difference"}
#: width of names beside rows of a new figure, at most, and of the plot itself, in inches
_NAMES, _PLOT = 2.8, 3.6


@figure(
    "effects of a table of results with their intervals",
    of="table",
    concludes="which differences are detected, how large they are, and whom they favour",
)
def forest(
    table: pd.DataFrame, *, directions: Mapping[str, str] | None = None, ax: Axes | None = None, caption: bool = True
) -> Axes:
    r"""Draw the effects of a table of results with their intervals, one row each, about the line of no difference.

    Parameters
    ----------
    table : DataFrame
        Result of `compare` or of `summary(columns="full")`, or some of its rows, of one metric or of effects without
        unit. Of a summary skill is drawn.
    directions : {metric: {"minimize", "maximize", "zero", "none"}}, optional
        Directions of metrics, by which sides are named; those of registered ones are known.

    Returns
    -------
    Axes
        Rows in the order of the table, with the p-value at the right, adjusted if the table has it so, and "≤" where no
        draw was as extreme. Filled points have one of at most .05, those of a summary the verdict "better". Effects and
        limits beyond all finite ones are triangles at the edge; rows whose effect is not defined are named so. Dotted
        lines are margins of equivalence.

    Raises
    ------
    TypeError
        If `table` is not a table.
    ValueError
        If it is not one of these results, has no rows, or its effects have different units.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=None)
    >>> ax = ce.plot.forest(cube.ceval.compare("algorithm", by="all"))
    >>> [tick.get_text() for tick in ax.get_yticklabels()[:2]]
    ['100, ges - lingam', '100, ges - pc']
    >>> ax.get_xlabel().replace("\n", " ")
    'mean difference of structural Hamming distance, first - second'
    """
    table = _checked(table)
    made = calls(table.attrs)[-1] if calls(table.attrs) else {}
    aim = _aim(table, directions or {})
    labels, described = _labels(table)
    effect, low, high = table[["effect", "ci_low", "ci_high"]].to_numpy(np.float64).T
    adjusted = "p_adjusted" in table and made.get("adjust", "") not in (None, "none")
    p = table["p_adjusted" if "p_adjusted" in table else "p_value"].to_numpy(np.float64)
    new_figure = ax is None
    room = min(_NAMES, 0.09 * max(map(len, labels)))
    height = rows_height(labels, room)
    ax = place_to_draw(ax, _PLOT + room + 0.8, height + 1.1)
    if not new_figure:
        height, room = 0.8 * inches(ax, "height"), 0.4 * inches(ax)
    margins = _margins(table, made)
    left, right = _limits(np.concatenate([effect, low, high, margins]))
    ax.set(xlim=(left, right), ylim=(len(table) - 0.4, -0.6), ylabel=described)
    ax.axvline(0, color=tone(0.7, ax), lw=1.0, zorder=0.5, gid="no difference")
    for margin in margins:
        ax.axvline(margin, color=tone(0.7, ax), lw=1.0, ls=":", zorder=0.5, gid="margin")
    detected = (table["verdict"] == BETTER).to_numpy(bool) if "verdict" in table else p <= 0.05
    _draw_effects(ax, effect, low, high, detected)
    name_rows(ax, labels, room, height)
    ax.grid(False, axis="y")
    _write_p(ax, table, p, "adjusted p" if adjusted else "p")
    label = _effect_label(table, aim)
    ax.set_xlabel(wrapped_label(label, _PLOT if new_figure else inches(ax)))
    sides = _sides(table, aim)
    _name_sides(ax, sides, 0.6 * (_PLOT if new_figure else 0.6 * inches(ax)))
    parts = [_interval_words(table, made), _test_words(table, detected, made, adjusted=adjusted)]
    parts += ["dotted: margin"] * bool(margins) + ["which side is better is not known"] * (sides is None)
    bare = int(table["ci_low"].isna().sum())
    if bare:
        parts.append(f"without interval: {bare} row{'s' if bare > 1 else ''}")
    if caption:
        write_caption(ax, new_figure, "; ".join(parts) + f". {_origin(table, labels)}")
    return ax


def _checked(table: Any) -> pd.DataFrame:
    """Return a table of tests in memory, or refuse another object."""
    if isinstance(table, (xr.Dataset, xr.DataArray)) or not hasattr(table, "compute"):
        check_type(table, pd.DataFrame, "a table of compare or summary", "table")
    table = table.reset_index(drop=True)
    if {"metric", "p_value", *_OF_SUMMARY} <= set(table) and "comparison" not in table:
        table = _of_summary(table)
    table = _with_settings(table)
    lacking = [name for name in _NEEDED if name not in table]
    if lacking:
        raise ValueError(
            f"the table lacks the columns {lacking}; draw the result of compare or summary(columns='full')"
        )
    if not len(table):
        raise ValueError("the table has no rows to draw")
    sizes = set(table["effect_size"].astype(str)) if "effect_size" in table else {"mean_difference"}
    if len(sizes) > 1 or (table["metric"].nunique() > 1 and not sizes <= _UNITLESS):
        names = ", ".join(map(repr, table["metric"].unique()))
        raise ValueError(
            f"effects of {names} have different units; choose one metric by table[table['metric'] == ...], or compare "
            "with on='skill'"
        )
    return table


def _with_settings(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the settings of the comparison that made it, which short tables lack."""
    made = next((one for one in calls(table.attrs)[-1:] if one["verb"] == "compare"), None)
    if made is None or "on" in table:
        return table if "alternative" in table else table.assign(alternative="two-sided")
    settings = {name: made[name] for name in ("alternative", "on", "test")}
    return table.assign(**settings, effect_size=find_test(made["test"]).effect)


def _of_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return the skill of a summary as effects of tests against controls."""
    made = next((one for one in calls(table.attrs) if one["verb"] == "cube"), {})
    test = {"comparison": "estimate vs control", "test": "randomisation", "alternative": "greater"}
    effects = table.drop(columns=[x for x in _OF_SUMMARY.values() if x in table]).rename(columns=_OF_SUMMARY)
    if "null" not in table:
        effects = effects.assign(null=", ".join(map(str, made.get("null") or [])))
    return effects.assign(effect_size="skill", n_draws=made.get("n_draws"), **test)


def _labels(table: pd.DataFrame) -> tuple[list[str], str]:
    """Return the name of every row, of what differs between rows, and what these names are."""
    strata = [name for name in table if name not in result_columns()]
    columns = [name for name in [*strata, "null", "control_null", "metric", "comparison"] if name in table]
    wide = [name for name in columns if table[name].nunique(dropna=False) > 1]
    wide = wide or strata[:1] or ["comparison"]
    words = [level_words(table[name]) for name in wide]
    shared = _reference(table)
    if shared and "comparison" in wide:
        words[wide.index("comparison")] = [str(x).removesuffix(f" - {shared}") for x in table["comparison"]]
    return [", ".join(row) for row in zip(*words, strict=True)], ", ".join(map(str, wide))


def _reference(table: pd.DataFrame) -> str:
    """Return the level that all others are compared to, or an empty text."""
    comparisons = table["comparison"].astype(str).unique().tolist()
    parts = comparisons[0].split(" - ")
    # names may hold dashes too
    ends = [" - ".join(parts[k:]) for k in range(1, len(parts))]
    return next((end for end in ends if len(comparisons) > 1 and all(x.endswith(f" - {end}") for x in comparisons)), "")


def _limits(values: Any) -> tuple[float, float]:
    """Return limits of the axis about 0 and all finite values."""
    finite = np.r_[0.0, values[np.isfinite(values)]]
    low, high = float(finite.min()), float(finite.max())
    room = 0.08 * (high - low) or 1.0
    return low - room, high + room


def _draw_effects(ax: Axes, effect: Any, low: Any, high: Any, detected: Any) -> None:
    """Draw points and intervals; what is infinite as triangles at the edges."""
    ink, rows = tone(0.85, ax), np.arange(len(effect))
    left, right = ax.get_xlim()
    ax.hlines(rows, np.clip(low, left, right), np.clip(high, left, right), color=ink, lw=1.4, gid="intervals")
    for here, face, gid in ((detected, ink, "detected"), (~detected, ax.get_facecolor(), "not detected")):
        shown = here & np.isfinite(effect)
        ax.plot(effect[shown], rows[shown], "s", color=ink, mfc=face, ms=5, gid=gid)
    for edge, marker, beyond in ((left, "<", -np.inf), (right, ">", np.inf)):
        at = rows[(effect == beyond) | (low == beyond) | (high == beyond)]
        if len(at):
            ax.plot(np.full(len(at), edge), at, marker, color=ink, ms=6, clip_on=False, gid="infinite")
    for row in rows[np.isnan(effect)]:
        ax.text(0.02, row, "undefined", transform=ax.get_yaxis_transform(), va="center", size="small", gid="undefined")


def _write_p(ax: Axes, table: pd.DataFrame, p: Any, head: str) -> None:
    """Write the p-values at the right."""
    floor = table["p_at_floor"].fillna(False).to_numpy(bool) if "p_at_floor" in table else np.zeros(len(p), bool)
    size = min(8.3, float(ax.get_yticklabels()[0].get_fontsize()))
    style: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "size": size, "gid": "p"}
    for row, (value, least) in enumerate(zip(p, floor, strict=True)):
        text = "no p" if np.isnan(value) else p_text(value, at_floor=bool(least))
        ax.text(1.02, row, text, va="center", **style)
    ax.text(1.02, 1.01, head, transform=ax.transAxes, va="bottom", size=size, gid="p head")


def _effect_label(table: pd.DataFrame, aim: str) -> str:
    """Return the label of the axis: the effect size, of which metric, of whom."""
    names = table["metric"].unique().tolist()
    metric = METRICS[names[0]].long_name if names[0] in METRICS else str(names[0])
    if aim == "zero":
        # what is compared is how far values are from the best one
        metric = f"the distance of {metric} from its optimum"
    of = f" of {metric}" if len(names) == 1 else ""
    if "effect_size" not in table:
        return f"mean difference{of}, estimates - controls"
    if "on" not in table:
        return f"skill{of}, 0 is guessing and 1 is perfect"
    comparisons = table["comparison"].unique()
    less = ", each less its controls" if set(table["on"]) == {"excess"} else ""
    words = effect_words(str(table["effect_size"].iloc[0]))
    shared = _reference(table)
    who = str(comparisons[0]) if len(comparisons) == 1 else f"each - {shared}" if shared else "first - second"
    return f"{words}{of}, {who}{less}"


def _aim(table: pd.DataFrame, directions: Mapping[str, str]) -> str:
    """Return which direction of the compared values is better, "none" where it is not known or differs."""
    if "effect_size" in table and "on" not in table:
        return "maximize"
    aims = set(directions_of(table, directions))
    return aims.pop() if len(aims) == 1 else "none"


def _margins(table: pd.DataFrame, made: Mapping[str, Any]) -> list[float]:
    """Return the margins of tests of equivalence, in the unit of the effects, if they are one."""
    margins = {float((made.get("margin") or {}).get(name, 0.0)) for name in table["metric"]}
    claims = set(table["alternative"].astype(str))
    # margins are in the unit of the metric
    units = set(table["effect_size"].astype(str)) - _UNITLESS if "effect_size" in table else set()
    if len(margins) > 1 or margins == {0.0} or not units or claims != {"equivalent"}:
        return []
    [margin] = margins
    return [-margin, margin]


def _sides(table: pd.DataFrame, aim: str) -> tuple[str, str] | None:
    """Return whom effects below and above 0 favour, None where it is not known which direction is better."""
    if aim == "none":
        return None
    comparisons = table["comparison"].unique()
    if "on" not in table:
        who = ("controls are better", "estimates are better")
    else:
        first, second = (
            str(comparisons[0]).split(" - ", 1)
            if len(comparisons) == 1 and comparisons[0].count(" - ") == 1
            else ("", "")
        )
        shared = _reference(table)
        who = (f"{second or shared or 'second'} is better", f"{first or ('it' if shared else 'first')} is better")
    return who if aim == "maximize" else who[::-1]


def _name_sides(ax: Axes, sides: tuple[str, str] | None, room: float) -> None:
    """Write above the axes whom each side favours."""
    if sides is None:
        return
    style: dict[str, Any] = {"transform": ax.transAxes, "va": "bottom", "size": "small", "gid": "side"}
    left, right = tick_names([f"◂ {sides[0]}", f"{sides[1]} ▸"], room)
    ax.text(0, 1.01, left, ha="left", **style)
    ax.text(1, 1.01, right, ha="right", **style)


def _interval_words(table: pd.DataFrame, made: Mapping[str, Any]) -> str:
    """Describe points and lines."""
    level = made.get("level", table["ci_level"].max() if "ci_level" in table else np.nan)
    share = "" if level is None or np.isnan(level) else f"{100 * level:.4g} % "
    if "effect_size" in table:
        return f"Points and lines: {'effect' if 'on' in table else 'skill'} and its {share}interval"
    return f"Points and lines: effect and its {share}t interval, which may disagree with the test"


def _test_words(table: pd.DataFrame, detected: Any, made: Mapping[str, Any], *, adjusted: bool) -> str:
    """Describe the test, and what filled points conclude."""
    names = sorted(set(table["test"].astype(str))) if "test" in table else []
    test = ", ".join(TESTS[x].long_name if x in TESTS else f"{x} test" for x in names) or "test, which is not known"
    method = f" ({CORRECTIONS.get(made['adjust'], made['adjust'])})" if adjusted and "adjust" in made else ""
    small = f"{f'adjusted p{method}' if adjusted else 'p (not adjusted)'} at most .05"
    if "verdict" in table:
        shown = f"better than controls by the {test}, {small} and the interval of the effect without 0"
    else:
        is_skill = "on" not in table and "effect_size" in table
        sides = sorted(set(table["alternative"])) if not is_skill else []
        shown = " or ".join(SHOWS.get(str(x), str(x)) for x in sides) or "more than guessing"
        shown += f" is detected by the {test}, {small}"
    n, bare = int(detected.sum()), int((detected & table["effect"].isna()).sum())
    undrawn = f", {bare} of these with an undefined effect" if bare else ""
    return f"filled: {shown}, {n} of {len(table)} rows{undrawn}"


def _origin(table: pd.DataFrame, labels: list[str]) -> str:
    """Name the null models, and the levels that all rows share."""
    nulls = [str(x) for x in table["null"].dropna().unique()] if "null" in table else []
    draws = f", {int(table['n_draws'].max())} draws per run" if "n_draws" in table else ""
    text = f"Null model: {', '.join(nulls)}{draws}." if nulls else "No controls are drawn."
    strata = [name for name in table if name not in result_columns()]
    same = [name for name in strata if table[name].nunique(dropna=False) == 1 and str(table[name].iloc[0]) != labels[0]]
    return f"{text} {', '.join(f'{name} = {table[name].iloc[0]}' for name in same)}." if same else text
