"""Does an analysis keep its level? Placebos of a study and of algorithms that ignore their data; then null models.

A placebo keeps the estimates of a study and how they resemble each other, but renames their nodes at random, so that
they agree with the truths by chance only. An analysis that calls skilled more than 5 % of placebos at the level .05 is
miscalibrated, mostly because it takes runs on one truth as independent. The last part simulates many studies of such
algorithms, and counts how often the test rejects under each null model. `tests/benchmarks/calibration.md` has more
designs and smaller Monte Carlo errors.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import causaleval_pd as ce

# with --quick few, whose rates mean little
N_PLACEBOS, N_STUDIES = (20, 10) if "--quick" in sys.argv[1:] else (60, 100)
NULLS = ["edges", "permutation", "degree", "orientation"]
LEVELS = (0.05, 0.01)

runs = ce.datasets.runs().query("density == 0.2 and algorithm == 'pc'")


def study(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return sizes with all runs taken as independent, and with runs on one truth as a cluster."""
    placebos = [table.ceval.placebo(rng=seed) for seed in range(N_PLACEBOS)]
    rows = []
    for cluster in (None, "truth"):
        cubes = [x.ceval.cube(["shd"], by=[by], cluster=cluster, n_draws=99, rng=7) for x in placebos]
        p = pd.concat([cube.ceval.summary() for cube in cubes])["p_value"]
        rows.append({"cluster": str(cluster), "tests": len(p)} | {f"size at {a}": (p <= a).mean() for a in LEVELS})
    return pd.DataFrame(rows)


print("1. PC on 20 truths, with three sample sizes each: its estimates on one truth resemble each other")
print(study(runs, "algorithm").round(3).to_string(index=False), end="\n\n")

rng, names = np.random.default_rng(1), [f"X{i}" for i in range(8)]
pairs = np.column_stack(np.triu_indices(8, 1))


def graph(order: np.ndarray, chosen: np.ndarray) -> str:
    """Write a DAG whose edges join positions of an order."""
    edges = [f"{names[order[a]]} -> {names[order[b]]}" for a, b in pairs[chosen].tolist()]
    return "; ".join([*edges, *names])


def guess() -> str:
    """Draw a DAG with 8 edges."""
    return graph(rng.permutation(8), rng.choice(28, 8, replace=False))


def restless() -> list[str]:
    """Guess one graph, with two of its eight edges drawn anew in each of 20 runs."""
    order, base = rng.permutation(8), rng.choice(28, 8, replace=False)
    rest = np.setdiff1d(np.arange(28), base)
    return [graph(order, np.append(rng.permutation(base)[:6], rng.permutation(rest)[:2])) for _ in range(20)]


designs = {
    "one truth, 20 runs, always the same guess": lambda: ([guess()] * 20, [guess()] * 20),
    "one truth, 20 runs, two of eight edges guessed anew": lambda: ([guess()] * 20, restless()),
    "four truths, 5 runs each, one guess per truth": lambda: tuple(
        [graph for graph in (guess() for _ in range(4)) for _ in range(5)] for _ in range(2)
    ),
}
print("2. Algorithms that ignore their data")
for name, design in designs.items():
    truths, estimates = design()
    table = pd.DataFrame({"truth": ce.graph_column(truths), "estimate": ce.graph_column(estimates), "design": name})
    print(name)
    print(study(table, "design").round(3).to_string(index=False), end="\n\n")

print("Tests by truth relabel the estimates themselves, so that their level holds by construction. Below five truths")
print("there is no interval of skill.", end="\n\n")

designs = {"20 truths, one guess each": lambda: ([guess() for _ in range(20)], [guess() for _ in range(20)])} | designs


def studies(name: str, right: float) -> pd.DataFrame:
    """Return studies of a design, a share of whose estimates is right."""
    parts = []
    for number in range(N_STUDIES):
        truths, estimates = designs[name]()
        estimates = np.where(rng.random(20) < right, truths, estimates)
        parts.append(pd.DataFrame({"truth": truths, "estimate": estimates, "study": number}))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(truth=ce.graph_column(table["truth"]), estimate=ce.graph_column(table["estimate"]))


def p_values(table: pd.DataFrame, cluster: str | None) -> pd.DataFrame:
    """Return the p-values of all studies, one row per null model."""
    how = {"by": ["study"], "null": NULLS, "n_draws": 99, "rng": 7}
    tests = table.ceval.cube(["shd"], cluster=cluster, **how).ceval.summary()
    return tests.pivot(index="null", columns="study", values="p_value")


def rate(p: pd.DataFrame, alpha: float) -> pd.Series:
    """Return the share of studies that reject; missing where a test has no p-value."""
    return (p <= alpha).mean(axis=1).where(p.notna().any(axis=1))


error = [round((alpha * (1 - alpha) / N_STUDIES) ** 0.5, 3) for alpha in (0.05, 0.01)]
print(f"3. {N_STUDIES} studies of each design: size at .05 and .01, with Monte Carlo errors {error[0]} and {error[1]}")
print("where it is kept, and power at .05 with a quarter of the estimates right; runs taken as independent (none), or")
print("clustered by truth")
for name in designs:
    rates = {}
    guessed, skilled = studies(name, 0.0), studies(name, 0.25)
    for cluster, label in ((None, "none"), ("truth", "truth")):
        p, better = p_values(guessed, cluster), p_values(skilled, cluster)
        rates |= {(label, ".05"): rate(p, 0.05), (label, ".01"): rate(p, 0.01), (label, "power"): rate(better, 0.05)}
    print(f"{name}\n{pd.DataFrame(rates).loc[NULLS].round(3).to_string()}", end="\n\n")
print("The null models degree and orientation depend on the names of nodes: where runs repeat truths, the test takes")
print("twice the mean p of each truth.")
