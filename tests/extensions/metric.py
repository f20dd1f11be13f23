import numpy as np

import causaleval_pd as ce


@ce.metric(
    field="graph",  # which cells it takes
    kinds=("dag",),  # which classes of them; others are refused with the row's number
    direction="maximize",  # "minimize", "maximize", "zero", or None for a description
    range=(0, 1),  # smallest and largest possible value
    optimum=1,  # value of a perfect estimate
    long_name="share of right directions",  # label of axes and tables
)
def right_directions(pairs, *, zero_division=float("nan")):
    """Divide the edges with the right direction by the shared adjacencies."""
    counts = pairs.counts
    undefined = counts.tp == 0
    share = counts.same_direction / np.where(undefined, 1, counts.tp)
    return np.where(undefined, zero_division, share)  # one number per pair


right_directions("A -> B; B -> C", "A -> B; C -> B")
runs = ce.datasets.runs().query("algorithm == 'lingam'").head(9)
runs.ceval.with_controls(["right_directions"], n_draws=50, rng=7)
