"""Columns of scores, their series, verbs, universes, null models and ensembles on random and damaged input."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from run import pick

import causaleval_pd as ce

NAMES = (
    r"\brows?\b|\bcolumns?\b|\bmust\b|\bsources\b|\bnull\b|\buniverse\b|\bcandidates?\b|\bscores?\b|\bmagnitude\b|"
    r"^(?:unknown|nodes|threshold|k|by|weight|log_weight|index)\b|\bencoding\b|\bweights?\b|\bmembers?\b|\blevel\b"
)

NODES = list("ABCD")
NUMBERS = [0.0, 0.5, 1.0, -0.5, 2.0, 1e-300, 1e300, float("nan"), float("inf"), float("-inf")]
OPTIONS: dict[str, list[Any]] = {
    "nodes": [NODES, NODES[:3], ["A", "A", "B", "C"], "ABCD", 3, None, [1, 2, 3, 4], [NODES] * 3],
    "encoding": ["row->column", "column->row", "rows", None, 1],
    "symmetric": [True, False, None, "yes"],
    "kind": ["weight", "probability", "score", "types", None, 2],
}
METRICS = ["auroc", "average_precision", "precision_at_k", "max_f1", "min_hamming", "best_shd"]
METRICS += ["early_precision_ratio", "brier", "log_loss", "calibration_error", "n_candidates"]
CHOICES: dict[str, list[Any]] = {
    "universe": [None, "ordered", "unordered", "ordered_with_diagonal", "beeline", "beeline_sources", "all", 1],
    "sources": [None, ["A"], ["A", "B"], "A", [], ["Z"], [1], 3, np.array(["A", "C"])],
    "undirected": ["both", "none", "ignore", "half"],
    "unscored": ["drop", "last", None],
    "k": [1, 3, 0, 100, 2.5, None],
}
NULLS: list[Any] = [None, "ranking", "permutation", "by_support", "random_scores", "calibrated"]
NULLS += ["degree", 3, ("ranking", {"universe": "unordered"}), ("ranking", {"sources": ["A", "B"]})]
TRUTHS = ["A -> B; B -> C; D", "A; B; C; D", "A -- B; C -> D", "A <-> B; C; D", "A -> B; C", None]


def matrix(rng: np.random.Generator) -> Any:
    d = 4 if rng.random() < 0.8 else int(rng.integers(0, 4))
    values = rng.random((d, d))
    form = rng.integers(9)
    if form == 0:
        return pick(rng, [None, np.nan, 3, "scores", b"x", [[0, 1], [2]], np.zeros((2, 3)), np.zeros((2, 2, 2))])
    if form == 1:
        values = np.triu(np.round(rng.normal(size=(d, d)), 1), 1)
    elif form == 2:
        values = np.array([[pick(rng, NUMBERS) for _ in range(d)] for _ in range(d)]).reshape(d, d)
    elif form == 3:
        values = np.round(values + values.T)
    elif form == 4:
        return pd.DataFrame(values, index=NODES[:d], columns=rng.permutation(NODES[:d]))
    elif form == 5:
        return values.astype(pick(rng, ["float32", "int8", "bool", "object", "U3", "complex"]))
    return values


def column(rng: np.random.Generator, *, plain: bool) -> pd.Series:
    if plain:
        cells = [rng.random((4, 4)) for _ in range(3)]
        return ce.score_column(cells, nodes=NODES, encoding="row->column", kind=pick(rng, ["weight", "probability"]))
    chosen = {name: pick(rng, values) for name, values in OPTIONS.items() if rng.random() < 0.5}
    return ce.score_column([matrix(rng) for _ in range(3)], **({"encoding": "row->column"} | chosen))


def verb(rng: np.random.Generator, *, plain: bool) -> object:
    """Score a table by a metric with random options, mostly with controls."""
    truth = pick(rng, TRUTHS[:3]) if plain else pick(rng, TRUTHS)
    table = pd.DataFrame({"truth": [truth] * 3, "estimate": column(rng, plain=plain)})
    metric: Any = pick(rng, METRICS)
    options = {name: pick(rng, values) for name, values in CHOICES.items() if rng.random() < (0.1 if plain else 0.25)}
    if options:
        metric = ce.tweak(metric, **options)
    if rng.random() < 0.2:
        return table.ceval.evaluate([metric])
    null = pick(rng, NULLS)
    null = ce.null_model(null[0], **null[1]) if isinstance(null, tuple) else null
    return table.ceval.with_controls([metric], null=null, n_draws=5, rng=1, method=pick(rng, ["auto", "simulate"]))


def series(rng: np.random.Generator) -> object:
    """Turn scores into graphs and tables."""
    scores = column(rng, plain=rng.random() < 0.5).score
    threshold, k = pick(rng, [0.5, -1, float("nan"), "a", None]), pick(rng, [0, 2, 100, -1, 1.5, [1, 2, 3], "k"])
    return pick(rng, [lambda: scores.threshold(threshold), lambda: scores.top_k(k), scores.to_frame, scores.to_numpy])()


def ensemble(rng: np.random.Generator) -> object:
    """Pool members, with failed ones and odd weights, and score the result."""
    estimates = [pick(rng, [*TRUTHS, "A o-> B; C; D"]) for _ in range(5)]
    weights = [pick(rng, [1.0, 0.0, 2.5, *NUMBERS[-3:]]) if rng.random() < 0.2 else 1.0 for _ in range(5)]
    table = pd.DataFrame({"run": [1, 1, 1, 2, 2], "truth": "A -> B; B -> C; D", "estimate": estimates, "w": weights})
    settings: dict[str, list[Any]] = {
        "weight": ["w", None, "v"], "rule": ["threshold", "pairwise", "acyclic", "mean"],
        "cyclic": ["missing", "break", 1], "undirected": ["half", "both", "none", "class"],
        "class_of_truth": [None, None, "dag", "cpdag", "pag", []], "failed": ["drop", "empty", "raise"],
        "n_draws": [None, 3, 0, "a"],
    }  # fmt: skip
    chosen = {name: pick(rng, values) for name, values in settings.items() if rng.random() < 0.4}
    pooled = table.ceval.pool(pick(rng, ["run", "run", ["run", "w"], "ran", []]), pick(rng, [(), ["shd"]]), **chosen)
    return pooled.ceval.with_controls([pick(rng, METRICS)], n_draws=5, rng=1)


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    for number in range(60):
        own = np.random.default_rng(rng.integers(2**32))
        call = [partial(verb, plain=True), partial(verb, plain=False), series, ensemble][number % 4]
        yield f"{getattr(call, 'func', call).__name__} {number}", partial(call, own)
