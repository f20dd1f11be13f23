"""Bayesian comparisons of levels: probabilities that either is better, or that they are practically equivalent."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, check_type, check_whole
from ..contract.history import call
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import cube_metrics, need_controls, null_stratum, strata_dims
from ..cubes.reshaped import read_cube
from ..cubes.schema import declare_columns
from ..execution.random_streams import RNGLike, resolve_seed
from ..statistics.arrays import Floats, moments
from ..statistics.bayesian import FEWEST_VALUES, hierarchical_posterior, signed_rank_posterior
from ..statistics.clusters import cluster_count, cluster_means
from ..statistics.interval_notes import counted
from .clusters import OF_CUBE, settle_cluster
from .compared_values import compared_values, level_pairs, names_of_pairs, numbers_of_metrics, pair_table
from .pairwise import Ints, clusters_of_pairs, paired_values, refuse_unpaired
from .result_tables import Missing, check_missing, in_order

Model = Literal["signed_rank", "hierarchical"]
MODELS: tuple[Model, ...] = ("signed_rank", "hierarchical")
#: clusters below which the prior of the signed-rank model counts
FEWEST_TRUTHS = 5
PRIOR_COUNTS = f"fewer than {FEWEST_TRUTHS} clusters: the prior counts"
#: note on levels between which no pair differs, where a region of width 0 gives one half to either side
ALL_EQUAL = "all differences are 0: neither level is better"
INFINITE = "no result: infinite values"
PROBABILITIES = ("p_first_better", "p_equivalent", "p_second_better")

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "bayesian_comparison",
    (
        *("metric", "comparison", "n_pairs", "n_clusters", "n_strata", "null", "on", "method", "resampling_seed"),
        *("note", "mean_difference", "rope", *PROBABILITIES),
    ),
)


@dataclass(frozen=True)
class _Request:
    """Which levels of a dimension are compared, and how."""

    dim: str
    first: Ints
    second: Ints
    labels: NDArray[Any]
    ropes: Mapping[str, float]
    model: Model
    on: Literal["metric", "excess"]
    missing: Missing
    cluster: str | None
    n_resamples: int
    seed: int


def bayesian_comparison(
    cube: xr.Dataset,
    dim: str,
    *,
    rope: float | Mapping[str, float],
    metrics: str | Sequence[str] | None = None,
    model: Model = "signed_rank",
    on: Literal["metric", "excess"] = "metric",
    reference: Hashable | None = None,
    missing: Missing = "drop",
    cluster: Hashable | None = OF_CUBE,
    n_resamples: int = 9999,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Compare the levels of one dimension by the probabilities that either is better or both are equivalent.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    dim : str
        The stratum whose levels are compared, such as "algorithm".
    rope : float or {metric: float}
        Half width of the region of practical equivalence: the largest difference that does not matter, in units of the
        metric, fixed before the data are seen. With 0 nothing is equivalent.
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics.
    model : {"signed_rank", "hierarchical"}
        "signed_rank" compares in every stratum, with truths as observations. "hierarchical" compares over all strata,
        whose mean differences are a sample of strata; it asks about a new stratum.
    on : {"metric", "excess"}
        Compare the metric, or the metric minus the expected value of each run's own controls.
    reference : hashable, optional
        Level that all others are compared with, as "other - reference"; default all pairs of levels.
    missing : {"drop", "worst"}
        "worst" counts failed runs as the worst value, as in `compare`.
    cluster : hashable or None
        Runs that count as one value, their mean, as in `compare`: by default those of a cluster of the cube.
    n_resamples : int
        Draws from the posterior of "signed_rank"; "hierarchical" is integrated without random numbers.
    rng : None, int or Generator
        Source of their randomness.

    Returns
    -------
    DataFrame
        A row a stratum, metric and pair of levels (hierarchical: a row a metric and pair): the other strata, `metric`,
        `comparison` ("a - b"), `p_first_better`, `p_equivalent` and `p_second_better`, which add up to 1,
        `mean_difference` of a - b (hierarchical: mean of the strata's means), `rope`, `n_pairs`, `n_clusters`
        (hierarchical: different ones of all strata), `n_strata` (that the model took), `null`, `on`, `method` (the
        model), `resampling_seed`, and `note` (why there is no result, what was left out, that the prior counts, or that
        strata share clusters).

    Raises
    ------
    ValueError
        If a name is unknown, `dim` has fewer than two levels, runs of a pair have different truths, no level shares a
        replicate with another, a metric has no direction, or `rope` is negative or absent for a metric.

    Notes
    -----
    A probability is that of the most probable outcome: that the mean difference of two further truths, or the mean of a
    further stratum, lies most often on that side of the region. It is not a p-value: there is no null hypothesis that
    could not be accepted, and no correction for the number of comparisons. A stratum with an infinite difference has no
    result. The signed-rank model assumes independent
    truths, and has a prior observation of weight .5 at a difference of 0. Do not use it with fewer than about five
    truths, where the prior counts.

    The hierarchical model assumes differences that are normal within a stratum, means of strata that follow a t
    distribution, and strata that are a sample of those of interest and independent of one another. Strata with the same
    truths are not: their common truths make it too certain. It leaves out strata with fewer than three truths, and has
    no result below two strata; with two or three the priors count. Skills are ratios of sums, of which a truth has no
    value of its own: compare them by `compare(on="skill", alternative="equivalent")`.

    References
    ----------
    .. [1] Benavoli, A., Corani, G., Demšar, J., Zaffalon, M. (2017). Time for a change: a tutorial for comparing
       multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18.
    .. [2] Corani, G. et al. (2017). Statistical comparison of classifiers through Bayesian hierarchical modelling.
       doi:10.1007/s10994-017-5641-9

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density"], n_draws=None)
    >>> found = ce.bayesian_comparison(cube.sel(density=[0.2]), "algorithm", rope=1.0, reference="pc", rng=1)
    >>> found[["comparison", "p_first_better", "p_equivalent", "p_second_better"]].round(2)
        comparison  p_first_better  p_equivalent  p_second_better
    0     ges - pc             0.0           1.0              0.0
    1  lingam - pc             1.0           0.0              0.0
    """
    check_known(model, MODELS, "model")
    if str(on) == "skill":
        raise ValueError(
            "on='skill' has no value for a single truth; use compare(on='skill', alternative='equivalent', margin=...)"
        )
    check_known(on, ("metric", "excess"), "on")
    check_missing(missing)
    check_whole(n_resamples, "n_resamples", 1, 2**31 - 1)
    cube = read_cube(cube, controls=on != "metric" or missing == "worst")
    names = cube_metrics(cube, metrics)
    if on != "metric":
        need_controls(cube, names, f"for on={on!r}")
        cube = null_stratum(cube)
    dims = strata_dims(cube)
    check_known(dim, dims, "dimension")
    aimless = [name for name in names if cube[name].attrs["direction"] == "none"]
    if aimless:
        raise ValueError(
            f"{aimless[0]} has no direction, so neither level is better; leave it out by metrics=, or give a column "
            f"its direction by cube(..., values={{{aimless[0]!r}: 'minimize'}})"
        )
    levels = cube[dim].to_numpy()
    first, second = level_pairs(levels, dim, reference)
    labels = names_of_pairs(levels, first, second)
    check_type(rope, (numbers.Real, Mapping), "a number, or a number a metric", "rope")
    ropes = numbers_of_metrics(rope, names, "rope", zero=True)
    seed = resolve_seed(rng)
    grouped = settle_cluster(cube, cluster)
    asked = _Request(dim, first, second, labels, ropes, model, on, missing, grouped, n_resamples, seed)

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        return _rows(part, name, asked)

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return _finish(parts, asked)

    made = call(
        "bayesian_comparison",
        {
            **{"metrics": names, "dim": dim, "rope": ropes, "model": model, "on": on, "reference": reference},
            **{"missing": missing, "cluster": grouped, "n_resamples": n_resamples},
            "seed": seed if model == "signed_rank" else None,
        },
    )
    return tabulate(cube, names, rows, finish, strata=dims, whole=[dim], draws=missing == "worst", made=made)


def _rows(part: xr.Dataset, name: str, asked: _Request) -> pd.DataFrame:
    """Return a row a stratum and pair of levels: probabilities, or what the hierarchical model takes of a stratum."""
    first, second = asked.first, asked.second
    compared = compared_values(
        part, name, asked.dim, first, second, on=asked.on, missing=asked.missing, cluster=asked.cluster, margin=0.0
    )
    table = pair_table(part, name, compared.strata, asked.labels, asked.on)
    value = paired_values(compared.levels, first, second)
    cluster = clusters_of_pairs(compared.levels.cluster, first, second)
    by_cluster = cluster_means(value, cluster)
    n, mean, deviation = moments(by_cluster)
    maximize = part[name].attrs["direction"] == "maximize"
    table = table.assign(n_pairs=(~np.isnan(value)).sum(axis=1), n_clusters=cluster_count(value, cluster))
    table = table.assign(mean_difference=mean, rope=asked.ropes[name], maximize=maximize)
    table = table.assign(infinite=np.asarray(np.isinf(value).any(axis=1), bool))
    if asked.model == "hierarchical":
        groups = np.zeros(value.shape, np.int64) if cluster is None else cluster
        own = [np.unique(c[~np.isnan(v)]) for c, v in zip(groups, value, strict=True)]
        table = table.assign(n=n, deviation=deviation, own=pd.Series(own, index=table.index, dtype=object))
    else:
        found = signed_rank_posterior(by_cluster, asked.ropes[name], n_resamples=asked.n_resamples, rng=asked.seed)
        equal = (n > 0) & ~np.nan_to_num(by_cluster).any(axis=1)
        table = table.assign(**_named(found, maximize), n_strata=1, equal=equal)
    return table[compared.here.reshape(-1)]


def _named(found: Floats, maximize: bool) -> dict[str, Floats]:
    """Return the columns of probabilities below, within and above the region, by which level is better."""
    below, within, above = found[..., 0], found[..., 1], found[..., 2]
    return dict(zip(PROBABILITIES, (above, within, below) if maximize else (below, within, above), strict=True))


def _finish(parts: list[pd.DataFrame], asked: _Request) -> pd.DataFrame:
    """Stack the metrics' rows, and compare over strata where the model does."""
    table = pd.concat(parts, ignore_index=True)
    if len(table) and not table["n_pairs"].any():
        refuse_unpaired(asked.dim)
    if asked.model == "hierarchical":
        keys = ["metric", "comparison", "null"]
        groups = table.groupby(keys, sort=False, dropna=False)
        made = [_over_strata(part) for _, part in groups]
        columns = [*keys, *PROBABILITIES, "mean_difference", "rope", "n_pairs", "n_clusters", "n_strata", "note"]
        table = pd.DataFrame(made, columns=columns)
        # also without rows
        table = table.astype(
            dict.fromkeys(keys, "str") | dict.fromkeys([*PROBABILITIES, "mean_difference"], np.float64)
        )
        table = table.astype({"rope": np.float64} | dict.fromkeys(["n_pairs", "n_clusters", "n_strata"], np.int64))
    else:
        n, equal, infinite = (table[name].to_numpy() for name in ("n_clusters", "equal", "infinite"))
        words = {"no pair has a value": n == 0, INFINITE: infinite, ALL_EQUAL: equal, PRIOR_COUNTS: n < FEWEST_TRUTHS}
        choices = [np.array(word, object) for word in words]
        table["note"] = np.select(list(words.values()), choices, np.array(None, object))
        table = table.drop(columns=["maximize", "equal", "infinite"])
    drawn = pd.NA if asked.model == "hierarchical" else asked.seed
    table = table.assign(
        on=asked.on,
        method=asked.model,
        resampling_seed=pd.array([drawn] * len(table), dtype="Int64"),
        note=pd.array(table["note"].tolist(), dtype="str"),
    )
    return in_order(table, COLUMNS)


def _over_strata(table: pd.DataFrame) -> dict[str, Any]:
    """Return the row of one metric and pair of levels under the hierarchical model."""
    mean, deviation, n = (table[name].to_numpy(np.float64) for name in ("mean_difference", "deviation", "n"))
    used = (n >= FEWEST_VALUES) & np.isfinite(mean)
    found = hierarchical_posterior(mean[used], deviation[used], n[used], float(table["rope"].iloc[0]))
    notes = []
    infinite = table["infinite"].to_numpy(bool)
    for left, why in ((infinite, "infinite values"), (~used & ~infinite, f"fewer than {FEWEST_VALUES} clusters")):
        if left.any():
            notes.append(f"left out: {counted(int(left.sum()), 'stratum', 'strata')} with {why}")
    still = int((deviation[used] == 0).sum())
    if used.sum() < 2:
        notes.append("fewer than 2 strata")
    elif np.isnan(found).any():
        notes.append("no variation")
    elif still:
        notes.append(
            f"{counted(still, 'stratum', 'strata')} without variation: given the least deviation of the others"
        )
    own = [x[x != 0] for x in table["own"][used]]
    known = sum(map(len, own)) > 0
    if known and np.isfinite(found).all() and len(np.unique(np.concatenate(own))) < sum(map(len, own)):
        notes.append("strata share clusters: the probabilities are too certain")
    first = table.iloc[0]
    return {
        **{name: first[name] for name in ("metric", "comparison", "null", "rope")},
        **{name: float(x) for name, x in _named(found, bool(first["maximize"])).items()},
        "mean_difference": float(mean[used].mean()) if used.any() else np.nan,
        "n_pairs": int(table["n_pairs"][used].sum()),
        "n_clusters": len(np.unique(np.concatenate(own))) if known else int(table["n_clusters"][used].sum()),
        "n_strata": int(used.sum()),
        "note": "; ".join(notes) or None,
    }
