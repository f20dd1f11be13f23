"""Compute the small numbers of the negative-control paper from closed forms, without simulation.

Source: Petersen (2025), Are you doing better than random guessing? UAI 2025.
"""

from pathlib import Path

import matplotlib
import pandas as pd

import causaleval_pd as ce

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 4)
out = Path("small_numbers")
out.mkdir(exist_ok=True)

# Five nodes, 8 true and 7 estimated edges: precision .86 and recall .75 look good, but guessing scores as well.
truth = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"
estimate = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"
names = ["adjacency_precision", "adjacency_recall", "adjacency_npv", "adjacency_f1"]
runs = pd.DataFrame({"truth": [truth], "estimate": [estimate]})
scored = runs.ceval.with_controls(names, rng=1)
print("A five-node example against random skeletons with 7 edges:")
for name in names:
    row = scored.iloc[0]
    low, high = row[f"{name}_control_low"], row[f"{name}_control_high"]
    mean, p = row[f"{name}_control_mean"], row[f"{name}_p"]
    print(f"  {name:<20} {row[name]:.4f}   guessing {mean:.4f} [{low:.4f}, {high:.4f}]   p = {p:.4f}")

# Figure 2: the expected F1 of random guessing over numbers of edges.
grid = ce.expected_metric(
    "adjacency_f1",
    n_nodes=5,
    true_edges=[[m] for m in range(1, 11)],
    estimated_edges=list(range(1, 11)),
)
print("\nExpected F1 of random guessing, 5 nodes (rows: true edges, columns: estimated edges):")
print(grid.pivot(index="true_edges", columns="estimated_edges", values="mean").round(2).to_string())

# The cohort study: 22 nodes, 30 true and 30 estimated edges, 10 shared.
print(f"\nCohort study: p = {ce.skeleton_test(10, 30, 30, 22):.16f} (expected shared adjacencies {30 * 30 / 231:.4f})")

axes = ce.plot.expected_curves("adjacency_f1", n_nodes=5, true_edges=[2, 5, 8, 10])
axes.figure.savefig(out / "expected_f1.png", dpi=150, bbox_inches="tight")
print(f"Wrote a figure to {out}/")
