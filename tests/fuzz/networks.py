"""Readers of networks: damaged BIF files, gzip, packed bytes, dicts of bnlearn."""

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from run import damaged, pick

import causaleval_pd as ce
from causaleval_pd.fields.causal_kl.cells import Structure, pack_cell

#: paths of files are in quotes, rows of columns by number
NAMES = r"'.*j\.\w+(?:\.gz)?'|\brow \d+\b"

BIF = """network a { property b c; }
variable A { type discrete [ 2 ] { n, y }; }
variable B { type discrete[3] {"lo", "mid", "hi"}; property x = 1; }
probability ( A ) { table 0.3, 0.7; }
probability ( B | A ) { ( n ) 0.5, 0.25, 0.25; default 0.1 0.2 0.7; } // end
"""
PIECES = [
    b"A", b"B", b"C", b"{", b"}", b"(", b")", b"[", b"]", b"|", b",", b";", b"=", b'"', b"//", b"/*", b"*/", b"%",
    b"\n", b"\x00", b"\xff", b"0.5", b"-1", b"nan", b"1e999", b"99999999999", b"variable ", b"probability ", b"table ",
    b"default ", b"property ", b"(" * 500, b"{" * 500, b"\xef\xbb\xbf",
    "Ω".encode(), "\u2028".encode(),
]  # fmt: skip
ODD: list[Any] = [
    None, [], {}, 0, 1, -1, 0.5, float("nan"), float("inf"), 10**400, "A", "", [0.5, 0.5], [[0.5, 0.5]], ["A"], "AA",
    [None], b"A", {"A": 1}, [1e308, 1e308], [-1, 2], [[0.5], [0.5, 0.5]], 1j, True, ("B",), {"(Intercept)": 1},
    np.zeros((2, 0)), np.ones((2,) * 5) / 2, "\ud800",
]  # fmt: skip


def read_file(name: str, raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        network = ce.as_network(path)
    assert ce.as_network(network.to_bytes()) == network


def read_cell(cell: Any) -> None:
    column = ce.network_column(pd.Series([None, cell], dtype=object))
    assert ce.as_network(column[1]).to_bytes() == column[1]


def forged(rng: np.random.Generator) -> bytes:
    """Return packed bytes with a right digest of a structure that was tampered with."""
    content: dict[str, Any] = {"nodes": ["A", "B"], "states": [["n", "y"], ["n", "y"]], "parents": [[], [0]]}
    key = pick(rng, list(content))
    values: list[Any] = [
        *ODD[:2],
        3,
        "AB",
        None,
        [["n", "y"]],
        [[], [0], [1]],
        [[1], [0]],
        [["n"], ["y", "n"]],
        [[], [7]],
    ]
    content[key] = pick(rng, values)
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    real = Structure(("A", "B"), (("n", "y"), ("n", "y")), ((), (0,)))
    object.__setattr__(real, "text", text)
    return pack_cell(real, rng.random(int(rng.integers(0, 9))))


TRUTH = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]})


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    cell = TRUTH.to_bytes()
    for stop in range(0, len(BIF), 7):
        yield f"cut at {stop}", partial(read_file, "j.bif", BIF.encode()[:stop])
    while True:
        pieces = [*PIECES, rng.bytes(1), rng.bytes(1)]
        raw = damaged(BIF.encode(), pieces, rng)
        yield f"file: {raw!r}", partial(read_file, "j.bif", raw)
        if rng.random() < 0.2:
            packed = damaged(gzip.compress(raw), pieces, rng)
            yield f"compressed: {packed!r}", partial(read_file, "j.bif.gz", packed)
            coded = raw.decode("utf-8", "replace").encode("utf-16")
            yield f"in UTF-16: {coded!r}", partial(read_file, "j.bif", coded)
        packed = damaged(cell, pieces, rng)
        yield f"packed: {packed!r}", partial(read_cell, packed)
        packed = forged(rng)
        yield f"forged: {packed!r}", partial(read_cell, packed)
        nodes: dict[str, Any] = {
            "A": {"parents": [], "prob": [0.3, 0.7], "states": ["n", "y"]},
            "B": {"parents": ["A"], "prob": [[0.9, 0.2], [0.1, 0.8]], "states": ["n", "y"]},
        }
        if rng.random() < 0.5:
            nodes = {
                "A": {"parents": [], "coefficients": {"(Intercept)": 1.0}, "sd": 2.0},
                "B": {"parents": ["A"], "coefficients": [1.0, 0.5], "sd": 1.0},
            }
        for _ in range(int(rng.integers(1, 3))):
            node = pick(rng, list(nodes.values()))
            node[pick(rng, list(node))] = pick(rng, ODD)
        yield f"dict: {nodes!r}", partial(read_cell, nodes)
