"""Where does FCI beat guessing? Graphs with latent confounders: results on disk, and truths with latent nodes.

The first part reads the graphs of PC and FCI that causal-learn stores for networks of the bnlearn repository (see
`causal_learn_results`). Nothing is latent there, so that FCI's target is the PAG of the true DAG: `latents` is empty.
The second part makes truths with latent nodes, and estimates that miss some of their edges.

Writes a figure into the folder `latent_confounders` beside where it is run.
"""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

import causaleval_pd as ce

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_rows", 60, "display.precision", 3)
out = Path("latent_confounders")
out.mkdir(exist_ok=True)
results = Path(__file__).parent / "causal_learn_results"


def read(ending: str, **how) -> pd.Series:
    """Read one graph per network; the name of the network becomes the index, by which truths and estimates align."""
    return ce.read_graphs(results / f"*.{ending}.txt", **how).rename(lambda name: name.removesuffix(f".{ending}.txt"))


# Files of matrices hold no names: these are X1, X2, ... in the order of the rows
truth = read("truth")
nodes = [[f"X{i + 1}" for i in range(n)] for n in truth.graph.n_nodes]
pc = pd.DataFrame({"truth": truth, "estimate": read("pc", encoding="causal-learn matrix", nodes=nodes)})
fci = pd.DataFrame({"truth": truth, "estimate": read("fci", encoding="causal-learn matrix", nodes=nodes)})
print("1. Stored results of causal-learn. FCI's graphs; those of the kind mixed are not the PAG of any graph:")
print(fci["estimate"].graph.show().to_string(max_colwidth=90), end="\n\n")
print("Why not, with the first reason that was found:")
print(fci["estimate"].graph.faults("pag").dropna().to_frame("fault").to_string(max_colwidth=140), end="\n\n")

# A CPDAG is compared with the truth's CPDAG, a PAG with its PAG. Both have the truth's adjacencies and v-structures.
nothing_latent = {"latents": []}
shared = ["adjacency_f1", "v_structure_f1"]
by_algorithm = {
    "pc": pc.ceval.evaluate([*shared, "shd_cpdag"]),
    "fci": fci.ceval.evaluate([*shared, "shd"], context=nothing_latent),
}
scored = pd.concat(by_algorithm, names=["algorithm"]).drop(columns=["truth", "estimate"])
print("PC and FCI, each against its target; the columns that both have compare them:")
print(scored.unstack("algorithm").dropna(axis=1, how="all").to_string(), end="\n\n")

# permutation: is the estimate's structure on the right variables? Its controls are as mixed as the estimate.
# edges: is it better than random PAGs with its numbers of edges and of <->? orientation: ... and with its adjacencies?
# These draw PAGs. A graph of the kind mixed has no such law of its own, so that control_kind has to state it.
questions = ["permutation", "edges", "orientation"]
cube = fci.reset_index(names="network").ceval.cube(
    ["shd", "adjacency_f1", "arrowhead_f1", "arrow_claim_precision"],
    by=["network"],
    null=questions,
    control_kind="pag",
    context=nothing_latent,
    n_draws=2000,
    rng=7,
)
summary = cube.ceval.summary()
for metric in ("shd", "arrow_claim_precision"):
    one = summary[summary["metric"] == metric]
    wide = one.pivot(index=["network", "mean"], columns="null", values=["control_mean", "skill", "p_value"])
    print(f"FCI (mean) beside its controls, {metric}:")
    print(wide.reindex(columns=questions, level="null").reset_index("mean").round(3).to_string(), end="\n\n")

tests = cube.ceval.summary(adjust="holm")
tests["beaten"] = np.select([tests["p_adjusted"].isna(), tests["p_adjusted"] <= 0.05], ["", "yes"], "no")
print("Where FCI beats guessing (Holm, .05); blank where all controls score the same:")
print(tests.pivot(index=["metric", "null"], columns="network", values="beaten").to_string(), end="\n\n")
print(
    "One graph per network is little evidence: in small networks hardly any guess is rare enough for so many tests. A\n"
    "high arrow_claim_precision is not evidence by itself: most pairs of nodes are not ancestors, so that most\n"
    "arrowheads of random PAGs are right too; its control_mean is what guesses reach.",
    end="\n\n",
)

confusion = fci.assign(algorithm="fci").ceval.cube(
    ["edge_confusion"], by=["algorithm"], context=nothing_latent, n_draws=None
)["edge_confusion"]
counts = confusion.sum("replicate").sel(algorithm="fci").to_pandas().astype(int)
print("What became of each type of edge (rows: the true PAG), over all networks:")
print(counts.loc[counts.any(axis=1), counts.any()].to_string(), end="\n\n")

figure = cube.ceval.plot.strata("arrow_claim_precision", x="network", col="null")
figure.figure.savefig(out / "arrow_claims.png", dpi=150, bbox_inches="tight")

# 2. True DAGs with latent nodes. An estimate is the PAG of the truth without some of its edges: what FCI would return
# if these edges were too weak to be seen. Latent nodes are named in a column, one list per row.
rng = np.random.default_rng(1)
observed, latent = [f"X{i}" for i in range(8)], ["L0", "L1"]
records = []
for replicate in range(20):
    order = [str(name) for name in rng.permutation(observed)]
    forward = [f"{a} -> {b}" for i, a in enumerate(order) for b in order[i + 1 :]]
    edges = [str(edge) for edge in rng.choice(forward, 8, replace=False)]
    edges += [f"{name} -> {child}" for name in latent for child in rng.choice(observed, 3, replace=False)]
    for missed in (0, 2, 4, 8):
        seen = [str(edge) for edge in rng.choice(edges, len(edges) - missed, replace=False)]
        records.append((replicate, missed, latent, *("; ".join([*some, *observed, *latent]) for some in (edges, seen))))
runs = pd.DataFrame(records, columns=["replicate", "missed", "latents", "truth", "weaker"])
runs["truth"] = ce.graph_column(runs["truth"])
runs["estimate"] = ce.graph_column(runs.pop("weaker")).graph.pag(latents=latent)
hidden = {"latents": "latents"}  # the name of the column

print("2. Truths with latent nodes: a truth, its PAG, and the PAG without four of the edges")
third = runs.iloc[[2]]
print(third["truth"].graph.to_strings().item())
print(third["truth"].graph.pag(latents=latent).graph.to_strings().item())
print(third["estimate"].graph.to_strings().item(), end="\n\n")

metrics = ["shd", "arrowhead_f1", "arrow_claim_precision", "latent_precision", "latent_recall"]
scored = runs.ceval.with_controls(metrics, context=hidden, n_draws=1000, rng=7)
print("One truth, four estimates, and the mean of random PAGs with their numbers of edges and of <->:")
shown = ["missed", "shd", "shd_control_mean", "shd_p", "arrow_claim_precision", "arrow_claim_precision_control_mean"]
print(scored.loc[scored["replicate"] == 0, shown].round(3).to_string(index=False), end="\n\n")

summary = runs.ceval.cube(metrics, by=["missed"], context=hidden, n_draws=1000, rng=7).ceval.summary(columns="full")
shown = ["metric", "missed", "mean", "control_mean", "skill", "p_value", "n_scored", "n_undefined"]
print("Over 20 truths, by the number of edges that are missed, of 14:")
print(summary[shown].round(3).to_string(index=False), end="\n\n")
print(
    "The perfect PAG has an SHD of 0, and shows few latent confounders all the same: most stay behind circles, so\n"
    "that latent_recall is low and latent_precision undefined for the many PAGs without <->. Edges that are missed\n"
    "lower the number of right marks, but not the share of right arrowheads.",
    end="\n\n",
)
print(f"Wrote a figure to {out}/")
