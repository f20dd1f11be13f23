"""Readers of graphs: damaged texts, matrices, edge lists, networkx and causal-learn objects, and packed bytes."""

import itertools
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from run import pick

import causaleval_pd as ce
from causaleval_pd.graphs.column import coerce_graphs

NAMES = r"\brow \d+\b|^file |^(?:nodes|encoding|kind|rename|index|values|unknown encoding|unknown kind)\b"

TEXTS = [
    "A -> B; B -- C; D", "A->B->C<-D", "IL-6 -> CRP; blood pressure -- stroke", "[A][B|A][C|A:B]", "[A][B]", "A-B",
    "A B", "X2|X1", "—", "{}", "", "'a -> b' -> \"c;d\"", "'' -> A; '' -- A", "A <-> B", "A o-> B", "A o-o B", "\ud800",
    "A -> \ud800", "nan", "b'\\xce'", "Graph('A')", "[[0 1]\n [0 0]]", "dag { A -> B }", "A → B", "A\x00 -> B",
    "A\n->B",
    "DiGraph with 2 nodes and 1 edges", "Graph Nodes:\nX1;X2", "1. A --> B", "A ; ; B", "->", "--", "A - B",
    "<NA>", "\u2028",
]  # fmt: skip
TEXTS += [
    "Graph Nodes:\nX1;X2\n\nGraph Edges:\n1. X1 --> X2 dd nl\n2. X1 <-> X2\n", "pag { A @-> B @-@ C }",
    'dag {\nbb="0,0,1,1"\nX [exposure,pos="0,1"]\nX -> {Y Z} <- U [beta=0.3]\n}',
    'digraph { A -> B [dir=both, arrowtail=odot, arrowhead=normal]; C; 0 [label="X"] }', "graph { A -- B }",
    "graph [ directed 1 node [ id 0 label \"A\" ] node [ id 1 ] edge [ source 0 target 1 ] ]",
    '<graphml><key id="d0" attr.name="type"/><graph><node id="A"/><node id="B"/><edge source="A" target="B">'
    '<data key="d0">'
    "<-o</data></edge></graph></graphml>",
    '{"nodes": ["A", "B"], "edges": [{"from": "A", "edge": "o->", "to": "B"}]}',
    "network n {\n}\nvariable A {\n}\nvariable B {\n}\nprobability ( A ) {\n}\nprobability ( B | A ) {\n}\n",
    "<BIF><VARIABLE><NAME>A</NAME></VARIABLE><DEFINITION><FOR>A</FOR></DEFINITION></BIF>",
]  # fmt: skip
PIECES = [
    "->", "<-", "--", "-", "<->", "o->", ";", "\n", " ", "  ", "[", "]", "|", ":", "'", '"', "''", "A", "B", "é",
    "\ud800",
    "\x00", "{}", "\t", "o", "~", "~~", "@->", "0*", "digraph {", "dag {", "}", "[dir=both]", "graph [", "1. ",
    "-->", "<",
    "/*", "//", "#", "=", "—", "→", "x" * 50, "-" * 30, "[" * 20, "<" * 20, "\u2028",
]  # fmt: skip
LABELS: list[Any] = [
    "A", "B", "C", "", "A-B", 0, 1, 10**400, -1, True, 1.0, float("nan"), float("inf"), None, pd.NA, pd.NaT, b"A",
    ("A", 1),
    frozenset("A"), "\ud800", "A\x00B", np.int64(3), np.float64(2.0), np.str_("N"), pd.Timestamp("2020-01-01"), 1j,
    Ellipsis,
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 0.5, 1e-300, -0.0, float("nan"), float("inf"), -float("inf"), True, 10**400, 2**63, None, "1",
    1j, b"1",
    pd.NA, np.ma.masked, [1],
]  # fmt: skip
WORDS: list[Any] = [
    "directed", "undirected", "<--", "-->", "bi", "confounded", "bidirected", "activation", "", None, 3, 1.5, [1],
    {"A": "-"},
    {"A": "o", "B": ">"}, {"A": ">", "B": ">"}, {"A": "-", "B": ">"}, float("nan"), b"->", True, "none", "both",
    "\ud800",
]  # fmt: skip
DTYPES = ["bool", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "c16", "O", "U1", "S1", "M8[s]", "m8[s]"]
ENCODINGS: list[Any] = [None, *ce.list_encodings().index]


class Strange:
    """An object whose attributes are set at will; an exception is raised where one is read."""

    def __init__(self, **attributes: Any) -> None:
        self.given = attributes

    def __getattr__(self, name: str) -> Any:
        if name == "given" or name not in self.given:
            raise AttributeError(name)
        if isinstance(self.given[name], Exception):
            raise self.given[name]
        return self.given[name]


def label(rng: np.random.Generator) -> Any:
    return pick(rng, LABELS if rng.random() < 0.2 else list("ABCD"))


def text(rng: np.random.Generator) -> str:
    made = pick(rng, TEXTS)
    for _ in range(rng.integers(4)):
        at, end = sorted(rng.integers(len(made) + 1, size=2))
        kept = made[end:] if rng.random() < 0.3 else made[at:]
        made = made[:at] + pick(rng, PIECES) * int(rng.integers(1, 3)) + kept
    return made


def matrix(rng: np.random.Generator) -> Any:
    d = int(rng.integers(5))
    shape = pick(rng, [(d, d)] * 8 + [(d,), (d, d + 1), (d, d, d), ()])
    values: Any = np.zeros(shape, object)
    values = (rng.random(shape) < 0.3).astype(int)
    if rng.random() < 0.6:
        try:
            values = np.asarray(values).astype(pick(rng, DTYPES))
        except (ValueError, TypeError):
            values = np.asarray(values)
    values = np.array(values)
    for _ in range(rng.integers(3)):
        if values.size:
            try:
                values.flat[int(rng.integers(values.size))] = pick(rng, NUMBERS)
            except (ValueError, TypeError, OverflowError):
                values = values.astype(object)
    form = int(rng.integers(9))
    labels = [pick(rng, LABELS) for _ in range(d)]
    try:
        if form == 1 and values.ndim == 2:
            return pd.DataFrame(values)
        if form == 2 and values.ndim == 2 and values.shape == (d, d):
            return pd.DataFrame(values, index=pd.Index(labels, dtype=object), columns=pd.Index(labels, dtype=object))
        if form == 3:
            return np.ma.masked_array(values, mask=rng.random(shape) < 0.1)
        if form == 4 and values.ndim == 2:
            return np.asmatrix(values)
        if form == 5 and values.ndim == 2:
            return pick(rng, [sp.csr_array, sp.coo_array, sp.csc_matrix, sp.lil_array, sp.dok_array])(values)
        if form == 6:
            return sp.coo_array(([1], ([0], [1])), shape=(10 ** int(rng.integers(1, 10)), 10**9))
        if form == 7 and values.ndim == 2 and values.shape == (d, d):
            names = [f"X{i}" for i in range(d)]
            return pd.DataFrame(values, names, rng.permutation(names)).convert_dtypes()
    except (ValueError, TypeError, OverflowError, AssertionError):
        pass
    return values


def marks(rng: np.random.Generator) -> Any:
    """A matrix of codes, or of tigramite's strings."""
    d = int(rng.integers(5))
    if rng.random() < 0.5:
        signs = ["", "", "-->", "<--", "o->", "<-o", "o-o", "<->", "+->", "<-+", "x-x", "---", "-?>"]
        shape = pick(rng, [(d, d)] * 4 + [(d, d, 1), (d, d, 2), (d, d, 0), (d, d + 1), (d, d, 1, 1), (d,)])
        return rng.choice(signs, size=shape)
    values = np.zeros((d, d), int)
    for i, j in itertools.combinations(range(d), 2):
        values[i, j], values[j, i] = pick(
            rng, [(0, 0), (2, 3), (2, 1), (1, 1), (-1, 1), (2, 2), (21, 20), (4, 5), (0, 1), (10, 10)]
        )
    return values


def edge_table(rng: np.random.Generator) -> Any:
    columns = pick(
        rng,
        [
            ["from", "edge", "to"],
            ["source", "target"],
            ["Variable 1", "Dependency", "Variable 2"],
            ["from", "to", "weight"],
        ],
    )
    signs = ["->", "o->", "<->", "--", "directed", "?", None, 1, 0.5, "A", "B"]
    rows = [
        [label(rng) if x in columns[:1] + columns[-1:] else pick(rng, signs) for x in columns]
        for _ in range(rng.integers(4))
    ]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def edge_list(rng: np.random.Generator) -> Any:
    edges: list[Any] = [(label(rng), label(rng)) for _ in range(rng.integers(5))]
    if rng.random() < 0.3:
        edges.append(
            pick(rng, [("A",), ("A", "B", "C"), "AB", None, 3, ["A", "B"], ([1], "A"), ({}, "A"), (edges, edges)])
        )
    return pick(rng, [list, tuple])(edges)


def networkx_graph(rng: np.random.Generator) -> Any:
    graph = pick(rng, [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])()
    for _ in range(rng.integers(6)):
        u, v = label(rng), label(rng)
        keys = [key for key in ("type", "kind", "edge_type", "marks", "weight", "dir", "colour") if rng.random() < 0.15]
        attributes = {key: pick(rng, NUMBERS if key == "weight" else WORDS) for key in keys}
        if u is not None and v is not None:
            graph.add_edge(u, v, **attributes)
    return graph


def like_causal_learn(rng: np.random.Generator) -> Any:
    values, labels = matrix(rng), [pick(rng, LABELS) for _ in range(rng.integers(5))]
    if rng.random() < 0.7 and isinstance(values, np.ndarray) and values.ndim:
        labels = [f"X{i}" for i in range(len(values))]
    faults = [RuntimeError("broken"), KeyError("x"), ValueError("no")]
    nodes = pick(rng, [labels, tuple(labels), None, 3, *faults])
    inner = Strange(
        graph=pick(rng, [values, values, values, None, *faults]), nodes=nodes, get_node_names=lambda: labels
    )
    return inner if rng.random() < 0.5 else Strange(G=pick(rng, [inner, inner, None, *faults]))


def packed(rng: np.random.Generator) -> Any:
    raw = bytearray(ce.as_graph(pick(rng, ["A -> B; C", "A -- B", "{}", "A -> B -> C -> A"])).to_bytes())
    for _ in range(rng.integers(4)):
        raw[int(rng.integers(len(raw)))] = int(rng.integers(256))
    if rng.random() < 0.3:
        raw = raw[: int(rng.integers(len(raw) + 1))]
    return bytes(raw)


def strange(rng: np.random.Generator) -> Any:
    return pick(
        rng,
        [
            3, 0.5, True, object(), {"A": ["B"]}, {}, set(), {("A", "B")}, range(3), bytearray(b"x"),
            memoryview(b"x"), int,
            Strange(tocoo=RuntimeError("broken")), Strange(tocoo=None, shape=None), Strange(tocoo=len, shape=(2, 2)),
            pd.Series([1]), pd.Timestamp("2020-01-01"), np.array("A -> B"), np.datetime64("NaT"),
            np.bytes_(b"\xce"), nx,
            np.float64("nan"), np.ma.masked, len, iter("A"), b"A -> B", pa.array([1]), pd.Categorical(["A"]),
        ],
    )  # fmt: skip


CELLS: list[Callable[[np.random.Generator], Any]] = [
    text, text, text, matrix, matrix, marks, marks, edge_table, edge_list,
    networkx_graph, like_causal_learn, packed, strange,
]  # fmt: skip


WRITTEN = ["dagitty", "DOT", "GraphML", "JSON", "model string", "Tetrad text", "edge string"]


def table(rng: np.random.Generator) -> str:
    """The text of a matrix or of a table of edges, damaged at times."""
    separator = pick(rng, [" ", ",", ";", "\t"])
    values = [
        [str(pick(rng, [0, 0, 1, 2, 3, -1, "A", "0.5", "", '"'] if rng.random() < 0.1 else [0, 1])) for _ in range(3)]
        for _ in range(3)
    ]
    head = pick(rng, [[], ["A", "B", "C"], ["", "A", "B", "C"], ["from", "edge", "to"], ["A", "A", "B"]])
    return "\n".join(separator.join(row) for row in [head, *values][: int(rng.integers(1, 6))])


def arguments(rng: np.random.Generator, cell: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rng.random() < 0.25:
        d = cell.shape[0] if isinstance(getattr(cell, "shape", None), tuple) and cell.shape else 3
        named = [
            list("ABCDEFG")[: min(d, 7)],
            [pick(rng, LABELS) for _ in range(rng.integers(4))],
            [["A", "B"]],
            "AB",
            3,
        ]
        found["nodes"] = pick(
            rng, [*named, ce.graph_column(["A; B"]), pd.Series([["A"]]), [None], [[None]], {}, {"A": 1}]
        )
    if rng.random() < 0.7:
        declared = [*ENCODINGS, *["row->column"] * 20, [pick(rng, ENCODINGS)], "x", 3, [3]]
        found["encoding"] = pick(rng, declared)
    if rng.random() < 0.2:
        found["kind"] = pick(rng, ["dag", "cpdag", *["pdag", "digraph"] * 3, "mag", 3, ["dag"], [3], [None]])
    if rng.random() < 0.1:
        found["rename"] = pick(rng, [{"A": "Z"}, {"A": 1.5}, {"A": "B"}, 3, [], {1: ["x"]}])
    return found


def shown(value: Any) -> str:
    try:
        return repr(value)[:120].replace("\n", " ")
    except Exception:
        return type(value).__name__


def read(cell: Any, given: dict[str, Any]) -> None:
    """Read a column, and what was read back from its bytes and its text."""
    cells = np.empty(1, object)
    cells[0] = cell
    column = ce.graph_column(list(cells), **given)
    again = ce.graph_column(column.graph.to_strings(), kind=column.graph.kind.astype(object))
    if not again.equals(column) or not ce.graph_column(column).equals(column):
        raise RuntimeError(f"{column.graph.to_strings()[0]!r} is not read back")


def write(cell: Any, given: dict[str, Any], encoding: str) -> None:
    """Write a column in an encoding, and read what was written."""
    try:
        column = ce.graph_column([cell], **given)
    except (ValueError, TypeError):
        return
    text = column.graph.to_text(encoding) if column.notna().all() else column
    if not ce.graph_column(text, encoding=encoding, kind=column.graph.kind.astype(object)).equals(column):
        raise RuntimeError(f"{column.graph.to_strings()[0]!r} is not read back from {text[0]!r}")


def read_file(content: str, given: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "graph.txt")
        file.write_text(content, encoding="utf-8", errors="surrogatepass")
        ce.read_graphs(file, **given)


def coerce(cell: Any) -> None:
    cells = np.empty(2, object)
    cells[1] = cell
    coerce_graphs(pd.Series(cells, name="truth", dtype=object))


def packed_column(cells: list[bytes | None], dtype: Any) -> None:
    column = pd.Series(cells, dtype=pd.ArrowDtype(dtype))
    ce.graph_column(column).graph.to_strings()
    ce.evaluate(pd.DataFrame({"truth": column, "estimate": column}), ["shd"])


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield calls that return, or raise ValueError or TypeError with the row."""
    for number in itertools.count():
        cell = CELLS[number % len(CELLS)](rng)
        given = arguments(rng, cell)
        yield f"graph_column([{shown(cell)}], {shown(given)})", partial(read, cell, given)
        if number % 6 == 0:
            encoding = pick(rng, WRITTEN)
            yield f"to_text({encoding!r}) of {shown(cell)}, {shown(given)}", partial(write, cell, given, encoding)
            content = table(rng) if number % 12 else text(rng)
            yield f"read_graphs({content!r}, {shown(given)})", partial(read_file, content, given)
        if number % 5 == 0:
            yield f"coerce_graphs({shown(cell)})", partial(coerce, cell)
        if number % 7 == 0:
            cells = [packed(rng) if rng.random() < 0.9 else None for _ in range(3)]
            dtype = pick(rng, [pa.binary(), pa.large_binary(), pa.binary_view()])
            yield f"packed column {cells}", partial(packed_column, cells, dtype)
