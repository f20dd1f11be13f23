"""A learned network of ALARM's size: how far from the truth, observed and intervened on, and against random DAGs.

ALARM (37 nodes, 46 arcs) ships with pgmpy (extra `io`), whose hill climbing learns it from samples. (It breaks
ties in an order that differs between runs, and so do the learned networks.)
"""

import logging
import time
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, sample

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pgmpy
    from pgmpy.estimators import HillClimbSearch

logging.getLogger("pgmpy").setLevel(logging.ERROR)
pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
truth = ce.as_network(Path(pgmpy.__file__).parent / "utils" / "example_models" / "alarm.bif.gz")
print(truth)

cases, rows = {}, []
for n in (250, 1000, 4000):
    for repetition in range(3):
        key = f"{n} cases, {repetition}"
        cases[key] = sample(truth, n, rng=repetition)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = HillClimbSearch(cases[key]).estimate(scoring_method="bic-d", max_indegree=4, show_progress=False)
        # the same estimator for the learned network and, below, for its controls
        estimate = from_data(ce.as_graph(list(found.edges()), nodes=truth.nodes), cases[key], 0.5, states=truth)
        rows.append((n, repetition, key, truth, estimate))
runs = pd.DataFrame(rows, columns=["n", "repetition", "sample", "truth", "estimate"])

start = time.perf_counter()
scored = runs.ceval.evaluate(["shd", "edit_distance", "pattern_edit_distance", "kl", "ckl1", "ckl2", "ckl3"])
print(f"\nExact divergences of {len(runs)} networks, {time.perf_counter() - start:.2f} s:")
print(scored.drop(columns=["sample", "truth", "estimate"]).to_string(index=False))

# Random DAGs with as many arcs, fitted to the same cases: what the learned arcs are worth, parameters being equal. More
# cases bring the learned law nearer to the truth, but not its directions: KL falls, causal KL need not.
cube = runs.ceval.cube(
    ["kl", "ckl3"],
    by=["n"],
    replicate="repetition",
    n_draws=40,
    rng=7,
    context={"data": ("sample", cases), "estimator": 0.5},
)
print("\nAgainst random DAGs with as many arcs:")
columns = ["n", "metric", "mean", "control_mean", "control_low", "control_high", "p_value", "skill"]
print(cube.ceval.summary()[columns].to_string(index=False))
grid = cube.ceval.plot.strata("ckl3", x="n", interval="quantile")
grid.figure.savefig(Path(__file__).parent / "figures" / "causal_kl_alarm.png", dpi=150, bbox_inches="tight")
