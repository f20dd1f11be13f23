"""How the table of `causaleval_pd.datasets.runs()` was made: PC, GES and DirectLiNGAM on simulated data.

Needs the extra `discovery`. Writes runs.csv.gz into the folder `runs_made` in about a minute; `--quick` makes 9 runs.

Truths: 10 nodes, a uniformly random skeleton with 9, 18 or 27 of the 45 possible edges, a uniformly random order of the
nodes. Data: linear, weights of either sign and size .1 to 1, logistic noise (non-Gaussian enough for LiNGAM, near
enough to Gaussian for partial correlations and BIC), every variable scaled to variance 1 so that scale does not reveal
the order. All algorithms see the same data; each truth is used at every sample size.

PC may find colliders that contradict each other. Of causal-learn's ways out (`uc_priority`) this takes 2, its default:
the collider found first stays, so no edge is bidirected. The result may not be a valid CPDAG and is recorded as it is.
LiNGAM's edges are its nonzero weights. An algorithm that raises an error is recorded as a missing estimate: a failed
run is a result. `seconds` are wall time.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import causaleval_pd as ce

try:
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.search.FCMBased.lingam import DirectLiNGAM
    from causallearn.search.ScoreBased.GES import ges
except ImportError:
    raise SystemExit("this example needs causal-learn: pip install 'causaleval_pd[discovery]'") from None

NODES = [f"X{i}" for i in range(10)]
SEED = 2025
quick = "--quick" in sys.argv[1:]
sample_sizes, n_replicates = ((100,), 1) if quick else ((100, 400, 1600), 20)


def random_weights(rng: np.random.Generator, density: float) -> np.ndarray:
    """Draw a DAG with weights; cell (i, j) is the effect of node i on node j."""
    weights = np.zeros((len(NODES), len(NODES)))
    rows, columns = np.triu_indices(len(NODES), 1)
    chosen = rng.choice(len(rows), size=round(density * len(rows)), replace=False)
    weights[rows[chosen], columns[chosen]] = rng.uniform(0.1, 1, len(chosen)) * rng.choice([-1, 1], len(chosen))
    order = rng.permutation(len(NODES))
    return weights[np.ix_(order, order)]


def simulate(rng: np.random.Generator, weights: np.ndarray, n: int) -> np.ndarray:
    """Draw n observations of x = x weights + noise."""
    x = rng.logistic(size=(n, len(NODES))) @ np.linalg.inv(np.eye(len(NODES)) - weights)
    return (x - x.mean(axis=0)) / x.std(axis=0)


def run_pc(x: np.ndarray) -> object:
    return pc(x, 0.05, "fisherz", stable=True, uc_rule=0, uc_priority=2, show_progress=False, node_names=NODES).G


def run_ges(x: np.ndarray) -> object:
    return ges(x, score_func="local_score_BIC", node_names=NODES)["G"]


def run_lingam(x: np.ndarray) -> object:
    return pd.DataFrame(DirectLiNGAM().fit(x).adjacency_matrix_ != 0, index=NODES, columns=NODES)


rows, truths, estimates = [], [], []
for density in (0.2, 0.4, 0.6):
    for replicate in range(n_replicates):
        rng = np.random.default_rng([SEED, round(100 * density), replicate])
        weights = random_weights(rng, density)
        for n in sample_sizes:
            x = simulate(rng, weights, n)
            # PC and GES stand for an equivalence class even where they leave no edge undirected
            for name, kind, run in (("pc", "cpdag", run_pc), ("ges", "cpdag", run_ges), ("lingam", "dag", run_lingam)):
                start = time.perf_counter()
                try:
                    estimate = run(x)
                except Exception as error:
                    print(f"{name}, density {density}, n {n}, replicate {replicate} failed: {error!r}")
                    estimate = None
                rows.append((name, kind, len(NODES), density, n, replicate, round(time.perf_counter() - start, 4)))
                truths.append(pd.DataFrame(weights != 0, index=NODES, columns=NODES))
                estimates.append(estimate)

runs = pd.DataFrame(rows, columns=["algorithm", "kind", "n_nodes", "density", "n", "replicate", "seconds"])
runs["truth"] = ce.graph_column(truths, encoding="row->column")
runs["estimate"] = ce.graph_column(estimates, encoding="column->row")  # for LiNGAM; causal-learn's graphs know theirs
print(pd.crosstab(runs["algorithm"], runs["estimate"].graph.kind.rename("class of the estimate")))

out = Path("runs_made")
out.mkdir(exist_ok=True)
texts = {column: runs[column].graph.to_strings() for column in ("truth", "estimate")}
runs.assign(**texts).to_csv(out / "runs.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
print(f"Wrote {len(runs)} runs, {runs['estimate'].isna().sum()} failed, to {out}/runs.csv.gz")
