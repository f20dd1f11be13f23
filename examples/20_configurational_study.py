"""Study a configurational method: on published data, and over noise x sample size x imbalance against controls.

The method is a small minimiser: of all conjunctions of up to two literals it keeps the minimally sufficient ones, and
of their disjunctions of up to three the minimally necessary ones, by thresholds of consistency and coverage. It returns
all of the best fit, since it cannot decide between them, or nothing. Any callable can take its place. It takes about
half a minute, and writes into the folder `configurational_study`.
"""

import itertools
import time
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.configurational import fit_by_atom, random_models, simulate_data

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3, "display.max_colwidth", 60)
out = Path("configurational_study")
out.mkdir(exist_ok=True)
start = time.process_time()


def minimise(data, consistency, coverage, outcome):
    """Return the models of an outcome that reach the thresholds and fit best."""
    factors = [name for name in data if name != outcome]
    y = data[outcome].to_numpy(bool)
    literals = {
        text: data[name].to_numpy() == value for name in factors for text, value in ((name, 1), (name.lower(), 0))
    }
    pairs = (p for p in itertools.combinations(literals, 2) if p[0].upper() != p[1].upper())
    sufficient = {}
    for parts in [*((one,) for one in literals), *pairs]:
        left = np.logical_and.reduce([literals[part] for part in parts])
        if not any(part in sufficient for part in parts) and left.any() and y[left].mean() >= consistency:
            sufficient["*".join(parts)] = left
    found = {}
    for size in (1, 2, 3):
        for parts in itertools.combinations(sufficient, size):
            if any(set(other) < set(parts) for other in found):
                continue
            left = np.logical_or.reduce([sufficient[part] for part in parts])
            if y[left].mean() >= consistency and left[y].mean() >= coverage:
                found[parts] = y[left].mean() * left[y].mean()
    best = max(found.values(), default=0.0)
    return "; ".join("+".join(parts) + f"<->{outcome}" for parts, fit in found.items() if fit >= best - 1e-9) or "{}"


# Part 1: published data, whose truth is not known. Which models do the thresholds give, and how do they fit?
data = ce.datasets.lipset()
for threshold in (1, 0.9, 0.8, 0.7):
    print(f"consistency and coverage of at least {threshold}: {minimise(data, threshold, threshold, 'SURV')}")
published = ce.datasets.lipset_models().query("outcome == 'SURV'")["model"]
fit = pd.concat([fit_by_atom(model, data) for model in published])
print(fit[["atom", "consistency", "coverage"]].to_string(index=False), end="\n\n")

# Part 2: simulated data, whose truth is known.
factors = list("ABCDE")
levels = {"n_cases": [25, 100], "noise": [0, 0.1, 0.2], "imbalance": [0.5, 0.8]}
grid = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
truths = random_models(25, [*factors, "F"], disjuncts=(1, 3), conjuncts=(1, 2), rng=1).to_frame()
runs = truths.reset_index(names="truth_number").merge(grid, how="cross")
everything = dict.fromkeys(factors, (0, 1))
runs["estimate"] = [
    minimise(
        simulate_data(r.truth, r.n_cases, noise=r.noise, imbalance=r.imbalance, domains=everything, rng=i),
        0.8,
        0.8,
        "F",
    )
    for i, r in enumerate(runs.itertuples())
]
print(f"{len(runs)} searches, {(runs['estimate'] == '{}').sum()} of which found nothing")

# Controls are random models with the estimates' outcome, sizes and signs, over all factors that the search saw.
axes = list(grid.columns)
cube = runs.ceval.cube(
    ["correctness", "completeness"],
    by=axes,
    n_draws=999,
    rng=7,
    key=["truth_number", *axes],
    context={"factors": factors},
)
cube.to_netcdf(out / "cube.nc")
summary = cube.ceval.summary(columns="full")
print(summary[["metric", *axes, "n_undefined", "mean", "control_mean", "skill"]].to_string(index=False), end="\n\n")
tests = cube.ceval.summary(adjust="holm")
print(f"{int((tests['verdict'] == 'better').sum())} of {len(tests)} strata x metrics beat guessing (Holm, .05)")
for metric in ("correctness", "completeness"):
    figure = cube.ceval.plot.strata(metric, x="noise", hue="imbalance", col="n_cases")
    figure.figure.savefig(out / f"{metric}.png", dpi=150, bbox_inches="tight")
print(f"Wrote cube.nc and two figures to {out}/ after {time.process_time() - start:.0f} s of computation")
