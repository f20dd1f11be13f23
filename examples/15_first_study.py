"""A first study: seven algorithms of four libraries over numbers of nodes, densities and sample sizes.

Needs causal-learn, gCastle, lingam and pgmpy. Together they need older releases of some packages than the newest, so
use an environment of their own:

    pip install -r examples/first_study.txt && pip install .

Runs for some minutes; `--quick` takes the smallest strata. Writes two figures into the folder `first_study`.

Each library's objects are read as they are: graphs of causal-learn and pgmpy, and matrices, which need names and their
direction. gCastle's cell (i, j) is the edge i -> j; lingam's is the effect of j on i. Weights become edges where they
are large: NOTEARS and LiNGAM estimate many weights that are nearly zero, of either sign, so the sign does not matter.
"""

import logging
import sys
import time
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

import causaleval_pd as ce

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_rows", 60, "display.precision", 3)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    try:
        from castle.algorithms import PC as CastlePC
        from castle.algorithms import Notears
        from causallearn.search.ConstraintBased.PC import pc
        from causallearn.search.ScoreBased.GES import ges
        from lingam import DirectLiNGAM
        from pgmpy.causal_discovery import PC as PgmpyPC
        from pgmpy.causal_discovery import HillClimbSearch
    except ImportError as error:
        raise SystemExit(f"this example needs {error.name}: pip install -r examples/first_study.txt") from None

quick = "--quick" in sys.argv[1:]
sizes, densities, sample_sizes, n_replicates = (
    ((5,), (0.2, 0.5), (100,), 3) if quick else ((5, 10), (0.2, 0.5), (100, 400), 6)
)
SMALLEST_WEIGHT = 0.3  # of an edge, for weights of variables with variance 1


def simulate(rng: np.random.Generator, names: list[str], density: float, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw a DAG (cell (i, j): i -> j) and n observations of it: linear, Laplace noise, scaled to variance 1."""
    d = len(names)
    rows, columns = np.triu_indices(d, 1)
    chosen = rng.choice(len(rows), size=round(density * len(rows)), replace=False)
    weights = np.zeros((d, d))
    weights[rows[chosen], columns[chosen]] = rng.uniform(0.5, 1.5, len(chosen)) * rng.choice([-1, 1], len(chosen))
    order = rng.permutation(d)
    weights = weights[np.ix_(order, order)]
    x = rng.laplace(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)
    return pd.DataFrame(weights != 0, names, names), pd.DataFrame(x / x.std(axis=0), columns=names)


def castle_pc(x: pd.DataFrame) -> pd.DataFrame:
    algorithm = CastlePC(alpha=0.05)
    algorithm.learn(x.to_numpy(), columns=list(x))
    return pd.DataFrame(np.asarray(algorithm.causal_matrix), list(x), list(x))


def notears(x: pd.DataFrame) -> pd.DataFrame:
    algorithm = Notears()
    algorithm.learn(x.to_numpy(), columns=list(x))
    return pd.DataFrame(np.abs(algorithm.weight_causal_matrix) > SMALLEST_WEIGHT, list(x), list(x))


def direct_lingam(x: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(np.abs(DirectLiNGAM().fit(x).adjacency_matrix_) > SMALLEST_WEIGHT, list(x), list(x))


# PC and GES estimate an equivalence class, also where they leave no edge undirected; their controls are classes too
ALGORITHMS = {
    "pc (causal-learn)": ("cpdag", lambda x: pc(x.to_numpy(), 0.05, show_progress=False, node_names=list(x)).G),
    "ges (causal-learn)": ("cpdag", lambda x: ges(x.to_numpy(), "local_score_BIC", node_names=list(x))["G"]),
    "pc (gcastle)": ("cpdag", castle_pc),
    "notears (gcastle)": ("dag", notears),
    "direct lingam (lingam)": ("dag", direct_lingam),
    "pc (pgmpy)": ("cpdag", lambda x: PgmpyPC(ci_test="pearsonr", show_progress=False).fit(x).causal_graph_),
    "hill climbing (pgmpy)": (
        "dag",
        lambda x: HillClimbSearch(scoring_method="bic-g", return_type="dag", show_progress=False).fit(x).causal_graph_,
    ),
}
# of matrices; graphs carry their own directions
ENCODINGS = {"pc (gcastle)": "row->column", "notears (gcastle)": "row->column", "direct lingam (lingam)": "column->row"}

records = []
for d in sizes:
    for density in densities:
        for replicate in range(n_replicates):
            rng = np.random.default_rng([d, round(100 * density), replicate])
            for n in sample_sizes:
                truth, x = simulate(rng, [f"X{i:02d}" for i in range(d)], density, n)
                for algorithm, (kind, run) in ALGORITHMS.items():
                    start = time.process_time()
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            estimate = run(x)
                    except Exception as error:  # a failed run is a result: it stays in the table without an estimate
                        print(f"{algorithm} failed on {d} nodes, density {density}, n {n}: {error!r}")
                        estimate = None
                    seconds = time.process_time() - start
                    records.append((algorithm, kind, d, density, n, replicate, seconds, truth, estimate))

columns = ["algorithm", "kind", "nodes", "density", "n", "replicate", "seconds", "truth", "estimate"]
runs = pd.DataFrame(records, columns=columns)
runs["truth"] = ce.graph_column(runs["truth"], encoding="row->column")
parts = [
    ce.graph_column(part, encoding=ENCODINGS.get(algorithm))
    for algorithm, part in runs.groupby("algorithm")["estimate"]
]
runs["estimate"] = pd.concat(parts)  # aligned by the index
print(f"{len(runs)} runs, {runs['estimate'].isna().sum()} failed. Classes of graphs, and CPU seconds per run:")
classes = pd.crosstab(runs["algorithm"], runs["estimate"].graph.kind.rename("class"))
print(classes.join(runs.groupby("algorithm")["seconds"].mean()).to_string(), end="\n\n")

metrics = ["shd", "adjacency_f1", "arrowhead_f1"]
scored = runs.ceval.with_controls(metrics, n_draws=1000, rng=7, control_kind="kind")
shown = ["algorithm", "nodes", "density", "n", "shd", "shd_control_mean", "shd_p", "shd_skill"]
print("The first run of each algorithm, with its controls:")
print(scored.groupby("algorithm").head(1)[shown].to_string(index=False), end="\n\n")

cube = runs.ceval.cube(
    metrics, by=["algorithm", "nodes", "density", "n"], n_draws=1000, rng=7, control_kind="kind", values=["seconds"]
)
summary = cube.ceval.summary()
largest = summary.query("metric == 'shd' and nodes == nodes.max() and n == n.max()")
shown = ["algorithm", "density", "mean", "control_mean", "p_value", "skill"]
print("Largest graphs and samples, SHD:")
print(largest[shown].to_string(index=False), end="\n\n")

tests = cube.ceval.summary(adjust="holm")
by_metric = tests.assign(better=tests["verdict"] == "better").groupby(["metric", "algorithm"])["better"]
by_metric = by_metric.agg(["sum", "size"])
print("Strata in which the runs are better than guessing (Holm, .05), of all:")
print(by_metric.to_string(), end="\n\n")

shown = ["comparison", "effect", "ci_low", "ci_high", "p_adjusted"]
print("Differences of the SHD between two algorithms over all strata:")
print(cube.ceval.compare("algorithm", "shd")[shown].to_string(index=False), end="\n\n")
pairs = cube.ceval.compare("algorithm", "shd", by="all")
shown = ["nodes", "density", "n", "comparison", "effect", "ci_low", "ci_high", "p_adjusted"]
print("The five largest in a stratum:")
print(pairs.sort_values("effect", key=np.abs).tail(5)[shown].to_string(index=False))

out = Path("first_study")
out.mkdir(exist_ok=True)
one_size = cube.sel(nodes=max(sizes))
for name, figure in {
    "strata": one_size.ceval.plot.strata("shd", x="density", hue="algorithm", col="n"),
    "skill": one_size.ceval.plot.heat_map("shd", x="n", y=["algorithm", "density"]),
}.items():
    figure.figure.savefig(out / f"{name}.png", dpi=150, bbox_inches="tight")
print(f"\nWrote two figures to {out}/")
