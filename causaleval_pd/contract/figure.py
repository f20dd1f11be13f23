"""Figures: declared functions that draw a cube, a table or cells, and the contract of their captions.

Every figure has one caption, in small print at its foot or under its axes. It states, in this order:

1. what the marks are: points, bands, squares, with their level or share;
2. what to conclude from them: the test, its side, the adjustment of p-values, how failed runs count;
3. where random guessing is shown: the null model and the number of draws, or that no controls are drawn;
4. the levels of the strata that a cube was cut to.

Parts are joined by semicolons and the caption ends with a full stop; `causaleval_pd.drawing.caption` writes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import pandas as pd

from .checks import check_known
from .registry import Registry

Source = Literal["cube", "table", "cells", "numbers"]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Figure:
    """A figure, as `figure` declares it."""

    name: str
    long_name: str
    #: draws it and returns its Axes, FacetGrid or Figure; takes `ax=` where it has a single panel
    function: Callable[..., Any]
    of: Source
    concludes: str
    field: str | None = None


#: parameters that figures share, for their docstrings
_SHARED = {
    "ax": "ax : Axes, optional\n    Where to draw; default a new figure.",
    "caption": "caption : bool\n    Whether a caption stands under the figure.",
}


FIGURES: Registry[Figure] = Registry("figure", "causaleval_pd.figures", "list_figures()")


def figure(long_name: str, *, of: Source, concludes: str, field: str | None = None) -> Callable[[F], F]:
    """Register a function as a figure, so that `ce.plot` and `cube.ceval.plot` find it by its name.

    Parameters `ax` and `caption` that its docstring lacks are added to it.

    Parameters
    ----------
    long_name : str
        What it shows, for tables.
    of : {"cube", "table", "cells", "numbers"}
        What it is drawn from; the first argument of a figure of a cube is the cube.
    concludes : str
        What a reader may conclude from it; the caption states how.
    field : str, optional
        Field whose cells or results it shows; default every field.

    Returns
    -------
    callable
        A decorator that returns the function as it is.

    Raises
    ------
    ValueError
        If the name of the function is taken, or `of` is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> from causaleval_pd.contract.figure import FIGURES
    >>> @ce.figure("number of runs", of="cube", concludes="how many runs there are")
    ... def run_count(cube):
    ...     '''Return the number of runs, in place of a figure.'''
    ...     return int(cube["status"].size)
    >>> cube = ce.datasets.runs().head(40).ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    >>> ce.plot.run_count(cube) == cube.ceval.plot.run_count()
    True
    >>> del FIGURES["run_count"]
    """
    check_known(of, get_args(Source), "source of a figure")

    def register(function: F) -> F:
        # python -OO has no docstrings; parameters that figures share stand last
        head, returns, rest = (inspect.getdoc(function) or "").partition("\n\nReturns\n-------\n")
        if returns and "Parameters\n----------\n" in head:
            names = inspect.signature(function).parameters
            shared = [entry for name, entry in _SHARED.items() if name in names and f"\n{name} : " not in head]
            function.__doc__ = "\n".join([head, *shared]) + returns + rest
        FIGURES.add(function.__name__, Figure(function.__name__, long_name, function, of, concludes, field))
        return function

    return register


def list_figures(of: Source | None = None) -> pd.DataFrame:
    """Return the registered figures, one per row.

    `ce.plot.<name>` draws each of them, and `cube.ceval.plot.<name>` those of a cube.

    Parameters
    ----------
    of : {"cube", "table", "cells", "numbers"}, optional
        Only figures that are drawn from this.

    Returns
    -------
    DataFrame
        Indexed by name: long_name, of, field (empty for every field), concludes.

    Raises
    ------
    ValueError
        If `of` is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_figures("cube").loc["strata", "concludes"]
    'which strata are better than their controls'
    """
    check_known(of, (None, *get_args(Source)), "source of a figure")
    table = FIGURES.table("long_name", "of", "field", "concludes").fillna({"field": ""})
    return table if of is None else table[table["of"] == of]
