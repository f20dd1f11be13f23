"""`cube.ceval.plot`: the figures of a cube as methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xarray as xr

from ..contract.figure import FIGURES
from ..contract.options import method
from ..cubes.reshaped import describe_cube
from .critical_difference import critical_difference as _critical_difference
from .distributions import distributions as _distributions
from .heat_map import heat_map as _heat_map
from .published import published as _published
from .strata import strata as _strata

__all__ = ["CubePlots"]


class CubePlots:
    """Figures of a cube, `cube.ceval.plot`: every registered figure that is drawn from a cube is a method.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "n"], n_draws=20, rng=7)
    >>> grid = cube.ceval.plot.strata("shd", x="n", hue="algorithm")
    >>> type(grid).__name__
    'FacetGrid'
    >>> cube.ceval.plot
    <figures of a cube of shd by algorithm (3), n (3), 540 runs, 20 controls each (edges): critical_difference,
    distributions, heat_map, published, strata>
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self._object = cube

    # written out for type checkers and completion; other figures are found by __getattr__
    strata = method(_strata)
    distributions = method(_distributions)
    heat_map = method(_heat_map)
    published = method(_published)
    critical_difference = method(_critical_difference)

    def __repr__(self) -> str:
        return f"<figures of {describe_cube(self._object)}: {', '.join(_of_cubes(load=True))}>"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _of_cubes(load=not name.startswith("_")):
            hint = f"{FIGURES.suggest(name, _of_cubes())}list_figures('cube') shows all"
            raise AttributeError(f"unknown figure {name!r} of a cube; {hint}")
        bound: Callable[..., Any] = method(FIGURES[name].function).__get__(self)
        return bound

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_of_cubes(load=True)})


def _of_cubes(*, load: bool = False) -> list[str]:
    """Return the names of the registered figures of cubes, with `load` those of third parties too."""
    return [figure.name for figure in (FIGURES.every() if load else FIGURES.values()) if figure.of == "cube"]
