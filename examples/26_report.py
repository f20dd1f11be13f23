"""A study as a report: one page of HTML, and a LaTeX document with its figures and references beside it.

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
for name in ("report.html", "report.tex"):
    print(cube.ceval.report(folder / name, over="algorithm", title="Three algorithms on linear data", overwrite=True))

# figures for a paper: where it gets better, which differences are detected, which edges are missed
some = cube.sel(density=0.6)
proteins = ce.datasets.sachs_estimates().assign(truth=ce.datasets.sachs_truth())
for name, ax in {
    "trend": some.ceval.plot.trend("shd", x="n", hue="algorithm"),
    "forest": ce.plot.forest(some.ceval.compare("algorithm", "shd", by="n")),
    "difference_matrix": ce.plot.difference_matrix(proteins),
}.items():
    ax.figure.savefig(folder / f"{name}.png", dpi=150)

# one table for a paper
table = cube.ceval.summary("shd").query("n == 400")
print(ce.style(table, best="algorithm", output="latex").to_latex(hrules=True))
