"""The report of a cube as one page: what was compared, tables, tests, figures, methods and references."""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_flag, check_known, check_number, check_type
from ..cubes.lazy_tables import is_lazy
from ..cubes.reading import cube_metrics, has_controls, strata_dims
from ..cubes.reshaped import read_cube
from ..cubes.schema import FAILED, NO_RUN, values_of
from ..cubes.summary import summary
from ..execution.outputs import refuse_links, replace_file
from ..inference.compare import compare
from ..inference.control_tests import test_controls
from .figures import Picture, levels_share_truths, pictures
from .markup import Output, escaped
from .methods import Reference, Sentence, counted, has_truths, listed, methods, null_models, null_words, references
from .style import Shown, shown_table, styler

__all__ = ["report"]

_FORMATS: dict[str, Output] = {".html": "html", ".md": "markdown", ".tex": "latex"}
_TITLE = "Estimates against negative controls"


class _Section(NamedTuple):
    """A part of the report: a heading, sentences, a table for print, figures."""

    heading: str
    sentences: list[Sentence]
    table: Shown | None = None
    pictures: Sequence[Picture] = ()


def report(
    cube: xr.Dataset,
    path: str | os.PathLike[str],
    *,
    metrics: str | Sequence[str] | None = None,
    over: str | None = None,
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
        File to write, by its suffix: ".html" (a single file), ".md" or ".tex", beside which figures and references lie
        in the folder `<name>_files`.
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics.
    over : str, optional
        Stratum whose levels are compared on the same truths, such as "algorithm"; their best is in bold. Default is the
        first stratum of words, not numbers, whose levels share truths; without one nothing is compared.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction of the tests against controls, over metrics x strata, and of the comparison, over its
        rows.
    level : float
        Probability of intervals; 1 - level is the largest p-value that is marked.
    title : str
        Title of the report.
    date : str, optional
        Date to print, in your words. By default there is none: the same cube gives the same file.
    overwrite : bool
        Replace files of an earlier report.

    Returns
    -------
    Path
        The file. Every file is complete when it appears, and the report itself appears last.

    Raises
    ------
    FileExistsError
        If a file of the report exists and `overwrite` is False.
    ValueError
        If the suffix, a metric, a stratum or a setting is unknown, the levels of `over` share no truths, the cube has
        no runs or is lazy, or the folder of figures is a symbolic link or holds one.
    ImportError
        If jinja2 is missing.

    Notes
    -----
    Every sentence is derived from the cube, its attributes and the tables; the cube is not changed. Names of strata,
    metrics and columns are escaped. LaTeX documents need a compiler of UTF-8, such as LuaLaTeX.

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
    ('report.html', 1)
    """
    file, output = _target(path)
    check_number(level, "level", "(0, 1)")
    check_type(title, str, "a text", "title")
    check_type(date, (str, type(None)), "a text or None", "date")
    check_flag(overwrite, "overwrite")
    _jinja()
    cube = read_cube(cube)
    if is_lazy(cube):
        raise ValueError("report needs the cube in memory, and this one is lazy; call report(cube.compute(), path)")
    if not bool((cube["status"] != NO_RUN).any()):
        raise ValueError("the cube has no runs, so that there is nothing to report")
    names = cube_metrics(cube, metrics)
    dims = strata_dims(cube)
    if over is not None:
        check_known(over, [dim for dim in dims if dim != "null"], "stratum (over)")
    else:
        words = [dim for dim in dims if dim != "null" and cube[dim].dtype.kind not in "biufmM"]
        over = next((dim for dim in words if levels_share_truths(cube, dim)), None) if has_truths(cube) else None

    results = _results(cube, names, over, adjust, level)
    suffix = "pdf" if output == "latex" else "png"
    drawn = [one for name in names if _has_values(cube, name) for one in pictures(cube, name, over, suffix)]
    shown = [one for one in drawn if isinstance(one, Picture)]
    sections = _sections(cube, names, over, results, level)
    omitted = [Sentence(one.reason) for one in drawn if not isinstance(one, Picture)]
    if drawn:
        sections.append(_Section("Figures", omitted, None, shown))
    sections.append(_Section("Methods", methods(cube, names, results)))
    entries = references([sentence for section in sections for sentence in section.sentences])

    folder = file.with_name(re.sub(r"[^A-Za-z0-9.-]", "-", file.stem) + "_files")
    beside = {folder / f"figure-{i}.{suffix}": one.content for i, one in enumerate(shown, 1)}
    if entries:
        beside[folder / "references.bib"] = _bibtex(entries).encode()
    beside = {} if output == "html" else beside
    # a file of the same bytes stays as it is: reports of two formats share their references
    differing = (x for x, content in beside.items() if x.exists() and x.read_bytes() != content)
    taken = [*([file] if file.exists() or file.is_symlink() else []), *differing]
    if taken and not overwrite:
        raise FileExistsError(f"{taken[0]} exists; choose another path, or replace it by overwrite=True")
    text = _rendered(output, title, date, sections, entries, folder.name)
    if beside:
        refuse_links(folder)
        folder.mkdir(exist_ok=True)
        # pictures of an earlier report that had more
        for old in set(folder.glob(f"figure-*.{suffix}") if overwrite else ()) - set(beside):
            old.unlink()
    for place, content in (*beside.items(), (file, text.encode())):
        replace_file(place, partial(Path.write_bytes, data=content))
    return file


def _target(path: str | os.PathLike[str]) -> tuple[Path, Output]:
    """Return the file and its format, or refuse a path of another suffix or folder."""
    check_type(path, (str, os.PathLike), "a path that ends with .html, .md or .tex", "path")
    file = Path(os.fspath(path))
    check_known(file.suffix, list(_FORMATS), "suffix of a report")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(file.parent)!r}; make it, or choose another path")
    if file.is_dir():
        raise FileExistsError(f"{str(file)!r} is a folder; choose another path")
    return file, _FORMATS[file.suffix]


def _has_values(cube: xr.Dataset, name: str) -> bool:
    return bool(cube[name].notnull().any())


def _results(
    cube: xr.Dataset, names: Sequence[str], over: str | None, adjust: str | None, level: float
) -> dict[str, pd.DataFrame]:
    """Return the tables that a report shows, by verb."""
    results = {"summary": summary(cube, names, level=level)}
    tested = [name for name in names if has_controls(cube, name)]
    if tested:
        results["test_controls"] = test_controls(cube, tested, adjust=adjust, level=level)
    if over is not None and cube.sizes[over] > 1 and any(_has_values(cube, name) for name in names):
        results["compare"] = compare(cube, over, metrics=names, adjust=adjust, level=level)
    return results


def _sections(
    cube: xr.Dataset, names: Sequence[str], over: str | None, results: Mapping[str, pd.DataFrame], level: float
) -> list[_Section]:
    """Return the parts of the report before its figures."""
    aims = {name: str(cube[name].attrs.get("direction", "none")) for name in names}
    settings: dict[str, Any] = {"alpha": 1 - level, "directions": aims}
    sections = [_Section("What was compared", _compared(cube, names, results["summary"]))]
    table = results["summary"]
    best = over if over in table else None
    sections.append(_Section("Results by stratum", [], _shown(table, best=best, **settings)))
    if "test_controls" in results:
        found = results["test_controls"]
        sections.append(_Section("Tests against controls", _outcome(cube, found, level), _shown(found, **settings)))
    if "compare" in results:
        found = results["compare"]
        heading = f"Comparison of the levels of {over}"
        sections.append(_Section(heading, _differences(found, level), _shown(found, **settings)))
    return sections


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
    if has_truths(cube):
        truths = np.unique(cube["truth_id"].where(cube["status"] != NO_RUN, 0))
        n_truths = int((truths != 0).sum())
        text += f" on {counted(n_truths, 'truth')}" if n_truths else ""
    found = [Sentence(f"{text}.")]
    for dim in dims:
        levels = [f"{x:g}" if isinstance(x, (float, np.floating)) else str(x) for x in cube[dim].to_numpy()]
        found.append(Sentence(f"Levels of {dim}: {listed(levels)}."))
    for dim in json.loads(cube.attrs["strata"]):
        if dim in cube.coords and dim not in cube.dims:
            found.append(Sentence(f"Of {dim} it covers {cube[dim].item()} alone."))
    empty = math.prod(cube.sizes[dim] for dim in dims) - int(here.sum())
    if empty:
        found.append(Sentence(f"{counted(empty, 'combination')} of levels {'has' if empty == 1 else 'have'} no run."))
    found.append(Sentence(f"{counted(n_failed, 'run')} failed." if n_failed else "No run failed."))
    first = table[table["null"] == table["null"].iloc[0]] if "null" in table and len(table) else table
    by_metric = first.groupby("metric", sort=False)["n_undefined"].sum() if len(first) else {}
    undefined = [f"{name} in {counted(int(n), 'run')}" for name, n in by_metric.items() if n]
    if undefined:
        found.append(Sentence(f"Undefined: {'; '.join(undefined)}."))
    else:
        found.append(Sentence("No metric is undefined in a run that ended."))
    tested = [name for name in names if has_controls(cube, name)]
    if tested:
        models = null_words(cube, null_models(cube, tested))
        n_draws = int(cube.attrs["n_draws"])
        found.append(Sentence(f"Null models: {'; '.join(models)}; {counted(n_draws, 'draw')} each."))
    else:
        found.append(Sentence("There are no controls."))
    carried = [name for name in names if name in values_of(cube)]
    if carried:
        found.append(Sentence(f"Columns of the table of runs, which have no controls: {', '.join(carried)}."))
    return found


def _outcome(cube: xr.Dataset, table: pd.DataFrame, level: float) -> list[Sentence]:
    """Count the strata that are better than their controls, by null model and metric."""
    found = []
    for (null, name), rows in table.groupby(["null", "metric"], sort=False, dropna=False):
        p = rows["p_adjusted"].dropna()
        label = str(cube[name].attrs.get("long_name", name))
        if not len(p):
            text = f"{label}: no stratum has a test"
        else:
            better = int((p <= 1 - level).sum())
            text = f"{label}: {better} of {counted(len(p), 'tested stratum', 'tested strata')} better than controls"
        found.append(Sentence(f"{text} (null model “{null}”, p at most {1 - level:.4g})."))
    floors = table["p_at_floor"].fillna(False)
    if floors.any():
        found.append(
            Sentence(
                f"{counted(int(floors.sum()), 'p-value is', 'p-values are')} the least that the draws can give, an "
                "upper bound; more draws may show smaller ones."
            )
        )
    return found


def _differences(table: pd.DataFrame, level: float) -> list[Sentence]:
    """Count the pairs of levels that differ, by metric."""
    found = []
    for name, rows in table.groupby("metric", sort=False):
        p = rows["p_adjusted"].dropna()
        differ = int((p <= 1 - level).sum())
        found.append(
            Sentence(
                f"{name}: {differ} of {counted(len(p), 'tested pair')} of levels "
                f"{'differs' if differ == 1 else 'differ'} (p at most {1 - level:.4g})."
            )
        )
    return found


def _jinja() -> Any:
    """Import jinja2, or name the extra that has it."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("styled tables and reports need jinja2: pip install 'causaleval_pd[report]'") from None
    return jinja2


class _Made(str):
    """Text that is markup already."""


def _rendered(
    output: Output,
    title: str,
    date: str | None,
    sections: Sequence[_Section],
    entries: Sequence[Reference],
    folder: str,
) -> str:
    """Fill the template of a format; all that it prints is escaped unless it was made here as markup."""
    # braces are LaTeX's own
    marks = ("<<", ">>", "<%", "%>", "<#", "#>") if output == "latex" else ("{{", "}}", "{%", "%}", "{#", "#}")
    names = [f"{name}_{end}_string" for name in ("variable", "block", "comment") for end in ("start", "end")]
    environment = _jinja().Environment(
        finalize=lambda value: value if isinstance(value, _Made) else escaped(value, output),
        undefined=_jinja().StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **dict(zip(names, marks, strict=True)),
    )
    suffix = next(suffix for suffix, found in _FORMATS.items() if found == output)
    source = files("causaleval_pd.reports").joinpath("templates", f"report{suffix}.jinja")
    tables = (section.table for section in sections)
    texts = {id(one): _table(one, output, i) for i, one in enumerate(filter(None, tables), 1)}
    pictures = (one for section in sections for one in section.pictures)
    numbers = {id(one): i for i, one in enumerate(pictures, 1)}
    rendered = environment.from_string(source.read_text("utf-8")).render(
        title=title,
        date=date,
        sections=sections,
        entries=entries,
        folder=_Made(folder),
        written=lambda sentence: _Made(_written(sentence, entries, output)),
        table=lambda one: _Made(texts[id(one)]),
        number=lambda one: numbers[id(one)],
        image=lambda one: _Made(base64.b64encode(one.content).decode()),
        width=lambda one: one.width,
        key=lambda one: _Made(one.key),
        bibtex=_Made("\n".join(escaped(line, "html") for line in _bibtex(entries).split("\n"))),
    )
    return f"{rendered.rstrip()}\n"


def _written(sentence: Sentence, entries: Sequence[Reference], output: Output) -> str:
    """Return a sentence with the marks of what it cites before its full stop."""
    places = [i for i, entry in enumerate(entries, 1) if entry.cited in sentence.cites]
    text = escaped(sentence.text.removesuffix("."), output)
    if not places:
        return f"{text}."
    if output == "latex":
        return rf"{text}~\cite{{{','.join(entries[i - 1].key for i in places)}}}."
    words = ", ".join(map(str, places))
    return f"{text} [{words}]." if output == "html" else rf"{text} \[{words}\]."


def _bibtex(entries: Sequence[Reference]) -> str:
    return "\n\n".join(entry.bibtex for entry in entries) + "\n"


def _table(shown: Shown, output: Output, number: int) -> str:
    """Return a table for print in a format."""
    if output == "html":
        return str(styler(shown, output, number_of_table=number).to_html())
    if output == "latex":
        columns = "l" * shown.texts.shape[1]
        return str(styler(shown, output).to_latex(hrules=True, environment="longtable", column_format=columns))
    cells = shown.texts.map(lambda x: escaped(x, output))
    cells = cells.where(~shown.bold, "**" + cells + "**")
    rows = [[escaped(x, output) for x in cells.columns], ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
