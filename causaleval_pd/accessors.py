"""The accessors: every method only calls the function of the same name."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import xarray as xr

from .contract.null import NullLike, Nulls
from .cubes.cube import cube as _cube
from .cubes.strata import By
from .cubes.summary import summary as _summary
from .execution.engines import Engine
from .execution.random_streams import RNGLike
from .graphs.series import SeriesGraphAccessor
from .inference.calibration import size_and_power as _size_and_power
from .inference.compare import compare as _compare
from .inference.control_tests import test_controls as _test_controls
from .inference.meta_analysis import meta_analysis as _meta_analysis
from .inference.pairwise import Claim, Effect
from .inference.power import comparison_power as _comparison_power
from .inference.power import control_power as _control_power
from .inference.ranking import rank_test as _rank_test
from .plot.cube_plots import CubePlots
from .statistics.ranks import ZeroMethod
from .tables.controls import with_controls as _with_controls
from .tables.evaluate import evaluate as _evaluate
from .tables.row_summary import Method, PRule
from .tables.scoring import Invalid
from .tables.tasks import Metrics

pd.api.extensions.register_series_accessor("graph")(SeriesGraphAccessor)


@pd.api.extensions.register_dataframe_accessor("ceval")
class FrameAccessor:
    """Verbs on a table of runs, `df.ceval`.

    Parameters
    ----------
    table : DataFrame
        One run a row; nothing is looked at before a verb is called.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd
    >>> runs = pd.DataFrame({"truth": ["A -> B; B -> C"], "estimate": ["A -> B; C"]})
    >>> runs.ceval.evaluate(["shd"])["shd"].tolist()
    [1.0]
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table

    def evaluate(
        self,
        metrics: Metrics = None,
        *,
        truth: Hashable = "truth",
        estimate: Hashable = "estimate",
        field: str | None = None,
        context: Mapping[str, Any] | None = None,
        zero_division: float = math.nan,
        invalid: Invalid = "raise",
        overwrite: bool = False,
        engine: Engine = None,
        n_jobs: int | None = None,
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.evaluate` on this table."""
        return _evaluate(
            self._table,
            metrics,
            truth=truth,
            estimate=estimate,
            field=field,
            context=context,
            zero_division=zero_division,
            invalid=invalid,
            overwrite=overwrite,
            engine=engine,
            n_jobs=n_jobs,
        )

    def with_controls(
        self,
        metrics: Metrics = None,
        *,
        n_draws: int = 1000,
        null: NullLike | None = None,
        rng: RNGLike = None,
        truth: Hashable = "truth",
        estimate: Hashable = "estimate",
        key: Hashable | Sequence[Hashable] | None = None,
        control_kind: str | None = None,
        permute: bool = True,
        method: Method = "auto",
        level: float = 0.95,
        p_rule: PRule = "add_one",
        stop_after: int | None = None,
        share_draws: bool = False,
        field: str | None = None,
        context: Mapping[str, Any] | None = None,
        zero_division: float = math.nan,
        invalid: Invalid = "raise",
        overwrite: bool = False,
        progress: bool = False,
        engine: Engine = None,
        n_jobs: int | None = None,
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.with_controls` on this table."""
        return _with_controls(
            self._table,
            metrics,
            n_draws=n_draws,
            null=null,
            rng=rng,
            truth=truth,
            estimate=estimate,
            key=key,
            control_kind=control_kind,
            permute=permute,
            method=method,
            level=level,
            p_rule=p_rule,
            stop_after=stop_after,
            share_draws=share_draws,
            field=field,
            context=context,
            zero_division=zero_division,
            invalid=invalid,
            overwrite=overwrite,
            progress=progress,
            engine=engine,
            n_jobs=n_jobs,
        )

    def cube(
        self,
        metrics: Metrics = None,
        *,
        by: By,
        n_draws: int | None = 1000,
        null: Nulls = None,
        control: Hashable | None = None,
        rng: RNGLike = None,
        truth: Hashable = "truth",
        estimate: Hashable = "estimate",
        replicate: Hashable | None = None,
        key: Hashable | Sequence[Hashable] | None = None,
        control_kind: str | None = None,
        permute: bool = True,
        share_draws: bool = False,
        method: Method = "auto",
        level: float = 0.95,
        keep_draws: bool | Literal["auto"] = "auto",
        values: Sequence[str] = (),
        field: str | None = None,
        context: Mapping[str, Any] | None = None,
        zero_division: float = math.nan,
        invalid: Invalid = "raise",
        progress: bool = False,
        engine: Engine = None,
        n_jobs: int | None = None,
    ) -> xr.Dataset:
        """Call :func:`causaleval_pd.cube` on this table."""
        return _cube(
            self._table,
            metrics,
            by=by,
            n_draws=n_draws,
            null=null,
            control=control,
            rng=rng,
            truth=truth,
            estimate=estimate,
            replicate=replicate,
            key=key,
            control_kind=control_kind,
            permute=permute,
            share_draws=share_draws,
            method=method,
            level=level,
            keep_draws=keep_draws,
            values=values,
            field=field,
            context=context,
            zero_division=zero_division,
            invalid=invalid,
            progress=progress,
            engine=engine,
            n_jobs=n_jobs,
        )


@xr.register_dataset_accessor("ceval")  # type: ignore[no-untyped-call]
class CubeAccessor:
    """Verbs on a cube, `ds.ceval`.

    Of a cube of dask arrays, made of a dask table or opened by `xarray.open_zarr`, tables are dask's too: call
    `.compute()`, or `load()` the cube before.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; nothing is looked at before a verb is called.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().head(9).ceval.cube(["shd"], by=["n"], n_draws=20, rng=7)
    >>> cube.ceval.summary()["n_obs"].tolist()
    [3, 3, 3]
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self._cube = cube

    @property
    def plot(self) -> CubePlots:
        """Figures of this cube."""
        return CubePlots(self._cube)

    def summary(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        level: float = 0.95,
        interval: Literal["quantile", "mean_ci"] = "quantile",
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.summary` on this cube."""
        return _summary(self._cube, metrics, level=level, interval=interval)

    def test_controls(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        method: str = "randomisation",
        adjust: str | None = None,
        family: str | Sequence[str] | None = None,
        level: float = 0.95,
        missing: Literal["drop", "worst"] = "drop",
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.test_controls` on this cube."""
        return _test_controls(
            self._cube, metrics, method=method, adjust=adjust, family=family, level=level, missing=missing
        )

    def compare(
        self,
        dim: str,
        *,
        metrics: str | Sequence[str] | None = None,
        test: str = "wilcoxon",
        adjust: str | None = "holm",
        reference: Hashable | None = None,
        paired: bool = True,
        missing: Literal["drop", "worst"] = "drop",
        alternative: Claim = "two-sided",
        margin: float | Mapping[str, float] | None = None,
        minus_controls: bool = False,
        family: str | Sequence[str] | None = None,
        effect: Effect = "mean_difference",
        level: float = 0.95,
        zero_method: ZeroMethod = "wilcox",
        cluster: str | None = None,
        n_resamples: int = 9999,
        rng: RNGLike = None,
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.compare` on this cube."""
        return _compare(
            self._cube,
            dim,
            metrics=metrics,
            test=test,
            adjust=adjust,
            reference=reference,
            paired=paired,
            missing=missing,
            alternative=alternative,
            margin=margin,
            minus_controls=minus_controls,
            family=family,
            effect=effect,
            level=level,
            zero_method=zero_method,
            cluster=cluster,
            n_resamples=n_resamples,
            rng=rng,
        )

    def rank_test(
        self,
        dim: str,
        metrics: str | Sequence[str] | None = None,
        *,
        adjust: str | None = None,
        level: float = 0.95,
        missing: Literal["drop", "worst"] = "drop",
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.rank_test` on this cube."""
        return _rank_test(self._cube, dim, metrics, adjust=adjust, level=level, missing=missing)

    def meta_analysis(
        self,
        over: str | Sequence[str] | None = None,
        metrics: str | Sequence[str] | None = None,
        *,
        combine: Literal["fisher", "stouffer"] = "fisher",
        adjust: str | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.inference.meta_analysis` on this cube."""
        return _meta_analysis(self._cube, over, metrics, combine=combine, adjust=adjust, level=level)

    def control_power(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        skill: float = 0.2,
        power: float = 0.8,
        alpha: float = 0.05,
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.control_power` on this cube."""
        return _control_power(self._cube, metrics, skill=skill, power=power, alpha=alpha)

    def size_and_power(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        methods: str | Sequence[str] | None = None,
        alpha: float = 0.05,
        skill: float = 0.2,
        n_tables: int = 1000,
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.size_and_power` on this cube."""
        return _size_and_power(self._cube, metrics, methods=methods, alpha=alpha, skill=skill, n_tables=n_tables)

    def comparison_power(
        self,
        dim: str,
        *,
        difference: float | Mapping[str, float] | None = None,
        metrics: str | Sequence[str] | None = None,
        reference: Hashable | None = None,
        power: float = 0.8,
        alpha: float = 0.05,
        alternative: Literal["two-sided", "one-sided"] = "two-sided",
    ) -> pd.DataFrame:
        """Call :func:`causaleval_pd.comparison_power` on this cube."""
        return _comparison_power(
            self._cube,
            dim,
            difference=difference,
            metrics=metrics,
            reference=reference,
            power=power,
            alpha=alpha,
            alternative=alternative,
        )

    def to_zarr(
        self, path: str | os.PathLike[str], *, resume: bool = False, progress: bool = False, retries: int = 0
    ) -> Path:
        """Call :func:`causaleval_pd.execution.files.to_zarr` on this cube."""
        from .execution.files import to_zarr

        return to_zarr(self._cube, path, resume=resume, progress=progress, retries=retries)
