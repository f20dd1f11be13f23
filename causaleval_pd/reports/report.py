"""The report of a cube as one page: what was compared, tables, tests, figures, methods and references."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_flag, check_known, check_number, check_type, counted
from ..contract.figure import FIGURES
from ..cubes.reading import cube_metrics, has_controls, strata_dims
from ..cubes.reshaped import is_lazy, read_cube
from ..cubes.schema import FAILED, NO_RUN, stratum_name, values_of
from ..cubes.summary import full_summary
from ..cubes.summary_columns import Settings
from ..cubes.weights import WEIGHT
from ..execution.outputs import replace_file
from ..inference.compared_values import ON, On
from ..inference.result_tables import cannot_be_significant
from ..statistics.words import BETTER, NOT_ALL_GUESSES, UNDECIDED, level_words, listed
from .figures import Picture, levels_share_truths, pictures
from .level_comparison import LevelComparison, compare_in_blocks, who_is_better
from .methods import (
    Sentence,
    has_truths,
    methods,
    null_models,
    null_words,
    references,
    truths_are_named,
)
from .rendering import Section, jinja, rendered
from .style import Shown, shown_table

__all__ = ["report"]

_TITLE = "Estimates against negative controls"


def report(
    cube: xr.Dataset,
    path: str | os.PathLike[str],
    *,
    metrics: str | Sequence[str] | None = None,
    over: str | None = None,
    on: On = "metric",
    test: str | None = None,
    adjust: str | None = "holm",
    level: float = 0.95,
    title: str = _TITLE,
    date: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a report of a cube: what was compared, tables, tests, figures, methods and references (extra `report`).

    Parameters
    ----------
    cube : Dataset
        Made by `cube`, in memory.
    path : path
        File to write, whose name ends with ".html". It holds its figures, and each table as LaTeX too.
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics.
    over : str, optional
        Stratum whose levels are compared on the same truths, such as "algorithm"; their best is in bold. Default is the
        first stratum of words, not numbers, whose levels share truths; without one nothing is compared.
    on, test
        What is compared, and by which test, as in `compare`: over all strata, and in each. With "excess" and "skill"
        columns that the cube carries are not compared, since they have no controls.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction of the tests against controls, over metrics x strata, and of the comparisons, of each
        metric over all strata and in the single strata.
    level : float
        Probability of intervals; 1 - level is the largest p-value that is marked.
    title : str
        Title of the report.
    date : str, optional
        Date to print, in your words. Without one the same cube always gives the same file.
    overwrite : bool
        Replace an earlier report.

    Returns
    -------
    Path
        The file, which is complete when it appears.

    Raises
    ------
    FileExistsError
        If the file exists and `overwrite` is False.
    ValueError
        If the path does not end with ".html", a metric, a stratum or a setting is unknown, the levels of `over` share
        no truths, or the cube has no runs or is lazy.
    ImportError
        If jinja2 is missing.

    Notes
    -----
    Every sentence is derived from the cube, its attributes and the tables; the cube is not changed. Names of strata,
    metrics and columns are escaped. Pandoc makes other formats of the file: ``pandoc report.html -o report.docx``.

    Examples
    --------
    >>> import tempfile
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("n == 400")
    >>> cube = runs.ceval.cube(["shd"], by=["algorithm", "density"], n_draws=100, rng=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = cube.ceval.report(f"{folder}/report.html", adjust=None)
    ...     path.name, path.read_text("utf-8").count("<img")
    ('report.html', 3)
    """
    file = _target(path)
    check_number(level, "level", "(0, 1)")
    check_type(title, str, "a text", "title")
    check_type(date, (str, type(None)), "a text or None", "date")
    check_flag(overwrite, "overwrite")
    if file.exists() and not overwrite:
        raise FileExistsError(f"{file} exists; choose another path, or replace it by overwrite=True")
    jinja()
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if is_lazy(cube):
        raise ValueError("report needs the cube in memory, and this one is lazy; call report(cube.compute(), path)")
    cube = read_cube(cube)
    if not bool((cube["status"] != NO_RUN).any()):
        raise ValueError("the cube has no runs, so that there is nothing to report")
    names = cube_metrics(cube, metrics)
    dims = strata_dims(cube)
    if over is not None:
        over = stratum_name(over)
        check_known(over, [dim for dim in dims if dim != "null"], "stratum (over)")
    else:
        words = [dim for dim in dims if dim != "null" and cube[dim].dtype.kind not in "iufmM"]
        over = next((dim for dim in words if levels_share_truths(cube, dim)), None) if has_truths(cube) else None

    results, blocks = _results(cube, names, over, adjust, level, {"on": on, "test": test})
    valued = [name for name in names if _has_values(cube, name)]
    same: dict[str, Any] = {"level": level, "adjust": adjust, "on": on, "test": test}
    same["compared"] = blocks
    by_metric = [list(pictures(cube, name, over, **same)) for name in valued]
    drawn = [one for pictures_of in by_metric for one in pictures_of]
    shown = [one for one in drawn if isinstance(one, Picture)]
    omitted = [Sentence(one.reason) for one in drawn if not isinstance(one, Picture)]
    first = [part[0] for part in ([x for x in one if isinstance(x, Picture)] for one in by_metric) if part]
    sections = _sections(cube, names, over, results, blocks, level)
    if first:
        sections.append(Section("Figures", [], None, first))
    sections += _details(cube, names, over, results, blocks, level)
    further = [one for one in shown if not any(one is other for other in first)]
    if further or omitted:
        sections.append(Section("Further figures", omitted, None, further, is_detail=True))
    sections.append(Section("Methods", methods(cube, names, results, ranked=_is_ranked(shown)), is_detail=True))
    entries = references([sentence for section in sections for sentence in section.sentences])
    text = rendered(title, date, sections, entries)
    replace_file(file, lambda writing: writing.write_text(text, "utf-8"))
    return file


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file, or refuse a path of another suffix or folder."""
    check_type(path, (str, os.PathLike), "a path that ends with .html", "path")
    file = Path(os.path.expanduser(path))
    if file.suffix != ".html":
        raise ValueError(f"{str(file)!r} does not end with .html; pandoc makes other formats of the page")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(file.parent)!r} does not exist; make it, or choose another path")
    if file.is_dir():
        raise FileExistsError(f"{str(file)!r} is a folder; choose another path")
    return file


def _infinite(cube: xr.Dataset, name: str) -> int:
    """Return how many runs have an infinite value."""
    array = cube[name]
    if array.dtype.kind != "f":
        return 0
    metric_dims = [dim for dim in array.dims if dim not in (*strata_dims(cube), "replicate")]
    return int(xr.apply_ufunc(np.isinf, array).any(metric_dims).sum())


def _is_ranked(shown: Sequence[Picture]) -> bool:
    """Return whether a figure shows mean ranks."""
    return any(one.title.endswith(FIGURES["critical_difference"].long_name) for one in shown)


def _has_values(cube: xr.Dataset, name: str) -> bool:
    return bool(cube[name].notnull().any())


def _results(
    cube: xr.Dataset, names: Sequence[str], over: str | None, adjust: str | None, level: float, how: Mapping[str, Any]
) -> tuple[dict[str, pd.DataFrame], LevelComparison | None]:
    """Return the tables that a report shows, by verb, and the comparison of levels."""
    blocks = None
    how_tested = Settings(adjust=adjust, level=level)
    results = {"summary": full_summary(cube, names, how_tested)}
    kept = [over] if over is not None else []
    if any(dim != "null" and dim not in kept and cube.sizes[dim] > 1 for dim in strata_dims(cube)):
        results["pooled summary"] = full_summary(cube, names, how_tested, by=kept)
    tested = [name for name in names if has_controls(cube, name)]
    check_known(how["on"], ON, "on")
    compared = list(names) if how["on"] == "metric" else tested
    if over is not None and cube.sizes[over] > 1 and any(_has_values(cube, name) for name in compared):
        blocks = compare_in_blocks(cube, over, compared, level=level, adjust=adjust, **how)
        results["compare"] = blocks.pooled
        if blocks.strata is not None:
            results["compare by stratum"] = blocks.strata
    elif how["on"] != "metric" or how["test"] is not None:
        what = "without controls" if over is not None and not compared else "without two levels that share truths"
        raise ValueError(f"on= and test= set the comparison of levels, which a cube {what} has not; leave them out")
    return results, blocks


def _sections(
    cube: xr.Dataset,
    names: Sequence[str],
    over: str | None,
    results: Mapping[str, pd.DataFrame],
    blocks: LevelComparison | None,
    level: float,
) -> list[Section]:
    """Return the parts of the report before its figures: all strata together."""
    settings = _settings(cube, names, level)
    sections = [Section("What was compared", _compared(cube, names, results["summary"]))]
    if over is not None and blocks is not None:
        sentences = who_is_better(
            blocks.pooled, cube[over].to_numpy(), settings["directions"], level, _limit(blocks.pooled, level)
        )
        sentences += _too_few(blocks.pooled, level)
        several = blocks.strata is not None or blocks.left_out is not None
        heading = f"{_comparison_of(over)}, all strata" if several else _comparison_of(over)
        sections.append(Section(heading, sentences, _shown(blocks.pooled, **settings)))
    pooled = "pooled summary" in results
    table = results["pooled summary" if pooled else "summary"]
    best = over if over in table else None
    sentences = _outcome(table, level) if table["p_method"].notna().any() else []
    heading = "Results, all strata" if pooled else "Results by stratum"
    sections.append(Section(heading, sentences, _shown(table, best=best, **settings)))
    return sections


def _details(
    cube: xr.Dataset,
    names: Sequence[str],
    over: str | None,
    results: Mapping[str, pd.DataFrame],
    blocks: LevelComparison | None,
    level: float,
) -> list[Section]:
    """Return the parts of the report that show single strata."""
    settings, sections = _settings(cube, names, level), []
    if "pooled summary" in results:
        table = results["summary"]
        best = over if over in table else None
        sentences = _outcome(table, level) if table["p_method"].notna().any() else []
        shown = _shown(table, best=best, **settings)
        sections.append(Section("Results by stratum", sentences, shown, is_detail=True))
    if over is not None and blocks is not None and (blocks.strata is not None or blocks.left_out is not None):
        sentences, shown = [], None
        if blocks.strata is not None:
            limit = _limit(blocks.strata, level)
            sentences = who_is_better(blocks.strata, cube[over].to_numpy(), settings["directions"], level, limit)
            shown = _shown(blocks.strata, **settings)
        if blocks.left_out is not None:
            sentences.append(Sentence(blocks.left_out))
        sections.append(Section(f"{_comparison_of(over)}, by stratum", sentences, shown, is_detail=True))
    return sections


def _settings(cube: xr.Dataset, names: Sequence[str], level: float) -> dict[str, Any]:
    """Return how tables are marked."""
    return {"alpha": 1 - level, "directions": {name: str(cube[name].attrs.get("direction", "none")) for name in names}}


def _comparison_of(over: str) -> str:
    return f"Comparison of the levels of {over}"


def _shown(table: pd.DataFrame, **settings: Any) -> Shown | None:
    return shown_table(table, **settings) if len(table) else None


def _compared(cube: xr.Dataset, names: Sequence[str], table: pd.DataFrame) -> list[Sentence]:
    """Describe runs, strata, failed and undefined runs, and null models."""
    status = cube["status"]
    dims = [dim for dim in strata_dims(cube) if dim != "null"]
    if "null" in status.dims:
        status = status.isel(null=0)
    n_runs, n_failed = int((status != NO_RUN).sum()), int((status == FAILED).sum())
    here = (status != NO_RUN).any("replicate")
    text = f"The report covers {counted(n_runs, 'run')}"
    if dims:
        text += f" in {counted(int(here.sum()), 'stratum', 'strata')}"
    if truths_are_named(cube):
        truths = np.unique(cube["truth_id"].where(cube["status"] != NO_RUN, 0))
        n_truths = int((truths != 0).sum())
        text += f" on {counted(n_truths, 'truth')}" if n_truths else ""
    sentences = [Sentence(f"{text}.")]
    if WEIGHT in cube.coords:
        sentences.append(Sentence("Runs count by their weights."))
    for dim in dims:
        sentences.append(Sentence(f"Levels of {dim}: {listed(level_words(cube[dim].to_index()))}."))
    for dim in json.loads(cube.attrs["strata"]):
        if dim in cube.coords and dim not in cube.dims:
            sentences.append(Sentence(f"Of {dim} it covers {cube[dim].item()} alone."))
    empty = math.prod(cube.sizes[dim] for dim in dims) - int(here.sum())
    if empty:
        sentences.append(
            Sentence(f"{counted(empty, 'combination')} of levels {'has' if empty == 1 else 'have'} no run.")
        )
    sentences.append(Sentence(f"{counted(n_failed, 'run')} failed." if n_failed else "No run failed."))
    sentences += _values_apart(cube, names, table)
    return [*sentences, *_controls(cube, names)]


def _values_apart(cube: xr.Dataset, names: Sequence[str], table: pd.DataFrame) -> list[Sentence]:
    """Count undefined and infinite values by metric."""
    sentences = []
    first = table[table["null"] == table["null"].iloc[0]] if "null" in table and len(table) else table
    by_metric = first.groupby("metric", sort=False)["n_undefined"].sum() if len(first) else {}
    undefined = [f"{name} in {counted(int(n), 'run')}" for name, n in by_metric.items() if n]
    if undefined:
        sentences.append(Sentence(f"Undefined: {'; '.join(undefined)}."))
    else:
        sentences.append(Sentence("No metric is undefined in a run that ended."))
    infinite = [f"{name} in {counted(n, 'run')}" for name in names if (n := _infinite(cube, name))]
    if infinite:
        sentences.append(Sentence(f"Infinite: {'; '.join(infinite)}."))
    return sentences


def _controls(cube: xr.Dataset, names: Sequence[str]) -> list[Sentence]:
    """Name null models, and columns without controls."""
    sentences = []
    tested = [name for name in names if has_controls(cube, name)]
    if tested:
        models = null_words(cube, null_models(cube, tested))
        n_draws = int(cube.attrs["n_draws"])
        sentences.append(Sentence(f"Null models: {'; '.join(models)}; {counted(n_draws, 'draw')} each."))
    else:
        sentences.append(Sentence("There are no controls."))
    carried = [name for name in names if name in values_of(cube)]
    if carried:
        sentences.append(Sentence(f"Columns of the table of runs, which have no controls: {', '.join(carried)}."))
    return sentences


def _outcome(table: pd.DataFrame, level: float) -> list[Sentence]:
    """Count the strata that are better than their controls, by null model and metric."""
    sentences = []
    how = _limit(table, level)
    for (null, name), rows in table[table["null"].notna()].groupby(["null", "metric"], sort=False):
        p = rows["p_adjusted"].dropna()
        if not len(p):
            text = f"{name}: no stratum has a test (null model “{null}”)"
        else:
            better = int((rows["verdict"] == BETTER).sum())
            some = int((rows["verdict"] == NOT_ALL_GUESSES).sum())
            text = f"{name}: {better} of {counted(len(p), 'tested stratum', 'tested strata')} better than controls"
            unclear = int((rows["verdict"] == UNDECIDED).sum())
            text += f", {some} not all guesses" * bool(some) + f", {unclear} cannot be judged" * bool(unclear)
            text += f" (null model “{null}”, {how})"
        sentences.append(Sentence(f"{text}."))
    floors = table["p_at_floor"].fillna(False)
    if floors.any():
        sentences.append(
            Sentence(
                f"{counted(int(floors.sum()), 'p-value is', 'p-values are')} the least that draws or their "
                "combinations can give, an upper bound."
            )
        )
    # what fails the correction though no draw was as good could not have passed it
    hopeless = int((floors & (table["p_adjusted"] > 1 - level) & (table["p_value"] <= 1 - level)).sum())
    if hopeless:
        are = "is" if hopeless == 1 else "are"
        sentences.append(
            Sentence(
                f"{hopeless} of these {are} at most {1 - level:.4g} before the correction and not after it: there are "
                "too few draws for this number of tests, which is not evidence against skill."
            )
        )
    return sentences


def _limit(table: pd.DataFrame, level: float) -> str:
    """Return up to which p results count, and whether it is adjusted."""
    adjusted = not np.array_equal(table["p_value"].to_numpy(), table["p_adjusted"].to_numpy(), equal_nan=True)
    return f"{'adjusted p' if adjusted else 'p'} at most {1 - level:.4g}"


def _too_few(table: pd.DataFrame, level: float) -> list[Sentence]:
    """Count the pairs of levels that cannot differ significantly, whatever the data."""
    hopeless = int(cannot_be_significant(table).sum())
    if not hopeless:
        return []
    text = f"{counted(hopeless, 'pair has', 'pairs have')} too few clusters for a p of {1 - level:.4g} whatever"
    text += " the differences, so that this is not evidence of equality"
    return [Sentence(f"{text}; the correction for fewer levels needs fewer clusters.")]
