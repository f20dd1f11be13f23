"""Graphs with latent confounders against causal-learn, on one thread: `python tests/benchmarks/bench_mixed.py`.

Times are CPU time of batches of random DAGs with latent nodes; causal-learn's are of a few of the same DAGs. Then
follow the distances of an estimate from one truth, and reading, packing and metrics of PAGs over those of DAGs. Only
ratios of one run mean something. Without causal-learn its column is empty. mixed.md holds a run.
"""

import contextlib
import importlib.util
import io

from timing import median, seconds

# isort: split
import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.graphs import classes
from causaleval_pd.graphs.kernels.planes import ADMG, MAG, PAG
from causaleval_pd.graphs.mixed import marks, paths
from causaleval_pd.graphs.packing import unpack_column

#: metrics that take graphs with and without latent confounders
METRICS = (
    "shd", "adjacency_f1", "arrowhead_f1", "tail_f1", "directed_f1", "bidirected_f1", "v_structure_f1",
    "separation_ancestor",
)  # fmt: skip

#: observed and latent nodes, graphs, graphs for causal-learn
SIZES = ((6, 2, 20_000, 20), (10, 3, 10_000, 2), (20, 5, 3_000, 0), (50, 10, 500, 0), (80, 10, 200, 0))


def random_dags(n: int, d: int, degree: float, rng: np.random.Generator) -> np.ndarray:
    """Draw DAGs of an expected degree as codes, nodes in random causal order."""
    ahead = np.triu(rng.random((n, d, d)) < degree / (d - 1), 1)
    codes = np.where(ahead, 2, np.where(ahead.transpose(0, 2, 1), 1, 0)).astype(np.uint8)
    order = np.argsort(rng.random((n, d)), axis=1)
    return np.asarray(np.take_along_axis(np.take_along_axis(codes, order[:, :, None], 1), order[:, None, :], 2))


def peer(codes: np.ndarray, n_latent: int) -> float:
    """Return causal-learn's CPU seconds for one PAG, the mean over the DAGs given."""
    if importlib.util.find_spec("causallearn") is None:
        return float("nan")
    from causallearn.graph.Dag import Dag
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.utils.DAG2PAG import dag2pag

    def convert(code: np.ndarray) -> None:
        nodes = [GraphNode(f"X{i}") for i in range(len(code))]
        dag = Dag(nodes)
        for i, j in np.argwhere((code == 2) & (code.T == 1)).tolist():
            dag.add_directed_edge(nodes[i], nodes[j])
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does
            dag2pag(dag, nodes[len(code) - n_latent :])

    return sum(seconds(convert, code) for code in codes) / len(codes)


def projections() -> None:
    """Print times of DAG to MAG, DAG to PAG and the test of PAGs."""
    rng = np.random.default_rng(1)
    print("   d (+ latents)  degree   DAG -> MAG   DAG -> PAG   is a PAG   causal-learn    ratio")
    for d, n_latent, n, n_peer in SIZES:
        for degree in (2.0, 4.0):
            codes = random_dags(n, d + n_latent, degree, rng)
            planes = marks.planes_from_marks(codes)
            observed = np.tile(np.arange(d), (n, 1))
            mags = paths.project(planes, d + n_latent, observed)
            pags = paths.mag_to_pag(mags, d)
            to_mag = median(paths.project, planes, d + n_latent, observed) / n
            to_pag = to_mag + median(paths.mag_to_pag, mags, d) / n
            check = median(classes.IN_CLASS[PAG], pags, d) / n
            theirs = peer(codes[:n_peer], n_latent) if n_peer else float("nan")
            print(
                f"{d:>8} ({n_latent:>2})  {degree:>8.0f}   {to_mag * 1e6:>7.1f} us   {to_pag * 1e6:>7.1f} us "
                f"{check * 1e6:>7.1f} us   {theirs * 1e3:>9.1f} ms {theirs / to_pag:>8,.0f}"
            )


def of_distances() -> None:
    """Print times of separation and adjustment distances of MAGs, PAGs and ADMGs from one true model."""
    rng = np.random.default_rng(3)
    print("   d (+ latents)  degree   kind   ancestors     minimal     adjustment")
    for d, n_latent, n, _ in SIZES:
        for degree in (2.0, 4.0):
            planes = marks.planes_from_marks(random_dags(n // 4, d + n_latent, degree, rng))
            observed = np.tile(np.arange(d), (len(planes), 1))
            index = np.zeros(len(planes), np.int64), np.arange(len(planes))
            mags = paths.project(planes, d + n_latent, observed)
            admgs = paths.project(planes, d + n_latent, observed, to_admg=True)
            truth = paths.EffectGraphs(admgs[:1], admgs[:1], np.array([ADMG], np.uint8))
            graphs = {"MAG": (MAG, mags), "PAG": (PAG, paths.mag_to_pag(mags, d)), "ADMG": (ADMG, admgs)}
            for label, (code, given) in graphs.items():
                kinds = np.full(len(given), code, np.uint8)
                estimate = paths.EffectGraphs(given, paths.as_models(given, kinds, d), kinds)
                statements = paths.as_statements(given, kinds, d)
                times = [
                    median(lambda *x: paths.separation_mistakes(*x, nearest=False), mags[:1], statements, *index, d),
                    median(lambda *x: paths.separation_mistakes(*x, nearest=True), mags[:1], statements, *index, d)
                    if code != PAG
                    else float("nan"),
                    median(paths.adjustment_mistakes, truth, estimate, *index, d),
                ]
                shown = "".join(f"   {x / len(planes) * 1e6:>7.1f} us" for x in times)
                print(f"{d:>8} ({n_latent:>2})  {degree:>8.0f}   {label:<4}{shown}")


def columns() -> None:
    """Print times of columns of PAGs over those of the DAGs that they come from."""
    rng = np.random.default_rng(2)
    n, d = 20_000, 10
    planes = marks.planes_from_marks(random_dags(n, d, 3, rng))
    names = [f"X{i}" for i in range(d)]
    dags = ce.graph_column([ce.graphs.Graph(names, "dag", plane) for plane in marks.lower(planes)])
    sides = [(column, column.graph.to_strings()) for column in (dags, dags.graph.pag())]
    for label, work in (
        ("read text", lambda column, text: ce.graph_column(text)),
        ("write text", lambda column, text: column.graph.to_strings()),
        ("unpack", lambda column, text: unpack_column(column)),
        ("count edges", lambda column, text: column.graph.n_edges),
    ):
        of_dags, of_pags = (median(work, *side) * 1e3 for side in sides)
        print(f"{label:<14} DAGs {of_dags:>8.2f} ms   PAGs {of_pags:>8.2f} ms   ratio {of_pags / of_dags:.2f}")


def metrics() -> None:
    """Print times of metrics on packed columns of PAGs over those on the DAGs that they come from."""
    rng = np.random.default_rng(3)
    n, d = 5_000, 10
    names = [f"X{i}" for i in range(d)]
    drawn = [marks.lower(marks.planes_from_marks(random_dags(n, d, 3, rng))) for _ in range(2)]
    dags = [ce.graph_column([ce.graphs.Graph(names, "dag", plane) for plane in planes]) for planes in drawn]
    sides = [
        pd.DataFrame({"truth": truth, "estimate": estimate})
        for truth, estimate in (dags, [column.graph.pag() for column in dags])
    ]
    for name in METRICS:
        of_dags, of_pags = (median(ce.evaluate, side, [name]) / n * 1e6 for side in sides)
        print(f"{name:<20} DAGs {of_dags:>6.2f} us   PAGs {of_pags:>6.2f} us   ratio {of_pags / of_dags:.2f}")


if __name__ == "__main__":
    projections()
    of_distances()
    columns()
    metrics()
