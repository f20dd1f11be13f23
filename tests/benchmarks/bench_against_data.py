"""Falsification by permuted controls: time against DoWhy, size and power.

    python tests/benchmarks/bench_against_data.py [--peer PYTHON_WITH_DOWHY] [--runs N]

Prints CPU times of one run on one thread (DoWhy 0.14 in its own interpreter, the same test function, no other process),
and shares of p <= .05 over random data. against_data.md holds a run.
"""

from timing import median

# isort: split
import argparse
import itertools
import json
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import causaleval_pd as ce

_PEER = """
import json, sys, time, warnings
import networkx as nx, numpy as np, pandas as pd
from scipy.special import erfc
warnings.simplefilter("ignore")
from dowhy.gcm.falsify import falsify_graph
given = json.load(open(sys.argv[1])); data = pd.read_csv(given["data"])
def fisher_z(x, y, z=None):
    parts = [v.reshape(len(x), -1) for v in (x, y, z) if v is not None]
    values = np.hstack(parts)
    inverse = np.linalg.inv(np.corrcoef(values, rowvar=False))
    r = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
    z = np.sqrt(len(x) - (values.shape[1] - 2) - 3) * np.arctanh(np.clip(r, -.999999, .999999))
    return float(erfc(abs(z) / 2**.5))
graph = nx.DiGraph(); graph.add_nodes_from(data.columns); graph.add_edges_from(given["edges"])
start = time.process_time()
found = falsify_graph(graph, data, independence_test=fisher_z, conditional_independence_test=fisher_z,
                      n_permutations=given["n"], n_jobs=1, show_progress_bar=False)
print(json.dumps({"seconds": time.process_time() - start}))
"""


def random_dag(d: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a skeleton uniformly and direct it by a random order; (d, d) marks i -> j."""
    pairs = np.array(list(itertools.combinations(range(d), 2)))[rng.choice(d * (d - 1) // 2, m, replace=False)]
    found, order = np.zeros((d, d), bool), rng.permutation(d)
    found[order[pairs[:, 0]], order[pairs[:, 1]]] = True
    return found


def sample(arcs: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a linear model: weights +-[.3, 1.2], standard deviations [.5, 1.5]."""
    d = len(arcs)
    weights = np.where(arcs, rng.uniform(0.3, 1.2, (d, d)) * rng.choice([-1, 1], (d, d)), 0)
    return rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, d) @ np.linalg.inv(np.eye(d) - weights)


def text(arcs: np.ndarray) -> str:
    """Write a graph over X0, X1, ..."""
    return "; ".join([*(f"X{i}" for i in range(len(arcs))), *(f"X{i} -> X{j}" for i, j in np.argwhere(arcs).tolist())])


def frame(values: np.ndarray) -> pd.DataFrame:
    """Name the columns of data."""
    return pd.DataFrame(values, columns=[f"X{i}" for i in range(values.shape[1])])


def times(peer: str | None) -> None:
    """Print CPU times of 200 permutations over 10 nodes."""
    rng = np.random.default_rng(0)
    print("   d  edges     n   here (ms)   DoWhy (ms)   ratio")
    for d, m, n in ((6, 7, 1000), (10, 15, 1000), (10, 22, 1000)):
        arcs = random_dag(d, m, rng)
        data, runs = frame(sample(arcs, n, rng)), pd.DataFrame({"estimate": [text(arcs)]})
        how = {"truth": None, "null": "permutation", "context": {"data": data}, "rng": 1}
        # the same work: no exact law, 200 draws
        with ce.set_options(engine="serial"):
            work = partial(ce.with_controls, runs, ["lmc_share"], n_draws=200, method="simulate", **how)
            here = median(work, rounds=3)
        line = f"{d:4} {m:6} {n:5} {1000 * here:11.1f}"
        if peer:
            with tempfile.TemporaryDirectory() as folder:
                data.to_csv(Path(folder) / "data.csv", index=False)
                edges = [[f"X{i}", f"X{j}"] for i, j in np.argwhere(arcs).tolist()]
                given = Path(folder) / "given.json"
                given.write_text(
                    json.dumps({"data": str(Path(folder) / "data.csv"), "edges": edges, "n": 200}), encoding="utf-8"
                )
                made = subprocess.run([peer, "-c", _PEER, str(given)], capture_output=True, text=True, check=True)
            other = json.loads(made.stdout.strip().splitlines()[-1])["seconds"]
            line += f" {1000 * other:12.0f} {other / here:7.0f}"
        print(line)


def sizes(n_runs: int) -> None:
    """Print shares of p <= .05 of random graphs and true ones, by metric and null model."""
    cases = [
        (6, 7, "permutation"), (6, 7, "edges"), (6, 12, "permutation"), (10, 15, "permutation"),
        (10, 36, "permutation"),
    ]  # fmt: skip
    names = ["lmc_share", "separation_share", "bic", "fisher_c_p", "deviance_p"]
    print(
        "\n   d  edges     n  null         graph   " + "".join(f"{name:>18}" for name in names) + "   fisher_c_p itself"
    )
    for d, m, null in cases:
        for n in (100, 1000):
            rng = np.random.default_rng(d * 1000 + m * 10 + n)
            frames, rows = {}, []
            for k in range(n_runs):
                arcs = random_dag(d, m, rng)
                frames[k] = frame(sample(arcs, n, rng))
                rows += [
                    {"dataset": k, "graph": "random", "estimate": text(random_dag(d, m, rng))},
                    {"dataset": k, "graph": "true", "estimate": text(arcs)},
                ]
            runs = pd.DataFrame(rows)
            runs = runs.assign(estimate=ce.graph_column(runs["estimate"]))
            found = ce.with_controls(
                runs, names, truth=None, null=null, context={"data": ("dataset", frames)}, rng=1, n_draws=99,
                method="simulate",
            )  # fmt: skip
            for graph, part in found.groupby("graph"):
                shares = [(part[f"{name}_p"] <= 0.05).mean() for name in names]
                line = f"{d:4} {m:6} {n:5}  {null:12} {graph:7} " + "".join(f"{x:18.3f}" for x in shares)
                print(line + f"{(part['fisher_c_p'] <= 0.05).mean():20.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer")
    parser.add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    times(given.peer)
    sizes(given.runs)
