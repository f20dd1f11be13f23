"""The accessors `df.ceval`, `ds.ceval`, `series.graph`, `series.score`: methods are the functions of the same names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pandas as pd
import xarray as xr

from .contract.checks import nearest
from .contract.figure import FIGURES
from .contract.metric import METRICS
from .contract.options import method
from .cubes.cube import cube
from .cubes.reshaped import describe_cube
from .cubes.runs_table import runs
from .cubes.summary import summary
from .fields.edge_scores.series import SeriesScoreAccessor
from .fields.time_series.series import SeriesLaggedAccessor
from .graphs.graph import SeriesGraphAccessor
from .inference.compare import compare
from .inference.linear_model import model
from .inference.ranking import rank_test
from .plot.cube_plots import CubePlots
from .reports.notebook import cube_html
from .reports.report import report
from .tables.controls import with_controls
from .tables.evaluate import evaluate
from .tables.placebo import placebo
from .tables.pool import pool
from .tables.with_baselines import with_baselines

__all__ = ["CubeAccessor", "FrameAccessor", "SeriesGraphAccessor", "SeriesLaggedAccessor", "SeriesScoreAccessor"]

pd.api.extensions.register_series_accessor("graph")(SeriesGraphAccessor)
pd.api.extensions.register_series_accessor("lagged")(SeriesLaggedAccessor)
pd.api.extensions.register_series_accessor("score")(SeriesScoreAccessor)


def no_verb(noun: str, accessor: type, name: str) -> AttributeError:
    """Return the error of a name that an accessor does not have: where a figure or metric is, or the nearest verb."""
    if name.startswith("_"):
        return AttributeError(f"{accessor.__name__!r} object has no attribute {name!r}")
    missing = f"{noun} has no verb {name!r}"
    if name in FIGURES:
        of_cube = FIGURES[name].of == "cube"
        return AttributeError(f"{missing}, which is a figure; use {'cube.ceval' if of_cube else 'ce'}.plot.{name}(...)")
    if name in METRICS:
        verb = f"df.ceval.evaluate([{name!r}]) or df.ceval.cube([{name!r}], by=[...])"
        return AttributeError(f"{missing}, which is a metric; use {verb}")
    verbs = [verb for verb in vars(accessor) if not verb.startswith("_")]
    return AttributeError(f"{missing}; {nearest(name, verbs)}verbs are {', '.join(verbs)}")


@pd.api.extensions.register_dataframe_accessor("ceval")
class FrameAccessor:
    """Verbs on a table of runs, `df.ceval`: one run per row, with a truth, an estimate and settings.

    Each returns a new object, and is also a function of the package: `df.ceval.evaluate(...)` is
    `ce.evaluate(df, ...)`, whose help has all keywords.

    ===============  ==================================================================================
    evaluate         adds one column per metric
    with_controls    adds metrics, what random guesses score, p-values and skill
    cube             arranges both as an xarray Dataset over the strata in `by=`; it has more verbs
    placebo          relabels the estimates, so that they agree with the truths by chance only
    pool             turns the rows of bootstrap or posterior graphs into one row per run
    with_baselines   adds rows with the estimates of baselines, such as sort-and-regress
    ===============  ==================================================================================

    Which names there are: `ce.list_metrics()`, `ce.list_nulls()`, `ce.list_tests()`, `ce.list_encodings()`.

    Parameters
    ----------
    table : DataFrame
        The runs; nothing is read before a verb is called.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd
    >>> runs = pd.DataFrame({"truth": ["A -> B; B -> C"], "estimate": ["A -> B; C"]})
    >>> runs.ceval.evaluate(["shd"])["shd"].tolist()
    [1.0]
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self._object = table

    def __repr__(self) -> str:
        names = ", ".join(map(str, self._object.columns))
        return (
            f"<verbs on a table of {len(self._object)} runs (columns: {names}): "
            "evaluate, with_controls, cube, placebo, pool, with_baselines>"
        )

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse verbs of cubes, such as `plot`, figures and metrics, and name the call that has them."""
        if not name.startswith("_") and hasattr(CubeAccessor, name):
            call = name if name == "plot" else f"{name}(...)"
            raise AttributeError(
                f"a table of runs has no verb {name!r}, which is one of cubes; use "
                f"df.ceval.cube(metrics, by=[...]).ceval.{call}"
            )
        raise no_verb("a table of runs", type(self), name)

    evaluate = method(evaluate)
    with_controls = method(with_controls)
    cube = method(cube)
    placebo = method(placebo)
    pool = method(pool)
    with_baselines = method(with_baselines)


@xr.register_dataset_accessor("ceval")  # type: ignore[no-untyped-call]
class CubeAccessor:
    """Verbs on a cube, `ds.ceval`: scores of runs and of their controls, over strata and replicates.

    =====================  ============================================================================
    summary                are the runs of each stratum better than guessing, and by how much
    runs                   one row per run, for statsmodels, seaborn and others
    compare                compares the levels of a stratum pairwise, on the same truths
    rank_test              compares the mean ranks of the levels of a stratum
    model                  linear model over the strata, with errors that allow for runs on one truth
    plot                   figures: `plot.strata`, `plot.distributions`, ...
    report                 writes tables, tests, figures and methods as an HTML page
    to_zarr                computes a lazy cube into a Zarr store
    =====================  ============================================================================

    Of a cube of dask arrays, made of a dask table or opened by `xarray.open_zarr`, a verb loads what it needs.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`; nothing is read before a verb is called.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().head(9).ceval.cube(["shd"], by=["n"], n_draws=20, rng=7)
    >>> cube.ceval.summary()["n_runs"].tolist()
    [3, 3, 3]
    >>> cube.ceval
    <verbs on a cube of shd by n (3), 9 runs, 20 controls each (edges): summary, compare, runs, ..., plot>
    """

    def __init__(self, cube: xr.Dataset) -> None:
        self._object = cube

    def __repr__(self) -> str:
        return f"<verbs on {describe_cube(self._object)}: summary, compare, runs, ..., plot>"

    def _repr_html_(self) -> str:
        return cube_html(self._object)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse verbs of tables, such as `with_controls`, figures and metrics, and name the call that has them."""
        if not name.startswith("_") and hasattr(FrameAccessor, name):
            raise AttributeError(
                f"a cube has no verb {name!r}, which is one of tables of runs; use df.ceval.{name}(...) of the table "
                "that the cube is made of"
            )
        raise no_verb("a cube", type(self), name)

    @property
    def plot(self) -> CubePlots:
        """Figures of this cube, such as `cube.ceval.plot.strata`; `list_figures("cube")` lists all."""
        return CubePlots(self._object)

    summary = method(summary)
    runs = method(runs)
    compare = method(compare)
    rank_test = method(rank_test)
    model = method(model)
    report = method(report)

    def to_zarr(self, path: str | os.PathLike[str], *, resume: bool = False, retries: int = 0) -> Path:
        """Compute this cube into a Zarr store, block by block (extra `dask`).

        Parameters
        ----------
        path : path
            Directory to make; it appears when it is complete.
        resume : bool
            Continue an interrupted call: complete blocks are not computed again. It must be the same computation, of
            the same seed; a finished output stays as it is.
        retries : int
            How often a cluster tries a failed task again. Without a cluster, continue by `resume`.

        Returns
        -------
        Path
            The directory, for `xarray.open_zarr`.

        Raises
        ------
        FileExistsError
            If there is an output, or an interrupted one, and `resume` is False.
        ValueError
            If the interrupted output belongs to another computation, `retries` are asked for without a cluster, or Zarr
            cannot store the chunks.
        """
        # dask is imported where it is used
        from .execution.files import to_zarr

        return to_zarr(self._object, path, resume=resume, retries=retries)
