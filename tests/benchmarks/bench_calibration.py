"""Size and power of the test against controls, by simulation: `python tests/benchmarks/bench_calibration.py [N]`.

N tables (default 600) of runs over 8 nodes whose guesses know nothing of the truth, independent or not: one row per
design, null model and statistic; "before" takes all runs as independent (cluster=None), "after" clusters them by truth.
A size of .05 among 600 tables has a standard error of .009, one of .01 of .004. Intervals of skill count as rejecting
where they miss 0, the mean skill of these guesses under null models of their law; "-" where there are none. Power, at
.05, is that of tables in which a quarter of the estimates is right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import causaleval_pd as ce

Marks = NDArray[np.int8]
#: truth and estimate of every run of a table
Table = tuple[Marks, Marks]
Design = Callable[[np.random.Generator], Table]

D = 8
FIRST, SECOND = np.triu_indices(D, 1)
PAIRS = len(FIRST)
NAMES = [f"X{i}" for i in range(D)]
NULLS = ("edges", "permutation", "degree", "orientation")


def graph(order: NDArray[np.int64], pairs: Sequence[int] | NDArray[np.int64]) -> Marks:
    """Return a DAG whose edges join positions of an order."""
    found = np.zeros((D, D), np.int8)
    found[order[FIRST[pairs]], order[SECOND[pairs]]] = 1
    return found


def guess(rng: np.random.Generator, m: int = 8) -> Marks:
    """Return a random DAG with m edges."""
    return graph(rng.permutation(D), rng.choice(PAIRS, m, replace=False))


def table(truths: Sequence[Marks], estimates: Sequence[Marks]) -> Table:
    """Stack runs."""
    return np.stack(truths), np.stack(estimates)


def constant(sizes: Sequence[int]) -> Design:
    """Guess one graph per truth, in clusters of these sizes."""

    def draw(rng: np.random.Generator) -> Table:
        pairs = [(guess(rng), guess(rng), n) for n in sizes]
        return table([t for t, _, n in pairs for _ in range(n)], [e for _, e, n in pairs for _ in range(n)])

    return draw


def redrawn(changed: int, n_runs: int = 20) -> Design:
    """Guess one graph for one truth, with some edges drawn anew in every run."""

    def draw(rng: np.random.Generator) -> Table:
        truth, order, base = guess(rng), rng.permutation(D), rng.choice(PAIRS, 8, replace=False)
        rest = np.setdiff1d(np.arange(PAIRS), base)
        chosen = [
            np.append(rng.choice(base, 8 - changed, replace=False), rng.choice(rest, changed, replace=False))
            for _ in range(n_runs)
        ]
        return table([truth] * n_runs, [graph(order, x) for x in chosen])

    return draw


def edge_numbers(numbers: Sequence[int], *, nested: bool) -> Design:
    """Guess graphs with these numbers of edges for one truth: one ranking of pairs cut at several lengths, or not."""

    def draw(rng: np.random.Generator) -> Table:
        truth, order, ranking = guess(rng), rng.permutation(D), rng.permutation(PAIRS)
        found = [graph(order, ranking[:m]) if nested else guess(rng, m) for m in numbers]
        return table([truth] * len(numbers), found)

    return draw


def algorithms(n_runs: int = 5) -> Design:
    """Three unrelated guesses, of 4, 8 and 12 edges, each repeated."""

    def draw(rng: np.random.Generator) -> Table:
        found = [e for m in (4, 8, 12) for e in [guess(rng, m)] * n_runs]
        return table([guess(rng)] * len(found), found)

    return draw


def skeleton(n_runs: int = 20) -> Design:
    """Guess one skeleton, directed by a new order in every run."""

    def draw(rng: np.random.Generator) -> Table:
        truth, base = guess(rng), guess(rng)
        either, runs = base | base.T, []
        for _ in range(n_runs):
            rank = rng.permutation(D)
            runs.append((either * (rank[:, None] < rank[None, :])).astype(np.int8))
        return table([truth] * n_runs, runs)

    return draw


def bootstraps(n_truths: int, n_runs: int, n: int = 100) -> Design:
    """Learn graphs from bootstraps of linear Gaussian data whose graph is unrelated to the truth.

    Edges are partial correlations above .2, directed by the order of variances.
    """

    def learn(data: NDArray[np.float64]) -> Marks:
        precision = np.linalg.inv(np.cov(data.T))
        scale = np.sqrt(np.diag(precision))
        partial = -precision / np.outer(scale, scale)
        rank = np.argsort(np.argsort(data.var(axis=0)))
        return ((np.abs(partial) > 0.2) & (rank[:, None] < rank[None, :])).astype(np.int8)

    def draw(rng: np.random.Generator) -> Table:
        truths, estimates = [], []
        for _ in range(n_truths):
            truth, other = guess(rng), guess(rng)
            weights = other * rng.uniform(0.5, 1.0, (D, D)) * rng.choice([-1, 1], (D, D))
            data = rng.normal(size=(n, D)) @ np.linalg.inv(np.eye(D) - weights)
            for _ in range(n_runs):
                estimates.append(learn(data[rng.integers(0, n, n)]))
                truths.append(truth)
        return table(truths, estimates)

    return draw


def skilled(design: Design, share: float = 0.25) -> Design:
    """Replace a run's estimate by its truth with this probability."""

    def draw(rng: np.random.Generator) -> Table:
        truth, estimate = design(rng)
        right = rng.random(len(truth)) < share
        return truth, np.where(right[:, None, None], truth, estimate)

    return draw


DESIGNS: dict[str, Design] = {
    "20 independent guesses": constant([1] * 20),
    "1 truth x 20, constant": constant([20]),
    "1 x 20, 2 of 8 edges redrawn": redrawn(2),
    "1 x 20, 4 of 8 redrawn": redrawn(4),
    "4 truths x 5, constant": constant([5] * 4),
    "10 truths x 4, constant": constant([4] * 10),
    "clusters of 12, 4, 2, 1, 1, constant": constant([12, 4, 2, 1, 1]),
    "3 algorithms (4, 8, 12 edges) x 5": algorithms(),
    "nested guesses of 4 to 12 edges": edge_numbers(range(4, 13), nested=True),
    "unrelated guesses of 4 to 12 edges": edge_numbers(range(4, 13), nested=False),
    "one skeleton, directions redrawn": skeleton(),
    "20 bootstraps of one data set": bootstraps(1, 20),
    "4 truths x 5 bootstraps": bootstraps(4, 5),
}


def runs_of(design: Design, n_tables: int, seed: int, *, cpdag: bool = False) -> pd.DataFrame:
    """Return tables of runs, one per value of the column `table`."""
    rng = np.random.default_rng(seed)
    parts = [design(rng) for _ in range(n_tables)]
    sides = [np.concatenate([part[i] for part in parts]) for i in range(2)]
    truth, estimate = (ce.graph_column(x, encoding="row->column", nodes=NAMES) for x in sides)
    if cpdag:
        truth, estimate = truth.graph.cpdag(), estimate.graph.cpdag()
    number = np.repeat(np.arange(n_tables), [len(part[0]) for part in parts])
    return pd.DataFrame({"truth": truth, "estimate": estimate, "table": number})


def rates(runs: pd.DataFrame, null: str, cluster: str | None, metric: str) -> dict[str, list[float]]:
    """Return the shares of tables that the test rejects at .05 and .01, by either statistic, and the interval."""
    cube = runs.ceval.cube([metric], by=["table"], null=null, cluster=cluster, n_draws=199, rng=7)
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
    """Print the tables."""
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
