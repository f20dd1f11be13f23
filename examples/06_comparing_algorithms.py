"""Compare algorithms with several null models, and with each other: which test answers which question.

1. Is each algorithm better than random guessing? All densities together, under three null models.
2. Is one algorithm better than another? Not by comparing their p-values against controls, but by pairs on the same
   truths: raw, minus each run's own expected control, by mean ranks, and as equivalence where "no difference" is the
   claim.
3. Was the study large enough? The difference that its intervals could have shown, and the pairs that the next needs.

Prints the tables and writes critical_difference.png into the folder where it is run.
"""

import matplotlib
import pandas as pd
from statsmodels.stats.power import TTestPower

import causaleval_pd as ce

matplotlib.use("Agg")
pd.set_option("display.width", 180, "display.max_columns", 30, "display.precision", 3)
runs = ce.datasets.runs()
nulls = ["edges", "permutation", "orientation"]
cube = runs.ceval.cube(["shd"], by=["algorithm", "density", "n"], null=nulls, n_draws=999, rng=7, control_kind="kind")

print("1. Skill over densities at n = 100, one row per null model and algorithm:")
small = runs.query("n == 100")
pooled = small.ceval.cube(["shd"], by=["algorithm"], null=nulls, n_draws=999, rng=7, control_kind="kind")
columns = ["null", "algorithm", "n_clusters", "p_value", "skill", "skill_low", "skill_high"]
print(pooled.ceval.summary(columns="full")[columns].to_string(index=False), end="\n\n")

one = cube.sel(density=[0.2], n=[100])
print("2. At density .2 and n = 100, all pairs (Holm): the raw SHD, and the skill:")
edges = one.sel(null="edges")
columns = ["comparison", "effect", "ci_low", "ci_high", "p_adjusted"]
for words, found in {
    "raw": edges.ceval.compare("algorithm"),
    "skill": edges.ceval.compare("algorithm", on="skill"),
    "raw, mean differences with simultaneous intervals": edges.ceval.compare("algorithm", test="max_t"),
    "equivalent within 2 edges (t test)": edges.ceval.compare(
        "algorithm", test="t", alternative="equivalent", margin=2.0, level=0.9
    ),
}.items():
    print(f"{words}:\n{found[columns].to_string(index=False)}")
print("\nMean ranks (1 is best), Friedman's test:")
print(edges.ceval.rank_test("algorithm").to_string(index=False), end="\n\n")

print("3. Half the width of the intervals, and pairs that detect one edge with probability .8:")
raw = edges.ceval.compare("algorithm").assign(half=lambda x: (x["ci_high"] - x["ci_low"]) / 2)
values = edges["shd"].squeeze(drop=True).to_pandas().T
deviations = [(values[a] - values[b]).std() for a, b in raw["comparison"].str.split(" - ")]
needed = [round(TTestPower().solve_power(effect_size=1 / sd, alpha=0.05, power=0.8)) for sd in deviations]
print(raw.assign(n_needed=needed)[["comparison", "half", "n_needed"]].to_string(index=False))

axes = edges.ceval.plot.critical_difference("shd", "algorithm")
axes.figure.savefig("critical_difference.png", dpi=150, bbox_inches="tight")
