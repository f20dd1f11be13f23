"""Compare hill climbing by BIC with chance, and with baselines that use little of the data.

Simulated linear data as many benchmarks have them, with noise of variance 1: variances grow along the causal order, and
ordering the variables by variance finds what hill climbing does not. Of standardised data it finds no more than a
random order does. Writes examples/figures/beyond_chance.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import causaleval_pd as ce

FIGURES = Path(__file__).parent / "figures"
NODES = [f"X{i}" for i in range(10)]
BASELINES = {
    "variance order": "var_sort_regress",
    "R2 order": "r2_sort_regress",
    "random order": "random_sort_regress",
    "correlations": "correlation_threshold",
}


def draw(rng: np.random.Generator, n_edges: int = 15, n: int = 500) -> tuple[np.ndarray, pd.DataFrame]:
    """Draw a random DAG with weights of size .5 to 2, and data with noise of variance 1."""
    weights = np.zeros((len(NODES), len(NODES)))
    rows, columns = np.triu_indices(len(NODES), 1)
    chosen = rng.choice(len(rows), n_edges, replace=False)
    weights[rows[chosen], columns[chosen]] = rng.uniform(0.5, 2, n_edges) * rng.choice([-1, 1], n_edges)
    order = rng.permutation(len(NODES))
    weights = weights[np.ix_(order, order)]
    values = rng.normal(size=(n, len(NODES))) @ np.linalg.inv(np.eye(len(NODES)) - weights)
    # the last bits differ from processor to processor, and name the streams of random orders
    return weights != 0, pd.DataFrame(values.round(6), columns=NODES)


def hill_climbing(data: pd.DataFrame) -> np.ndarray:
    """Add, remove or turn the edge that improves BIC most, until none does."""
    n, d = data.shape
    covariance = np.cov(data.to_numpy().T, ddof=0)
    known: dict[tuple[int, bytes], float] = {}

    def cost(node: int, parents: np.ndarray) -> float:
        key = node, parents.tobytes()
        if key not in known:
            at = np.flatnonzero(parents)
            explained = covariance[node, at] @ np.linalg.solve(covariance[np.ix_(at, at)], covariance[at, node])
            known[key] = n * np.log(covariance[node, node] - explained) + np.log(n) * len(at)
        return known[key]

    arcs = np.zeros((d, d), bool)
    while True:
        best, gain = None, 1e-9
        reached = np.linalg.inv(np.eye(d) - arcs / (d + 1)) > 1e-12
        for i, j in np.argwhere(~np.eye(d, dtype=bool)).tolist():
            new = arcs.copy()
            new[i, j] = not arcs[i, j]
            moves = [new] if arcs[i, j] or not reached[j, i] else []
            if arcs[i, j]:
                turned = new.copy()
                turned[j, i] = True
                moves += [turned] if not (np.linalg.inv(np.eye(d) - new / (d + 1)) > 1e-12)[i, j] else []
            for move in moves:
                change = sum(cost(k, arcs[:, k]) - cost(k, move[:, k]) for k in (i, j))
                # of moves that are equally good the first, whatever the last bits
                if change > gain + 1e-6:
                    best, gain = move, change
        if best is None:
            return arcs
        arcs = best


if __name__ == "__main__":
    rng = np.random.default_rng(7)
    rows, frames = [], {}
    for number in range(20):
        truth, data = draw(rng)
        for scale, frame in (("raw", data), ("standardised", ((data - data.mean()) / data.std()).round(6))):
            name = f"{scale} {number}"
            frames[name] = frame
            estimate = pd.DataFrame(hill_climbing(frame).astype(int), index=NODES, columns=NODES)
            rows.append({"algorithm": "hill climbing", "scale": scale, "dataset": name, "estimate": estimate})
            rows[-1]["truth"] = pd.DataFrame(truth.astype(int), index=NODES, columns=NODES)
    runs = pd.DataFrame(rows)
    for side in ("truth", "estimate"):
        runs[side] = ce.graph_column(runs[side], encoding="row->column")

    context = {"data": ("dataset", frames)}
    runs = runs.ceval.with_baselines(BASELINES, context=context, rng=7)
    # standardised variables have equal variances up to rounding
    by_variance = ce.tweak("var_sortability", tolerance=1e-9)
    sortability = runs.ceval.evaluate([by_variance, "r2_sortability"], context=context)
    print("Mean sortability of the data along the truth: near 1 the order shows, near .5 it does not\n")
    print(sortability.groupby("scale")[["var_sortability", "r2_sortability"]].mean().round(2).to_string())

    cube = runs.ceval.cube(["shd"], by=["scale", "algorithm"], n_draws=1000, rng=7)
    table = cube.ceval.summary().set_index(["scale", "algorithm"])
    print("\nAgainst chance: mean SHD of the runs and of random graphs with as many edges")
    print(table[["mean", "control_mean", "p_value", "skill"]].to_string(float_format="{:.3g}".format))

    pairs = cube.ceval.compare("algorithm", by="scale", reference="hill climbing")
    print("\nAgainst the baselines: differences of SHD to hill climbing, on the same data\n")
    print(pairs[["scale", "comparison", "effect", "p_adjusted"]].round(4).to_string(index=False))

    FIGURES.mkdir(exist_ok=True)
    grid = cube.ceval.plot.strata("shd", x="algorithm", col="scale", values="raw")
    grid.savefig(FIGURES / "beyond_chance.png", dpi=150)
