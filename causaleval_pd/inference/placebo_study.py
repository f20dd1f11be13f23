"""Size and power of the analysis of a table of runs, by its own estimates with their labels exchanged."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_whole
from ..contract.delegation import settings_of, takes_settings_of
from ..contract.history import Call, call, calls, remember
from ..contract.null import Nulls
from ..contract.statistical_test import find_test
from ..cubes.cube import cube
from ..cubes.runs import stratum_columns
from ..cubes.schema import COMBINED
from ..cubes.strata import By, strata_axes, strata_names, stratum_numbers
from ..cubes.summary import summary
from ..execution.engines import Engine, map_chunks
from ..execution.random_streams import RNGLike, hash_rows, resolve_seed, row_keys
from ..statistics.arrays import ratio
from ..statistics.direction import TOLERANCE
from ..statistics.multiplicity import adjust as adjusted
from ..statistics.rates import MISCALIBRATED, judge_rates, rate_limits
from ..statistics.stratum_statistic import COMBINATIONS
from ..tables.clusters import BY_TRUTH
from ..tables.placebo import Joint, Placebos
from ..tables.settings import Cells
from ..tables.tasks import Metrics, Task
from .calibration import BY_CONSTRUCTION
from .control_tests import COLUMNS as TEST_RESULT
from .control_tests import test_controls as test_cube
from .result_tables import check_shares, family_labels, in_order, least_of_draws, warn_of_floors

#: columns of the result, after the strata
COLUMNS = (
    *("metric", "method", "n_pairs", "n_clusters", "alpha", "size", "size_low", "size_high", "verdict"),
    *("skill", "power", "n_placebos", "null"),
)
#: verdict on simulated p-values that cannot reach the level
TOO_FEW_DRAWS = "too few draws"
#: what stands in the column `method` of intervals
INTERVAL = "skill interval"
#: how p was found where a test relabels estimates as a placebo does
RELABELLED = "relabelling by "
#: settings of `cube` that name cells
_CELLS = ("truth", "estimate", "field", "context", "zero_division")


class _Study(NamedTuple):
    """What is done with every placebo."""

    placebos: Placebos
    metrics: Metrics
    cube_settings: Mapping[str, Any]
    test_settings: Mapping[str, Any]
    methods: Sequence[str]
    adjust: str | None
    family: str | Sequence[str] | None
    skill: float | None
    joint: Joint
    seed: int


class _Outcome(NamedTuple):
    """What the analysis of one placebo found: tests, tests of the placebo with some perfect estimates, and skills.

    `made` is the record of its cube's call.
    """

    size: pd.DataFrame
    power: pd.DataFrame | None
    skill: pd.DataFrame
    made: Call


@takes_settings_of(cube, without=("method", "keep_draws"))
@takes_settings_of(test_cube, without=("method",))
def size_and_power(
    table: pd.DataFrame,
    /,
    metrics: Metrics = None,
    *,
    by: By,
    n_placebos: int = 400,
    methods: str | Sequence[str] = "randomisation",
    alpha: float | Sequence[float] = (0.05, 0.01),
    skill: float | None = 0.2,
    cluster: Hashable | None = BY_TRUTH,
    joint: Joint = "truth",
    n_draws: int = 199,
    null: Nulls = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    adjust: str | None = None,
    family: str | Sequence[str] | None = None,
    level: float = 0.95,
    cube_settings: Mapping[str, Any] | None = None,
    progress: bool = False,
    engine: Engine = None,
    n_jobs: int | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Estimate size and power of an analysis against controls, by repeating it on placebos of the runs.

    A placebo keeps the estimates and how they depend on one another, but relabels them, so that they know nothing of
    the truth: every rejection is then a wrong one. The whole analysis is repeated, from the controls to the adjusted
    p-values and the intervals of skill.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics, by, null, key
        As in `causaleval_pd.cube`.
    n_placebos : int
        How many placebos. With 400, a size of .10 in place of .05 is found with probability .93; take 1000 for a level
        of .01.
    methods : str or sequence of str
        Methods of `test_controls`.
    alpha : float or sequence of float
        Levels of the tests.
    skill : float or None
        Share of a placebo's estimates that are replaced by perfect ones, whose detection is the power; None for no
        power, which takes half the time.
    cluster : hashable or None
        Clusters of the analysis, as in `causaleval_pd.cube`. A placebo relabels these clusters, or truths where this is
        None. Answers have no labels: those of a cluster, by default of a value of the column `sample` if there is one,
        else of a row, move together to another one of the stratum that answered the same questions.
    joint : {"truth", "all"}
        As in `placebo`.
    n_draws : int
        Controls a row. The size hardly depends on it, so that it can be smaller than in the study.
    rng : int, Generator or None
        Seed. Every placebo has random streams of its own, so that results do not depend on the engine.
    adjust, family
        Multiplicity correction, as in `test_controls`; a warning names the draws that it needs. Adjusted p-values have
        rows of their own; one more, with missing strata, has the share of placebos in which any of them rejects.
    level : float
        Probability of the intervals of skill.
    cube_settings : mapping, optional
        Keywords of `causaleval_pd.cube` that `causaleval_pd.test_controls` has as well.
    progress : bool
        Show a progress bar.
    engine, n_jobs
        As in `evaluate`; whole placebos are distributed.
    **settings
        Further keywords of `causaleval_pd.test_controls` and of `causaleval_pd.cube`.

    Returns
    -------
    DataFrame
        A row a stratum, metric, method and level: the strata, `metric`, `method`, `n_pairs` and `n_clusters` (runs and
        clusters that are tested), `alpha`, `size` (share of rejections among placebos) with Clopper and Pearson's 95 %
        limits `size_low` and `size_high`, `verdict`, `skill`, `power` (share of rejections with skill), `n_placebos`
        (those with a p-value), `null`. Rows with method "skill interval" have the share of intervals that miss the mean
        skill of the placebos, where there is an interval. `verdict` is "miscalibrated" if the lower limit of
        probability .99 exceeds alpha, "conservative" if the upper one is below it, "by construction" where the test
        itself relabels the estimates, "too few draws" where no p-value of these draws is as small as alpha, and else
        missing: no number of placebos shows that a test is calibrated.

    Raises
    ------
    ValueError
        As `placebo`, `causaleval_pd.cube` and `causaleval_pd.test_controls`, or if a number is out of range.

    Warns
    -----
    UserWarning
        As `placebo`.

    Notes
    -----
    The study shows whether this analysis keeps its level if these estimates, with their dependence, owe nothing to the
    labels of the truths: it finds runs that are wrongly taken as independent, and controls or approximate p-values that
    are off. It does not show what guesses that are shared between truths do to truths that share labels, nor
    what selection outside the analysis does, nor how intervals cover where there is skill. Where the test relabels
    estimates as a placebo does, its level holds by construction, and the study tests the code only.

    `size_and_power` of a cube asks less: the size among runs that guess independently by the null model.

    References
    ----------
    Clopper and Pearson (1934), 10.1093/biomet/26.4.404.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 100")
    >>> how = {"by": ["algorithm"], "n_draws": 19, "n_placebos": 20, "rng": 7, "alpha": 0.05}
    >>> found = runs.ceval.size_and_power(["shd"], **how)
    >>> found["method"].unique().tolist(), found["n_placebos"].unique().tolist()
    (['randomisation', 'skill interval'], [20])
    """
    check_whole(n_placebos, "n_placebos", 1)
    levels = [alpha] if isinstance(alpha, (int, float)) else list(alpha)
    for one in levels:
        check_shares(alpha=one)
    check_shares(level=level, **({} if skill is None else {"skill": skill}))
    named = [methods] if isinstance(methods, str) else list(methods)
    tests = [find_test(name, "test_controls", "method") for name in named]
    seed = resolve_seed(rng)
    given, settings = settings_of(cube, settings, test_cube, given=cube_settings, name="cube_settings")
    cells = Cells(**{name: given[name] for name in _CELLS if name in given})
    relabelled = BY_TRUTH if cluster is None else cluster
    keys = row_keys(table, key, seed)

    def strata(task: Task) -> NDArray[np.int64]:
        return stratum_numbers(strata_axes(stratum_columns(table, by, task)), len(table))

    of_rows: dict[str, Any] = {"metrics": metrics, "row_keys": keys, "strata": strata}
    placebos = Placebos.of(table, cells, cluster=relabelled, joint=joint, seed=seed, **of_rows)
    placebos.warn_of_order()
    paired = any(test.design != "draws" for test in tests)
    how = {"by": by, "n_draws": n_draws, "null": null, "key": key, "cluster": cluster, "keep_draws": paired or "auto"}
    settings["level"] = level
    names = [test.name for test in tests]
    study = _Study(placebos, metrics, how | given, settings, names, adjust, family, skill, joint, seed)
    work = map_chunks(
        partial(_analyse, study),
        range(int(n_placebos)),
        progress=progress,
        label="placebos",
        engine=engine,
        n_jobs=n_jobs,
    )
    outcomes = list(work)
    if adjust is not None:
        _warn_of_floors(outcomes[0].size, study)
    result = _rates(outcomes, levels, study)
    made = {"by": strata_names(by), "n_placebos": n_placebos, "methods": study.methods, "alpha": levels, "seed": seed}
    made |= {"skill": skill, "cluster": str(cluster), "joint": joint, "n_draws": n_draws}
    made |= {"adjust": adjust, "family": family} | settings
    # metrics, null models and conventions are what the cubes of all placebos settled on
    settled = {name: value for name, value in outcomes[0].made.items() if name not in ("verb", "versions")}
    return remember(result, [*calls(table.attrs), call("size_and_power", settled | made)])


def _analyse(study: _Study, number: int) -> _Outcome:
    """Return what the analysis of one placebo finds."""
    seeds = hash_rows([pd.Series([2 * number, 2 * number + 1])], study.seed) >> np.uint64(1)

    def tests(table: pd.DataFrame, seed: np.uint64) -> tuple[pd.DataFrame, xr.Dataset]:
        made = cube(table, study.metrics, rng=int(seed), engine="serial", **study.cube_settings)
        found = [test_cube(made, method=method, **study.test_settings) for method in study.methods]
        # adjusted here: in every placebo there would be a warning of too few draws
        for part in found:
            labels = family_labels(part, [str(x) for x in part], study.family)
            part["p_adjusted"] = adjusted(part["p_value"], study.adjust, labels)
        return pd.concat(found, ignore_index=True), made

    size, made = tests(study.placebos.table(number), seeds[0])
    skill = summary(made, level=study.test_settings["level"], interval="mean_ci")
    power = None
    if study.skill is not None:
        power, _ = tests(study.placebos.skilled_table(number, study.skill), seeds[1])
        power = power.assign(placebo=number)
    return _Outcome(size.assign(placebo=number), power, skill.assign(placebo=number), calls(made.attrs)[-1])


def _warn_of_floors(tests: pd.DataFrame, study: _Study) -> None:
    """Warn where the draws are too few for any test of a family to pass."""
    for _, part in tests[tests["p_method"].notna()].groupby("method"):
        labels = family_labels(part, [str(x) for x in part], study.family)
        alpha, graphs = 1 - study.test_settings["level"], study.placebos.task.field.name == "graph"
        splitting = graphs and study.cube_settings.get("best_of") is None
        warn_of_floors(part, study.adjust, labels, alpha, splitting=splitting)


def _rates(outcomes: Sequence[_Outcome], levels: Sequence[float], study: _Study) -> pd.DataFrame:
    """Count rejections over placebos, and intervals that miss."""
    size = pd.concat([one.size for one in outcomes], ignore_index=True)
    power = pd.concat([one.power for one in outcomes if one.power is not None] or [size[:0]], ignore_index=True)
    strata = [str(name) for name in size if name not in (*TEST_RESULT, "placebo")]
    keys, adjust = [*strata, "metric", "null", "method"], study.adjust
    size = size.assign(least=_least_p(size))
    rows, families = [], []
    for alpha in levels:
        rows.append(_rejected([size, power], keys, "p_value", alpha))
        if adjust not in (None, "none"):
            renamed = [part.assign(method=part["method"].astype("str") + f" ({adjust})") for part in (size, power)]
            rows.append(_rejected(renamed, keys, "p_adjusted", alpha))
            least = [x.groupby(["placebo", "method"])["p_adjusted"].min().reset_index() for x in renamed]
            families.append(_rejected(least, ["method"], "p_adjusted", alpha))
    skills = pd.concat([one.skill for one in outcomes], ignore_index=True)
    rows.append(_missed(skills, size, keys[:-1], round(1 - study.test_settings["level"], 12)))
    table = pd.concat(rows, ignore_index=True)
    # the methods of a stratum side by side
    places = pd.factorize(pd.MultiIndex.from_frame(table[keys[:-1]]))[0]
    table = pd.concat([table.iloc[np.argsort(places, kind="stable")], *families], ignore_index=True)
    relabelled = table.pop("relabelled").fillna(False).to_numpy(bool) & (study.joint == "truth")
    settled = table["verdict"].isin([MISCALIBRATED, TOO_FEW_DRAWS])
    by_construction = relabelled & ~settled.to_numpy(bool) & (table["n_placebos"] > 0)
    table["verdict"] = pd.array(table["verdict"].where(~by_construction, BY_CONSTRUCTION).tolist(), dtype="str")
    table["skill"] = math.nan if study.skill is None else study.skill
    return in_order(table.reindex(columns=[*strata, *COLUMNS]), COLUMNS)


def _rejected(tests: Sequence[pd.DataFrame], keys: Sequence[str], column: str, alpha: float) -> pd.DataFrame:
    """Return the shares of p-values in `column` that reject, without and with skill, a row a group of `keys`."""

    def count(part: pd.DataFrame) -> pd.DataFrame:
        marked = part.assign(rejected=part[column] <= alpha, defined=part[column].notna())
        groups = marked.groupby(list(keys), dropna=False, sort=False, observed=True)
        found = groups[["rejected", "defined"]].sum()
        if "least" not in part:
            return found
        first = groups[["n_pairs", "n_clusters", "p_method"]].first().assign(least=groups["least"].min())
        return found.join(first.assign(relabelled=first.pop("p_method").str.startswith(RELABELLED)))

    found, other = map(count, tests)
    table = _with_limits(found, alpha)
    if "least" in table:
        few = table.pop("least") > alpha * (1 + TOLERANCE)
        table["verdict"] = table["verdict"].mask(few & (table["n_placebos"] > 0), TOO_FEW_DRAWS)
    table["power"] = ratio(other["rejected"], other["defined"]) if len(other) else math.nan
    return table.reset_index()


def _least_p(tests: pd.DataFrame) -> pd.Series:
    """Return the least p-value that the draws of each test can give, NaN where none is known."""
    combined = tests["p_method"].fillna("").str.contains(COMBINED)
    return least_of_draws(tests).mask(combined, 1 / (1 + COMBINATIONS))


def _with_limits(found: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return rates, their limits and verdicts from numbers of errors (`rejected`) among tables (`defined`)."""
    k, n = (found.pop(name).to_numpy(np.int64) for name in ("rejected", "defined"))
    low, high = rate_limits(k, n)
    words = judge_rates(k, n, alpha)
    return found.assign(alpha=alpha, size=ratio(k, n), size_low=low, size_high=high, verdict=words, n_placebos=n)


def _missed(skills: pd.DataFrame, tests: pd.DataFrame, keys: Sequence[str], alpha: float) -> pd.DataFrame:
    """Return the share of intervals of skill that miss the mean skill of the placebos."""
    if "null" not in skills:
        skills = skills.merge(tests[["metric", "null"]].drop_duplicates(), on="metric")
    skills = skills[skills["n_scored"] > 0]
    groups = [skills[name] for name in keys]
    mean = skills.groupby(groups, dropna=False, observed=True)["skill"].transform("mean")
    shown = skills["skill_low"].notna()
    beyond = (skills["skill_low"] > mean + TOLERANCE) | (skills["skill_high"] < mean - TOLERANCE)
    marked = skills.assign(rejected=shown & beyond, defined=shown, n_pairs=skills["n_scored"], method=INTERVAL)
    by_group = marked.groupby([*keys, "method"], dropna=False, sort=False, observed=True)
    found = by_group[["rejected", "defined"]].sum().join(by_group[["n_pairs", "n_clusters"]].first())
    return _with_limits(found, alpha).reset_index()
