"""Protein signalling (Sachs et al. 2005): algorithms, their controls, and p-values with Monte Carlo error.

Runs PC, GES and LiNGAM on the shipped data (extra `discovery`), then tests the published NOTEARS numbers, which needs
no graph. Two consensus truths are in use, with 20 and with 17 edges; the example uses both.
"""

import warnings

import numpy as np
import pandas as pd

import causaleval_pd as ce

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        from causallearn.search.ConstraintBased.PC import pc
        from causallearn.search.FCMBased import lingam
        from causallearn.search.ScoreBased.GES import ges
    except ImportError:
        raise SystemExit("this example needs causal-learn: pip install 'causaleval_pd[discovery]'") from None

pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 4)
data = ce.datasets.sachs()
names = list(data.columns)
x = np.log(data.to_numpy())

model = lingam.DirectLiNGAM()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    found = {
        "pc": pc(x, alpha=0.05, node_names=names, show_progress=False).G,
        "ges": ges(x, score_func="local_score_BIC", node_names=names)["G"],
    }
    model.fit(x)
# LiNGAM's matrix points from column to row: adjacency_matrix_[i, j] != 0 is j -> i
strong = pd.DataFrame(np.abs(model.adjacency_matrix_) > 0.1, index=names, columns=names).astype(int)
estimates = pd.concat(
    [
        ce.graph_column([found["pc"], found["ges"]], kind=None),
        ce.graph_column([strong], encoding="column->row"),
    ],
    ignore_index=True,
)
runs = pd.DataFrame({"algorithm": ["pc", "ges", "lingam"], "kind": ["cpdag", "cpdag", "dag"], "estimate": estimates})
print(
    runs.assign(edges=estimates.graph.n_edges, undirected=estimates.graph.n_undirected)
    .drop(columns="estimate")
    .to_string()
)

for n_edges in (20, 17):
    truth = ce.graph_column([ce.datasets.sachs_truth(n_edges)] * len(runs), nodes=names)
    table = runs.assign(truth=truth, edges=n_edges)
    scored = table.ceval.with_controls(
        ["shd", "skeleton_p"], n_draws=20_000, rng=7, control_kind="kind", columns="full"
    )
    print(f"\nAgainst the truth with {n_edges} edges (p: random graphs of the same class and size are as close):")
    columns = [
        "algorithm",
        "shd",
        "shd_control_mean",
        "shd_control_low",
        "shd_control_high",
        "shd_p",
        "shd_p_se",
        "skeleton_p",
    ]
    print(scored[columns].to_string(index=False))

print("\nNOTEARS, published: SHD 22 with 16 edges (a DAG)")
settings = dict(n_edges=16, kind="dag", observed={"shd": 22}, n_draws=100_000, rng=7)
permuted = ce.control_distribution(ce.datasets.sachs_truth(20), **settings)
fixed = ce.control_distribution(ce.datasets.sachs_truth(20), **settings, permute=False, nodes=names)
rows = pd.concat([permuted.assign(order="random"), fixed.assign(order="the data file's")])
print(rows[["order", "mean", "sd", "low", "high", "p", "p_se", "mean_method"]].to_string(index=False))
print(
    "Fixing the causal order to the file's columns reproduces the published control mean; 9 true edges run against it."
)
