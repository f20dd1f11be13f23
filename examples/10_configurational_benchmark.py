"""Run an inverse search: at which sample size and noise does a method recover models better than guessing?

The search is a stand-in: of all formulas with up to two disjuncts of up to two literals it returns the simplest that
reach a threshold of consistency and coverage in the data, and the best-fitting of these. It returns nothing if none
does. An empty output is incomplete and has no controls. It writes into the folder `configurational_benchmark`.
"""

import itertools
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from causaleval_pd.configurational import random_models, simulate_data

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
out = Path("configurational_benchmark")
out.mkdir(exist_ok=True)

FACTORS = list("ABCDE")
LITERALS = [one for name in FACTORS for one in (name, name.lower())]
PAIRS = [f"{x}*{y}" for x, y in itertools.combinations(LITERALS, 2) if x.upper() != y.upper()]
SINGLE = LITERALS + PAIRS
FORMULAS = [(i,) for i in range(len(SINGLE))] + list(itertools.combinations(range(len(SINGLE)), 2))
SIZE = np.array([sum(SINGLE[i].count("*") + 1 for i in formula) for formula in FORMULAS])


def search(data: pd.DataFrame, threshold: float) -> str:
    """Return the simplest formulas for F that fit, as a set of models."""
    literal = {**{n: data[n] == 1 for n in FACTORS}, **{n.lower(): data[n] == 0 for n in FACTORS}}
    single = np.array([np.logical_and.reduce([literal[x] for x in text.split("*")]) for text in SINGLE])
    left = np.array([single[list(formula)].any(axis=0) for formula in FORMULAS])
    both = (left & (data["F"] == 1).to_numpy()).sum(axis=1)
    consistency = both / np.maximum(left.sum(axis=1), 1)
    coverage = both / max((data["F"] == 1).sum(), 1)
    fits = (consistency >= threshold) & (coverage >= threshold)
    if not fits.any():
        return "{}"
    smallest = SIZE[fits].min()
    simplest = fits & np.equal(SIZE, smallest)
    quality = np.where(simplest, consistency * coverage, 0)
    return "; ".join(
        "+".join(SINGLE[i] for i in FORMULAS[f]) + "<->F" for f in np.flatnonzero(quality >= quality.max() - 1e-9)
    )


truths = random_models(20, 6, disjuncts=(1, 2), conjuncts=(1, 2), rng=1).to_frame().reset_index(names="truth_number")
grid = pd.MultiIndex.from_product([[15, 40, 160], [0.0, 0.05, 0.15]], names=["n", "noise"]).to_frame(index=False)
runs = truths.merge(grid, how="cross")
everything = dict.fromkeys(FACTORS, (0, 1))
data = [
    simulate_data(run.truth, run.n, noise=run.noise, fragmentation=0.2, domains=everything, rng=i)
    for i, run in enumerate(runs.itertuples())
]
for threshold in (0.75, 0.85):
    runs[f"threshold {threshold}"] = [search(frame, threshold) for frame in data]
runs = runs.melt(["truth_number", "truth", "n", "noise"], var_name="search", value_name="estimate")

# Controls are random models with the estimates' outcome and sizes, over all the factors that the search saw.
cube = runs.ceval.cube(
    ["correctness", "completeness"],
    by=["search", "noise", "n"],
    n_draws=200,
    rng=7,
    key=["truth_number", "search", "noise", "n"],
    context={"domains": everything},
)
cube.to_netcdf(out / "cube.nc")
summary = cube.ceval.summary(columns="full")
columns = ["metric", "search", "noise", "n", "n_runs", "n_undefined", "mean", "control_mean", "control_as_good_share"]
print(summary.loc[summary["n"] == 160, [*columns, "p_value", "skill"]].to_string(index=False), end="\n\n")
tests = cube.ceval.summary(adjust="bh")
better = int((tests["verdict"] == "better").sum())
print(f"{better} of {len(tests)} strata x metrics beat guessing (Benjamini-Hochberg, .05)")
for metric in ("correctness", "completeness"):
    figure = cube.ceval.plot.strata(metric, x="n", hue="search", col="noise")
    figure.figure.savefig(out / f"{metric}.png", dpi=150, bbox_inches="tight")
print(f"Wrote cube.nc and two figures to {out}/")
