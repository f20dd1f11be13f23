"""The statistical tests that `compare` offers and that of `summary`, declared one by one.

A new test needs its declaration here, or anywhere else `register_test` is called; `compare`, messages and `list_tests`
derive from it.
"""

from __future__ import annotations

from typing import Any

from ..contract.checks import shown
from ..statistics.max_t import max_t
from ..statistics.paired_tests import mcnemar, paired_t, paired_wilcoxon, welch_t
from ..statistics.skill import skill_difference
from ..statistics.stratum_statistic import randomisation_test
from .statistical_test import TESTS, StatisticalTest, register_test

RANDOMISATION = register_test(
    StatisticalTest(
        name="randomisation",
        long_name="stratum randomisation test",
        function=randomisation_test,
        design="draws",
        null="Estimates and their controls are exchangeable: estimates are random guesses of the null model.",
        claim="Runs are better than their controls, by the statistic and in the metric's direction.",
        statistic="Sum over runs of their excess, the metric less the mean of the run and its draws (default); or the "
        "sum over clusters of the rank of their summed excess.",
        assumption="Independent clusters: runs on one truth unless the cube names others. Strata that repeat a cluster "
        "are tested by relabelling the estimates of a cluster alike, or by twice its mean p.",
        avoid="With few draws where a stratum has one cluster: no p-value is below 1 / (n_draws + 1). With controls "
        "that rows share, or guesses shared between truths whose nodes share names, as columns in causal order.",
        reference="https://doi.org/10.2202/1544-6115.1585",
    )
)

WILCOXON = register_test(
    StatisticalTest(
        name="wilcoxon",
        long_name="Wilcoxon signed-rank test",
        function=paired_wilcoxon,
        design="paired",
        effect="hodges_lehmann",
        signs=True,
        null="Paired differences are symmetric about 0.",
        claim="Differences lie to one side of 0, or of the margin.",
        statistic="Sum of the positive ranks; two-sided the smaller of the sums of either sign.",
        assumption="Independent pairs (clusters); differences symmetric under the null hypothesis.",
        avoid="For differences of means where the differences are skewed, which it rejects also at equal means; the "
        "t test does not need symmetry.",
        reference="https://doi.org/10.2307/3001968",
    )
)

T = register_test(
    StatisticalTest(
        name="t",
        long_name="paired t test",
        function=paired_t,
        design="paired",
        null="The mean difference is 0.",
        claim="The mean difference lies to one side of 0, or of the margin.",
        statistic="t with n - 1 degrees of freedom.",
        assumption="Independent pairs; a nearly normal mean difference.",
        avoid="With few pairs and skewed or discrete differences.",
        reference="https://doi.org/10.1093/biomet/6.1.1",
    )
)

MCNEMAR = register_test(
    StatisticalTest(
        name="mcnemar",
        long_name="McNemar's exact test",
        function=mcnemar,
        design="paired",
        options=("level",),
        margin=False,
        binary=True,
        interval=True,
        signs=True,
        null="Pairs (1, 0) and (0, 1) are equally probable.",
        claim="One of them is more probable.",
        statistic="Number of pairs (1, 0).",
        assumption="Independent pairs of values that are 0 or 1.",
        avoid="For questions that share a sample: their errors are not independent.",
        reference="https://doi.org/10.1007/BF02295996",
    )
)

MAX_T = register_test(
    StatisticalTest(
        name="max_t",
        long_name="largest t of all pairs under sign flips",
        function=max_t,
        design="blocks",
        options=("level", "rng"),
        margin=False,
        interval=True,
        signs=True,
        null="The differences of the pair are symmetric about 0, whatever the other levels do.",
        claim="The mean difference of the pair lies to one side of 0.",
        statistic="t of the paired differences.",
        assumption="Independent blocks (clusters); blocks without a value of every level are left out.",
        avoid="With fewer than 6 blocks, where no p-value is below .03.",
        reference="https://doi.org/10.1016/j.neuroimage.2014.01.060",
    )
)

WELCH_T = register_test(
    StatisticalTest(
        name="welch_t",
        long_name="Welch's t test",
        function=welch_t,
        design="independent",
        null="Both levels have the same mean.",
        claim="One mean is larger, by more or less than the margin where one is given.",
        statistic="t with Welch's degrees of freedom.",
        assumption="Independent runs, within and between the levels; nearly normal means.",
        avoid="For runs on the same truths, which are pairs.",
        reference="https://doi.org/10.1093/biomet/34.1-2.28",
    )
)

JACKKNIFE = register_test(
    StatisticalTest(
        name="jackknife",
        long_name="delete-one-truth jackknife of the difference of skills",
        function=skill_difference,
        design="skill",
        options=("level",),
        effect="skill_difference",
        interval=True,
        null="Both levels have the same skill: 1 - sum of losses / sum of the losses expected of their controls.",
        claim="One skill is larger, by more or less than the margin where one is given.",
        statistic="t with one degree of freedom less than there are truths.",
        assumption="Independent truths (clusters), at least 5; no rare large losses that the sample lacks.",
        avoid="Below 20 truths where one level alone has rare disasters: its interval of .95 then covers .79 to .88.",
        reference="https://doi.org/10.1214/aos/1176345462",
    )
)

TESTS.other_names(
    {
        "signed_rank": ["wilcoxon"],
        "wilcoxon_signed_rank": ["wilcoxon"],
        "ttest": ["t", "welch_t"],
        "paired_t": ["t"],
        "student": ["t", "welch_t"],
        "ttest_rel": ["t"],
        "ttest_ind": ["welch_t"],
        "welch": ["welch_t"],
        "permutation": ["max_t", "randomisation"],
        "sign_flip": ["max_t"],
        "randomization": ["randomisation"],
        "monte_carlo": ["randomisation"],
        "anova": ["max_t"],
        "tukey": ["max_t"],
    }
)


def comparing() -> list[StatisticalTest]:
    """Return the tests that `compare` offers, in the order of their registration."""
    return [test for test in TESTS.every() if test.design != "draws"]


def find_test(name: Any) -> StatisticalTest:
    """Return the test of `compare` called `name`, or raise an error with those that it offers."""
    known = {test.name: test for test in comparing()}
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"unknown test {shown(name)}; {TESTS.suggest(name, known)}known are {', '.join(map(repr, known))}"
        )
    return known[name]
