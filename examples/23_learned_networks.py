"""Score PC, GES and tabu search on networks of bnlearn's repository by causal KL, each beside its own controls.

PC and GES return CPDAGs, whose members claim different effects: causal KL is the mean over the class, with its best and
worst member. Learners and networks are those of pgmpy and pyagrum (extras `io` and `peers`).
"""

import time
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import causaleval_pd as ce
from causaleval_pd.causal_kl import sample

for name, extra in (("pgmpy", "io"), ("pyagrum", "peers")):
    if find_spec(name) is None:
        raise SystemExit(f"this example needs {name}: pip install 'causaleval_pd[{extra}]'")

pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
folder = Path(find_spec("pgmpy").origin).parent / "utils" / "example_models"


def pc(data: pd.DataFrame) -> ce.Graph:
    """Run the PC algorithm of pgmpy."""
    from pgmpy.causal_discovery import PC

    return ce.as_graph(PC(variant="stable", show_progress=False).fit(data).causal_graph_)


def ges(data: pd.DataFrame) -> ce.Graph:
    """Run greedy equivalence search of pgmpy."""
    from pgmpy.causal_discovery import GES

    return ce.as_graph(GES().fit(data).causal_graph_)


def tabu(data: pd.DataFrame) -> ce.Graph:
    """Run the tabu search of pyagrum."""
    import pyagrum

    learner = pyagrum.BNLearner(data.astype(str))
    learner.useLocalSearchWithTabuList()
    names = [str(name) for name in learner.names()]
    return ce.as_graph([(names[a], names[b]) for a, b in learner.learnDAG().arcs()], nodes=names)


rows, data = [], {}
for name in ("asia", "sachs"):
    truth = ce.as_network(folder / f"{name}.bif.gz")
    print(f"{name}: {truth}")
    for repetition in range(3):
        key = f"{name} {repetition}"
        data[key] = sample(truth, 1000, rng=repetition)
        for learner in (pc, ges, tabu):
            start = time.perf_counter()
            graph = learner(data[key])
            rows.append((name, key, learner.__name__, truth, graph, time.perf_counter() - start))
runs = pd.DataFrame(rows, columns=["network", "sample", "learner", "truth", "estimate", "seconds"])

# the data and the estimator of each row: learned graphs and their controls are fitted alike
context = {"data": ("sample", data), "estimator": 0.5}
over = [ce.tweak("ckl3", over=word, name=f"ckl3_{word}") for word in ("best", "worst")]
scored = runs.ceval.evaluate(["shd", "kl", "ckl3", *over], context=context)
print("\nMeans of three data sets; KL forgives what causal KL does not:")
columns = ["shd", "kl", "ckl3", "ckl3_best", "ckl3_worst", "seconds"]
print(scored.groupby(["network", "learner"])[columns].mean().to_string())

cube = runs.ceval.cube(["kl", "ckl3"], by=["network", "learner"], n_draws=50, rng=7, context=context)
print("\nBeside random DAGs, or their classes, with as many edges, fitted to the same data:")
columns = ["network", "learner", "metric", "mean", "infinite_share", "control_mean", "skill", "p_value"]
print(cube.ceval.summary(columns="full")[columns].to_string(index=False))
