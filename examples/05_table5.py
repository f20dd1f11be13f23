"""The layout of the negative-control paper's Table 5, from shipped runs: PC against random guessing at two densities.

Each cell of the published table is a mean over repetitions, that of the controls with the middle 95 % of them, and the
share of pairs whose control is at least as good. That share is not a p-value, so the p-value of a randomisation test
of the mean is added. The published rows of the structural intervention distance were computed on reversed graphs; the
rows here are not.

Source: Petersen (2025), Are you doing better than random guessing? UAI 2025. The numbers differ from the paper's: other
truths, other data, 20 repetitions in place of 1000.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

import causaleval_pd as ce

pd.set_option("display.width", 180, "display.max_columns", 30, "display.max_colwidth", 60)

runs = ce.datasets.runs().query("algorithm == 'pc' and n == 1600 and density in (0.6, 0.2)").reset_index(drop=True)
names = ["shd", "adjacency_precision", "adjacency_recall", "orientation_precision", "orientation_recall"]
names += ["v_structure_recall", "sid_lower", "sid_upper"]


def resampled(estimates: pd.Series) -> Callable[[ce.Graph, np.random.Generator], np.ndarray]:
    """Return a null model of random DAGs that have as many edges as some estimate."""
    n_edges = estimates.graph.n_edges.dropna().to_numpy(int)

    def draw(estimate: ce.Graph, rng: np.random.Generator) -> np.ndarray:
        first, second = np.triu_indices(estimate.n_nodes, 1)
        chosen = rng.choice(len(first), rng.choice(n_edges), replace=False)
        order, matrix = rng.permutation(estimate.n_nodes), np.zeros((estimate.n_nodes, estimate.n_nodes), int)
        matrix[order[first[chosen]], order[second[chosen]]] = 1
        return matrix

    return draw


# The paper's conventions: 0/0 is 1, numbers of edges of the controls are resampled from the estimates of the stratum.
ce.set_options(zero_division=1.0)
given = {"by": ["density"], "n_draws": 500, "rng": 7, "control_kind": "kind", "invalid": "nan"}
cubes = [
    part.ceval.cube(names, null=ce.null_model(resampled(part["estimate"]), name="stratum"), **given)
    for _, part in runs.groupby("density")
]
cube = cubes[0]
summary = pd.concat([part.ceval.summary(columns="full") for part in cubes])


def cell(row: pd.Series) -> str:
    """Write mean and interval as the paper does."""
    return f"{row['control_mean']:.3f} ({row['control_low']:.3f}, {row['control_high']:.3f})"


table = summary.assign(
    controls=summary.apply(cell, axis=1),
    label=[cube[name].attrs["long_name"] for name in summary["metric"]],
)
table["skill"] = table["skill"].map("{:.2f}".format) + table[["skill_low", "skill_high"]].apply(
    lambda row: f" ({row['skill_low']:.2f}, {row['skill_high']:.2f})", axis=1
)
shown = table.rename(columns={"mean": "PC", "control_as_good_share": "share", "p_value": "p"})
shown = shown.pivot(index="label", columns="density", values=["PC", "controls", "share", "p", "skill", "n_scored"])
for density, words in ((0.6, "dense"), (0.2, "sparse")):
    part = shown.xs(density, axis=1, level="density").loc[[cube[name].attrs["long_name"] for name in names]]
    text = part.rename_axis(index=None, columns=None)
    text[["PC", "share", "p"]] = text[["PC", "share", "p"]].astype(float).map("{:.3f}".format)
    print(f"{words.capitalize()} ({density:g} of all pairs adjacent), PC against random CPDAGs:")
    print(text.to_string(), end="\n\n")
print("share: share of controls at least as good, not a p-value; p: randomisation test of the mean, at least 1e-5.")
print("n_scored: runs with a value; results of PC that are not valid CPDAGs have no SID.")
