"""Records of figures: the numbers and words that they show, not their layout."""

from collections.abc import Callable
from typing import Any

import matplotlib
import pandas as pd

import causaleval_pd as ce
from causaleval_pd import reasoning as cr

from . import cubes, reasoners
from .graphs import random_dags
from .store import add

matplotlib.use("agg")
_SCORES = ce.score_column([[[0, 0.9, 0.1], [0.2, 0, 0.3], [0, 0.1, 0]]], nodes=["A", "B", "C"], encoding="row->column")
_MANY = pd.DataFrame({"truth": "A -> B; B -> C", "estimate": ["A -> B; C -> B", "A -- B; C", "A -> C; B -> C"]})


def _printed() -> pd.DataFrame:
    edges = {"n_nodes": 6, "true_edges": 5, "estimated_edges": 5, "n_runs": 1, "kind": "dag"}
    return ce.from_published(pd.DataFrame({"method": ["PC", "GES"], "shd": [3, 7], **edges}))


#: figures by name, drawn when asked for
FIGURES: dict[str, Callable[..., Any]] = {
    "strata": lambda **how: cubes.kept().ceval.plot.strata("shd", x="density", hue="algorithm", values="raw", **how),
    "distributions": lambda **how: cubes.kept().ceval.plot.distributions("shd", **how),
    "heat_map": lambda **how: ce.plot.heat_map(cubes.kept(), "shd", x="density", y="algorithm", **how),
    "critical_difference": lambda **how: ce.plot.critical_difference(
        cubes.larger().sel(density=[0.2], n=[100]), "shd", "algorithm", **how
    ),
    "forest": lambda **how: ce.plot.forest(
        cubes.kept().ceval.compare("algorithm", "shd", by="all", columns="full"), **how
    ),
    "difference_matrix": lambda **how: ce.plot.difference_matrix(_MANY, **how),
    "expected_curves": lambda **how: ce.plot.expected_curves(
        "adjacency_precision", n_nodes=5, true_edges=[2, 5, 8], **how
    ),
    "hypergraph": lambda **how: ce.plot.hypergraph("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", **how),
    "model_difference": lambda **how: ce.plot.model_difference(
        "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A+B<->D)*(B*C<->G)", **how
    ),
    "score_profile": lambda **how: ce.plot.score_profile("A*b+C<->D", "A+C<->D", n_draws=20, rng=1, **how),
    "quadrant": lambda **how: cr.plot.quadrant(reasoners.quantities(), **how),
    "complexity": lambda **how: cr.plot.complexity(reasoners.quantities(), **how),
    "reliability": lambda **how: cr.plot.reliability(reasoners.quantities(), **how),
}
#: figures whose places come from layouts of libraries or from many sums, which need not repeat bit by bit elsewhere
NOT_RECORDED: dict[str, Callable[..., Any]] = {
    "published": lambda **how: ce.plot.published(cubes.kept(), "shd", _printed(), by="algorithm", **how),
    "difference": lambda **how: ce.plot.difference(*random_dags(2, 1), **how),
    "edge_probabilities": lambda **how: ce.plot.edge_probabilities(_SCORES[0], "A -> B; C", **how),
    "calibration": lambda **how: ce.plot.calibration(
        pd.DataFrame({"truth": ["A -> B; C"], "estimate": _SCORES}), **how
    ),
    "curves": lambda **how: ce.plot.curves(pd.DataFrame({"truth": ["A -> B; C"], "estimate": _SCORES}), **how),
    "lagged_graph": lambda **how: ce.plot.lagged_graph(
        "lags 0..2: X@-1 -> Y; Y -> Z", "lags 0..2: X@-2 -> Y; Y -> Z", **how
    ),
}


def shown(name: str) -> list[dict[str, Any]]:
    """Return what the axes of a figure show."""
    import matplotlib.pyplot as plt

    plt.close("all")
    FIGURES[name]()
    axes = [ax for number in plt.get_fignums() for ax in plt.figure(number).axes]
    found = [
        {
            "labels": [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()],
            "texts": [text.get_text() for text in ax.texts],
            "lines": [line.get_xydata() for line in ax.lines],
            "collections": [len(x.get_offsets()) for x in ax.collections],
            "patches": [x.get_path().vertices if hasattr(x, "get_path") else 0 for x in ax.patches][:20],
        }
        for ax in axes
    ]
    plt.close("all")
    return found


for _name in FIGURES:
    add(f"figure/{_name}", shown, _name)
