"""inference."""

from ..cubes.schema import declare_columns

# fmt: off
declare_columns("tests on cubes", (
    "alternative", "ci_high", "ci_low", "comparison", "critical_difference", "difference", "effect", "i2", "mean_rank",
    "method", "metric", "minimal_difference", "minimal_skill", "n_blocks", "n_draws", "n_draws_undefined", "n_effects",
    "n_levels", "n_missing", "n_needed", "n_obs", "n_pairs", "n_strata", "n_undefined", "p_adjusted", "p_value", "power",
    "q", "q_p_value", "resampling_seed", "sd", "sd_null", "skill", "statistic", "superiority_share",
    "superiority_strict", "superiority_ties", "tau2", "control_loss", "mean",
))
# fmt: on
