"""Small p-values against exact tails, with times: `python tests/benchmarks/bench_tails.py` (about ten minutes).

Ratios are estimates of splitting to exact tails; brackets hold their Monte Carlo standard errors. The exact tail of a
perfect estimate under relabelling is 1 / d! (the graphs have no symmetry), sums of rows are convolved, and skeleton
metrics under "edges" are hypergeometric.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.statistics.multiplicity import auto_draws
from causaleval_pd.statistics.tails.convolution import tail_of_sum
from causaleval_pd.statistics.tails.pearson_type_iii import upper_tail

SETS = 10


def random_dag(rng: np.random.Generator, d: int, n_edges: int) -> str:
    """Return a random DAG as a string of edges."""
    order, pairs = rng.permutation(d), np.array(list(itertools.combinations(range(d), 2)))
    chosen = pairs[rng.choice(len(pairs), n_edges, replace=False)]
    return "; ".join([f"N{order[a]} -> N{order[b]}" for a, b in chosen] + [f"N{i}" for i in range(d)])


def rigid_dag(rng: np.random.Generator, d: int, n_edges: int) -> str:
    """Return a random DAG that only the identity relabelling leaves alone, as distinct ancestor counts show."""
    while True:
        words = random_dag(rng, d, n_edges)
        marks = np.zeros((d, d), int)
        for a, _, b in (word.split() for word in words.split("; ") if "->" in word):
            marks[int(a[1:]), int(b[1:])] = 1
        profile = np.hstack([x for m in range(1, 4) for x in _sums(np.linalg.matrix_power(marks, m), marks)])
        if len(np.unique(profile, axis=0)) == d:
            return words


def _sums(power: np.ndarray, marks: np.ndarray) -> list[np.ndarray]:
    """Return numbers of walks from and to every node, weighted by degrees."""
    degrees = np.stack([marks.sum(axis=0), marks.sum(axis=1)], axis=1)
    return [power @ degrees, power.T @ degrees]


def hypergeometric(n_pairs: int, true: int, estimated: int) -> np.ndarray:
    """Return the probabilities of 0, 1, .. shared edges."""
    numbers = range(min(true, estimated) + 1)
    chosen = [math.comb(true, k) * math.comb(n_pairs - true, estimated - k) for k in numbers]
    return np.array([x / math.comb(n_pairs, estimated) for x in chosen])


def report(case: str, exact: float, low: np.ndarray, estimate: np.ndarray, p: np.ndarray, seconds: float) -> None:
    """Print one line: ratio of the estimates, coverage of the interval, printed p."""
    ratio = estimate / exact
    error = ratio.std(ddof=1) / math.sqrt(len(ratio))
    high = estimate**2 / low
    covered = np.mean((low <= exact) & (exact <= high))
    print(
        f"{case:44} exact {exact:8.1e}  ratio {ratio.mean():5.2f} ({error:.2f})  covered {covered:4.2f}  printed/exact"
        f" {np.mean(p / exact):5.2f}, least {np.min(p / exact):5.2f}  {seconds / len(p):5.1f} s"
    )


def rows(case: str, truth: str, estimate: str, metric: str, null: str, exact: float) -> None:
    """Split the p-value of one row, several times."""
    runs = pd.DataFrame({"truth": [truth] * SETS, "estimate": [estimate] * SETS})
    start = time.process_time()
    settings = {"null": null, "n_draws": 19, "tails": "splitting", "method": "simulate", "columns": "full"}
    found = ce.with_controls(runs, [metric], rng=1, **settings)
    taken = time.process_time() - start
    split = found[found[f"{metric}_p_method"] == "splitting"]
    low, high = split[f"{metric}_p_low"].to_numpy(), split[f"{metric}_p_high"].to_numpy()
    report(case, exact, low, np.sqrt(low * high), split[f"{metric}_p"].to_numpy(), taken)


def strata(case: str, n: int, noise: int) -> None:
    """Split the p-value of strata of n runs of 7 nodes, and compare with the convolution."""
    rng = np.random.default_rng(n)
    truths = [random_dag(rng, 7, 8) for _ in range(n)]
    estimates = [t if i >= noise else random_dag(rng, 7, 8) for i, t in enumerate(truths)]
    runs = pd.concat([pd.DataFrame({"s": s, "truth": truths, "estimate": estimates}) for s in range(SETS)])
    runs["run"] = np.arange(len(runs))
    settings = {"by": ["s"], "null": "permutation", "n_draws": 9, "key": "run", "rng": 1}
    exact = ce.summary(ce.cube(runs, ["shd"], **settings), statistic="mean")
    start = time.process_time()
    made = ce.cube(runs, ["shd"], tails="splitting", method="simulate", **settings)
    taken = time.process_time() - start
    found = ce.test_controls(made, statistic="mean")
    found = found[found["p_method"] == "splitting"]
    low, high = found["p_low"].to_numpy(), found["p_high"].to_numpy()
    if len(found) > 1:
        report(case, exact["p_value"].iloc[0], low, np.sqrt(low * high), found["p_value"].to_numpy(), taken)


def moments() -> None:
    """Pearson's type III law against exact tails of sums of hypergeometric counts."""
    for d, true, estimated, n in ((10, 10, 10, 5), (10, 10, 10, 20), (20, 20, 20, 10), (20, 5, 5, 20)):
        total = d * (d - 1) // 2
        support = np.arange(min(true, estimated) + 1.0)
        weights = hypergeometric(total, true, estimated)
        mean = n * weights @ support
        apart = support - weights @ support
        deviation = math.sqrt(n * weights @ apart**2)
        skewness = n * float(weights @ apart**3) / deviation**3
        words = []
        for observed in range(int(mean), n * min(true, estimated)):
            exact = tail_of_sum([(support, weights)] * n, observed).upper
            if exact < 10.0 ** -(2 * len(words) + 2):
                p = float(upper_tail((observed - 0.5 - mean) / deviation, skewness))
                words.append(f"{exact:.0e}: {p / exact:.2f}")
            if len(words) == 4:
                break
        case = f"sum of {n:2} counts, d {d}, {true}/{estimated} edges, skewness {skewness:.2f}"
        print(f"{case}: p / exact {', '.join(words)}")


def combinations() -> None:
    """Measure the price of combinations of draws in the shipped study."""
    runs, settings = ce.datasets.runs(), {"by": ["algorithm", "density", "n"], "rng": 7}
    runs.ceval.cube(["shd"], n_draws=9, **settings)
    for n_draws in (199, 999, 5999):
        for tails in (None, "combinations"):
            start = time.process_time()
            largest = ce.test_controls(runs.ceval.cube(["shd"], n_draws=n_draws, tails=tails, **settings))[
                "p_value"
            ].max()
            taken = time.process_time() - start
            print(
                f"27 strata of 20 runs, {n_draws} draws, tails={tails}: {taken:.2f} s of CPU, largest p {largest:.1e}"
            )


def main() -> None:
    """Print all tables."""
    print("n_draws='auto' for 1, 30, 60, 300 tests:", [auto_draws(n) for n in (1, 30, 60, 300)])
    law = np.arange(9.0), hypergeometric(28, 8, 8)
    start = time.process_time()
    tail = tail_of_sum([law] * 5, 40.0).upper
    print(f"five perfect runs of {law[1][-1]:.1e}: {tail:.2e} ({time.process_time() - start:.4f} s)")
    rng = np.random.default_rng(1)
    margins = [(20, int(m)) for m in rng.integers(10, 30, 100)]
    laws = []
    for t, e in margins:
        k = np.arange(min(t, e) + 1)
        weights = hypergeometric(190, t, e)
        laws.append((2 * k / (t + e), weights))
    start = time.process_time()
    tail = tail_of_sum(laws, 30.0)
    print(f"mean F1 of 100 runs: {tail.upper:.3e}, lower bound {tail.lower:.3e} ({time.process_time() - start:.2f} s)")
    combinations()
    moments()
    for d, n_edges in ((8, 12), (10, 16), (12, 20)):
        graph = rigid_dag(np.random.default_rng(d), d, n_edges)
        rows(f"perfect, relabelled, d = {d}", graph, graph, "shd", "permutation", 1 / math.factorial(d))
    for shared in (7, 10):
        rng = np.random.default_rng(shared)
        pairs = [(a, b) for a, b in itertools.combinations(range(20), 2)]
        chosen = rng.permutation(len(pairs))
        truth, other = chosen[:20], np.concatenate([chosen[:shared], chosen[20 : 40 - shared]])
        words = ["; ".join([f"N{a} -> N{b}" for a, b in (pairs[i] for i in side)] + NODES) for side in (truth, other)]
        pair = pd.DataFrame({"truth": [words[0]], "estimate": [words[1]]})
        exact = float(ce.with_controls(pair, ["adjacency_f1"])["adjacency_f1_p"].iloc[0])
        rows(f"F1, random graphs, d = 20, {shared} of 20 shared", *words, "adjacency_f1", "edges", exact)
    for n, noise in ((1, 0), (3, 1), (3, 0)):
        strata(f"mean SHD of {n} runs, {n - noise} perfect, d = 7", n, noise)


NODES = [f"N{i}" for i in range(20)]

if __name__ == "__main__":
    main()
