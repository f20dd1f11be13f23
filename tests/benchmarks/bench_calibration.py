"""Size and power of the test against controls, by simulation: `python tests/benchmarks/bench_calibration.py [N]`.

N tables (default 600) of runs over 8 nodes whose guesses know nothing of the truth, independent or not: one row per
design, null model and statistic; "before" takes all runs as independent (cluster=None), "after" clusters them by truth.
A size of .05 among 600 tables has a standard error of .009, one of .01 of .004. Intervals of skill count as rejecting
where they miss 0, the mean skill of these guesses under null models of their law; "-" where there are none. Power, at
.05, is that of tables in which a quarter of the estimates is right.
"""

import sys

import bench_power
import numpy as np
import pandas as pd
from bench_power import PAIRS, D, Design, Study, algorithms, constant, graph, guess, nested, of_data, one_skeleton

NULLS = ("edges", "permutation", "degree", "orientation")


def redrawn(rng: np.random.Generator, changed: int) -> Study:
    """Guess one graph for one truth, with some of its eight edges drawn anew in every run along the same order."""
    truth, place, pairs = guess(rng), rng.permutation(D), rng.permutation(len(PAIRS))
    chosen = [
        np.append(rng.permutation(pairs[:8])[changed:], rng.choice(pairs[8:], changed, replace=False))
        for _ in range(20)
    ]
    return [(truth, graph(rng, x, place)) for x in chosen]


def skilled(design: Design, share: float = 0.25) -> Design:
    """Replace a run's estimate by its truth with this probability."""
    return lambda rng: [(truth, truth if rng.random() < share else estimate) for truth, estimate in design(rng)]


DESIGNS: dict[str, Design] = {
    "20 independent guesses": lambda rng: constant(rng, 20, 1),
    "1 truth x 20, constant": lambda rng: constant(rng, 1, 20),
    "1 x 20, 2 of 8 edges redrawn": lambda rng: redrawn(rng, 2),
    "1 x 20, 4 of 8 redrawn": lambda rng: redrawn(rng, 4),
    "4 truths x 5, constant": lambda rng: constant(rng, 4, 5),
    "10 truths x 4, constant": lambda rng: constant(rng, 10, 4),
    "clusters of 12, 4, 2, 1, 1, constant": bench_power.unequal,
    "3 algorithms (4, 8, 12 edges) x 5": algorithms,
    "nested guesses of 4 to 12 edges": nested,
    "unrelated guesses of 4 to 12 edges": lambda rng: [
        (truth, guess(rng, m)) for truth in [guess(rng)] for m in range(4, 13)
    ],
    "one skeleton, directions redrawn": one_skeleton,
    "20 bootstraps of one data set": lambda rng: of_data(rng, 1, 20, 1.0),
    "4 truths x 5 bootstraps": lambda rng: of_data(rng, 4, 5, 1.0),
}


def runs_of(design: Design, n_tables: int, seed: int, *, cpdag: bool = False) -> pd.DataFrame:
    """Return tables of runs, one per value of the column `repeat`."""
    runs = bench_power.table(design, n_tables, seed)
    return runs.assign(**{side: runs[side].graph.cpdag() for side in ("truth", "estimate")}) if cpdag else runs


def rates(runs: pd.DataFrame, null: str, cluster: str | None, metric: str) -> dict[str, list[float]]:
    """Return the shares of tables that the test rejects at .05 and .01, by either statistic, and the interval."""
    cube = runs.ceval.cube([metric], by=["repeat"], null=null, cluster=cluster, n_draws=199, rng=7)
    found = {}
    for statistic in ("mean", "rank"):
        p = cube.ceval.summary(statistic=statistic, columns="full")["p_value"].dropna()
        found[statistic] = [float((p <= alpha).mean()) if len(p) else np.nan for alpha in (0.05, 0.01)]
    table = cube.ceval.summary(interval="mean_ci", columns="full").dropna(subset=["skill_low"])
    missed = (table["skill_low"] > 0) | (table["skill_high"] < 0)
    found["skill interval"] = [float(missed.mean()) if len(table) else np.nan, np.nan]
    return found


def block(design: str, null: str, runs: pd.DataFrame, better: pd.DataFrame, metric: str = "shd") -> None:
    """Print the sizes and powers of one design and null model."""
    found = {cluster: [rates(x, null, cluster, metric) for x in (runs, better)] for cluster in (None, "truth")}
    for name in found[None][0]:
        cells = [x for size, power in found.values() for x in (*size[name], power[name][0])]
        words = "".join(f"{'-' if np.isnan(x) else format(x, '.3f'):>8}" for x in cells)
        print(f"{design:<40}{null:<13}{name:<16}{words}", flush=True)


def main() -> None:
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    print(f"{n_tables} tables of shd, 199 draws; other null models than edges, and CPDAGs: {n_tables // 2} tables")
    print(f"{'':<69}{'before':>16}{'after':>24}")
    print(f"{'design':<40}{'null':<13}{'statistic':<16}" + f"{'.05':>8}{'.01':>8}{'power':>8}" * 2)
    for i, (name, design) in enumerate(DESIGNS.items()):
        block(name, "edges", runs_of(design, n_tables, i), runs_of(skilled(design), n_tables // 3, 100 + i))
    for name in ("20 independent guesses", "1 x 20, 2 of 8 edges redrawn", "4 truths x 5, constant"):
        runs, better = runs_of(DESIGNS[name], n_tables // 2, 50), runs_of(skilled(DESIGNS[name]), n_tables // 6, 60)
        for null in NULLS[1:]:
            block(name, null, runs, better)
    for name in ("1 truth x 20, constant", "1 x 20, 2 of 8 edges redrawn", "nested guesses of 4 to 12 edges"):
        runs = runs_of(DESIGNS[name], n_tables // 2, 70, cpdag=True)
        better = runs_of(skilled(DESIGNS[name]), n_tables // 6, 80, cpdag=True)
        block(f"CPDAGs: {name}", "edges", runs, better)


if __name__ == "__main__":
    main()
