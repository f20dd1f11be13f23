"""Ours against peers on graphs, measured in one run on one thread: `python tests/benchmarks/bench_graphs.py`.

Each line names a workload, our time, the peer's time (measured on fewer items and scaled) and their ratio. Times of one
machine mean little; the ratio is the result. Candidates alternate, and the median of several rounds is shown.
"""

from timing import alternate

# isort: split
import tracemalloc
import warnings

import numpy as np
import pandas as pd

import causaleval_pd as ce

NAMES = ["adjacency_tp", "adjacency_fp", "adjacency_fn", "adjacency_tn", "shd"]


def adjacency(rng: np.random.Generator, n_nodes: int, n_edges: int) -> np.ndarray:
    """Draw the matrix (row -> column) of a random DAG."""
    upper = np.zeros((n_nodes, n_nodes), np.int8)
    rows, columns = np.triu_indices(n_nodes, 1)
    chosen = rng.choice(len(rows), n_edges, replace=False)
    upper[rows[chosen], columns[chosen]] = 1
    order = rng.permutation(n_nodes)
    return upper[np.ix_(order, order)]


def report(workload: str, ours: float, peer: float, unit: str) -> None:
    times = f"ours {ours * 1e9:>12,.0f} ns/{unit}   peer {peer * 1e9:>14,.0f} ns/{unit}"
    print(f"{workload:<62} {times}   ratio {peer / ours:>9,.0f}")


def drawn_table(
    rng: np.random.Generator, n_nodes: int, n_edges: int, n_rows: int, n: int = 400, *, cpdag: bool = False
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return a table of pairs of n random graphs, the graphs and which of them are in its rows."""
    matrices = np.stack([adjacency(rng, n_nodes, n_edges) for _ in range(n)])
    cells = ce.graph_column(matrices, encoding="row->column")
    cells = cells.graph.cpdag() if cpdag else cells
    index = rng.integers(0, n, (2, n_rows))
    sides = zip(("truth", "estimate"), index, strict=True)
    return pd.DataFrame({side: cells.take(rows).array for side, rows in sides}), matrices, index


def counts_against_gadjid(n_nodes: int, n_edges: int, n_rows: int = 1_000_000, n_peer: int = 2000) -> None:
    """Confusion counts and SHD on packed columns against a loop over gadjid.shd, which gives the SHD only."""
    import gadjid

    table, matrices, (left, right) = drawn_table(np.random.default_rng(n_nodes), n_nodes, n_edges, n_rows)

    def peer() -> None:
        for i, j in zip(left[:n_peer], right[:n_peer], strict=True):
            gadjid.shd(matrices[i], matrices[j])

    ours_s, peer_s = alternate(lambda: ce.evaluate(table, NAMES), peer)
    report(f"confusion counts + SHD, {n_nodes} nodes, vs gadjid.shd loop", ours_s / n_rows, peer_s / n_peer, "pair")


def counts_against_sums_of_bytes(n_nodes: int, n_edges: int, n_rows: int = 1_000_000) -> None:
    """Confusion counts and SHD on packed columns against summing the bytes of both columns."""
    table, _, _ = drawn_table(np.random.default_rng(n_nodes), n_nodes, n_edges, n_rows)
    columns = [table[side].array.__arrow_array__().combine_chunks() for side in ("truth", "estimate")]
    words = [np.frombuffer(column.buffers()[2], np.uint64) for column in columns]
    with ce.set_options(engine="serial"):
        ours_s, peer_s = alternate(lambda: ce.evaluate(table, NAMES), lambda: [w.sum() for w in words])
    workload = (
        f"confusion counts + SHD, {n_nodes} nodes, vs summing {sum(w.nbytes for w in words) // n_rows} bytes a row"
    )
    times = f"ours {ours_s / n_rows * 1e9:>12,.0f} ns/row    peer {peer_s / n_rows * 1e9:>14,.0f} ns/row"
    print(f"{workload:<62} {times}   ours takes {ours_s / peer_s:,.1f} times as long")


def controls_against_causal_learn(n_nodes: int, n_edges: int, n_rows: int = 1000, n_draws: int = 1000) -> None:
    """SHD of CPDAG controls against drawing, dag2cpdag and SHD of causal-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from causallearn.graph.Dag import Dag
        from causallearn.graph.GraphNode import GraphNode
        from causallearn.graph.SHD import SHD
        from causallearn.utils.DAG2CPDAG import dag2cpdag

    rng = np.random.default_rng(n_nodes)
    table, matrices, _ = drawn_table(rng, n_nodes, n_edges, n_rows, 100, cpdag=True)
    n_peer = 20 if n_nodes <= 10 else 4

    def cpdag(matrix: np.ndarray) -> object:
        nodes = [GraphNode(f"X{i}") for i in range(n_nodes)]
        dag = Dag(nodes)
        for i, j in zip(*np.nonzero(matrix), strict=True):
            dag.add_directed_edge(nodes[i], nodes[j])
        return dag2cpdag(dag)

    truth = cpdag(matrices[0])

    def peer() -> None:
        for _ in range(n_peer):
            SHD(truth, cpdag(adjacency(rng, n_nodes, n_edges))).get_shd()

    ours_s, peer_s = alternate(lambda: ce.with_controls(table, ["shd"], n_draws=n_draws, rng=7), peer)
    workload = f"{n_rows} rows x {n_draws} CPDAG controls, SHD, {n_nodes} nodes, vs causal-learn"
    report(workload, ours_s / n_rows / n_draws, peer_s / n_peer, "control")


def memory_by_draws() -> None:
    """Peak of Python-visible memory while controls stream: it must not grow with the number of draws."""
    rng = np.random.default_rng(0)
    cells = ce.graph_column(np.stack([adjacency(rng, 20, 40) for _ in range(200)]), encoding="row->column")
    table = pd.DataFrame({"truth": cells, "estimate": cells.iloc[::-1].array})
    ce.with_controls(table, ["shd"], n_draws=10, rng=7)
    for n_draws in (100, 1000, 10_000, 100_000):
        tracemalloc.start()
        ce.with_controls(table.iloc[: max(2, 200_000 // n_draws)], ["shd"], n_draws=n_draws, rng=7)
        print(f"peak memory with {n_draws:>7,} draws a row: {tracemalloc.get_traced_memory()[1] / 2**20:6.1f} MiB")
        tracemalloc.stop()


if __name__ == "__main__":
    for nodes, edges in ((10, 15), (20, 40), (50, 100)):
        counts_against_gadjid(nodes, edges)
    for nodes, edges in ((10, 15), (50, 100)):
        counts_against_sums_of_bytes(nodes, edges)
    for nodes, edges in ((10, 15), (20, 40)):
        controls_against_causal_learn(nodes, edges)
    memory_by_draws()
