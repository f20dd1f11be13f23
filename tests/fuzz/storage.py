"""Readers of what is on disk: damaged tasks, published tables and printed values."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from causaleval_pd.reasoning import (
    make_tasks,
    parse_matrix,
    parse_printed,
    read_published,
    read_published_quantities,
    read_tasks,
    write_tasks,
)

#: files and folders by name, cells of published tables as such
NAMES = r"\bj\.\w+|\bout(?:\.partial)?\b|tasks/\w+\.parquet|^a cell\b|^expected\b|^rows contradict"

FACTUAL = (
    "Context ID,Sample ID,Effect,Context,Question,True\n0,0,Y,X is on.,Is Y on?,True\n0,1,Y,X is off.,Is Y on?,0\n"
)
RAW = (
    "Context ID,Sample ID,DAG adjacency matrix,DAG nodes,CCT nodes,Bernoulli parameters,Causal context,Sample context\n"
    "0,0,\"[[0. 1.], [0. 0.]]\",\"['X', 'Y']\",\"['X', 'Y']\",\"[np.float64(0.5), 0.25]\",X makes Y.,X is on.\n"
)
QUANTITIES = json.dumps({"0": {"('X', 'Y')": 0.25, "[('X', 'Y'), ('Y', 'Z')]": None}, "1": {"('X', 'Z')": 1}})
PRINTED = [
    "{('X', 'Y'): np.float64(0.25), 'n': [1 2]}",
    "[[0. 1.], [0. 0.]]",
    "array([1, 2])",
    "'a\\n\"b'",
    "(1, (2,), [])",
]
PIECES = [
    b"[", b"]", b"(", b")", b"{", b"}", b",", b":", b"'", b'"', b"\\", b"...", b"np.float64(", b"array(", b"nan",
    b"inf", b"1e999", b"9" * 5000, b"None", b"True", b"\n", b"\x00", b"\xff", b"[" * 30, b"(" * 2000, b'"' * 3, b"0,0,",
    b"\r", b"NaN", b"null", b"Infinity", b"-", b".", b"X", b"3", b"\xed\xa0\x80", b"\\ud800",
]  # fmt: skip


def damaged(raw: bytes, rng: np.random.Generator) -> bytes:
    """Cut, insert, double or change bytes at random places."""
    for _ in range(int(rng.integers(1, 4))):
        a, b = sorted(rng.integers(0, len(raw) + 1, 2).tolist())
        how = int(rng.integers(5))
        piece = PIECES[int(rng.integers(len(PIECES)))]
        raw = [raw[:a], raw[:a] + raw[min(b, a + 9) :], raw[:a] + piece + raw[a:], raw[:b] + raw[a:], b""][how] or (
            raw[: max(a - 1, 0)] + bytes([int(rng.integers(256))]) + raw[a:]
        )
    return raw


def read_text(read: Callable[[Path], object], name: str, raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        read(path)


def read_stored(whole: Path, name: str, raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copytree(whole, Path(folder) / "tasks")
        (path / name).write_bytes(raw)
        read_tasks(path)


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield damaged files of every kind."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        tasks = write_tasks(make_tasks("candy_party", [[3]], n_samples=2, rng=1), here / "tasks")
        while True:
            for _ in range(10):
                raw = damaged(PRINTED[int(rng.integers(len(PRINTED)))].encode(), rng)
                text = raw.decode("utf-8", "replace")
                yield f"printed: {text!r}", partial(parse_printed, text)
                yield f"matrix: {text!r}", partial(parse_matrix, text)
            for name, text in (("j.csv", FACTUAL), ("j.csv", RAW)):
                raw = damaged(text.encode(), rng)
                yield f"published: {raw!r}", partial(read_text, read_published, name, raw)
                yield f"compressed: {raw!r}", partial(read_text, read_published, "j.csv.gz", raw)
            raw = damaged(QUANTITIES.encode(), rng)
            yield f"quantities: {raw!r}", partial(read_text, read_published_quantities, "j.json", raw)
            file = sorted(tasks.iterdir())[int(rng.integers(7))]
            raw = damaged(file.read_bytes(), rng)
            yield f"{file.name}: {raw!r}", partial(read_stored, tasks, file.name, raw)
