"""Judge a printed table among published results: claims in a CSV file, and own runs in a figure.

A claim is one printed number with what is known of its runs; docs/who_beats_guessing.md lists the columns. The
figure is examples/figures/published.png.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import pandas as pd

import causaleval_pd as ce

mpl.use("agg")
claims = pd.DataFrame(
    {
        "source": "Table 2 of our paper",
        "locator": "page 7",
        "licence": "CC BY 4.0",
        "group": "simulated",
        "condition": ["20_2", "20_2", "20_6", "20_6"],
        "method": ["ours", "ours without scores"] * 2,
        "metric": "adjacency_f1",
        "value": ["0.81", "0.20", "0.61", "0.42"],
        "digits": 2,
        "n_runs": 1,
        "n_nodes": 20,
        "true_edges": [20, 20, 60, 60],
        "estimated_edges": [22, 31, 48, 70],
    }
)
with TemporaryDirectory() as folder:
    file = Path(folder) / "claims.csv"
    claims.to_csv(file, index=False)
    table = pd.read_csv(file, dtype={"value": "str"})

metric = "adjacency_f1"
published = ce.datasets.published_results().query("metric == @metric and n_nodes == 20")
both = pd.concat([table, published.drop(columns="truth")]).dropna(axis=1, how="all")
judged = ce.from_published(both.rename(columns={"value": metric}), metric)
ours = judged.iloc[: len(table)]
columns = ["condition", "method", metric, f"{metric}_skill", f"{metric}_p_adjusted", f"{metric}_verdict"]
print(ours[columns].to_string(index=False, float_format="{:.2g}".format))

# own runs of graphs of ten nodes among the published ones of as many
runs = ce.datasets.runs()
cube = runs.ceval.cube([metric], by=["algorithm", "density", "n"], n_draws=50, rng=7)
ten = ce.datasets.published_results().query("metric == @metric and n_nodes == 10").rename(columns={"value": metric})
results = ce.from_published(ten.drop(columns="truth").dropna(axis=1, how="all"), metric)
ax = cube.ceval.plot.published(metric, results, by="algorithm")
ax.figure.savefig(Path(__file__).parent / "figures/published.png", dpi=120)
print(f"\nRows of the figure, by their median skill: {', '.join(x.get_text() for x in ax.get_yticklabels())}")
