"""A cube as a notebook shows it: its metrics, strata, runs, null models and conventions in words."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

import xarray as xr

from ..contract.checks import counted
from ..cubes.reading import cube_metrics, has_controls, null_name, strata_dims
from ..cubes.reshaped import describe_cube, is_lazy, read_cube
from ..cubes.schema import FAILED, NO_RUN, values_of
from ..statistics.words import level_words, listed
from .methods import methods

_BETTER = {"minimize": "lower", "maximize": "higher", "zero": "closest to 0"}
#: levels of a stratum that are named
_LEVELS = 12


def cube_html(cube: xr.Dataset) -> str:
    """Return a cube as HTML for notebooks; a lazy one is not computed."""
    described = describe_cube(cube)
    if not described.startswith("a cube of"):
        return f"<p>{html.escape(described)}</p>"
    cube = read_cube(cube, controls=False, load=False)
    names = [*cube_metrics(cube), *(name for name in values_of(cube) if name not in cube_metrics(cube))]
    parts = [f"<p><b>{html.escape(described[0].upper() + described[1:])}</b></p>"]
    parts.append(_table(("metric", "what it is", "better", "range", "null model"), [_metric(cube, x) for x in names]))
    levels = [(dim, listed(level_words(cube[dim].to_numpy()), _LEVELS)) for dim in strata_dims(cube)]
    if levels:
        parts.append(_table(("stratum", "levels"), levels))
    if is_lazy(cube):
        parts.append("<p>The cube is lazy: verbs load what they need.</p>")
    else:
        parts.append(f"<p>{html.escape(_runs(cube))}</p>")
        words = " ".join(sentence.text for sentence in methods(cube, cube_metrics(cube), {}))
        parts.append(f"<p>{html.escape(words)}</p>")
    verbs = "Verbs: cube.ceval.summary(), .compare(dim), .runs(), .plot, .report(path)."
    return f"<div>{''.join(parts)}<p>{html.escape(verbs)}</p></div>"


def _metric(cube: xr.Dataset, name: str) -> Sequence[str]:
    """Return a row of the table of metrics."""
    spec = cube[name].attrs
    low, high = spec["valid_range"]
    null = null_name(cube, name) if has_controls(cube, name) else None
    words = "" if math.isinf(low) and math.isinf(high) else f"{_limit(low)} to {_limit(high)}"
    return name, str(spec.get("long_name", name)), _BETTER.get(spec["direction"], ""), words, null or "none"


def _limit(value: float) -> str:
    return f"{value:g}".replace("inf", "∞")


def _runs(cube: xr.Dataset) -> str:
    """Count runs by what became of them."""
    status = cube["status"].to_numpy()
    failed, runs = int((status == FAILED).sum()), int((status != NO_RUN).sum())
    n_truths = len({*cube["truth_id"].to_numpy()[status != NO_RUN].tolist()} - {0})
    text = f"{counted(runs, 'run')} on {counted(n_truths, 'truth')}" if n_truths else counted(runs, "run")
    return f"{text}; {failed:,} failed."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of texts."""
    above = "".join(f"<th style='text-align:left'>{html.escape(x)}</th>" for x in head)
    lines = ["".join(f"<td style='text-align:left'>{html.escape(x)}</td>" for x in row) for row in rows]
    return f"<table><thead><tr>{above}</tr></thead><tbody>{''.join(f'<tr>{x}</tr>' for x in lines)}</tbody></table>"
