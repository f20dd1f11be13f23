"""The statistical tests that `compare`, `test_controls` and `compare_answers` offer, declared one by one.

A new test needs its declaration here, or anywhere else `register_test` is called; verbs, messages and `list_tests`
derive from it.
"""

from __future__ import annotations

from ..contract.statistical_test import TESTS, StatisticalTest, register_test
from ..statistics.dominance import brunner_munzel
from ..statistics.friedman import rank_differences
from ..statistics.max_t import max_t
from ..statistics.paired_tests import (
    mann_whitney,
    mcnemar,
    paired_t,
    paired_wilcoxon,
    sign_test,
    welch_t,
)
from ..statistics.randomisation import moments_test, randomisation_test
from ..statistics.resampling import bootstrap_mean, sign_flip
from ..statistics.skill import skill_difference

RANDOMISATION = register_test(
    StatisticalTest(
        name="randomisation",
        long_name="stratum randomisation test",
        function=randomisation_test,
        design="draws",
        verbs=("test_controls",),
        null="Estimates and their controls are exchangeable: estimates are random guesses of the null model.",
        claim="Runs are better than their controls, by the statistic and in the metric's direction.",
        statistic="Runs and draws in units of the standard deviation of each run's draws, by cluster (default); their "
        "mean; or the sum of the clusters' ranks.",
        assumption="Independent clusters: runs on one truth unless the cube names others. Strata that repeat a cluster "
        "are tested by relabelling the estimates of a cluster alike, or by twice its mean p.",
        avoid="With few draws where a stratum has one cluster: no p-value is below 1 / (n_draws + 1). With controls "
        "that rows share, or guesses shared between truths whose nodes share names, as columns in causal order.",
        reference="https://doi.org/10.2202/1544-6115.1585",
    )
)

MOMENTS = register_test(
    StatisticalTest(
        name="moments",
        long_name="stratum test by moments",
        function=moments_test,
        design="draws",
        verbs=("test_controls",),
        null="Estimates and their controls are exchangeable: estimates are random guesses of the null model.",
        claim="The statistic of the stratum is better than that of its controls, in the metric's direction.",
        statistic="As for the randomisation test.",
        assumption="Pearson's type III law with the exact mean, variance and skewness of independent runs "
        "(cube(method='moments')), or those of at least 10,000 draws.",
        avoid="Where an exact or simulated p-value is at hand: it is approximate, usually too large far out.",
        reference="https://doi.org/10.1016/0167-9473(94)00064-2",
    )
)

WILCOXON = register_test(
    StatisticalTest(
        name="wilcoxon",
        long_name="Wilcoxon signed-rank test",
        function=paired_wilcoxon,
        design="paired",
        verbs=("compare", "test_controls", "compare_answers"),
        options=("zero_method",),
        independent="mann_whitney",
        effect="hodges_lehmann",
        signs=True,
        null="Paired differences are symmetric about 0.",
        claim="Differences lie to one side of 0, or of the margin.",
        statistic="Sum of the positive ranks; two-sided the smaller of the sums of either sign.",
        assumption="Independent pairs (clusters); differences symmetric under the null hypothesis.",
        avoid="For differences of means where the differences are skewed, which it rejects also at equal means; 'sign' "
        "and 'bootstrap' do not need symmetry.",
        reference="https://doi.org/10.2307/3001968",
    )
)

SIGN = register_test(
    StatisticalTest(
        name="sign",
        long_name="sign test",
        function=sign_test,
        design="paired",
        verbs=("compare", "test_controls"),
        effect="median_difference",
        signs=True,
        null="Positive and negative differences are equally probable.",
        claim="Differences of one sign are more frequent.",
        statistic="Number of positive differences.",
        assumption="Independent pairs.",
        avoid="Where the sizes of differences matter, or most pairs tie: ties are left out.",
        reference="https://doi.org/10.1080/01621459.1946.10501898",
    )
)

T = register_test(
    StatisticalTest(
        name="t",
        long_name="paired t test",
        function=paired_t,
        design="paired",
        verbs=("compare", "test_controls", "compare_answers"),
        independent="welch_t",
        null="The mean difference is 0.",
        claim="The mean difference lies to one side of 0, or of the margin.",
        statistic="t with n - 1 degrees of freedom.",
        assumption="Independent pairs; a nearly normal mean difference.",
        avoid="With few pairs and skewed or discrete differences.",
        reference="https://doi.org/10.1093/biomet/6.1.1",
    )
)

BOOTSTRAP = register_test(
    StatisticalTest(
        name="bootstrap",
        long_name="studentised bootstrap of the mean",
        function=bootstrap_mean,
        design="paired",
        verbs=("compare", "compare_answers"),
        options=("n_resamples", "level", "rng"),
        interval=True,
        null="The mean difference is 0.",
        claim="The mean difference lies to one side of 0, or of the margin.",
        statistic="Mean difference.",
        assumption="Independent pairs (clusters).",
        avoid="With fewer than about ten pairs, where p is at least that of the t test. Below 5 pairs, and where most "
        "differences are equal, there is no interval.",
        reference="https://doi.org/10.2307/2532163",
    )
)

SIGN_FLIP = register_test(
    StatisticalTest(
        name="sign_flip",
        long_name="sign-flip permutation test of the mean",
        function=sign_flip,
        design="paired",
        verbs=("compare", "compare_answers"),
        options=("n_resamples", "level", "rng"),
        interval=True,
        signs=True,
        null="Paired differences are symmetric about 0.",
        claim="The mean difference lies to one side of 0, or of the margin.",
        statistic="Mean difference.",
        assumption="Independent pairs (clusters); symmetry under the null.",
        avoid="For equal means of differences that are skewed; 'bootstrap' does not need symmetry.",
        reference="https://doi.org/10.1214/aoms/1177707045",
    )
)

MCNEMAR = register_test(
    StatisticalTest(
        name="mcnemar",
        long_name="McNemar's exact test",
        function=mcnemar,
        design="paired",
        verbs=("compare", "compare_answers"),
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
        verbs=("compare",),
        options=("n_resamples", "level", "rng"),
        margin=False,
        interval=True,
        correction="max_t",
        signs=True,
        null="The differences of the pair are symmetric about 0, whatever the other levels do.",
        claim="The mean difference of the pair lies to one side of 0.",
        statistic="t of the paired differences.",
        assumption="Independent blocks (clusters); blocks without a value of every level are left out.",
        avoid="With fewer than 6 blocks, where no p-value is below .03.",
        reference="https://doi.org/10.1016/j.neuroimage.2014.01.060",
    )
)

FRIEDMAN = register_test(
    StatisticalTest(
        name="friedman",
        long_name="comparison of mean ranks after Friedman's test",
        function=rank_differences,
        design="blocks",
        verbs=("compare",),
        margin=False,
        effect="mean_rank_difference",
        correction="nemenyi",
        all_pairs=True,
        null="All levels, not only the two compared, are exchangeable within every block (truth).",
        claim="One level ranks lower or higher than the other.",
        statistic="Difference of mean ranks, 1 being the smallest value of a block.",
        assumption="Independent blocks; blocks without a value of every level are left out.",
        avoid="Where levels other than the two compared differ or vary differently: two equal levels can then be "
        "found different. Use 'max_t', or 'wilcoxon' with Holm's correction.",
        reference="https://doi.org/10.1080/01621459.1937.10503522",
    )
)

MANN_WHITNEY = register_test(
    StatisticalTest(
        name="mann_whitney",
        long_name="Mann and Whitney's U test",
        function=mann_whitney,
        design="independent",
        verbs=("compare",),
        effect="hodges_lehmann",
        null="Values of both levels have the same distribution.",
        claim="Values of one level tend to be larger.",
        statistic="U of the first level.",
        assumption="Independent runs, within and between the levels.",
        avoid="For runs on the same truths, which are pairs.",
        reference="https://doi.org/10.1214/aoms/1177730491",
    )
)

BRUNNER_MUNZEL = register_test(
    StatisticalTest(
        name="brunner_munzel",
        long_name="Brunner and Munzel's test",
        function=brunner_munzel,
        design="independent",
        verbs=("compare",),
        options=("level",),
        margin=False,
        effect="cliffs_delta",
        interval=True,
        null="Values of neither level tend to be larger: P(A > B) = P(A < B), whatever their variances and shapes.",
        claim="Values of one level tend to be larger.",
        statistic="t of the dominance of values over those of the other level, with Welch's degrees of freedom.",
        assumption="Independent runs, within and between the levels.",
        avoid="With few runs of the level that varies more, where it rejects too often. For runs on the same truths, "
        "which are pairs.",
        reference="https://doi.org/10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U",
    )
)

WELCH_T = register_test(
    StatisticalTest(
        name="welch_t",
        long_name="Welch's t test",
        function=welch_t,
        design="independent",
        verbs=("compare",),
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
        verbs=("compare",),
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
        "sign_test": ["sign"],
        "ttest": ["t", "welch_t"],
        "paired_t": ["t"],
        "student": ["t", "welch_t"],
        "ttest_rel": ["t"],
        "ttest_ind": ["welch_t"],
        "welch": ["welch_t"],
        "permutation": ["sign_flip", "randomisation"],
        "randomization": ["randomisation", "sign_flip"],
        "monte_carlo": ["randomisation"],
        "nemenyi": ["friedman"],
        "anova": ["friedman", "max_t"],
        "tukey": ["max_t"],
        "mwu": ["mann_whitney"],
        "mannwhitneyu": ["mann_whitney"],
        "rank_sum": ["mann_whitney"],
        "ranksums": ["mann_whitney"],
        "brunnermunzel": ["brunner_munzel"],
    }
)
