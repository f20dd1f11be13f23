"""Verbs on tables of graphs with latent confounders: marks, classes, latent nodes and null models at random."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from run import pick

import causaleval_pd as ce
from causaleval_pd.graphs.kernels.planes import KINDS

NAMES = (
    r"\brows?\b|\bcolumns?\b|\bcontext\b|\blatents?\b|\bnull\b|\bmust\b|\bcontrol_kind\b"
    r"|^(?:target|undirected|bidirected|unknown)\b"
)

OBSERVED, HIDDEN = list("ABCD"), ["L", "M"]
SIGNS = ["->", "<-", "<->", "o->", "<-o", "o-o", "--", "o--", "--o"]
METRICS = [
    *["shd", "arrowhead_f1", "tail_mcc", "circle_precision", "bidirected_recall", "edge_confusion", "v_structure_f1"],
    *["arrow_claim_precision", "tail_claim_recall", "latent_f1", "definite_ancestor_recall", "possible_ancestor_f1"],
    *["visible_precision", "estimated_visible", "ancestor_confusion", "separation_ancestor", "separation_zl"],
    *["adjustment_distance", "adjacency_f1", "true_density", "n_nodes"],
]
LATENTS: list[Any] = [
    *[["L", "M"], ["L"], [], (), {"M"}, "L; M", "L", "hidden", ("hidden", {"x": ["L"]}), None, np.array(["L", "M"])],
    *[
        ["Q"],
        ["A"],
        ["A", "B", "C", "D", "L", "M"],
        ["L", "L"],
        [["L"]],
        [1],
        3,
        b"L",
        float("nan"),
        {"L": 1},
        object(),
    ],
]
CELLS: list[Any] = [["L", "M"], ("L",), "L; M", "L;M;", "", [], ["Q"], [None], None, 3, {"L"}, "L; L", b"L"]
TARGETS: list[Any] = ["pag", "mag", "admg", "dag", None, 1, "", ["pag"]]
NULLS: list[Any] = [
    *["edges", "permutation", "orientation", "oracle_skeleton", "degree"],
    ("latent_dag", {"n_latents": 2}), ("latent_dag", {"n_latents": 1, "density": 0.4}), ("latent_dag", {}),
    ("edges", {"bidirected": "free"}), ("orientation", {"bidirected": "none"}),
]  # fmt: skip


def dag(rng: np.random.Generator) -> str:
    nodes = rng.permutation([*OBSERVED, *HIDDEN]).tolist()
    edges = [f"{a} -> {b}" for a, b in itertools.combinations(nodes, 2) if rng.random() < 0.4]
    return "; ".join([*edges, *nodes])


def marks(rng: np.random.Generator) -> str:
    signs = SIGNS[: int(rng.integers(1, len(SIGNS) + 1))]
    density = rng.random()
    edges = [f"{a} {pick(rng, signs)} {b}" for a, b in itertools.combinations(OBSERVED, 2) if rng.random() < density]
    return "; ".join([*edges, *(OBSERVED if rng.random() < 0.97 else [*OBSERVED, "L"])])


def table(rng: np.random.Generator) -> pd.DataFrame:
    truths = [dag(rng) for _ in range(3)]
    if rng.random() < 0.5:  # right projections: legal graphs of every class
        column = ce.graph_column(truths)
        convert = pick(rng, ["mag", "pag", "admg"])
        estimates = getattr(column.graph, convert)(latents=HIDDEN)
    else:
        words = [pick(rng, [None, *KINDS]) if rng.random() < 0.1 else "mixed" for _ in range(3)]
        estimates = ce.graph_column([marks(rng) for _ in range(3)], kind=words)
    cells = [pick(rng, CELLS[:4] if rng.random() < 0.8 else CELLS) for _ in range(3)]
    return pd.DataFrame({"truth": truths, "estimate": estimates, "hidden": cells, "a": ["x", "x", "y"]})


def verb(name: str, seed: int) -> None:
    """Make a table and call a verb on it."""
    rng = np.random.default_rng(seed)
    runs = table(rng)
    if rng.random() < 0.1:
        runs["truth"], runs["estimate"] = runs["estimate"], runs["truth"]
    if rng.random() < 0.1:
        runs.loc[0, "estimate"] = None
    context = {"latents": HIDDEN if rng.random() < 0.7 else pick(rng, LATENTS)}
    if rng.random() < 0.2:
        context["target"] = pick(rng, TARGETS)
    if rng.random() < 0.1:
        context["undirected"] = pick(rng, ["tail", "circle", "none", 1])
    chosen = rng.choice(METRICS, size=rng.integers(1, 4), replace=False).tolist()
    options: dict[str, Any] = {"context": context if rng.random() < 0.9 else None}
    options["invalid"] = pick(rng, ["raise", "nan", "nan", "nan"])
    if name == "evaluate":
        ce.evaluate(runs, chosen, **options)
        return
    null = pick(rng, NULLS)
    options["null"] = null if isinstance(null, str) else ce.null_model(null[0], **null[1])
    if rng.random() < 0.5:
        options["control_kind"] = pick(rng, ["pag", "pag", "mag", "dag"])
    if name == "cube":
        options["by"] = pick(rng, [["a"], ["true_edges"], ["a", "true_density"]])
    scored = [m for m in chosen if ce.get_metric(m).direction is not None] or ["shd"]
    getattr(ce, name)(runs, scored, n_draws=5, rng=1, **options)


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    while True:
        name, seed = pick(rng, ["evaluate", "evaluate", "with_controls", "cube"]), int(rng.integers(1 << 30))
        yield f"{name}, table {seed}", partial(verb, name, seed)
