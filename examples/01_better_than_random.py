"""Does each algorithm beat random guessing, and where? From a table of runs to summary, tests, figures and a cube on
disk.

Run it anywhere; it writes into the folder `better_than_random` beside where it is run.
"""

from pathlib import Path

import matplotlib
import pandas as pd

import causaleval_pd as ce

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_rows", 60, "display.precision", 3)
out = Path("better_than_random")
out.mkdir(exist_ok=True)

# One run per row: PC, GES and LiNGAM on simulated data of three densities and three sample sizes (see 04).
runs = ce.datasets.runs()
print(f"{len(runs)} runs; failed: {int(runs['estimate'].isna().sum())}")
print(runs.drop(columns=["truth", "estimate"]).head(3).to_string(), end="\n\n")

# Each row: the scores of random graphs with the estimate's class and number of edges.
scored = runs.ceval.with_controls(["shd", "adjacency_f1"], n_draws=1000, rng=7, control_kind="kind")
columns = [
    "algorithm",
    "density",
    "n",
    "shd",
    "shd_control_mean",
    "shd_control_low",
    "shd_control_high",
    "shd_p",
    "shd_skill",
]
print("Three runs with their controls:")
print(scored[columns].groupby("algorithm").head(1).to_string(index=False), end="\n\n")

# Each stratum: a cube over algorithm x density x sample size.
cube = runs.ceval.cube(
    ["shd", "adjacency_f1", "orientation_f1"],
    by=["algorithm", "density", "n"],
    n_draws=2000,
    rng=7,
    control_kind="kind",
)
cube.to_netcdf(out / "cube.nc")
summary = cube.ceval.summary()
print("Summary by stratum:")
print(summary[summary["metric"] == "shd"].to_string(index=False), end="\n\n")

tests = cube.ceval.summary(adjust="holm")
beaten = int((tests["verdict"] == "better").sum())
print(f"{beaten} of {len(tests)} strata x metrics beat random guessing (Holm, .05). The closest to guessing, by skill:")
closest = summary.sort_values("skill").groupby("metric").head(3).sort_values(["metric", "skill"])
columns = ["metric", "algorithm", "density", "n", "mean", "control_mean", "p_value", "skill"]
print(closest[columns].to_string(index=False), end="\n\n")

# Compare the algorithms on the same truths.
print("Pairwise comparisons over all strata (effect: mean difference):")
columns = ["metric", "comparison", "effect", "ci_low", "ci_high", "p_adjusted"]
print(cube.ceval.compare("algorithm")[columns].to_string(index=False), end="\n\n")
pairs = cube.ceval.compare("algorithm", by="all")
print("Pairwise comparisons at n = 1600 (effect: mean difference of the SHD):")
shown = pairs[(pairs["metric"] == "shd") & (pairs["n"] == pairs["n"].max())]
print(shown[["density", "comparison", "effect", "ci_low", "ci_high", "n_truths", "p_adjusted"]].to_string(index=False))

for name, figure in {
    "strata_shd": cube.ceval.plot.strata("shd", x="density", hue="algorithm", col="n"),
    "strata_f1": cube.ceval.plot.strata("adjacency_f1", x="n", hue="algorithm", col="density"),
    "distributions": cube.sel(n=int(cube["n"].max())).ceval.plot.distributions("shd", row="algorithm", col="density"),
    "p_values": cube.ceval.plot.heat_map("shd", value="p"),
}.items():
    figure.figure.savefig(out / f"{name}.png", dpi=150, bbox_inches="tight")
print(f"\nWrote cube.nc and four figures to {out}/")
