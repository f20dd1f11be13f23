"""Does this analysis keep its level? Placebos of a study, and of three algorithms that ignore their data.

A placebo keeps the estimates of a study and how they resemble each other, but renames their nodes at random, so that
they agree with the truths by chance only. An analysis that calls skilled more than 5 % of placebos at the level .05 is
miscalibrated, mostly because it takes runs on one truth as independent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import causaleval_pd as ce

N_PLACEBOS = 60
COLUMNS = ["cluster", "method", "n_clusters", "alpha", "size", "size_low", "size_high", "verdict", "n_placebos"]

runs = ce.datasets.runs().query("density == 0.2 and algorithm == 'pc'")


def study(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return sizes with all runs taken as independent, and with runs on one truth as a cluster."""
    how = {"by": [by], "n_placebos": N_PLACEBOS, "n_draws": 99, "skill": None, "rng": 7}
    found = {words: table.ceval.size_and_power(["shd"], cluster=words, **how) for words in (None, "truth")}
    return pd.concat(
        [part.assign(cluster="none" if words is None else words) for words, part in found.items()], ignore_index=True
    )


print("1. PC on 20 truths, with three sample sizes each: its estimates on one truth resemble each other")
print(study(runs, "algorithm")[COLUMNS].round(3).to_string(index=False), end="\n\n")

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
    "one truth, 20 runs, always the same guess": ([guess()] * 20, [guess()] * 20),
    "one truth, 20 runs, two of eight edges guessed anew": ([guess()] * 20, restless()),
    "four truths, 5 runs each, one guess a truth": tuple(
        [graph for graph in (guess() for _ in range(4)) for _ in range(5)] for _ in range(2)
    ),
}
print("2. Algorithms that ignore their data")
for name, (truths, estimates) in designs.items():
    table = pd.DataFrame({"truth": ce.graph_column(truths), "estimate": ce.graph_column(estimates), "design": name})
    print(name)
    print(study(table, "design")[COLUMNS].round(3).to_string(index=False), end="\n\n")

print("Tests by truth relabel the estimates themselves, so that their level holds by construction. Below five truths")
print("there is no interval of skill.")
