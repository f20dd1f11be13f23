"""Null models and exact p-values against peers, in one run on one thread: `python tests/benchmarks/bench_nulls.py`."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from bench_graphs import adjacency, report
from scipy import stats
from timing import alternate

import causaleval_pd as ce
from causaleval_pd.graphs.kernels import controls as dag_kernels

sys.path.append(str(Path(__file__).parents[1] / "graphs"))
reference = importlib.import_module("references.dags")

ROWS = 1_000_000


def tails_against_scipy(n_nodes: int, low: int, high: int) -> None:
    """Exact skeleton tests with numbers of edges drawn from low to high for every row, against hypergeom.sf."""
    rng = np.random.default_rng(n_nodes)
    n_pairs = n_nodes * (n_nodes - 1) // 2
    true, estimated = rng.integers(low, high, (2, ROWS))
    shared = rng.hypergeometric(true, n_pairs - true, estimated)
    ours, peer = alternate(
        lambda: ce.skeleton_test(shared, true, estimated, n_nodes),
        lambda: stats.hypergeom.sf(shared - 1, n_pairs, true, estimated),
    )
    laws = min(ROWS, (high - low) ** 2)
    report(f"{ROWS:,} exact p, {n_nodes} nodes, {laws:,} laws, vs scipy hypergeom.sf", ours / ROWS, peer / ROWS, "row")


def draws_against_networkx(null: str, n_nodes: int = 20, n_edges: int = 40, n_rows: int = 200) -> None:
    """Controls of a null model drawn and scored by SHD, against drawing the like in networkx without scoring."""
    rng = np.random.default_rng(1)
    cells = ce.graph_column(np.stack([adjacency(rng, n_nodes, n_edges) for _ in range(n_rows)]), encoding="row->column")
    table = pd.DataFrame({"truth": cells, "estimate": cells.iloc[::-1].array})
    base = nx.gnm_random_graph(n_nodes, n_edges, seed=1)
    peers = {
        "permutation": lambda: nx.relabel_nodes(base, dict(enumerate(rng.permutation(n_nodes).tolist()))),
        "degree": lambda: nx.double_edge_swap(base.copy(), 10 * n_edges, 100 * n_edges, seed=int(rng.integers(2**31))),
    }
    ours, peer = alternate(
        lambda: ce.with_controls(table, ["shd"], null=null, n_draws=1000, rng=1),
        lambda: [peers[null]() for _ in range(50)],
    )
    report(f"null {null}, {n_nodes} nodes, SHD, vs networkx graph alone", ours / n_rows / 1000, peer / 50, "control")


def dags_against_loops(n_nodes: int, n_edges: int, n_draws: int = 20_000) -> None:
    """Uniform DAGs: few edges against coins tossed in networkx, more of them against the same draws in plain Python."""
    keys = np.array([1], np.uint64)

    def tossed() -> nx.DiGraph:
        while True:
            pairs = nx.gnm_random_graph(n_nodes, n_edges, seed=int(rng.integers(2**31))).edges
            graph = nx.DiGraph((a, b) if rng.random() < 0.5 else (b, a) for a, b in pairs)
            if nx.is_directed_acyclic_graph(graph):
                return graph

    rng = np.random.default_rng(1)
    tossing = n_edges <= n_nodes
    peer_of: Callable[[], object] = (
        (lambda: [tossed() for _ in range(20)])
        if tossing
        else (lambda: reference.draw_dags(n_nodes, [n_edges], keys, 0, 20))
    )
    ours, peer = alternate(lambda: dag_kernels.draw_dags(n_nodes, [n_edges], keys, 0, n_draws), peer_of)
    what = "coins in networkx" if tossing else "plain Python"
    report(f"uniform DAGs, {n_nodes} nodes, {n_edges} edges, vs {what}", ours / n_draws, peer / 20, "draw")


if __name__ == "__main__":
    for nodes, fewest, most in ((10, 5, 30), (20, 20, 80), (50, 50, 300)):
        tails_against_scipy(nodes, fewest, most)
    for name in ("permutation", "degree"):
        draws_against_networkx(name)
    for nodes, edges in ((10, 10), (20, 20), (20, 40), (20, 150), (100, 200)):
        dags_against_loops(nodes, edges, 20_000 if nodes < 100 else 1000)
