"""The variables of a cube and the columns of the tables made of it."""

from __future__ import annotations

#: status of a cell of strata x replicates
NO_RUN, SCORED, FAILED = 0, 1, 2


#: columns of the tables that verbs make of a cube; a stratum of such a name would be overwritten there
# fmt: off
RESULT_COLUMNS = (
    "alternative", "ci_high", "ci_low", "comparison", "control_high", "control_loss", "control_low", "control_mean",
    "control_mean_se", "critical_difference", "difference", "effect", "high", "i2", "low", "mean", "mean_rank",
    "method", "metric", "minimal_difference", "minimal_skill", "n_blocks", "n_draws", "n_draws_undefined", "n_effects",
    "n_levels", "n_missing", "n_needed", "n_obs", "n_pairs", "n_strata", "n_undefined", "n_without_controls",
    "p_adjusted", "p_se", "p_value",
    "power", "q", "q_p_value", "resampling_seed", "sd", "sd_null", "skill", "skill_high", "skill_low", "statistic",
    "superiority_share", "superiority_strict", "superiority_ties", "tau2",
)
# fmt: on


#: dimensions of every cube, which no stratum may be called
RESERVED = ("replicate", "draw", "bin", "null")


#: row summaries that a cube carries beside each metric, with the words of their labels
ROW_PARTS = {
    "mean": ("control_mean", "mean of {}, controls"),
    "mean_se": ("control_mean_se", "Monte Carlo standard error of the mean of {}, controls"),
    "low": ("control_low", "lower limit of {}, controls"),
    "high": ("control_high", "upper limit of {}, controls"),
    "loss": ("control_loss", "mean distance of {} from its optimum, controls"),
    "p": ("p", "p-value of {} against controls"),
    "p_se": ("p_se", "Monte Carlo standard error of the p-value of {}"),
    "as_good": ("as_good", "share of controls at least as good in {}"),
    "better": ("better", "share of controls strictly better in {}"),
}
