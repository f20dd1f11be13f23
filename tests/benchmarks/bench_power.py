"""Power of the test of strata against controls by statistic, and studies whose runs depend on one another.

Every repeat of a study is a stratum of one cube: graphs over 8 nodes, 199 draws. Prints shares of p <= .05 and <= .01
with their Monte Carlo standard errors: `python tests/benchmarks/bench_power.py [REPEATS]`.
"""

import itertools
import sys
import time
from collections.abc import Callable

import networkx as nx
import numpy as np
import pandas as pd
import xarray as xr

import causaleval_pd as ce

D, R = 8, 199
NODES = [f"X{i}" for i in range(D)]
PAIRS = np.array(list(itertools.combinations(range(D), 2)))
Graph = np.ndarray
#: truths and estimates of one study
Study = list[tuple[Graph, Graph]]
Design = Callable[[np.random.Generator], Study]


def graph(rng: np.random.Generator, pairs: np.ndarray, place: np.ndarray | None = None) -> Graph:
    """Direct pairs of nodes along an order, by default a random one."""
    place, found = rng.permutation(D) if place is None else place, np.zeros((D, D), np.uint8)
    a, b = PAIRS[pairs].T
    found[np.where(place[a] < place[b], a, b), np.where(place[a] < place[b], b, a)] = 1
    return found


def guess(rng: np.random.Generator, n_edges: int = 8) -> Graph:
    """Draw a skeleton and an order."""
    return graph(rng, rng.choice(len(PAIRS), n_edges, replace=False))


def skeleton(found: Graph) -> np.ndarray:
    """Return the numbers of a graph's adjacent pairs."""
    return np.flatnonzero((found | found.T)[PAIRS[:, 0], PAIRS[:, 1]])


def skilled(rng: np.random.Generator, truth: Graph, n_right: int, n_edges: int) -> Graph:
    """Take right edges, with their directions, and guess the others."""
    right = rng.permutation(skeleton(truth))[:n_right]
    others = rng.choice(np.setdiff1d(np.arange(len(PAIRS)), right), n_edges - n_right, replace=False)
    while True:  # right edges may close a cycle with guessed ones
        found = graph(rng, others)
        for a, b in PAIRS[right]:
            found[a, b], found[b, a] = truth[a, b], truth[b, a]
        if nx.is_directed_acyclic_graph(nx.from_numpy_array(found, create_using=nx.DiGraph)):
            return found


def bootstraps(rng: np.random.Generator, n_runs: int, most: float, n: int = 100) -> list[Graph]:
    """Estimate graphs of bootstrap samples of one data set, whose graph has nothing to do with any truth."""
    weights = guess(rng) * rng.uniform(0.5, most, (D, D)) * rng.choice([-1, 1], (D, D))
    data = rng.normal(size=(n, D)) @ np.linalg.inv(np.eye(D) - weights)
    found = []
    for _ in range(n_runs):
        sample = data[rng.integers(n, size=n)]
        precision = np.linalg.pinv(np.cov(sample.T))
        scale = np.sqrt(precision.diagonal())
        partial = np.abs(precision / np.outer(scale, scale)) > 0.2
        order = sample.var(axis=0)
        found.append((partial & (order[:, None] < order[None, :])).astype(np.uint8))
    return found


def constant(rng: np.random.Generator, truths: int, runs: int) -> Study:
    """Repeat one guess per truth."""
    return [(t, e) for t, e in ((guess(rng), guess(rng)) for _ in range(truths)) for _ in range(runs)]


def algorithms(rng: np.random.Generator) -> Study:
    """Repeat unrelated guesses of 4, 8 and 12 edges on one truth."""
    truth, guesses = guess(rng), [guess(rng, m) for m in (4, 8, 12)]
    return [(truth, e) for e in guesses for _ in range(5)]


def nested(rng: np.random.Generator) -> Study:
    """Cut one ranking of pairs after 4, 5, .. 12 of them."""
    truth, ranking, place = guess(rng), rng.permutation(len(PAIRS)), rng.permutation(D)
    return [(truth, graph(rng, ranking[:m], place)) for m in range(4, 13)]


def unequal(rng: np.random.Generator) -> Study:
    """Repeat constant guesses in clusters of 12, 4, 2, 1 and 1 runs."""
    return [pair for n in (12, 4, 2, 1, 1) for pair in constant(rng, 1, n)]


def one_skeleton(rng: np.random.Generator) -> Study:
    """Direct one skeleton anew in every run."""
    truth, pairs = guess(rng), rng.choice(len(PAIRS), 8, replace=False)
    return [(truth, graph(rng, pairs)) for _ in range(20)]


def of_data(rng: np.random.Generator, truths: int, runs: int, most: float = 1.5) -> Study:
    """Estimate bootstrap samples of one data set a truth."""
    return [(t, e) for t in (guess(rng) for _ in range(truths)) for e in bootstraps(rng, runs, most)]


def mixed(rng: np.random.Generator, sparse: int, dense: int) -> Study:
    """Ten runs with 3 edges and ten with 14, of which so many are right; truths have as many edges as estimates."""
    study = []
    for _ in range(10):
        for m, right in ((3, sparse), (14, dense)):
            truth = guess(rng, m)
            study.append((truth, skilled(rng, truth, right, m)))
    return study


def alike(rng: np.random.Generator) -> Study:
    """Ten runs with 3 right edges of 8, and ten guesses."""
    truths = [guess(rng) for _ in range(20)]
    return [(t, skilled(rng, t, 3 * (i % 2), 8)) for i, t in enumerate(truths)]


def one_perfect(rng: np.random.Generator) -> Study:
    """One perfect run among 19 guesses."""
    truths = [guess(rng) for _ in range(20)]
    return [(t, t if i == 0 else guess(rng)) for i, t in enumerate(truths)]


def weighted(rng: np.random.Generator) -> Study:
    """Small clusters of sparse runs with skill, large ones of dense guesses."""
    study = []
    for n in (12, 4, 2, 1, 1, 1, 1, 1):
        truth = guess(rng)
        dense = guess(rng, 14)
        study += [(truth, skilled(rng, truth, 1, 3) if n == 1 else dense) for _ in range(n)]
    return study


SKILLED: dict[str, Design] = {
    "20 alike; 10 with 3 right of 8, 10 guesses": alike,
    "10 sparse (1 right of 3), 10 dense guesses of 14": lambda rng: mixed(rng, 1, 0),
    "10 sparse guesses of 3, 10 dense (5 right of 14)": lambda rng: mixed(rng, 0, 5),
    "1 perfect among 20 of 8 edges": one_perfect,
    "small sparse clusters skilled, large dense ones guess": weighted,
}


def table(design: Design, repeats: int, seed: int) -> pd.DataFrame:
    """Make the runs of many repeats of a study."""
    rng = np.random.default_rng(seed)
    studies = [design(rng) for _ in range(repeats)]
    cells = {
        role: ce.graph_column([pair[i] for study in studies for pair in study], nodes=NODES, encoding="row->column")
        for i, role in enumerate(("truth", "estimate"))
    }
    return pd.DataFrame(cells).assign(repeat=np.repeat(np.arange(repeats), [len(study) for study in studies]))


def cube(runs: pd.DataFrame, metrics: list[str], **settings: object) -> xr.Dataset:
    """Make a cube of all repeats."""
    return ce.cube(runs, metrics, by=["repeat"], n_draws=R, rng=1, **settings)


def share(p: pd.Series) -> str:
    """Write the shares of p <= .05 and <= .01, with the standard error of the first."""
    found = [(p <= alpha + 1e-12).mean() for alpha in (0.05, 0.01)]
    error = np.sqrt(max(found[0] * (1 - found[0]), 0.05 * 0.95) / len(p))
    return f"{found[0]:.3f} / {found[1]:.3f} ({error:.3f})"


def main(repeats: int) -> None:
    start = time.process_time()
    print(f"Power at .05 / .01, {repeats} repeats")
    print(f"{'design':55s} {'metric':12s} {'mean':>22s} {'rank':>22s}")
    for seed, (name, design) in enumerate(SKILLED.items()):
        runs = table(design, repeats, 100 + seed)
        found = cube(runs, ["shd", "adjacency_f1"])
        for metric in ("shd", "adjacency_f1"):
            columns = [
                share(ce.summary(found, metric, statistic=how, columns="full")["p_value"]) for how in ("mean", "rank")
            ]
            print(f"{name:55s} {metric:12s} " + " ".join(f"{x:>22s}" for x in columns), flush=True)
    print(f"\n{time.process_time() - start:.0f} s of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
