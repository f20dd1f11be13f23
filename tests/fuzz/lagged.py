"""Readers of lagged graphs: arrays, tables, mappings, networkx graphs, damaged texts and packed bytes, any options."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from run import pick

import causaleval_pd as ce
from causaleval_pd.fields.time_series.formats import ENCODINGS

NAMES = r"\brow \d+\b|^(?:nodes|encoding|kind|unknown encoding|m.._lag|first_lag|threshold|alpha|conflict|pass )"

CELL = ce.as_lagged("X@-1 -> Y; Y -> Z; Z@-2 <-> X").to_bytes()
VALUES: list[Any] = [
    0, 1, -1, 2, 0.5, float("nan"), float("inf"), None, pd.NA, True, 10**400, 2j, object(), b"x", "", "X", "-->",
    "o-o", "x-x", (0, -1), ("X", -1), [], {}, pd.Timestamp("2020-01-01"), "lags 0..1: X@-1 -> Y", "X@-1 -> Y@-2",
]  # fmt: skip
SIGNS = ["", "-->", "<--", "o-o", "<->", "x-x", "o->", "+->", "foo"]
PIECES = ["X", "Y", "@-1", "@0", "@1", " -> ", "<->", " o-> ", "--", "; ", "lags ", "0..1: ", '"', "\0", "\ud800"]
NODES = ["X_lag1", "Y_lag0", "X_lag0", "Z", ("x", -1), ("x", 0), ("y", 0), ("y", 1), 3]
OPTIONS: dict[str, list[Any]] = {
    "encoding": [*ENCODINGS, "other"],
    "nodes": [["X", "Y"], ["X", "Y", "Z"], [0, 1], ["X", "X"], "XY", 3],
    "threshold": [0, 0.5, -1, "a"], "alpha": [0.05, 2], "min_lag": [0, 1, 2], "max_lag": [0, 3, -1, 10**9],
    "first_lag": [0, 1, True], "kind": ["ts_dag", "ts_pag", "dag"], "conflict": ["circle", "raise", None],
}  # fmt: skip


def array(rng: np.random.Generator) -> np.ndarray:
    shape = tuple(rng.integers(0, 4, pick(rng, [0, 1, 2, 3, 3, 3, 4])).tolist())
    n = int(np.prod(shape))
    kind = pick(rng, ["U", "float", "int", "bool", "object"])
    if kind == "U":
        return np.array([pick(rng, SIGNS) for _ in range(n)], "U3").reshape(shape)
    if kind == "object":
        cells = np.empty(n, object)
        cells[:] = [pick(rng, VALUES) for _ in range(n)]
        return cells.reshape(shape)
    return np.array([pick(rng, [0, 1, 0, 1, 0.3]) for _ in range(n)]).reshape(shape).astype(kind)


def table(rng: np.random.Generator) -> pd.DataFrame:
    names = ["source", "target", "lag", "weight", "p", "link", "L1.X", "X"]
    chosen = [name for name in names if rng.random() < 0.6]
    n = int(rng.integers(0, 4))
    odd = rng.random() < 0.5
    columns = {
        x: pd.Series([pick(rng, VALUES if odd else [0, 1, "X", 2]) for _ in range(n)], dtype=object) for x in chosen
    }
    found = pd.DataFrame(columns)
    return found.set_axis([pick(rng, ["L1.X", "L1.Y", "const", 3]) for _ in range(len(found))]) if odd else found


def mapping(rng: np.random.Generator) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for _ in range(rng.integers(0, 3)):
        place = pick(rng, ["X", 0, None]), pick(rng, [0, -1, 1, "a"])
        links = [[(place, pick(rng, VALUES), None)], {place: pick(rng, [*SIGNS, 3])}, 3, [3], [()]]
        found[pick(rng, ["X", "Y", 0, 1, -1, None])] = pick(rng, links)
    return found


def graph(rng: np.random.Generator) -> nx.DiGraph:
    found = nx.DiGraph()
    for _ in range(rng.integers(0, 4)):
        found.add_edge(pick(rng, NODES), pick(rng, NODES), weight=pick(rng, [0, 0.5, None, "a"]))
    return found


def damaged(rng: np.random.Generator) -> bytes:
    raw = bytearray(CELL)
    for _ in range(rng.integers(1, 4)):
        raw[rng.integers(len(raw))] = rng.integers(256)
    return bytes(raw[: pick(rng, [len(raw)] * 3 + [int(rng.integers(len(raw)))])])


def text(rng: np.random.Generator) -> str:
    return "".join(pick(rng, PIECES) for _ in range(rng.integers(1, 10)))


MAKERS: list[Callable[[np.random.Generator], Any]] = [
    array, array, table, mapping, graph, damaged, text, lambda rng: pick(rng, VALUES),
    lambda rng: (array(rng), array(rng)),
]  # fmt: skip


def read(cell: Any, options: dict[str, Any]) -> None:
    column = ce.lagged_column([cell, None], **options)
    strings = column.lagged.to_strings()
    assert ce.lagged_column(strings, kind=column.lagged.kind[0] if column.notna()[0] else None).equals(column)
    column.lagged.summary(two_cycles="undirected")


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    for _ in range(400):
        cell = pick(rng, MAKERS)(rng)
        options = {name: pick(rng, values) for name, values in OPTIONS.items() if rng.random() < 0.25}
        yield f"{cell!r} {options}", partial(read, cell, options)
