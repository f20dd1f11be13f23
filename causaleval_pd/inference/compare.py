"""Tables of comparisons: the levels of a dimension against each other, stratum by stratum."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known
from ..contract.statistical_test import find_test
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import cube_metrics, need_controls, null_name, null_stratum, strata_dims, strata_table, variable
from ..cubes.reshaped import read_cube
from ..cubes.schema import FAILED, NO_RUN, declare_columns
from ..cubes.worst_case import cells, fill_failed
from ..execution.random_streams import RNGLike, resolve_seed
from ..statistics.direction import score
from ..statistics.ranks import ZeroMethod
from .pairwise import (
    Claim,
    Comparison,
    Effect,
    Levels,
    check_comparison,
    check_truths,
    choose_test,
    compare_levels,
    refuse_unpaired,
)
from .result_tables import TEST_COLUMNS, Missing, check_missing, stack_tests

#: columns of the result, after the strata
COLUMNS = declare_columns(
    "compare",
    (*TEST_COLUMNS, "resampling_seed"),
)


@dataclass(frozen=True)
class Request:
    """Which levels of a dimension are compared in every stratum, and how."""

    dim: str
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    labels: NDArray[Any]
    margins: Mapping[str, float]
    how: Comparison
    missing: Missing
    minus_controls: bool
    cluster: str | None
    family: str | Sequence[str] | None


def compare(
    cube: xr.Dataset,
    dim: str,
    *,
    metrics: str | Sequence[str] | None = None,
    test: str = "wilcoxon",
    adjust: str | None = "holm",
    reference: Hashable | None = None,
    paired: bool = True,
    missing: Missing = "drop",
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
    """Compare the levels of one dimension, pair by pair, in every stratum of the others.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    dim : str
        The stratum whose levels are compared, such as "algorithm".
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics.
    test : str
        Test of the differences: "wilcoxon", "t", "sign", "sign_flip" (permutation test of their mean), "bootstrap",
        "mcnemar" (for metrics that are 0 or 1), "friedman" (mean ranks among all levels, see `rank_test`), or another
        that `list_tests("compare")` names. Unpaired, "wilcoxon" is Mann and Whitney's test and "t" is Welch's; the
        others need pairs.
    adjust : {"holm", "bh", "by", "bonferroni", "nemenyi", "none"} or None
        Multiplicity correction over metrics x strata x pairs. "nemenyi", for "friedman", corrects for the pairs of each
        stratum and metric only.
    reference : hashable, optional
        Level that all others are compared with, as "other - reference"; default all pairs of levels.
    paired : bool
        Compare runs of the same replicate, that is on the same truth. A dimension whose levels share no truths
        (density, number of nodes) needs False.
    missing : {"drop", "worst"}
        "worst" is a sensitivity analysis that counts failed runs as the worst value: the end of the metric's range away
        from the optimum where that is finite, else the worst value among estimates and controls of all levels of `dim`
        in the stratum.
    alternative : {"two-sided", "less", "greater", "equivalent", "non_inferior"}
        Side of 0 on which a - b is expected; or that it lies within -margin and margin (two one-sided tests, p is the
        larger), or that a is worse than b by less than the margin.
    margin : float or {metric: float}, optional
        The largest difference that does not matter, in units of the metric, fixed before the data are seen.
    minus_controls : bool
        Compare the excess of each run over its own controls, which have its number of edges: the metric minus its
        expected value under the cube's null model.
    family : str or sequence of str, optional
        Columns of the result within whose values p-values are adjusted, such as "metric"; default all rows returned.
    effect : {"mean_difference", "rank_biserial", "cliffs_delta", "cohen_dz"}
        Effect size; "rank_biserial" is the matched-pairs one. Unpaired, it is Cliff's delta, and there is no
        "cohen_dz".
    level : float
        Probability of the interval of the effect. Equivalence at .05 is seen in an interval of .90.
    zero_method : {"wilcox", "pratt"}
        Treatment of equal pairs in Wilcoxon's test: leave them out before ranking, or rank them and leave them out
        after.
    cluster : str, optional
        "truth", or a variable that the cube carries (`values=`): pairs that share it are resampled together by
        "bootstrap" and "sign_flip".
    n_resamples : int
        Random sign vectors or bootstrap samples.
    rng : None, int or Generator
        Source of their randomness.

    Returns
    -------
    DataFrame
        A row a stratum, metric and pair of levels: the other strata, `metric`, `comparison` ("a - b"), `statistic`,
        `p_value`, `p_adjusted`, `effect` of a - b with `ci_low`, `ci_high` (t interval, BCa for the bootstrap and
        wherever `cluster` is given, noncentral t for `cohen_dz`, Fisher's z for `rank_biserial`, Feng and Cliff's for
        `cliffs_delta`), `n_pairs`, `n_failed` (pairs with a failed run), `n_undefined` (other pairs without a value),
        `null` (that of `minus_controls`, else missing), `method`, `alternative`, `resampling_seed` (missing for tests
        that draw nothing; as `rng` it gives the same table). Unpaired, numbers count runs.

    Raises
    ------
    ValueError
        If a name is unknown, `dim` has fewer than two levels, two runs of a pair have different truths, a test needs
        pairs and there are none, or settings contradict one another.

    Notes
    -----
    A metric that is best at its optimum is compared by its distance from it. A p-value is NaN without pairs, and for
    "t" and "bootstrap" with one pair or differences that do not vary. P-values of "sign_flip" and "bootstrap" share
    their resamples between strata: each is valid by itself.

    The p-values of two algorithms against their controls do not test their difference: one can be significant and the
    other not by chance [1]_, p falls with the number of runs, and each algorithm has controls with its own number of
    edges. A raw difference is not a difference of skill either: an algorithm that guesses few edges has a smaller SHD
    than one that guesses many. At matched edge counts, `minus_controls=True`, two guessers do not differ (see the
    example).

    References
    ----------
    .. [1] Gelman, A., Stern, H. (2006). The difference between "significant" and "not significant" is not itself
       statistically significant. doi:10.1198/000313006X152649
    .. [2] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach.
       doi:10.1007/BF01068419

    Examples
    --------
    >>> import itertools
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> truths = ["A -> B; B -> C", "A -> B; C", "B -> C; A", "A -> C; B"]
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x"] * 4 + ["y"] * 4,
    ...     "truth": truths * 2,
    ...     "estimate": truths + ["A; B; C"] * 4,
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=None)
    >>> ce.compare(found, "algorithm")[["comparison", "statistic", "p_value", "effect", "n_pairs"]]
      comparison  statistic  p_value  effect  n_pairs
    0      x - y        0.0    0.125   -1.25        4

    One algorithm guesses 5 edges and the other 25; neither has looked at the data:

    >>> rng = np.random.default_rng(1)
    >>> pc = ce.datasets.runs().query("algorithm == 'pc' and n == 100")
    >>> nodes = list(ce.as_graph(pc["truth"].iloc[0]).nodes)
    >>> def guess(n_edges):
    ...     pairs = list(itertools.combinations(rng.permutation(nodes), 2))
    ...     drawn = rng.choice(pairs, n_edges, replace=False)
    ...     return "; ".join([f"{a} -> {b}" for a, b in drawn] + nodes)
    >>> both = pd.concat(
    ...     [pc.assign(algorithm=f"{m} edges", estimate=[guess(m) for _ in pc.index]) for m in (5, 25)],
    ...     ignore_index=True,
    ... )
    >>> found = both.ceval.cube(["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> raw, matched = (ce.compare(found, "algorithm", minus_controls=x) for x in (False, True))
    >>> bool(raw["p_value"][0] < 1e-6), bool(matched["p_value"][0] > 0.05)
    (True, True)
    """
    cube = read_cube(cube, controls=minus_controls or missing == "worst")
    names = cube_metrics(cube, metrics)
    if minus_controls:
        need_controls(cube, names, "for minus_controls=True")
        cube = null_stratum(cube)
    dims = strata_dims(cube)
    check_known(dim, dims, "dimension")
    check_missing(missing)
    chosen = choose_test(find_test(test, "compare"), effect, paired=paired)
    how = Comparison(chosen, alternative, effect, level, zero_method, n_resamples, resolve_seed(rng), adjust)
    check_comparison(how, reference=reference is not None, margin=margin is not None, cluster=cluster is not None)
    aimless = [name for name in names if cube[name].attrs["direction"] == "none"]
    if alternative == "non_inferior" and aimless:
        raise ValueError(
            f"{aimless[0]} has no direction, so neither level is worse; use alternative='equivalent', or give a column "
            f"its direction by cube(..., values={{{aimless[0]!r}: 'minimize'}})"
        )
    margins = _margins(margin, names)
    first, second = _level_pairs(cube[dim].to_numpy(), dim, reference)
    levels = cube[dim].to_numpy()
    labels = np.array([f"{levels[a]} - {levels[b]}" for a, b in zip(first, second, strict=True)], dtype=object)
    asked = Request(dim, first, second, labels, margins, how, missing, minus_controls, cluster, family)

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        return _rows(part, name, asked)

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return _finish(parts, [name for name in dims if name not in (dim, "null")], asked)

    return tabulate(cube, names, rows, finish, strata=dims, whole=[dim], draws=missing == "worst")


def _rows(part: xr.Dataset, name: str, asked: Request) -> pd.DataFrame:
    """Return the rows of one metric, in the order of the strata and then of the pairs of levels."""
    how, first, second = asked.how, asked.first, asked.second
    others = [other for other in strata_dims(part) if other != asked.dim]
    last = (asked.dim, "replicate")
    strata = strata_table(part.isel({asked.dim: 0}, drop=True))
    status = cells(part["status"], others, last=last)
    if how.paired:
        check_truths(part, asked.dim, status, strata, first, second)
    here = (status != NO_RUN).any(axis=2)
    here = (here[:, first] & here[:, second]).reshape(-1)
    groups = None if asked.cluster is None else cells(_groups(part, asked.cluster), others, last=last)
    values = cells(_scores(part, name, asked), others, last=last)
    if how.test.binary:
        _check_binary(name, values, how.test.name)
    given = Levels(values, status, part[name].attrs["direction"], asked.margins[name], groups)
    table = strata.loc[np.repeat(np.arange(len(strata)), len(first))].reset_index(drop=True)
    table = table.assign(metric=name, comparison=np.tile(asked.labels, len(strata)))
    if "null" not in table:
        null = null_name(part, name) if asked.minus_controls else None
        table["null"] = pd.array([null] * len(table), dtype="str")
    return table.assign(**compare_levels(given, first, second, how))[here]


def _finish(parts: list[pd.DataFrame], strata: Sequence[str], asked: Request) -> pd.DataFrame:
    """Stack the metrics' rows, and add what is the same in all of them."""
    how, same = asked.how, []
    if parts:
        table = pd.concat(parts, ignore_index=True)
        if how.paired and len(table) and not table[["n_pairs", "n_failed", "n_undefined"]].to_numpy().any():
            refuse_unpaired(asked.dim)
        seed = how.seed if how.test.resamples else pd.NA
        seeds = pd.array([seed] * len(table), dtype="Int64")
        same = [table.assign(alternative=how.claim, resampling_seed=seeds)]
    return stack_tests(same, COLUMNS, strata, how.adjust, asked.family)


def _margins(margin: float | Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    """Return the margin of every metric."""
    if margin is None:
        return dict.fromkeys(names, 0.0)
    given = dict(margin) if isinstance(margin, Mapping) else dict.fromkeys(names, margin)
    for name in given:
        check_known(name, names, "metric compared (margin)")
    absent = [name for name in names if name not in given]
    if absent:
        raise ValueError(f"margin= names no margin for {', '.join(absent)}; give one, or leave them out by metrics=")
    wrong = {name: value for name, value in given.items() if not 0 < value < np.inf}
    if wrong:
        raise ValueError(f"margin must be a positive number in units of the metric, found {wrong}")
    return given


def _scores(cube: xr.Dataset, name: str, asked: Request) -> xr.DataArray:
    """Return the metric or its distance from the optimum, minus the mean of the controls where requested."""
    worst = asked.missing == "worst"
    spec = cube[name].attrs
    filled = fill_failed(cube, name, [asked.dim]) if worst else cube
    own = cube[name].copy(data=score(filled[name].to_numpy(), direction=spec["direction"], optimum=spec["optimum"]))
    if not asked.minus_controls:
        return own
    expected = variable(cube, name, "control_loss" if spec["direction"] == "zero" else "control_mean")
    if worst:
        # a failed run has no number of edges: it counts against the mean control of its level
        mean = expected.where(cube[name].notnull()).mean("replicate")
        expected = expected.where(cube["status"] != FAILED, mean)
    return own - expected


def _check_binary(name: str, values: NDArray[np.float64], test: str) -> None:
    """Refuse values other than 0 and 1 for tests of such values."""
    other = ~np.isnan(values) & ~np.isin(values, (0.0, 1.0))
    if other.any():
        raise ValueError(
            f"test={test!r} compares metrics that are 0 or 1, but {name} is {values[other][0]:g} in a run; choose "
            "such metrics by metrics=, or another test"
        )


def _groups(cube: xr.Dataset, cluster: str) -> xr.DataArray:
    """Return the group of every run as a number from 1 on; 0 without a group."""
    carried = [name for name, array in cube.data_vars.items() if array.attrs.get("role") == "value"]
    check_known(cluster, ["truth", *carried], "variable of this cube (cluster)")
    found = cube["truth_id" if cluster == "truth" else cluster]
    codes = pd.factorize(found.to_numpy().reshape(-1))[0]
    known = found.notnull() & (found != 0) if cluster == "truth" else found.notnull()
    return cast(xr.DataArray, found.copy(data=codes.reshape(found.shape) + 1).where(known, 0).astype(np.int64))


def _level_pairs(
    levels: NDArray[Any], dim: str, reference: Hashable | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions of the levels a and b of every comparison a - b."""
    if len(levels) < 2:
        raise ValueError(f"{dim!r} has {len(levels)} level, and a comparison needs two")
    if reference is None:
        pairs = list(itertools.combinations(range(len(levels)), 2))
    else:
        words = [str(x) for x in levels]
        check_known(str(reference), words, f"level of {dim!r} (reference)")
        pairs = [(i, words.index(str(reference))) for i in range(len(levels)) if words[i] != str(reference)]
    first, second = np.array(pairs, np.int64).T
    return first, second
