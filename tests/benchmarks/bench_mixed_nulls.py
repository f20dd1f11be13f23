"""Null models of graphs with latent confounders: size of p and time, on one thread.

`python tests/benchmarks/bench_mixed_nulls.py` prints the tables of `mixed_nulls.md`. Truths are random PAGs; guesses
follow a law that does not use them. p breaks ties at random, so that its rates are those of the level: with ties
counted as good, the rule of the package, a law of controls that does not fit may hide.
"""

from functools import partial

from timing import seconds

# isort: split
import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Controls, Matching
from causaleval_pd.graphs.kernels import kernels
from causaleval_pd.graphs.kernels.planes import PAG
from causaleval_pd.graphs.mixed.marks import adjacencies, bidirected, count_bits, count_edges
from causaleval_pd.graphs.pairs import GraphBatch, GraphPairs
from causaleval_pd.tables.matching import find_null

GUESSES, DRAWS = 2000, 99
METRICS = (ce.shd, ce.tweak("shd", cost="marks", name="shd_marks"), ce.bidirected_tp, ce.arrowhead_tp)
LEVELS = (0.01, 0.05, 0.1)


def batch(planes: np.ndarray, d: int) -> GraphBatch:
    return GraphBatch(d, np.ascontiguousarray(planes), np.full(len(planes), PAG, np.uint8))


def pags(d: int, m: np.ndarray, proposed: np.ndarray, seed: int, n_draws: int = 1, **kept: np.ndarray) -> np.ndarray:
    """Draw PAGs of MAGs with `proposed` bidirected edges; the PAG may show any number."""
    compiled, n = kernels("mixed"), len(m)
    keys = np.random.default_rng(seed).integers(2**63, size=n).astype(np.uint64)
    any_number = np.full(n, compiled.ANY)
    planes, found = compiled.draw_latent(
        d, m, proposed, any_number, np.ones(n, bool), keys, 0, n_draws, 1_000_000, **kept
    )
    if (found < 0).any():
        raise RuntimeError("a proposal was not found")
    return planes


def match(pairs: GraphPairs, null: str, seed: int, **options: str) -> Controls:
    """Make the controls of pairs under a null model of the package."""
    model = find_null(get_field("graph"), ce.null_model(null, **options))
    empty = pd.Series([None] * pairs.n, dtype=object)
    keys = np.random.default_rng(seed).integers(2**63, size=pairs.n).astype(np.uint64)
    return model.match(Matching(empty, empty, None, None, model.options))(np.arange(pairs.n), pairs, keys)


def rates(pairs: GraphPairs, drawn: GraphPairs, rng: np.random.Generator) -> list[str]:
    """Return the shares of p-values at or below the levels, ties broken at random, and with ties counted as good."""
    found = []
    for metric in METRICS:
        own, others = metric(pairs)[:, None], metric(drawn).reshape(pairs.n, -1)
        sign = 1 if metric.direction == "minimize" else -1
        better, ties = (sign * others < sign * own).sum(axis=1), (others == own).sum(axis=1)
        n = others.shape[1] + 1
        at_random, add_one = (better + rng.random(pairs.n) * (ties + 1)) / n, (better + ties + 1) / n
        shares = [(at_random <= level).mean() for level in LEVELS]
        found.append(" / ".join(f"{x:.3f}" for x in shares) + f" ({(add_one <= 0.05).mean():.3f})")
    return found


def sizes(d: int, edges: tuple[int, ...]) -> None:
    """Print the size of p of naive controls and of those of the package."""
    rng = np.random.default_rng(d)
    m = rng.choice(edges, GUESSES)
    truth = batch(pags(d, m, m // 2, 1), d)
    every = np.arange(GUESSES)

    def line(guesser: str, controls: str, guess: np.ndarray, null: str, naive: bool = False, **options: str) -> None:
        pairs = GraphPairs(truth, batch(guess, d), every, every)
        if naive:
            kept = {}
            if null == "orientation":
                near = adjacencies(guess)
                kept = {"skeletons": np.stack([near, near], axis=1), "index": every}
            planes = pags(d, count_edges(guess), count_bits(bidirected(guess)), 3, DRAWS, **kept)
            drawn = GraphPairs(truth, batch(planes, d), np.repeat(every, DRAWS), np.arange(len(planes)))
        else:
            drawn = match(pairs, null, 3, **options).draw(0, DRAWS)
        print(f"| {d} | {guesser} | {controls} | " + " | ".join(rates(pairs, drawn, rng)) + " |", flush=True)

    shown = rng.choice([0, 2, 4], GUESSES)
    guess = pags(d, m, shown, 2)
    line("PAG of MAG(m, b')", "edges, naive", guess, "edges", naive=True)
    line("PAG of MAG(m, b')", "orientation, naive", guess, "orientation", naive=True)
    # cells that show these numbers: what the null model draws for them follows its law
    cells = GraphPairs(truth, batch(showing(d, m, shown), d), every, every)
    for null in ("edges", "orientation"):
        guess = match(cells, null, 4).draw(0, 1).estimate.planes
        line(f"{null}", null, guess, null)
    guess = match(cells, "edges", 5, bidirected="free").draw(0, 1).estimate.planes
    line("b' uniform up to m/2", "edges, naive", guess, "edges", naive=True)
    line("b' uniform up to m/2", "edges, free", guess, "edges", bidirected="free")


def showing(d: int, m: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return PAGs with m edges that show b bidirected ones."""
    found = np.zeros((len(m), *pags(d, m[:1], b[:1], 1).shape[1:]), np.uint64)
    for edges, number in sorted(set(zip(m.tolist(), b.tolist(), strict=True))):
        mine = (m == edges) & (b == number)
        planes = pags(d, np.full(20_000, edges), np.full(20_000, number + (2 if number else 0)), 6)
        found[mine] = planes[count_bits(bidirected(planes)) == number][: mine.sum()]
    return found


def speed(n_rows: int = 1000, n_draws: int = 1000) -> None:
    """Print the CPU time of controls with mark SHD, and that of drawing alone."""
    d, m, b = 10, 15, 4
    wanted = np.full(n_rows, m)
    names = tuple(f"X{i}" for i in range(d))
    columns = {}
    for side, seed in (("truth", 1), ("estimate", 2)):
        compiled = kernels("mixed")
        keys = np.random.default_rng(seed).integers(2**63, size=n_rows).astype(np.uint64)
        planes, _ = compiled.draw_latent(
            d, wanted, np.full(n_rows, 6), np.full(n_rows, b), np.ones(n_rows, bool), keys, 0, 1, 100_000
        )
        columns[side] = ce.graph_column([ce.graphs.Graph(names, "pag", x) for x in planes])
    table = pd.DataFrame(columns)
    for null in ("edges", ce.null_model("edges", bidirected="free"), "orientation", "permutation"):
        table.head(2).ceval.with_controls([METRICS[1]], null=null, n_draws=20, rng=1)
        spent = seconds(partial(table.ceval.with_controls, [METRICS[1]], null=null, n_draws=n_draws, rng=1))
        name = null if isinstance(null, str) else "edges, free"
        print(f"| {name} | {spent:.1f} | {spent / n_rows / n_draws * 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    print(
        f"Size of p: {GUESSES:,} guesses x {DRAWS} controls at {' / '.join(map(str, LEVELS))}, ties broken at random;"
    )
    print("in brackets at .05 with ties counted as good.\n")
    print("| nodes | guesses | controls | " + " | ".join(metric.name for metric in METRICS) + " |")
    print("| --- " * (3 + len(METRICS)) + "|")
    sizes(7, (8, 10))
    sizes(10, (12, 15))
    print("\nCPU time of 1,000 rows x 1,000 controls (10 nodes, 15 edges, 4 of them <->) with mark SHD:\n")
    print("| null | seconds | microseconds a control |")
    print("| --- | --- | --- |")
    speed()
