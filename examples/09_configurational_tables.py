"""The worked examples of Baumgartner & Falk (2024), recomputed beside the printed numbers.

Quantifying the quality of configurational causal models. Journal of Causal Inference 12. doi:10.1515/jci-2023-0032
Run it anywhere; it writes three figures into the folder `configurational_tables`.
"""

from pathlib import Path

import matplotlib
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.configurational import exposition_table, quality_table

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_colwidth", 70)

D1, D2, D3 = "A*b+c*D<->E", "A*b*D*F+a*B*C*D<->E", "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"
M16, M6 = "(A*B<->D)*(D+B*C<->G)", "A+B+E+D<->G"


def compare(title: str, models: list[tuple[str, str, str, str]], metrics: tuple[ce.Metric, ...]) -> None:
    """Evaluate (id, truth, estimate, printed) rows and show the rounded numbers beside the printed ones."""
    scored = pd.DataFrame(models, columns=["id", "truth", "estimate", "printed"]).ceval.evaluate(metrics)
    scored["computed"] = scored[[m.name for m in metrics]].map("{:.2f}".format).agg(" / ".join, axis=1)
    print(f"{title}\n{scored[['id', 'estimate', 'printed', 'computed']].to_string(index=False)}")
    print("all as printed" if scored["computed"].equals(scored["printed"]) else "DIFFERENT", end="\n\n")


# Two earlier measures: is the model a submodel, and which share of its submodels are also the truth's.
submodels = [("(4)", D1, "A*B+D<->E", "0.00 / 0.43"), ("(5)", D1, "A*B*D<->E", "0.00 / 0.29")]
compare("Section 3.1 and Table 1: LCR / NCR", submodels, ce.metric_set("lcr", "ncr"))
by_size = [("(6)", "A+C+D<->E", "0.86 / 0.92"), ("(7)", "A*b+C+D<->E", "0.80 / 0.94")]
by_size = [(i, D2, m, p) for i, m, p in [*by_size, ("(8)", "A*b*F+C+D<->E", "0.77 / 0.95")]]
compare("Section 3.2 and Table 6b: NCR / correctness", by_size, ce.metric_set("ncr", "correctness"))
compare("Section 3.3, LCR", [("(9)", D3, "A+B<->G", "0.00")], ce.metric_set("lcr"))

# All causal claims of the truth D3 and of the model (16).
for name, model in (("D3", D3), ("(16)", M16)):
    claims = exposition_table(model).groupby(["outcome", "component"], sort=False)["item"].agg(", ".join)
    print(f"Causal exposition of {name}: {model}\n{claims.unstack('component').to_string()}\n")

# What they share, outcome by outcome (the printed tables have C+E for D+E among the disjunctions of G, a slip).
shared = quality_table(D3, M16)
shared["cell"] = shared["shared"].map("{:.3g}".format) + "/" + shared["complexity"].map("{:.0f}".format)
for measure, part in shared.groupby("measure", sort=False):
    cells = part.pivot(index="outcome", columns="component", values="cell")[list(part["component"].unique())]
    print(f"Table {5 if measure == 'correctness' else 7}: shared / own complexity of (16)\n{cells.to_string()}\n")

# Literal / conjunctive / disjunctive / sequential / overall.
parts = ["_literal", "_conjunctive", "_disjunctive", "_sequential", ""]
correctness, completeness = (ce.metric_set(*(m + part for part in parts)) for m in ("correctness", "completeness"))
printed = [("(16)", D3, M16, "1.00 / 0.57 / 0.56 / 1.00 / 0.75"), ("m6", D3, M6, "1.00 / 1.00 / 0.75 / 0.50 / 0.81")]
compare("Table 6a, correctness by component and overall", printed, correctness)
compare("Completeness by component and overall", [("(16)", D3, M16, "0.55 / 0.55 / 0.47 / 0.40 / 0.49")], completeness)

f_scores = {name: ce.tweak("f_beta", beta=beta) for name, beta in (("f_half", 0.5), ("f_two", 2))}
models = [
    ("(16)", M16, "0.75 / 0.49 / 0.68 / 0.53"),
    ("m1", "(A*B<->D)*(B*C<->G)", "0.75 / 0.29 / 0.57 / 0.33"),
    ("m2", "(A+B<->D)*(B*C<->G)", "0.88 / 0.31 / 0.64 / 0.35"),
    ("m3", "(A+B*F<->D)*(B+C<->G)", "1.00 / 0.43 / 0.79 / 0.48"),
    ("m4", "A+B<->G", "1.00 / 0.18 / 0.53 / 0.22"),
    ("m5", "A+B+E<->G", "1.00 / 0.29 / 0.67 / 0.34"),
    ("m6", M6, "0.81 / 0.40 / 0.67 / 0.45"),
    ("m7", "A+B+E+D+F<->G", "0.65 / 0.40 / 0.58 / 0.43"),
    ("m8", "(A+B*F<->D)*(B*f+C<->E)*(D+E<->G)", "1.00 / 1.00 / 1.00 / 1.00"),
    ("m9", "(A+B*F+H<->D)*(B*f+C+K<->E)*(D+E<->G)", "0.73 / 1.00 / 0.77 / 0.93"),
]
quality = ce.metric_set("correctness", "completeness", **f_scores)
compare("Tables 8 and 9: correctness / completeness / F0.5 / F2", [(i, D3, m, p) for i, m, p in models], quality)

out = Path("configurational_tables")
out.mkdir(exist_ok=True)
figures = {"difference": ce.plot.model_difference(D3, M16), "profile": ce.plot.score_profile(D3, M16)}
for name, ax in {"truth": ce.plot.hypergraph(D3), **figures}.items():
    ax.figure.savefig(out / f"{name}.png", dpi=150, bbox_inches="tight")
print(f"Wrote three figures to {out}/")
