"""Verbs with wrong types and values for one or two of their keywords, and tables with junk in a cell or column."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from run import pick

import causaleval_pd as ce

# what a message names: row or column, what was found or expected
NAMES = (
    r"\b(rows?|columns?|stratum|strata|unknown|must|expected|needs?|found|takes?|cannot|impossible|only|both)\b"
    r"|names no|name it|0-d array"
)

RUNS = ce.datasets.runs().groupby(["algorithm", "density"]).head(3).query("n == 100").reset_index(drop=True)
CUBE = RUNS.ceval.cube(["shd"], by=["algorithm", "density"], n_draws=19, rng=1)
SIX_TRUTHS = ce.datasets.runs().query("density == 0.2 and n == 100 and replicate < 6")
SIX_TRUTHS = SIX_TRUTHS.ceval.cube(["shd"], by=["algorithm"], n_draws=19, rng=1)
SUMMARY = CUBE.ceval.summary()
PRINTED = pd.DataFrame({"n_nodes": 6, "true_edges": [5, 6], "estimated_edges": [4, 6], "adjacency_recall": [0.6, 0.5]})

DATA = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 10)), columns=RUNS["truth"].graph.nodes[0])
KNOWN = {"required": ["A -> B"], "forbidden": ["C -> A"], "tiers": [["A"], ["B", "C"]]}

VERBS: dict[str, Callable[..., object]] = {
    "evaluate": partial(ce.evaluate, RUNS, metrics=["shd"]),
    "with_controls": partial(ce.with_controls, RUNS, metrics=["shd"], n_draws=9, rng=1),
    "with_baselines": partial(ce.with_baselines, RUNS, baselines=["empty"], context={"data": DATA}, rng=1),
    "icpdag": RUNS["truth"].graph.icpdag, "Knowledge": partial(ce.Knowledge, **KNOWN),
    "baseline": partial(ce.baselines.var_sort_regress, DATA),
    "threshold": partial(ce.baselines.correlation_threshold, DATA),
    "cube": partial(ce.cube, RUNS, metrics=["shd"], by=["algorithm"], n_draws=9, rng=1),
    "summary": partial(ce.summary, CUBE), "compare": partial(ce.compare, CUBE, dim="algorithm"),
    "model": partial(ce.model, SIX_TRUTHS, formula="shd ~ algorithm"),
    "rank_test": partial(ce.rank_test, CUBE, dim="algorithm"),
    "concat": partial(ce.concat, [CUBE.isel(algorithm=[0]), CUBE.isel(algorithm=[1, 2])], "algorithm"),
    "pool": partial(ce.pool, RUNS, by=["kind", "algorithm", "density"], metrics=["shd"]),
    "placebo": partial(ce.placebo, RUNS, rng=1), "wide": partial(ce.wide, SUMMARY, columns="algorithm"),
    "style": partial(ce.style, SUMMARY),
    "expected_metric": partial(ce.expected_metric, "shd", n_nodes=5, true_edges=4, estimated_edges=3),
    "skeleton_test": partial(ce.skeleton_test, tp=2, true_edges=4, estimated_edges=3, n_nodes=5),
    "from_published": partial(ce.from_published, PRINTED, n_draws=50, rng=1),
    "control_distribution": partial(
        ce.control_distribution, "A -> B; C", n_edges=1, kind="dag", observed={"shd": 1}, n_draws=9, rng=1
    ),
}  # fmt: skip
JUNK: list[object] = [
    None, True, False, 0, -1, 3, 2**70, -0.5, 1.5, float("nan"), float("inf"), 1j, "", "x", "shd", "algorithm", "kind",
    "truth", "\x00", "\ud800", b"shd", [], [None], ["shd", "shd"], ["x"], [["shd"]], (), {}, {"shd": 1}, {1: 2}, set(),
    object(), int, len, ..., np.nan, np.array([]), np.array([1.5, 2.0]), np.array("shd"), np.int64(-7), pd.NA, pd.NaT,
    pd.Timestamp("2020-01-01"), pd.Series(["shd"]), pd.DataFrame(), range(3), slice(3), iter(["shd"]), RUNS,
]  # fmt: skip
CELLS: list[object] = [
    None, "", "A", "A -> ", "A -> A", "A -> B; B -> A", 0, 1.5, float("nan"), b"", b"\xce\x01", [],
    [[0, 1]], {"A": 1}, np.eye(3), np.array([]), object(), pd.NA, True,
    pd.DataFrame([[0, 1], [0, 0]]), "A <-> B", "\ud800 -> B",
]  # fmt: skip


def keywords(verb: Callable[..., object]) -> list[str]:
    function = verb.func if isinstance(verb, partial) else verb
    given = len(verb.args) if isinstance(verb, partial) else 0
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, of in inspect.signature(function).parameters.items() if of.kind in kinds][given:]


def shown(value: object) -> str:
    return f"{type(value).__name__} {value!r}"[:80].replace("\n", " ")


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    names = list(VERBS)
    while True:
        verb = pick(rng, names)
        if rng.random() < 0.8:
            known = keywords(VERBS[verb])
            options = rng.choice(known, size=min(len(known), rng.integers(1, 3)), replace=False).tolist()
            settings = {option: pick(rng, JUNK) for option in options}
            label = f"{verb}({', '.join(f'{option}={shown(value)}' for option, value in settings.items())})"
            yield label, partial(VERBS[verb], **settings)
        else:
            table, column = RUNS.head(4), pick(rng, ["truth", "estimate", "algorithm"])
            cells = list(table[column])
            cells[rng.integers(4)] = pick(rng, CELLS)
            table = table.assign(**{column: pd.Series(cells, dtype=object)})
            verb = pick(rng, ["evaluate", "with_controls", "cube"])
            settings = {} if verb == "evaluate" else {"n_draws": 9, "rng": 1}
            settings |= {"by": ["algorithm"]} if verb == "cube" else {}
            label = (
                f"{verb}, {column}: {[shown(cell) for cell in cells if not isinstance(cell, bytes) or len(cell) < 9]}"
            )
            yield label, partial(getattr(ce, verb), table, ["shd"], **settings)
