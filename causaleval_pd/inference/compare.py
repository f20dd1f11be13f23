"""Tables of comparisons: the levels of a dimension against each other, over all strata or in each."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_choice, check_known, check_type
from ..cubes.reading import cube_metrics, need_controls, null_stratum, strata_columns, strata_dims
from ..cubes.reshaped import read_cube, read_metric
from ..cubes.schema import declare_columns
from ..statistics.arrays import Floats
from ..statistics.clusters import cluster_means
from ..statistics.interval_notes import joined
from ..statistics.max_t import joint_max_t
from ..tables.history import call, calls, remember
from .compared_values import (
    ON,
    On,
    compared_stratum,
    compared_values,
    kept_strata,
    level_pairs,
    names_of_pairs,
    numbers_of_metrics,
    pair_table,
    words_of_clusters,
)
from .pairwise import (
    SIGN_SEED,
    Claim,
    Comparison,
    Ints,
    Losses,
    check_binary,
    check_comparison,
    check_skill_test,
    clusters_of_pairs,
    compare_levels,
    compare_skills,
    complete_values,
    refuse_unpaired,
)
from .result_tables import (
    RESULTS,
    TESTED,
    Missing,
    at_floor,
    check_missing,
    families,
    least_p_notes,
    ranking_notes,
    stack_tests,
)
from .statistical_tests import JACKKNIFE, T, find_test

#: columns of the result, after the strata
COLUMNS = (*TESTED, "on", "ci_level", "p_at_floor", "note", "statistic", "effect_size", *RESULTS)
#: columns that a result needs, and further ones
SHORT = ("metric", "comparison", "n_truths", *RESULTS)
FURTHER = (
    *("n_pairs", "n_failed", "n_undefined", "null", "test", "alternative", "on", "effect_size", "statistic"),
    *("ci_level", "p_at_floor", "note"),
)
declare_columns("compare", (*SHORT, *FURTHER))


@dataclass(frozen=True)
class Request:
    """Which levels of a dimension are compared, over which strata, and how."""

    dim: str
    kept: Sequence[str]
    pooled: Sequence[str]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    labels: NDArray[Any]
    margins: Mapping[str, float]
    how: Comparison
    missing: Missing
    on: On
    #: what the values of a test are called
    unit: str


def compare(
    cube: xr.Dataset,
    dim: str,
    metrics: str | Sequence[str] | None = None,
    *,
    by: str | Sequence[str] | None = None,
    on: On = "metric",
    test: str | None = None,
    adjust: str | None = "auto",
    reference: Hashable | None = None,
    missing: Missing = "drop",
    alternative: Claim = "two-sided",
    margin: float | Mapping[str, float] | None = None,
    level: float = 0.95,
    columns: Literal["short", "full"] = "short",
) -> pd.DataFrame:
    """Compare the levels of one dimension, pair by pair, over all strata of the others or in each.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    dim : str
        The stratum whose levels are compared, such as "algorithm".
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics.
    by : str or sequence of str, optional
        Strata that the table keeps; the runs of the others are pooled. Default is to pool all, which gives one row per
        metric and pair of levels: each truth (cluster) counts once, with the mean of its paired differences over the
        strata that both levels have. "all" keeps all strata. Null models and dimensions that a metric declares are
        never pooled.
    on : {"metric", "excess", "skill"}
        What is compared: the metric; the excess of each run, its metric minus the expected value of its own controls;
        or skill, 1 - sum of losses / sum of the losses expected of the controls, over the truths that both levels have.
        Choose "skill" to ask which algorithm is better beyond chance where their numbers of edges differ.
    test : str, optional
        Test of the differences: "t" (default), "wilcoxon", "mcnemar" (for metrics that are 0 or 1), "max_t" (all rows
        of a metric at once by the largest t under sign flips: all, or 9,999 random ones that are the same in every
        call), or another that `list_tests` names.
        "wilcoxon" is refused where no adjusted p-value can be below 1 - level with so few truths. "welch_t" compares
        independent runs, for a dimension whose levels share no truths (density, number of nodes); strata in which
        either level has no run are then left out. All others compare runs of the same replicate, that is on the same
        truth. Of skills: "jackknife".
    adjust : {"auto", "holm", "bh", "by", "bonferroni", "max_t", "none"} or None
        Multiplicity correction over the rows of each metric. "max_t" is that of the test "max_t", by signs that a truth
        has in common in all strata and pairs. "auto" is "max_t" for this test, else Holm's.
    reference : hashable, optional
        Level that all others are compared with, as "other - reference"; default all pairs of levels.
    missing : {"drop", "worst"}
        "worst" is a sensitivity analysis that counts failed runs as the worst value: the end of the metric's range away
        from the optimum where that is finite, else the worst value among estimates and controls of all levels of `dim`
        in the stratum.
    alternative : {"two-sided", "less", "greater", "equivalent"}
        Side of 0 on which a - b is expected; or that it lies within -margin and margin (two one-sided tests, p is the
        larger).
    margin : float or {metric: float}, optional
        The largest difference that does not matter, in units of the metric, fixed before the data are seen.
    level : float
        Probability of the interval of the effect. Two one-sided tests at .05 agree with an interval of .90 where the
        interval belongs to the test: `test="t"`.
    columns : {"short", "full"}
        Which columns the table has.

    Returns
    -------
    DataFrame
        One row per stratum kept, metric and pair of levels: these strata, `metric`, `comparison` ("a - b"), `n_truths`
        (values that the test takes: truths, or other clusters of the cube, each the mean of its pairs), `effect` of
        a - b with `ci_low`, `ci_high`, `p_value` and `p_adjusted`. A column `note` is there if a row has no result, or
        rests on something to know (that p cannot fall below 1 - level with so few truths). A cube of several null
        models has rows for each in the column `null` where controls are compared.

        With `columns="full"` also `n_pairs`, `n_failed` (pairs with a failed run), `n_undefined` (other pairs without a
        value; unpaired, these count runs), `null` (missing for on="metric"), `test`, `alternative`, `on`, `effect_size`
        (what `effect` is), `statistic`, `ci_level` (missing without an interval) and `p_at_floor` (no random sign
        vector was as extreme, so that `p_value` is the least that these can give, an upper bound; missing without a
        p-value).

    Raises
    ------
    ValueError
        If a name is unknown, `dim` has fewer than two levels, two runs of a pair have different truths, no run has a
        partner although the test needs pairs, settings contradict one another, or Wilcoxon's test needs more truths.

    Notes
    -----
    A difference that all settings share is found with far fewer truths where they are pooled: with four algorithms, six
    settings and ten truths at each of two densities, one of a standard deviation with .99, stratum by stratum with .22.
    A difference whose sign changes between strata is found by `by="all"` alone, so look at both. Every pair of runs on
    a truth has the same weight, whatever its stratum.

    `list_tests` has the null hypothesis, alternative and assumption of each test, and when not to use it.

    Two equal infinite values tie. The difference of an infinite and a finite value is infinite: it ranks beyond all
    finite ones in tests of ranks and signs, and leaves tests and intervals of means without a result, as `note` states.
    Pairs with an undefined value are left out by every test, and counted in `n_undefined`.

    A metric that is best at its optimum is compared by its distance from it. A p-value is NaN without pairs, and for
    "t" with one pair or differences that do not vary.

    The p-values of two algorithms against their controls do not test their difference: one can be significant and the
    other not by chance [1]_, p falls with the number of runs, and each algorithm has controls with its own number of
    edges. A raw difference is not a difference of skill either: an algorithm that guesses few edges has a smaller SHD
    than one that guesses many (see the example). The excess has mean 0 for every guesser, but its scale grows with the
    number of edges: a guesser with many edges can win, or lose, more by chance, and four right edges lose to thirty
    edges a few of which are right. Skill has the same scale for both.

    A difference of skill is a ratio of means, not the mean of the rows' skills, which gives easy truths more weight. It
    is tested by leaving out one truth at a time, is refused (NaN, with a note) below five truths, and is marked where
    one truth has more than half of its variance. Wilcoxon's test rejects differences that are not
    symmetric about 0, also where their mean is 0.

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
    >>> ce.compare(found, "algorithm")[["comparison", "n_truths", "effect", "p_value"]].round(3)
      comparison  n_truths  effect  p_value
    0      x - y         4   -1.25    0.015

    Which algorithm is better, over all densities and sample sizes and at each density:

    >>> cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=None)
    >>> ce.compare(cube, "algorithm")[["comparison", "n_truths", "effect", "p_adjusted"]].round(3)
         comparison  n_truths  effect  p_adjusted
    0  ges - lingam        60   6.589       0.000
    1      ges - pc        60   0.172       0.717
    2   lingam - pc        60  -6.417       0.000
    >>> len(ce.compare(cube, "algorithm", by=["density"])), len(ce.compare(cube, "algorithm", by="all"))
    (9, 27)

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
    >>> raw, skill = (ce.compare(found, "algorithm", on=x) for x in ("metric", "skill"))
    >>> bool(raw["p_value"][0] < 1e-6), bool(skill["p_value"][0] > 0.05)
    (True, True)
    """
    dim = compared_stratum(dim)
    check_known(on, ON, "on")
    check_missing(missing)
    check_choice(columns, ("short", "full"), "columns")
    cube = read_cube(cube, controls=on != "metric" or missing == "worst")
    names = cube_metrics(cube, metrics)
    if on != "metric":
        need_controls(cube, names, f"for on={on!r}")
        cube = null_stratum(cube)
    dims = strata_dims(cube)
    check_known(dim, dims, "dimension")
    kept = kept_strata(by, [name for name in strata_columns(cube, names) if name != dim], dim)
    pooled = [name for name in dims if name not in (dim, "null", *kept)]
    usual = JACKKNIFE if on == "skill" else T
    tested_by = usual if test is None else find_test(test)
    check_type(adjust, (str, type(None)), "the name of a correction or None", "adjust")
    if adjust == "auto":
        adjust = "max_t" if tested_by.name == "max_t" else "holm"
    how = Comparison(tested_by, alternative, level, adjust)
    check_comparison(how, margin=margin is not None)
    _check_on(on, how)
    margins = numbers_of_metrics(margin, names, "margin")
    first, second = level_pairs(cube[dim].to_numpy(), dim, reference)
    levels = cube[dim].to_numpy()
    labels = names_of_pairs(levels, first, second)
    unit = words_of_clusters(cube, "pairs")
    asked = Request(dim, kept, pooled, first, second, labels, margins, how, missing, on, unit)

    rows = [_rows(read_metric(cube, name), name, asked) for name in names]
    table = _finish(rows, [name for name in dims if name in kept and name != "null"], asked)
    several = ["null"] if "null" in dims and on != "metric" else []
    strata = [name for name in table if name not in (*SHORT, *FURTHER)]
    further = [name for name in FURTHER if columns == "full" or (name == "note" and table["note"].notna().any())]
    made = call("compare", {"metrics": names} | _settings(asked, reference))
    chosen = [*several, *strata, *SHORT, *(name for name in further if name not in several)]
    return remember(table[chosen], [*calls(cube.attrs), made])


def _rows(part: xr.Dataset, name: str, asked: Request) -> tuple[pd.DataFrame, list[Sample]]:
    """Return the rows of one metric, by strata and then pairs of levels, and differences where corrected jointly."""
    how, first, second = asked.how, asked.first, asked.second
    compared = compared_values(
        part,
        name,
        asked.dim,
        first,
        second,
        on=asked.on,
        missing=asked.missing,
        margin=asked.margins[name],
        paired=how.paired,
        pooled=asked.pooled,
    )
    levels = compared.levels
    if how.test.binary:
        check_binary(name, levels, how.test.name, asked.pooled)
    table = pair_table(part, name, compared.strata, asked.labels, asked.on)
    losses = None
    if compared.expected is not None and levels.errors is not None:
        losses = Losses(levels.scores, compared.expected, levels.errors)
    if losses is None:
        columns = compare_levels(levels, first, second, how)
    else:
        columns = compare_skills(losses, levels, first, second, how)
    table = table.assign(**columns)
    samples: list[Sample] = []
    if how.jointly:
        value = complete_values(levels, first, second)
        cluster = clusters_of_pairs(levels.cluster, first, second)
        blocks = np.broadcast_to(np.arange(value.shape[1]), value.shape) if cluster is None else cluster
        samples = _samples(value, blocks)
    here = compared.here.reshape(-1)
    return table[here], list(itertools.compress(samples, here))


class Sample(NamedTuple):
    """The mean differences of the clusters of one row, and the numbers of these clusters, the same in all rows."""

    values: Floats
    clusters: Ints


def _samples(values: Floats, clusters: Ints) -> list[Sample]:
    """Return the sample of every row of differences (rows, n)."""
    samples, means = [], cluster_means(values, clusters)
    for row, mean, cluster in zip(values, means, clusters, strict=True):
        samples.append(Sample(mean[~np.isnan(mean)], np.asarray(pd.unique(cluster[~np.isnan(row)]))))
    return samples


def _finish(rows: list[tuple[pd.DataFrame, list[Sample]]], strata: Sequence[str], asked: Request) -> pd.DataFrame:
    """Stack the metrics' rows, and add what is the same in all of them."""
    how, same = asked.how, []
    if rows:
        table = pd.concat([part for part, _ in rows], ignore_index=True)
        if how.paired and len(table) and not table[["n_pairs", "n_failed", "n_undefined"]].to_numpy().any():
            refuse_unpaired(asked.dim)
        if how.jointly:
            table = corrected_jointly(table, [sample for _, samples in rows for sample in samples], how)
        same = [
            table.assign(
                alternative=how.claim,
                on=asked.on,
                effect_size=how.test.effect,
                ci_level=np.where(table["ci_low"].isna(), np.nan, how.level),
                p_at_floor=at_floor(table, how),
            )
        ]
    table = stack_tests(same, COLUMNS, strata, how.adjust)
    unit = asked.unit.split()[0]
    labels = families(table)
    notes = least_p_notes(table, how, labels, unit=unit, pooled=not strata)
    of_rows = ranking_notes(table, how, labels) if how.paired else table["note"]
    return table.assign(note=pd.array(joined(of_rows, notes), dtype="str"))


def corrected_jointly(table: pd.DataFrame, rows: Sequence[Sample], how: Comparison) -> pd.DataFrame:
    """Correct the rows of each metric, differences by cluster, by their largest t, with simultaneous intervals."""
    labels = families(table)
    adjusted, low, high = np.full((3, len(table)), np.nan)
    for family in np.unique(labels):
        mine = np.flatnonzero(labels == family).tolist()
        differences, blocks = [rows[i].values for i in mine], [rows[i].clusters for i in mine]
        joint = joint_max_t(differences, blocks, alternative=how.side, level=how.level, rng=SIGN_SEED)
        adjusted[mine], low[mine], high[mine] = joint.p_adjusted, joint.low, joint.high
    # the p-value of a row can be that of all sign vectors, the adjusted one that of random ones
    table = table.assign(p_adjusted=np.maximum(adjusted, table["p_value"].to_numpy(np.float64)))
    lost = table["ci_low"].notna().to_numpy() & np.isnan(low)
    notes = joined(table["note"], ["too few clusters for an interval" if x else None for x in lost])
    return table.assign(ci_low=low, ci_high=high, note=pd.array(notes, dtype="str"))


def _settings(asked: Request, reference: Hashable | None) -> dict[str, Any]:
    """Return the settings for the history of the table."""
    how = asked.how
    names = ("level", "adjust")
    return {
        **{
            "dim": asked.dim,
            "by": list(asked.kept),
            "test": how.test.name,
            "alternative": how.claim,
            "margin": asked.margins,
        },
        **{"reference": reference, "missing": asked.missing, "on": asked.on},
        **{name: getattr(how, name) for name in names},
    }


def _check_on(on: On, how: Comparison) -> None:
    """Refuse tests that do not go with what is compared."""
    if on != "skill":
        if how.test.design == "skill":
            raise ValueError(f"test={how.test.name!r} compares skills; use it with on='skill'")
        return
    check_skill_test(how)
    if not how.paired:
        raise ValueError("on='skill' needs pairs: both levels on the same truths")
