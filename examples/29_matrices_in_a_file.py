"""A CSV file with matrices as text, nodes in another order in every row, and failed runs.

The study is 7 lines: matrices are read by the names of their nodes, so that the order of rows and columns does not
matter, and an empty cell is a failed run, which tables count.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import causaleval_pd as ce

# a file as other programs write it: 1 in row i and column j is an edge from node i to node j
rng, rows = np.random.default_rng(7), []
for run, (_, graphs) in enumerate(ce.datasets.runs().query("algorithm == 'lingam' and density == 0.4").iterrows()):
    row = {"n": graphs["n"], "replicate": graphs["replicate"]}
    for column in ("truth", "estimate"):
        graph = ce.as_graph(graphs[column])
        order = rng.permutation(graph.nodes).tolist()
        row |= {column: json.dumps(graph.to_numpy(order).tolist()), f"{column}_nodes": " ".join(order)}
    rows.append(row if run % 20 else row | {"estimate": None})
folder = TemporaryDirectory()
file = Path(folder.name) / "runs.csv"
pd.DataFrame(rows).to_csv(file, index=False)

# the study
runs = pd.read_csv(file)
for column in ("truth", "estimate"):
    matrices = [None if pd.isna(text) else np.array(json.loads(text)) for text in runs[column]]
    runs[column] = ce.graph_column(matrices, nodes=runs[f"{column}_nodes"].str.split(), encoding="row->column")
cube = runs.ceval.cube(["shd", "adjacency_f1"], by=["n"], n_draws=199, rng=7)
columns = ["n", "metric", "n_runs", "n_failed", "mean", "control_mean", "skill", "verdict"]
print(cube.ceval.summary(columns="full")[columns].round(3).to_string(index=False))
