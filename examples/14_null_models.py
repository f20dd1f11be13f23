"""Compare three algorithms with several null models, each of which asks a different question.

Writes examples/figures/null_models.png.
"""

from __future__ import annotations

from pathlib import Path

import causaleval_pd as ce

FIGURES = Path(__file__).parent / "figures"
NULLS = [
    "edges",  # are the edges better than as many random ones?
    "permutation",  # ... than the same graph with its nodes relabelled?
    "degree",  # ... than random ones with the same hubs?
    "orientation",  # given the skeleton that was found, are the directions better than random ones?
    "oracle_skeleton",  # how would random directions do on the true skeleton? (no test)
]

if __name__ == "__main__":
    runs = ce.datasets.runs().query("density == 0.4 and n == 400")
    cube = runs.ceval.cube(["shd"], by=["algorithm"], null=NULLS, n_draws=1000, rng=7, control_kind="kind")

    table = cube.ceval.summary(columns="full").set_index(["algorithm", "null"])
    print("Mean SHD of the runs and of their controls, p-value of the stratum, and skill with its 95 % interval\n")
    print(
        table[["mean", "control_mean", "p_value", "skill", "skill_low", "skill_high"]].round(3).sort_index().to_string()
    )

    # your own null model: the estimate without the edge between two random nodes
    def nearly_the_same(estimate, rng):
        marks = estimate.to_numpy().astype(bool)
        i, j = rng.permutation(estimate.n_nodes)[:2]
        marks[i, j] = marks[j, i] = False
        return marks

    few = runs.query("algorithm == 'pc'").head(5)
    close = few.ceval.with_controls(["shd"], null=nearly_the_same, n_draws=100, rng=7)
    print("\nPC against graphs that are almost its own\n")
    print(close[["shd", "shd_control_mean", "shd_p", "control_null"]].round(3).to_string(index=False))

    FIGURES.mkdir(exist_ok=True)
    grid = cube.ceval.plot.strata("shd", x="algorithm", col="null", values="raw")
    grid.savefig(FIGURES / "null_models.png", dpi=150)
