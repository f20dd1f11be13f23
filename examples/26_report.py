"""A study as a report, a page of HTML, with figures and a table for a paper.

Writes the report and three figures for a paper into the folder `study_report`.
"""

from pathlib import Path

try:
    import jinja2  # noqa: F401
except ImportError:
    raise SystemExit("this example needs jinja2: pip install 'causaleval_pd[report]'") from None
import matplotlib

import causaleval_pd as ce

matplotlib.use("agg")

runs = ce.datasets.runs()
cube = runs.ceval.cube(["shd", "adjacency_precision"], by=["algorithm", "density", "n"], n_draws=1000, rng=7)
folder = Path("study_report")
folder.mkdir(exist_ok=True)
title = "Three algorithms on linear data"
print(cube.ceval.report(folder / "report.html", over="algorithm", title=title, overwrite=True))

# figures for a paper: where it gets better, which differences are detected, which edges are missed
some = cube.sel(density=0.6)
proteins = ce.datasets.sachs_estimates().assign(truth=ce.datasets.sachs_truth())
for name, drawn in {
    "sample_size": some.ceval.plot.strata("shd", x="n", hue="algorithm", scale="log"),
    "forest": ce.plot.forest(some.ceval.compare("algorithm", "shd", by="n")),
    "difference_matrix": ce.plot.difference_matrix(proteins),
}.items():
    drawn.figure.savefig(folder / f"{name}.png", dpi=150)

# one table for a paper
table = cube.ceval.summary("shd").query("n == 400")
print(ce.style(table, best="algorithm", output="latex").to_latex(hrules=True))
