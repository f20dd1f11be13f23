"""Show that the structural intervention distance depends on the direction in which matrices are read.

Adjacencies and the SHD stay the same when truth and estimate are both transposed. The SID does not: it is about the
effects of interventions, and reversing all arrows exchanges causes and effects. The SID bounds in Table 5 of the
negative-control paper (doi:10.48550/arXiv.2412.10039) were computed on reversed graphs, since its matrices point from
column to row and the SID program reads them from row to column. This shows the size of the error on real PC runs.
"""

import pandas as pd

import causaleval_pd as ce

pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 2)


def reversed_graphs(cells: pd.Series) -> pd.Series:
    """Reverse every arrow, as reading a matrix in the wrong direction does."""
    matrices = [graph.reverse() for graph in cells.graph.to_networkx()]
    return ce.graph_column(matrices, kind=None)


runs = ce.datasets.runs()
runs = runs[runs["algorithm"] == "pc"].reset_index(drop=True)
# PC's graphs are not always CPDAGs; bounds of such estimates are found node by node
metrics = [ce.tweak(name, beyond="local") for name in ("sid_lower", "sid_upper")] + ["shd"]
right = runs.ceval.evaluate(metrics)
wrong = runs.assign(**{c: reversed_graphs(runs[c]) for c in ("truth", "estimate")}).ceval.evaluate(metrics)

names = ["sid_lower", "sid_upper", "shd"]
by = ["density", "n"]
table = pd.concat(
    {"read correctly": right.groupby(by)[names].mean(), "reversed": wrong.groupby(by)[names].mean()}, axis=1
)
print(table)
moved = (right[names] != wrong[names]).mean()
print("\nshare of runs whose number changes:")
print(moved.to_string())
assert moved["shd"] == 0
