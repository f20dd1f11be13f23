"""Compare algorithms with several null models, and with each other: which test answers which question.

1. Is each algorithm better than random guessing? All strata together, under three null models.
2. Is one algorithm better than another? Not by comparing their p-values against controls, but by pairs on the same
   truths: raw, minus each run's own expected control, by mean ranks, and as equivalence where "no difference" is the
   claim.
3. Was the study large enough? Power of the tests, and their size for independent normal scores without ties.

Prints the tables and writes critical_difference.png into the folder where it is run.
"""

import matplotlib
import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.statistics.paired_tests import paired_wilcoxon, sign_test
from causaleval_pd.statistics.rates import judge_rates

matplotlib.use("Agg")
pd.set_option("display.width", 180, "display.max_columns", 30, "display.precision", 3)
runs = ce.datasets.runs()
nulls = ["edges", "permutation", "orientation"]
cube = runs.ceval.cube(["shd"], by=["algorithm", "density", "n"], null=nulls, n_draws=999, rng=7, control_kind="kind")

print("1. Mean skill over densities (random effects) and combined p, one row a null model:")
pooled = cube.sel(n=[100]).ceval.meta_analysis("density")
columns = ["null", "algorithm", "n_strata", "p_value", "skill", "ci_low", "ci_high", "tau2"]
print(pooled[columns].to_string(index=False), end="\n\n")

one = cube.sel(density=[0.2], n=[100])
print("2. At density .2 and n = 100, all pairs (Holm): the raw SHD, and the skill:")
edges = one.sel(null="edges")
columns = ["comparison", "effect", "ci_low", "ci_high", "p_adjusted"]
for words, found in {
    "raw": edges.ceval.compare("algorithm"),
    "skill": edges.ceval.compare("algorithm", on="skill"),
    "raw, mean differences with simultaneous intervals": edges.ceval.compare("algorithm", test="max_t", rng=7),
    "equivalent within 2 edges (t test)": edges.ceval.compare(
        "algorithm", test="t", alternative="equivalent", margin=2.0, level=0.9
    ),
}.items():
    print(f"{words}:\n{found[columns].to_string(index=False)}")
print("\nMean ranks (1 is best), Friedman's test:")
print(edges.ceval.rank_test("algorithm").drop(columns=["n_failed", "n_undefined"]).to_string(index=False), end="\n\n")

print("3. Runs needed to detect a skill of .1, and the skill and difference that this study of 20 runs could detect:")
columns = ["algorithm", "n_pairs", "skill", "n_needed", "power", "minimal_skill"]
print(edges.ceval.control_power(skill=0.1)[columns].to_string(index=False))
columns = ["comparison", "n_pairs", "minimal_difference", "difference", "n_needed", "power"]
print(edges.ceval.comparison_power("algorithm", difference=1.0)[columns].to_string(index=False), end="\n\n")

# Size and power at .05: 2,000 tables of b independent guesses (mean 10, sd 3), and of estimates with skill .15. The
# scores are normal: real metrics have ties, and repeated truths make runs dependent.
rng, rows = np.random.default_rng(1), []
for b in (1, 2, 5, 20, 100):
    controls = rng.normal(10, 3, (2000, b, 199))
    reference = controls.mean(axis=1)
    shares = {}
    for kind, mean in (("size", 10.0), ("power", 8.5)):
        own = rng.normal(mean, 3, (2000, b))
        p = {"randomisation": (1 + (reference <= own.mean(axis=1)[:, None]).sum(axis=1)) / 200}
        pairs = own - controls[:, :, 0]
        tests = {"wilcoxon": paired_wilcoxon, "sign": sign_test}
        p |= {name: test(pairs, alternative="less").p_value for name, test in tests.items()}
        shares[kind] = {name: float((x <= 0.05).mean()) for name, x in p.items()}
    for name, size in shares["size"].items():
        word = judge_rates(round(2000 * size), 2000, 0.05).item()
        rows.append({"test": name, "runs": b, "size at .05": size, "verdict": word, "power": shares["power"][name]})
print("Size and power of the tests against controls; a test that can hardly reject has no power either:")
print(pd.DataFrame(rows).sort_values(["test", "runs"]).to_string(index=False))

axes = edges.ceval.plot.critical_difference("shd", "algorithm")
axes.figure.savefig("critical_difference.png", dpi=150, bbox_inches="tight")
