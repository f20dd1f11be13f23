"""Result tables for print: few columns, intervals beside their means, marks, and a legend of what they mean.

Texts become HTML or LaTeX in which every character is shown as it is, and none is read as markup.
"""

from __future__ import annotations

import html
import math
import re
import string
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_known, check_number, check_type
from ..cubes.schema import result_columns
from ..cubes.stratum_tests import LEAST_OF_COMBINATIONS
from ..inference.result_tables import directions_of, of_skill
from ..statistics.stratum_statistic import COMBINATIONS
from ..statistics.words import CORRECTIONS, DASH, MINUS, level_words, p_text
from ..tables.history import calls
from .row_tables import (
    CALLED,
    LEFT_OUT,
    MARKS,
    ROW_VERBS,
    SHOWN,
    Column,
    is_list,
    list_texts,
    long_form,
    metrics_of_rows,
)

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

__all__ = ["style"]

Output = Literal["html", "latex"]

_LATEX = {
    **{x: f"\\{x}" for x in "{}$&#%_"},
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
    **{
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "`": r"\textasciigrave{}",
    },
    # after the end of a row, a bracket or a star would be an argument of it
    **{"[": "{[}", "]": "{]}", "*": "{*}"},
    # two hyphens would join
    **{"-": "{-}", "'": "{'}"},
    **{
        MINUS: "$-$",
        DASH: "--",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "\u00d7": r"$\times$",
        "±": r"$\pm$",
        "\u03b1": r"$\alpha$",
        "β": r"$\beta$",
    },
    **{"↓": r"$\downarrow$", "↑": r"$\uparrow$", "→": r"$\rightarrow$"},
}
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def escaped(text: object, output: Output) -> str:
    """Return a text on one line as HTML or LaTeX shows it; control characters become spaces."""
    line = _BLANK.sub(" ", str(text))
    if output == "html":
        return html.escape(line)
    return "".join(_LATEX.get(x, x) for x in line)


def number(x: float) -> str:
    """Return a number with three significant digits, whole ones as they are; a dash where it is missing."""
    if math.isnan(x):
        return DASH
    if abs(x) == float("inf") or x == 0:
        text = f"{abs(x):g}"
    elif abs(x) >= 999.5:
        text = f"{abs(x):,.0f}" if abs(x) < 1e9 else f"{abs(x):.2e}"
    else:
        text = f"{abs(x):#.3g}".removesuffix(".") if abs(x) >= 1e-4 else f"{abs(x):.2e}"
    return (MINUS if x < 0 else "") + text.replace("e-", f"e{MINUS}")


#: words that are the same in all rows move to the legend, and these are left out there
_DULL = {("comparison", "estimate vs control")}
_ARROWS = {"minimize": "↓", "maximize": "↑", "zero": "→ 0"}
_AIMS = {"↓": "lower is better", "↑": "higher is better", "→ 0": "closest to 0 is best"}


class Shown(NamedTuple):
    """A table for print."""

    #: what each cell shows, all texts
    texts: pd.DataFrame
    #: which cells are in bold
    bold: pd.DataFrame
    #: what marks and letters mean
    legend: list[str]


def style(
    table: pd.DataFrame,
    *,
    best: str | None = None,
    alpha: float = 0.05,
    directions: Mapping[str, str] | None = None,
    output: Literal["html", "latex"] = "html",
) -> Styler:
    """Style a result table for a notebook, a page or a paper (extra `report`).

    Parameters
    ----------
    table : DataFrame
        Result of `summary`, `compare`, `rank_test`, `model`, `control_distribution`,
        `expected_metric`, `with_controls` or `from_published`; some of its rows or columns will do. Or a list, such as
        `list_metrics()`, or a table of `wide`, whose best value of each row is in bold.
        Tables with one row per run are shown with one row per run and metric.
    best : str, optional
        Stratum whose best level is in bold, such as "algorithm", among rows that are alike in metric and other strata.
        Default is the only stratum with several levels, unless they are numbers; with more of them nothing is in bold.
        Ranks need no `best`. Values that are printed alike are equally good; whether a level is better than another
        is a question to `compare`.
    alpha : float
        Largest p-value that is marked by a star, of adjusted p-values where there are any.
    directions : {metric: {"minimize", "maximize", "zero", "none"}}, optional
        Directions of metrics; those of registered ones are known.
    output : {"html", "latex"}
        For which of `to_html()` and `to_latex(hrules=True)`. LaTeX needs T1 or OpenType fonts, and booktabs for the
        rules.

    Returns
    -------
    Styler
        Its data are the texts that it shows. Intervals stand behind their means. Arrows at the metric show which
        direction is better. A p-value at the floor of R draws is written as "≤ 1/(R+1)", or "≤" and a smaller number.
        Words and counts that are the same in all rows, notes, the meaning of marks, and the controls, seeds and
        conventions behind the table are in the caption. Names are escaped.

    Raises
    ------
    ValueError
        If the table is not one of these results, or a name or setting is unknown.
    ImportError
        If jinja2 is missing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 400")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> styled = ce.style(cube.ceval.summary(columns="full"))
    >>> styled.data[["algorithm", "metric", "skill", "p"]]
      algorithm metric                 skill         p
    0       ges  shd ↓  0.673 [0.601, 0.731]  ≤ 1e−5 *
    1    lingam  shd ↓  0.867 [0.778, 0.920]  ≤ 1e−5 *
    2        pc  shd ↓  0.615 [0.549, 0.671]  ≤ 1e−5 *
    >>> "font-weight: bold" in styled.to_html()
    True
    """
    check_choice(output, ("html", "latex"), "output")
    if result_of(table) == "wide":
        shown = shown_wide(table, directions)
    else:
        shown = shown_table(table, best=best, alpha=alpha, directions=directions)
    return styler(shown._replace(legend=[*shown.legend, *_origin(table)]), output, legend=True)


def _origin(table: pd.DataFrame) -> list[str]:
    """Return the controls, seeds and conventions behind a table, by the calls that made it; nothing without them."""
    made = calls(table.attrs)
    cubes = [one for one in made if one["verb"] in ("cube", "control_distribution", *ROW_VERBS)]
    if len(cubes) != 1:
        # cubes that were put together have settings of their own, which a report names
        return []
    [cube] = cubes
    words = []
    if cube.get("n_draws"):
        nulls = [str(x) for x in cube.get("null") or []]
        draws = f"{cube['n_draws']} draws per run of {' and '.join(nulls)}, seed {cube['seed']}"
        words.append(f"controls: {draws}" if cube["verb"] != "from_published" else f"simulated controls: {draws}")
    ratio = str(cube.get("zero_division", "nan"))
    words.append("0/0 is undefined" if ratio == "nan" else f"0/0 counts as {ratio}")
    version = (cube.get("versions") or {}).get("causaleval_pd")
    return words + ([f"causaleval_pd {version}"] if version else [])


def styler(shown: Shown, output: Output, *, legend: bool = False, number_of_table: int | None = None) -> Styler:
    """Return the Styler of a table for print; with a number its bytes are always the same."""
    try:
        from pandas.io.formats.style import Styler
    except ImportError:
        raise ImportError("styled tables and reports need jinja2: pip install 'causaleval_pd[report]'") from None

    def written(text: object) -> str:
        return escaped(text, output)

    same = None if number_of_table is None else f"table-{number_of_table}"
    styled = Styler(shown.texts, cell_ids=False, uuid=same)
    styled = styled.format(written).format_index(written, axis=1).hide(axis="index")
    bold = "font-weight: bold;" if output == "html" else "textbf:--rwrap;"
    styled = styled.apply(lambda _: np.where(shown.bold, bold, ""), axis=None)
    if legend and shown.legend:
        styled = styled.set_caption(written("; ".join(shown.legend) + "."))
    return cast("Styler", styled)


def shown_table(
    table: pd.DataFrame,
    *,
    best: str | None = None,
    alpha: float = 0.05,
    directions: Mapping[str, str] | None = None,
) -> Shown:
    """Return the texts, the bold cells and the legend of a result table; see `style`."""
    check_number(alpha, "alpha", "(0, 1)")
    verb = result_of(table)
    if verb == "list":
        texts_of_list = list_texts(table)
        return Shown(texts_of_list, pd.DataFrame(False, index=texts_of_list.index, columns=texts_of_list.columns), [])
    made = calls(table.attrs)
    if verb in ROW_VERBS:
        table = long_form(table)
    elif verb == "control_distribution":
        table = table.rename(columns={"p": "p_value"})
    strata = strata_of(table, verb)
    if best is not None:
        check_known(best, strata, "stratum (best)")
    settings = made[-1] if made and made[-1]["verb"] == verb else {}
    aims = directions_of(table, {} if directions is None else directions)
    columns = [x for x in SHOWN[verb] if x.name in table and x.name not in strata and not _is_empty(table, x)]
    corrected = _corrected(table)
    if not corrected:
        columns = [x for x in columns if x.name != "p_adjusted"]
    legend = [word for x in columns if (word := _same_word(table, x))]
    columns = [x for x in columns if not _is_constant(table, x)]

    texts: dict[str, list[str]] = {name: level_words(table[name]) for name in strata}
    if "metric" in table:
        arrows = [_ARROWS.get(aim, "") for aim in aims]
        skills = ["skill of " * skill for skill in of_skill(table).tolist()]
        words = [f"{x}{name} {arrow}".rstrip() for x, name, arrow in zip(skills, table["metric"], arrows, strict=True)]
        legend += [f"{arrow} {_AIMS[arrow]}" for arrow in dict.fromkeys(arrows) if arrow]
        texts["metric"] = words
        if verb == "rank_test":
            # the levels that are ranked stand behind the metric
            texts = {name: texts[name] for name in table.columns if name in texts}
    starred, floor = "p_adjusted" if corrected else "p_value", at_floor(table, verb)
    notes: dict[str, str] = {}
    headers: dict[str, str] = {}
    for column in columns:
        header = column.header
        while header in texts:
            # a stratum has this name
            header += " (result)"
        headers[column.name] = header
        texts[header] = _cells(table, column, alpha if column.name == starred else None, notes, floor)
    bold = pd.DataFrame(False, index=table.index, columns=list(texts))
    marked = _bold_cells(table, verb, strata, best, aims)
    for name, where in marked.cells.items():
        if name in headers:
            bold[headers[name]] = where
    legend += _mark_words(table, verb, columns, settings, alpha, starred, aims, floor)
    if marked.cells and bold.to_numpy().any():
        legend.append(f"bold: best {marked.of}")
    legend += [f"{letter}: {text}" for text, letter in notes.items()]
    index = pd.RangeIndex(len(table))
    return Shown(pd.DataFrame(texts, index=index, dtype=object), bold.set_axis(index), legend)


def shown_wide(table: pd.DataFrame, directions: Mapping[str, str] | None = None) -> Shown:
    """Return a table of `wide` for print: settings that repeat are blank, and the best value of each row is in bold."""
    made = calls(table.attrs)[-1]
    aims = made["aims"] | dict(directions or {})
    settings = {
        str(name): table.index.get_level_values(place).astype(str) for place, name in enumerate(table.index.names)
    }
    of_rows = list(settings.get("metric", [next(iter(aims))] * len(table)))
    if "metric" in settings:
        settings["metric"] = pd.Index([f"{name} {_ARROWS.get(aims[name], '')}".rstrip() for name in of_rows])
    texts: dict[str, list[str]] = {}
    same = np.arange(len(table)) > 0
    for name, words in settings.items():
        same[1:] &= words[1:] == words[:-1]
        texts[name] = np.where(same, "", words).tolist()
    headers = [f"{name} (result)" if name in texts else str(name) for name in table.columns]
    bold = pd.DataFrame(False, index=range(len(table)), columns=[*texts, *headers])
    if made["values"] in ("mean", "effect", "skill"):
        first = [[text.split(" ")[0].replace(MINUS, "-").replace(DASH, "nan") for text in row] for row in table.values]
        values = np.array(first, np.float64).reshape(table.shape)
        fixed = "maximize" if made["values"] == "skill" else ""
        for row, metric in enumerate(of_rows):
            aim = {"zero": "minimize"}.get(aims[metric], aims[metric]) if made["values"] == "effect" else aims[metric]
            loss = {"minimize": values[row], "maximize": -values[row], "zero": abs(values[row])}.get(fixed or aim)
            if loss is not None and not np.isnan(loss).all():
                bold.loc[row, headers] = loss == np.nanmin(loss)
    shown = pd.DataFrame({**texts, **dict(zip(headers, table.to_numpy().T.tolist(), strict=True))}, dtype=object)
    what = "" if "metric" in settings else f" of {of_rows[0]}" if of_rows else ""
    legend = [f"{made['values']}{what} by {made['columns']}"]
    arrows = dict.fromkeys(_ARROWS.get(aims[name], "") for name in of_rows if made["values"] == "mean")
    legend += [f"{arrow} {_AIMS[arrow]}" for arrow in arrows if arrow]
    return Shown(shown, bold, [*legend, *(["bold: best of its row"] if bold.to_numpy().any() else [])])


def result_of(table: pd.DataFrame) -> str:
    """Return the verb that made a table, or refuse a table of none of them."""
    check_type(table, pd.DataFrame, "a result table in memory (compute() one of dask)", "table")
    if not table.columns.is_unique:
        name = table.columns[table.columns.duplicated()][0]
        raise ValueError(f"the column {name!r} occurs twice; rename one of them")
    made = calls(table.attrs)
    if made and made[-1]["verb"] in (*SHOWN, "wide"):
        return str(made[-1]["verb"])
    if is_list(table):
        return "list"
    verbs = [verb for verb, marks in MARKS.items() if marks <= set(table.columns)] if not made else []
    if not made and metrics_of_rows(table):
        return "from_published" if f"{metrics_of_rows(table)[0]}_needed" in table else "with_controls"
    if not verbs:
        source = f"it was made by {made[-1]['verb']}" if made else f"it has the columns {list(table.columns)[:8]}"
        raise ValueError(f"style shows lists and results of {', '.join(SHOWN)}, but {source}")
    return verbs[0]


def strata_of(table: pd.DataFrame, verb: str) -> list[str]:
    """Return the columns of strata, in their order; the null model of a summary is one."""
    results = {"metric", *LEFT_OUT.get(verb, ())} | {name for x in SHOWN[verb] for name in (x.name, *(x.limits or ()))}
    if verb not in ROW_VERBS:
        results |= result_columns()
    before = list(table.columns)[: list(table.columns).index("metric")] if "metric" in table else []
    return [name for name in table.columns if name not in results or (name == "null" and name in before)]


def _is_empty(table: pd.DataFrame, column: Column) -> bool:
    """Return whether a column has nothing to show: no value, shares of 0, or runs without controls where all are."""
    values = table[column.name]
    if column.name == "n_without_controls" and "control_mean" in table and table["control_mean"].isna().all():
        return True
    shown_if_any = column.name == "n_without_controls" or column.kind == "share"
    return bool(values.isna().all()) or (shown_if_any and not values.fillna(0).any())


def _is_constant(table: pd.DataFrame, column: Column) -> bool:
    """Return whether a column of words or counts is the same in all of several rows."""
    return column.kind in ("word", "count") and len(table) > 1 and table[column.name].nunique(dropna=False) == 1


def _same_word(table: pd.DataFrame, column: Column) -> str:
    """Return what the legend states of a column that is the same in all rows."""
    if not _is_constant(table, column) or (column.name, table[column.name].iloc[0]) in _DULL:
        return ""
    return f"{column.header}: {_cells(table.iloc[:1], column, None, {}, np.zeros(1, bool))[0]}"


def _corrected(table: pd.DataFrame) -> bool:
    """Return whether adjusted p-values differ from the others."""
    if not {"p_value", "p_adjusted"} <= set(table.columns):
        return "p_adjusted" in table
    pair = table[["p_value", "p_adjusted"]].to_numpy(np.float64)
    return not np.array_equal(pair[:, 0], pair[:, 1], equal_nan=True)


def at_floor(table: pd.DataFrame, verb: str) -> NDArray[np.bool_]:
    """Return which p-values are bounds, which shows in their values where the column that says so was dropped."""
    if "p_at_floor" in table:
        return table["p_at_floor"].fillna(False).to_numpy(bool)
    if verb != "summary" or "p_value" not in table:
        return np.zeros(len(table), bool)
    drawn = [one["n_draws"] for one in calls(table.attrs) if one.get("verb") == "cube" and one.get("n_draws")]
    p = table["p_value"].to_numpy(np.float64, na_value=np.nan)
    return np.any([np.isclose(p * (n + 1), 1, rtol=1e-9, atol=0) for n in (COMBINATIONS, *drawn)], axis=0)


def _cells(
    table: pd.DataFrame, column: Column, alpha: float | None, notes: dict[str, str], floor: NDArray[np.bool_]
) -> list[str]:
    """Return the texts of a column; new notes get the next letter, and p-values in `floor` are bounds."""
    values = table[column.name]
    if column.kind == "word":
        called = CALLED.get(column.name, str)
        return ["" if pd.isna(x) else called(str(x)) for x in values]
    if column.kind == "note":
        for text in values.dropna().unique():
            notes.setdefault(str(text), _letter(len(notes)))
        return ["" if pd.isna(x) else notes[str(x)] for x in values]
    if column.kind == "count":
        return [DASH if pd.isna(x) else f"{int(x):,}" for x in values]
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    if column.kind == "p":
        floor = floor & (column.name in ("p_value", "p_adjusted"))
        marks = ["" if alpha is None or not p <= alpha else " *" for p in numbers]
        return [p_text(p, at_floor=at) + mark for p, at, mark in zip(numbers, floor, marks, strict=True)]
    texts = [number(x) for x in numbers]
    if column.limits is None or not set(column.limits) <= set(table.columns):
        return texts
    limits = table[list(column.limits)].to_numpy(np.float64, na_value=np.nan)
    known_limits = ~np.isnan(limits).all(axis=1)
    return [
        f"{text} [{number(low)}, {number(high)}]" if has else text
        for text, (low, high), has in zip(texts, limits, known_limits, strict=True)
    ]


def _letter(i: int) -> str:
    """Return the letter of the i-th note, and numbers from the 27th on."""
    return string.ascii_lowercase[i] if i < 26 else str(i + 1)


class _Bold(NamedTuple):
    """Which cells are in bold, by column, and among which levels they are best."""

    cells: dict[str, list[bool]]
    of: str


def _bold_cells(table: pd.DataFrame, verb: str, strata: list[str], best: str | None, aims: list[str]) -> _Bold:
    """Find the best level of a stratum in each group of rows that are otherwise alike."""
    several = [name for name in strata if name != "null" and table[name].nunique(dropna=False) > 1]
    if verb == "rank_test" and {"metric", "mean_rank"} <= set(table.columns):
        behind = list(table.columns)
        best = behind[behind.index("metric") + 1]
    elif best is None and len(several) == 1 and not pd.api.types.is_numeric_dtype(table[several[0]]):
        best = several[0]  # numbers, such as n, do not compete
    if best is None or best not in strata or verb not in ("summary", "rank_test"):
        return _Bold({}, "")
    keys = list(dict.fromkeys(name for name in ("metric", *strata, "null") if name != best and name in table))
    together = table.groupby(keys, dropna=False, sort=False).indices if keys else {"all": np.arange(len(table))}
    groups = together.values()
    cells: dict[str, list[bool]] = {}
    for name, fixed in {"mean": None, "skill": "maximize", "mean_rank": "minimize"}.items():
        if name not in table:
            continue
        value = table[name].to_numpy(np.float64, na_value=np.nan)
        where = np.zeros(len(table), bool)
        for rows in groups:
            aim = fixed or aims[rows[0]]
            loss = {"minimize": value, "maximize": -value, "zero": abs(value)}.get(aim)
            if loss is None or len(rows) < 2 or np.isnan(loss[rows]).all():
                continue
            # values that look alike are equally good
            least = number(np.nanmin(loss[rows]))
            where[rows] = [number(loss[row]) == least for row in rows]
        cells[name] = where.tolist()
    return _Bold(cells, f"of {best} among rows that are otherwise alike")


def _mark_words(
    table: pd.DataFrame,
    verb: str,
    columns: list[Column],
    settings: Mapping[str, Any],
    alpha: float,
    starred: str,
    aims: list[str],
    floor: NDArray[np.bool_],
) -> list[str]:
    """Explain brackets, stars and bounds."""
    words = []
    names = {x.name for x in columns}
    if any(x.limits and set(x.limits) <= set(table.columns) for x in columns):
        words.append(f"brackets: {_brackets(verb, names, settings)}")
    if verb == "summary" and "effect" in names:
        away = ", of distances from the optimum for → 0" if "zero" in aims else ""
        words.append(f"effect: mean of the runs less that of their controls{away}")
    if starred in names:
        method = settings.get("adjust")
        how = f", adjusted by {CORRECTIONS.get(str(method), method)}" if starred == "p_adjusted" and method else ""
        if starred == "p_value" and len(table) > 1 and method in (None, "none"):
            how = ", not adjusted"
        words.append(f"* p at most {alpha:g}{how}")
        if floor.any():
            words.append(f"≤: {_bound_words(table, verb, floor)}")
    return words


def _bound_words(table: pd.DataFrame, verb: str, floor: NDArray[np.bool_]) -> str:
    """Describe p-values in `floor`; where the column of methods was dropped, values show which are of combinations."""
    methods = table.get("p_method", pd.Series("", table.index)).astype(object).fillna("").astype(str)
    combined = methods.str.contains("combinations").to_numpy(bool)
    if verb == "summary" and "p_method" not in table and "p_value" in table:
        p = table["p_value"].to_numpy(np.float64, na_value=np.nan)
        combined = np.isclose(p * (COMBINATIONS + 1), 1, rtol=1e-9, atol=0)
    of_draws = floor & ~combined & ~methods.str.contains("bound").to_numpy(bool)
    least = [LEAST_OF_COMBINATIONS] * bool((floor & combined).any())
    least += ["1/(R + 1) with R draws, none of which was as extreme"] * bool(of_draws.any())
    return ", ".join(["p is an upper bound", *[" or ".join(least)] * bool(least)])


def _brackets(verb: str, names: Collection[str], settings: Mapping[str, Any]) -> str:
    """Describe the limits in brackets."""
    level = settings.get("level")
    share = f"{100 * level:.4g} % " if isinstance(level, float) else ""
    if verb in (*ROW_VERBS, "control_distribution", "expected_metric"):
        return f"middle {share}of the controls"
    return f"{share}interval"
