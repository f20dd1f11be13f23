"""Run a benchmark of causal reasoning with baseline reasoners: which are right, consistent, better than guessing?

Worlds and questions are drawn, baselines answer, and answers become quantities, decisions, classes, tests and figures.
Writes examples/figures/reasoning_quadrant.png, and three figures into the folder `reasoning_baselines`.
"""

from pathlib import Path

import matplotlib
import pandas as pd

import causaleval_pd as ce
from causaleval_pd import reasoning as cr

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_rows", 60, "display.precision", 3)
out = Path("reasoning_baselines")
out.mkdir(exist_ok=True)

# Six worlds described in two themes; every pair of cut nodes has a PNS large enough for 2000 samples.
tasks = cr.make_tasks(
    ["candy_party", "flu_vaccine"], [[3, 3, 3], [2, 4, 2], [4, 4, 4]], n_samples=2000, min_pns=0.05, rng=7
)
questions = tasks.questionnaire()
print(f"{tasks}: {len(questions):,} questions. One of them:\n\n{tasks.prompts(questions.iloc[[4]]).item()}\n")

answers = cr.reasoners.baselines(questions, tasks, rng=7)

# Association and intervention: shuffled answers can have a good accuracy too.
scores = answers.pipe(cr.answer_scores, by="model")
columns = ["model", "world", "accuracy", "majority_accuracy", "control_accuracy", "f1", "control_f1"]
print(scores.loc[scores["model"].isin(["noisy", "ignores_do", "random"]), columns].to_string(index=False), end="\n\n")

# Counterfactuals: one row per quantity, with its truth and its yes-counts, from which controls are drawn.
table = answers.pipe(cr.quantities, by="model", worlds=tasks)
pns = table[table["quantity"] == "pns"]
scored = pns.ceval.with_controls(["quantity_error", "rae"], n_draws=500, rng=7, context=cr.COUNTS)
columns = ["quantity_error", "quantity_error_control_mean", "rae", "rae_control_mean"]
print("Errors of the PNS beside those of the same answers, shuffled:")
print(scored[scored["relation"] == "external"].groupby("model", sort=False)[columns].mean(), end="\n\n")

# Valid, invalid or undecided: as published, and by tests that account for noise.
published, careful = (cr.taxonomy(table, by="model", convention=rule) for rule in ("paper", None))
counts = published.groupby("model", sort=False)["class"].value_counts().unstack(fill_value=0)
print("Classes by the published rule, tasks of 6 (V valid, I invalid; C consistent, I inconsistent):")
print(counts.to_string(), end="\n\n")
words = careful.groupby("model", sort=False)[["valid", "consistent"]].agg(lambda w: ", ".join(sorted(set(w))))
print("By tests that account for noise (a perfect reasoner passes):")
print(words.to_string(), end="\n\n")
# Model against model, on the same samples.
some = answers[answers["model"].isin(["noisy", "adjacent_only", "wrong_world"])]
print("Paired comparisons of accuracy, each sample one value:")
columns = ["comparison", "effect", "ci_low", "ci_high", "p_adjusted", "n_truths"]
cube = some.rename(columns={"answer": "estimate"}).ceval.cube(
    ["answer_accuracy"], by=["model"], n_draws=None, cluster="sample", key=["model", "sample", "cause", "effect"]
)
print(cube.ceval.compare("model")[columns].to_string(index=False), end="\n\n")

shown = table[table["model"].isin(["perfect", "noisy", "random", "adjacent_only", "wrong_world"])]
figures = Path(__file__).parent / "figures"
figures.mkdir(exist_ok=True)
cr.plot.quadrant(table).figure.savefig(figures / "reasoning_quadrant.png", dpi=150, bbox_inches="tight")
for name, figure in {
    "complexity": cr.plot.complexity(shown),
    "reliability": cr.plot.reliability(shown),
}.items():
    figure.figure.savefig(out / f"{name}.png", dpi=150, bbox_inches="tight")
ce.plot.strata(
    pns[pns["relation"] == "external"]
    .assign(pair=lambda t: t["task"].astype(str) + t["cause"] + t["effect"] + t["path"].fillna(""))
    .ceval.cube(["quantity_error"], by=["model", "kind"], replicate="pair", n_draws=200, rng=7, context=cr.COUNTS),
    "quantity_error",
    x="model",
    hue="kind",
).figure.savefig(out / "strata.png", dpi=150, bbox_inches="tight")
print(f"Wrote {figures}/reasoning_quadrant.png and three figures to {out}/")
