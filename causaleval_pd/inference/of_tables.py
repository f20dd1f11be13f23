"""`df.ceval.summary`, `test_controls` and `compare`: from a table of runs to results in one call, by way of a cube."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from ..contract.checks import check_known
from ..contract.delegation import settings_of, takes_settings_of
from ..contract.null import NullLike, Nulls
from ..cubes.cube import cube
from ..cubes.strata import By, strata_names
from ..cubes.summary import summary as summarise_cube
from ..execution.random_streams import RNGLike, resolve_seed
from ..statistics.stratum_statistic import Statistic
from ..tables.settings import NDraws
from ..tables.tasks import Metrics
from .compare import compare as compare_cube
from .compared_values import On, check_dim
from .control_tests import test_controls as test_cube


@takes_settings_of(cube)
def summary(
    table: pd.DataFrame,
    /,
    metrics: Metrics = None,
    *,
    by: By,
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
    statistic: Statistic = "mean",
    simultaneous: bool = False,
    n_draws: NDraws | None = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Score a table of runs and their controls, and summarise them by stratum.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics, by, n_draws, null, rng, key
        As in `causaleval_pd.cube`.
    level, interval, statistic, simultaneous
        As in `causaleval_pd.summary`.
    **settings
        Further keywords of `causaleval_pd.cube`.

    Returns
    -------
    DataFrame
        As `causaleval_pd.summary` of the cube.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube` and `causaleval_pd.summary`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs()
    >>> runs.ceval.summary(["shd"], by=["algorithm"], n_draws=100, rng=7)[["algorithm", "mean", "skill"]].round(2)
      algorithm   mean  skill
    0       ges  13.46   0.44
    1    lingam   6.87   0.71
    2        pc  13.29   0.41
    """
    seed = resolve_seed(rng)
    made = cube(table, metrics, by=by, n_draws=n_draws, null=null, rng=seed, key=key, **settings)
    return summarise_cube(
        made, level=level, interval=interval, statistic=statistic, simultaneous=simultaneous, rng=seed
    )


@takes_settings_of(cube)
@takes_settings_of(test_cube)
def test_controls(
    table: pd.DataFrame,
    /,
    metrics: Metrics = None,
    *,
    by: By,
    n_draws: NDraws = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    cluster: Hashable | None = "truth",
    cube_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Score a table of runs and their controls, and test in every stratum whether the runs beat them.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics, by, n_draws, null, rng, key, cluster
        As in `causaleval_pd.cube`.
    cube_settings : mapping, optional
        Keywords of `causaleval_pd.cube` that `causaleval_pd.test_controls` has as well.
    **settings
        Further keywords of `causaleval_pd.test_controls` and of `causaleval_pd.cube`.

    Returns
    -------
    DataFrame
        As `causaleval_pd.test_controls` of the cube.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube` and `causaleval_pd.test_controls`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs()
    >>> found = runs.ceval.test_controls(["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> found.assign(better=found["p_value"] < 0.001)[["algorithm", "n_clusters", "better"]]
      algorithm  n_clusters  better
    0       ges          60    True
    1    lingam          60    True
    2        pc          60    True
    """
    how, tested = settings_of(cube, settings, test_cube, given=cube_settings, name="cube_settings")
    how = {"cluster": cluster} | how
    made = cube(table, metrics, by=by, n_draws=n_draws, null=null, rng=rng, key=key, **how)
    return test_cube(made, **tested)


# pytest collects what is called test_...
test_controls.__test__ = False  # type: ignore[attr-defined]


@takes_settings_of(cube)
@takes_settings_of(compare_cube)
def compare(
    table: pd.DataFrame,
    /,
    dim: str,
    metrics: Metrics = None,
    *,
    by: By,
    keep: str | Sequence[str] | None = None,
    on: On = "metric",
    n_draws: NDraws = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    cluster: Hashable | None = "truth",
    cube_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Score a table of runs, and compare the levels of one dimension over all strata of the others or in each.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    dim : str
        The stratum whose levels are compared; one of `by`.
    metrics, by, null, key, cluster
        As in `causaleval_pd.cube`.
    keep : str or sequence of str, optional
        Strata of `by` that the result keeps, `by` of `causaleval_pd.compare`: default none, whose runs are pooled;
        "all" keeps all.
    on
        As in `causaleval_pd.compare`.
    n_draws : int or "auto"
        Controls a row; not made for on="metric".
    rng : int, Generator or None
        Seed of the controls, and of tests that resample.
    cube_settings : mapping, optional
        Keywords of `causaleval_pd.cube` that `causaleval_pd.compare` has as well.
    **settings
        Further keywords of `causaleval_pd.compare` and of `causaleval_pd.cube`.

    Returns
    -------
    DataFrame
        As `causaleval_pd.compare` of the cube.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube` and `causaleval_pd.compare`; also if `dim` is not among `by`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs, by = ce.datasets.runs(), ["algorithm", "density"]
    >>> len(runs.ceval.compare("algorithm", ["shd"], by=by))
    3
    >>> len(runs.ceval.compare("algorithm", ["shd"], by=by, keep="density"))
    9
    """
    check_dim(dim)
    check_known(dim, strata_names(by), "dimension")
    drawn, seed = None if on == "metric" else n_draws, resolve_seed(rng)
    how, compared = settings_of(cube, settings, compare_cube, given=cube_settings, name="cube_settings")
    how = {"cluster": cluster} | how
    made = cube(table, metrics, by=by, n_draws=drawn, null=null, rng=seed, key=key, **how)
    return compare_cube(made, dim, by=keep, on=on, rng=seed, **compared)
