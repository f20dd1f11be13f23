"""A study as a report: one page of HTML, and a LaTeX document with its figures and references beside it."""

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

# one table for a paper
table = cube.ceval.summary("shd").query("n == 400")
print(ce.style(table, best="algorithm", output="latex").to_latex(hrules=True))
