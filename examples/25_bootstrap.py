"""Bootstrap of PC on the protein data of Sachs et al. (2005): an ensemble of graphs as one run.

Forty bootstrap samples give forty graphs (extra `discovery`). They are pooled into probabilities of edges, a consensus
and expected metrics, whose controls relabel all members of a run alike. Two significance levels of PC are two runs.
"""

import warnings

import numpy as np
import pandas as pd

import causaleval_pd as ce

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        from causallearn.search.ConstraintBased.PC import pc
    except ImportError:
        raise SystemExit("this example needs causal-learn: pip install 'causaleval_pd[discovery]'") from None

pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
data = ce.datasets.sachs()
names, x = list(data.columns), np.log(data.to_numpy())
rng = np.random.default_rng(7)

members = []
for alpha in (0.001, 0.05):
    for sample in range(40):
        rows = rng.integers(0, len(x), len(x))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = pc(x[rows], alpha=alpha, node_names=names, show_progress=False).G
        members.append({"alpha": alpha, "sample": sample, "graph": graph})
members = pd.DataFrame(members)
members["estimate"] = ce.graph_column(members.pop("graph"))
members["truth"] = ce.graph_column([ce.datasets.sachs_truth(17)] * len(members), nodes=names)

pooled = members.ceval.pool("alpha", ["shd", "adjacency_f1"], cyclic="break", n_draws=999, rng=7)
print("One row per run; e_ is the mean over members, its p relabels all members alike:")
columns = ["n_members", "instability", "e_shd", "sd_shd", "e_shd_control_mean", "e_shd_p", "e_adjacency_f1_p"]
print(pooled.set_index("alpha")[columns].T.to_string())

scored = pooled.ceval.with_controls(["auroc", "average_precision"], n_draws=999, rng=7)
print("\nThe probabilities as a ranking of ordered pairs, against the same ensemble with exchanged names:")
columns = ["auroc", "auroc_control_mean", "auroc_p", "average_precision", "average_precision_p"]
print(scored.set_index("alpha")[columns].T.to_string())

consensus = pooled.ceval.with_controls(["shd"], estimate="consensus", n_draws=999, rng=7)
print("\nThe consensus is one graph, and its SHD is not the mean of the members':")
print(consensus.set_index("alpha")[["shd", "e_shd", "shd_control_mean", "shd_p"]].T.to_string())
print(
    "\n"
    + "\n".join(
        f"{row.alpha}: {text}"
        for row, text in zip(pooled.itertuples(), pooled["consensus"].graph.to_strings(), strict=True)
    )
)

ax = ce.plot.edge_probabilities(pooled["estimate"].iloc[-1], pooled["truth"].iloc[-1])
ax.figure.savefig("edge_probabilities.png", dpi=150)
print("\nwrote edge_probabilities.png")
