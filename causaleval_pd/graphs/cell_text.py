"""The text at the beginning of a cell: "dag, 10 nodes, 15 edges", so that printed tables show what their graphs are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .kernels.planes import KINDS, PLAIN_KINDS

TEXT_WORDS = 4
#: the numbers of edges of graphs of at most so many pairs of nodes are looked up in one table
_FEW_PAIRS = 2048


def cell_text(kind: int, n_nodes: int, n_edges: int) -> bytes:
    """Return the text of one cell, filled up with blanks; the number of edges is left out where it does not fit."""
    graph = f"{KINDS[kind]}, {n_nodes} node{'s' * (n_nodes != 1)}"
    whole = f"{graph}, {n_edges} edge{'s' * (n_edges != 1)}"
    return (whole if len(whole) <= 8 * TEXT_WORDS else graph).encode().ljust(8 * TEXT_WORDS)


def cell_texts(kinds: NDArray[np.uint8], n_nodes: int, n_edges: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the texts of cells as words, (N, 4)."""
    code, distinct = pd.factorize(n_edges * len(KINDS) + kinds)
    graphs = zip((distinct % len(KINDS)).tolist(), (distinct // len(KINDS)).tolist(), strict=True)
    return _as_words([cell_text(kind, n_nodes, edges) for kind, edges in graphs])[code]


@lru_cache(maxsize=64)
def text_table(n_nodes: int) -> NDArray[np.uint64]:
    """Return the texts of all graphs without further marks, (kinds, edges, 4); no edges where that is too many."""
    pairs = n_nodes * (n_nodes - 1) // 2
    if pairs > _FEW_PAIRS:
        return np.empty((len(PLAIN_KINDS), 0, TEXT_WORDS), np.uint64)
    texts = [cell_text(kind, n_nodes, edges) for kind in range(len(PLAIN_KINDS)) for edges in range(pairs + 1)]
    return _as_words(texts).reshape(len(PLAIN_KINDS), pairs + 1, TEXT_WORDS)


def _as_words(texts: list[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(texts), np.uint64).reshape(-1, TEXT_WORDS)
