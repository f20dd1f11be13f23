"""Interventional and separation distances, on one thread: `python tests/benchmarks/bench_intervention.py`.

Each line names a workload, our time a pair through `evaluate`, the peer's time (measured on fewer pairs) and their
ratio. Candidates alternate, and the median of several rounds is shown.
"""

from timing import alternate, median

# isort: split
import itertools
from collections.abc import Callable

import gadjid
import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels.planes import count_ones, matrices_from_planes, planes_from_arcs

ROUNDS = 3
PEERS = {"sid": gadjid.sid, "ancestor_aid": gadjid.ancestor_aid, "oset_aid": gadjid.oset_aid}


def report(workload: str, ours: float, peer: float) -> None:
    print(f"{workload:<58} ours {ours * 1e6:>10,.2f} us   peer {peer * 1e6:>12,.1f} us   ratio {peer / ours:>8,.1f}")


def draw(n: int, n_nodes: int, n_edges: int, seed: int, *, cpdag: bool = False) -> np.ndarray:
    """Draw planes of random DAGs or CPDAGs."""
    keys = np.arange(n, dtype=np.uint64) + np.uint64(seed << 32)
    return kernels.draw_graphs(n_nodes, np.full((n, 1), n_edges), np.full(n, cpdag), keys, 0, 1, [])


def matrices(planes: np.ndarray, n_nodes: int) -> np.ndarray:
    """Code graphs as gadjid does: 1 for row -> column, a single 2 for an undirected edge."""
    marks = matrices_from_planes(planes, n_nodes)
    undirected = marks & marks.transpose(0, 2, 1)
    return np.where(undirected, np.triu(np.full_like(marks, 2)), marks).astype(np.int8)


def table_of(truth: np.ndarray, estimate: np.ndarray, n_nodes: int) -> pd.DataFrame:
    cells = [ce.graph_column(matrices_from_planes(x, n_nodes), encoding="row->column") for x in (truth, estimate)]
    return pd.DataFrame({"truth": cells[0], "estimate": cells[1]})


def against_gadjid(n_nodes: int, n_edges: int) -> None:
    """SID, ancestor AID and optimal AID of random DAGs against a loop over gadjid."""
    n = max(60, 40_000 // n_nodes)
    n_peer = max(5, min(100, 3000 // n_nodes)) if n_edges < 10 * n_nodes else 4
    truth, estimate = (draw(n, n_nodes, n_edges, seed) for seed in (1, 2))
    table = table_of(truth, estimate, n_nodes)
    coded = list(zip(matrices(truth[:n_peer], n_nodes), matrices(estimate[:n_peer], n_nodes), strict=True))
    for name, peer in PEERS.items():

        def run(peer: Callable[..., object] = peer) -> None:
            for t, e in coded:
                peer(t, e, edge_direction="from row to column")

        ours_s, peer_s = alternate(lambda name=name: ce.evaluate(table, [name]), run, ROUNDS)
        report(f"{name}, {n_nodes} nodes, {n_edges} edges, vs gadjid", ours_s / n, peer_s / n_peer)


def zigzag(n_nodes: int) -> None:
    """Time a path of alternating colliders, adjusted for each of them: the walk needs about d rounds."""
    low, high = np.arange(n_nodes - 1), np.arange(1, n_nodes)
    odd = low % 2 == 1
    source, target = np.where(odd, high, low), np.where(odd, low, high)
    row = np.zeros(len(low), np.int64)
    truth = planes_from_arcs(1, n_nodes, row, source, target)
    colliders = np.arange(1, n_nodes, 2)
    star = [(int(c), v) for c in colliders for v in range(n_nodes) if v not in colliders]
    estimate = planes_from_arcs(1, n_nodes, np.zeros(len(star), np.int64), *np.array(star).T)
    index = np.zeros(200, np.int64)
    pair = matrices(truth, n_nodes)[0], matrices(estimate, n_nodes)[0]
    ours_s, peer_s = alternate(
        lambda: kernels.adjustment_mistakes(truth, estimate, index, index, n_nodes, "parent"),
        lambda: [gadjid.sid(*pair, edge_direction="from row to column") for _ in range(10)],
        ROUNDS,
    )
    report(f"sid, zigzag path of {n_nodes} nodes, vs gadjid", ours_s / 200, peer_s / 10)


def members(planes: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return the matrices of all DAGs of a CPDAG's class."""
    [marks] = matrices_from_planes(planes[None], n_nodes).astype(bool)
    i, j = np.nonzero(np.triu(marks & marks.T))
    choices = (np.arange(2 ** len(i))[:, None] >> np.arange(len(i))) & 1
    dags = np.repeat((marks & ~marks.T)[None], len(choices), axis=0)
    dags[:, i, j], dags[:, j, i] = choices == 0, choices == 1
    row, source, target = np.nonzero(dags)
    candidates = planes_from_arcs(len(dags), n_nodes, row, source, target)
    classes, acyclic = kernels.dag_to_cpdag(candidates, n_nodes)
    return dags[acyclic & (classes == planes).all(axis=(1, 2))].astype(np.int8)


def bounds(n_nodes: int, n_edges: int) -> None:
    """SID bounds of random CPDAGs by size of the class, against gadjid.sid over the class."""
    n = 3000
    truth, estimate = (draw(n, n_nodes, n_edges, seed, cpdag=seed == 4) for seed in (3, 4))
    undirected = count_ones(estimate[:, 0] & estimate[:, 1]).sum(axis=1)
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(undirected <= 14):
        found.setdefault(len(members(estimate[row], n_nodes)), []).append(int(row))
    wanted = {min(found, key=lambda size: abs(size - want)) for want in (2, 6, 24, 100, 400)}
    for size in sorted(wanted):
        rows = np.array(found[size])
        classes = [members(estimate[row], n_nodes) for row in rows[:10]]
        trues = matrices(truth[rows[:10]], n_nodes)
        many = np.resize(rows, 2000)

        def peer(trues: np.ndarray = trues, rows: np.ndarray = rows, classes: list[np.ndarray] = classes) -> None:
            for t, row in zip(trues, rows[: len(classes)], strict=True):
                for dag in members(estimate[row], n_nodes):
                    gadjid.sid(t, dag, edge_direction="from row to column")

        def listed(trues: np.ndarray = trues, classes: list[np.ndarray] = classes) -> None:
            for t, dags in zip(trues, classes, strict=True):
                for dag in dags:
                    gadjid.sid(t, dag, edge_direction="from row to column")

        def ours(many: np.ndarray = many) -> None:
            kernels.sid_bounds(truth, estimate, many, many, n_nodes, 100_000)

        for what, other in (("listing and gadjid.sid", peer), ("gadjid.sid alone", listed)):
            ours_s, peer_s = alternate(ours, other, ROUNDS)
            report(f"sid bounds, {n_nodes} nodes, {size} DAGs, vs {what}", ours_s / 2000, peer_s / len(classes))


def cliques() -> None:
    """Time of the bounds where no peer can follow: an undirected clique of k nodes has k! DAGs."""
    for k in (5, 8, 10, 12):
        both = np.array(list(itertools.permutations(range(k), 2)))
        clique = planes_from_arcs(1, k, np.zeros(len(both), np.int64), *both.T)
        truth, index = draw(1, k, k, 1), np.zeros(1, np.int64)
        ours = median(kernels.sid_bounds, truth, clique, index, index, k, 100_000, rounds=ROUNDS)
        print(f"sid bounds, complete component of {k} nodes{'':<20} ours {ours * 1e6:>10,.0f} us")


def scaling() -> None:
    """Microseconds a pair by nodes and edges a node."""
    print("\nmicroseconds a pair      " + "".join(f"{name:>20}" for name in (*PEERS, "sid_lower", "separation_zl")))
    for n_nodes, per_node in itertools.product((10, 30, 100, 300, 1000), (1, 3)):
        n = max(1, 20_000 // n_nodes**2)
        times = [median(work, rounds=ROUNDS) / n for work in scaled_work(n, n_nodes, per_node)]
        print(f"{n_nodes:>5} nodes {n_nodes * per_node:>6} edges " + "".join(f"{t * 1e6:>20,.1f}" for t in times))


def scaled_work(n: int, n_nodes: int, per_node: int) -> list[Callable[[], object]]:
    """Return the comparisons of n pairs of random graphs; separation takes too long above 300 nodes."""
    index = np.arange(n)
    truth, estimate = (draw(n, n_nodes, n_nodes * per_node, seed) for seed in (1, 2))
    classes = draw(n, n_nodes, n_nodes * per_node, 2, cpdag=True)
    works: list[Callable[[], object]] = [
        lambda s=s: kernels.adjustment_mistakes(truth, estimate, index, index, n_nodes, s)
        for s in ("parent", "ancestor", "optimal")
    ]
    works.append(lambda: kernels.sid_bounds(truth, classes, index, index, n_nodes, 100_000))
    if n_nodes <= 300:
        works.append(lambda: kernels.separation_mistakes(truth, estimate, index, index, n_nodes, "nearest"))
    return works


if __name__ == "__main__":
    for _d, _m in ((10, 15), (20, 40), (50, 100), (50, 900), (100, 200), (100, 2500), (200, 400)):
        against_gadjid(_d, _m)
    for _d in (20, 64, 200):
        zigzag(_d)
    for _d, _m in ((8, 8), (12, 12)):
        bounds(_d, _m)
    cliques()
    scaling()
