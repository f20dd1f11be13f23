"""`cube.ceval.plot`: the figures of a cube as methods."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

import xarray as xr

from ..execution.random_streams import RNGLike
from ..inference.pairwise import Claim, Effect
from .critical_difference import critical_difference
from .distributions import distributions
from .heat_maps import comparisons, p_values
from .strata import strata

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from seaborn import FacetGrid


class CubePlots:
    """Figures of a cube, `cube.ceval.plot`.

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
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self._cube = cube

    def strata(
        self,
        metric: str,
        *,
        x: str,
        hue: str | None = None,
        col: str | None = None,
        row: str | None = None,
        level: float = 0.95,
        interval: Literal["mean_ci", "quantile"] = "mean_ci",
    ) -> FacetGrid:
        """Call :func:`causaleval_pd.plot.strata` on this cube."""
        return strata(self._cube, metric, x=x, hue=hue, col=col, row=row, level=level, interval=interval)

    def distributions(
        self, metric: str, *, hue: str | None = None, col: str | None = None, row: str | None = None
    ) -> FacetGrid:
        """Call :func:`causaleval_pd.plot.distributions` on this cube."""
        return distributions(self._cube, metric, hue=hue, col=col, row=row)

    def p_values(
        self,
        metric: str,
        *,
        x: str,
        y: str,
        method: str = "randomisation",
        adjust: str | None = None,
        missing: Literal["drop", "worst"] = "drop",
        ax: Axes | None = None,
    ) -> Axes:
        """Call :func:`causaleval_pd.plot.p_values` on this cube."""
        return p_values(self._cube, metric, x=x, y=y, method=method, adjust=adjust, missing=missing, ax=ax)

    def comparisons(
        self,
        metric: str,
        dim: str,
        *,
        test: str = "wilcoxon",
        adjust: str | None = "holm",
        reference: Hashable | None = None,
        paired: bool = True,
        missing: Literal["drop", "worst"] = "drop",
        alternative: Claim = "two-sided",
        margin: float | None = None,
        minus_controls: bool = False,
        effect: Effect = "mean_difference",
        n_resamples: int = 9999,
        rng: RNGLike = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Call :func:`causaleval_pd.plot.comparisons` on this cube."""
        return comparisons(
            self._cube,
            metric,
            dim,
            test=test,
            adjust=adjust,
            reference=reference,
            paired=paired,
            missing=missing,
            alternative=alternative,
            margin=margin,
            minus_controls=minus_controls,
            effect=effect,
            n_resamples=n_resamples,
            rng=rng,
            ax=ax,
        )

    def critical_difference(
        self,
        metric: str,
        dim: str,
        *,
        adjust: Literal["nemenyi", "holm"] = "nemenyi",
        level: float = 0.95,
        missing: Literal["drop", "worst"] = "drop",
        ax: Axes | None = None,
    ) -> Axes:
        """Call :func:`causaleval_pd.plot.critical_difference` on this cube."""
        return critical_difference(self._cube, metric, dim, adjust=adjust, level=level, missing=missing, ax=ax)
