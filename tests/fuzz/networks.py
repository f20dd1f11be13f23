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

import causaleval_pd as ce
from causaleval_pd.fields.causal_kl.networks.structure import Structure, pack_cell

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


def damaged(raw: bytes, rng: np.random.Generator) -> bytes:
    """Cut, insert, double, move or change bytes at random places."""
    for _ in range(int(rng.integers(1, 4))):
        a, b = sorted(rng.integers(0, len(raw) + 1, 2).tolist())
        how = int(rng.integers(7))
        if how == 0:
            raw = raw[:a]
        elif how == 1:
            raw = raw[:a] + raw[min(b, a + 12) :]
        elif how == 2:
            raw = raw[:a] + PIECES[int(rng.integers(len(PIECES)))] + raw[a:]
        elif how == 3:
            raw = raw[:a] + raw[a : a + 60] * 2 + raw[a + 60 :]
        elif how == 4:
            raw = raw[:a] + raw[b:] + raw[a:b]
        elif how == 5 and len(raw):
            raw = raw[: a - 1] + bytes([int(rng.integers(256))]) + raw[a:]
        else:
            old, new = rng.integers(0, len(PIECES), 2).tolist()
            raw = raw.replace(PIECES[old], PIECES[new], 1)
    return raw


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
    key = list(content)[int(rng.integers(3))]
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
    content[key] = values[int(rng.integers(len(values)))]
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
        raw = damaged(BIF.encode(), rng)
        yield f"file: {raw!r}", partial(read_file, "j.bif", raw)
        if rng.random() < 0.2:
            packed = damaged(gzip.compress(raw), rng)
            yield f"compressed: {packed!r}", partial(read_file, "j.bif.gz", packed)
            coded = raw.decode("utf-8", "replace").encode("utf-16")
            yield f"in UTF-16: {coded!r}", partial(read_file, "j.bif", coded)
        packed = damaged(cell, rng)
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
            node = nodes[list(nodes)[int(rng.integers(2))]]
            node[list(node)[int(rng.integers(len(node)))]] = ODD[int(rng.integers(len(ODD)))]
        yield f"dict: {nodes!r}", partial(read_cell, nodes)
