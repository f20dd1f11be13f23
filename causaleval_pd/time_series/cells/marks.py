"""Codes of lagged links, classes of lagged graphs, and what is wrong with a graph that is in no class.

A graph over d variables is an array (L + 1, d, d) of codes. The code in cell (lag, i, j) is that of the link from
variable i at t - lag to variable j at t, 0 for none: the mark at i plus four times the mark at j, where marks are 1 a
tail, 2 an arrow, 3 a circle. A link at lag 0 stands in both cells, seen from either end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...graphs.kernels.planes import marks_from_planes as plain_marks
from ...graphs.kernels.planes import planes_from_marks as plain_planes
from ...graphs.mixed.marks import ARROW, CIRCLE, TAIL, is_mixed
from ...graphs.mixed.marks import marks_from_planes as mixed_marks
from ...graphs.mixed.marks import planes_from_marks as mixed_planes

Codes = NDArray[np.uint8]

#: largest lag, and number of codes of one graph
MAX_LAG, MAX_CELLS = 10_000, 100_000_000
#: nodes up to which cycles are found by powers of matrices
_FEW_NODES = 64

#: classes of lagged graphs: directed and acyclic at lag 0; without circles and bidirected links; with any marks
KINDS = ("ts_dag", "ts_pdag", "ts_pag")
TS_DAG, TS_PDAG, TS_PAG = range(len(KINDS))

#: how links are written: the mark at the source is on the left
SIGNS = {
    (TAIL, ARROW): "->",
    (ARROW, TAIL): "<-",
    (TAIL, TAIL): "--",
    (ARROW, ARROW): "<->",
    (CIRCLE, ARROW): "o->",
    (ARROW, CIRCLE): "<-o",
    (CIRCLE, CIRCLE): "o-o",
    (CIRCLE, TAIL): "o--",
    (TAIL, CIRCLE): "--o",
}


def code(at_source: int, at_target: int) -> int:
    """Return the code of a link with these marks."""
    return at_source + 4 * at_target


SIGN_OF_CODE = {code(*marks): sign for marks, sign in SIGNS.items()}
CODE_OF_SIGN = {sign: number for number, sign in SIGN_OF_CODE.items()}
DIRECTED = code(TAIL, ARROW)
BACKWARD = code(ARROW, TAIL)
UNDIRECTED = code(TAIL, TAIL)
#: codes at lags from 1: an effect does not come before its cause, so that the target has an arrow
LAGGED = (DIRECTED, code(ARROW, ARROW), code(CIRCLE, ARROW))

#: the code of the same link, seen from its other end
TURNED = np.array([(number >> 2) | ((number & 3) << 2) for number in range(16)], np.uint8)


def check_size(shape: tuple[int, ...], n_nodes: int) -> None:
    """Refuse codes of another shape than (max_lag + 1, n_nodes, n_nodes), and more of them than a graph may have."""
    n_lags = shape[0] if shape else 0
    if shape != (n_lags, n_nodes, n_nodes) or not 1 <= n_lags <= MAX_LAG + 1 or n_lags * n_nodes**2 > MAX_CELLS:
        raise ValueError(
            f"found codes of shape {shape}, expected (max_lag + 1, {n_nodes}, {n_nodes}) with at most "
            f"{MAX_CELLS:,} cells and max_lag at most {MAX_LAG:,}"
        )


def is_plain(codes: Codes) -> NDArray[np.bool_]:
    """Return which graphs (n, L + 1, d, d) have no circles and no bidirected links."""
    known = np.isin(codes, (0, DIRECTED, BACKWARD, UNDIRECTED))
    return np.asarray(known.all(axis=(1, 2, 3)))


def has_undirected(codes: Codes) -> NDArray[np.bool_]:
    """Return which graphs (n, L + 1, d, d) have an undirected link at lag 0."""
    return np.asarray((codes[:, 0] == UNDIRECTED).any(axis=(1, 2)))


def plain_planes_at_lag_0(codes: Codes) -> NDArray[np.uint64]:
    """Return the links at lag 0 of graphs without circles and bidirected links as planes of graphs."""
    tails = (codes[:, 0] & 3) == TAIL
    return plain_planes(tails, np.arange(codes.shape[2], dtype=np.int64))


def mixed_planes_at_lag_0(codes: Codes) -> NDArray[np.uint64]:
    """Return the links at lag 0 as planes of mixed graphs."""
    return mixed_planes((codes[:, 0] >> 2).astype(np.uint8))


def codes_of_tails(tails: NDArray[np.bool_]) -> Codes:
    """Return the codes of links at lag 0 that have a tail at i in cell (i, j), (n, d, d)."""
    turned = tails.transpose(0, 2, 1)
    return np.select([tails & turned, tails, turned], [UNDIRECTED, DIRECTED, BACKWARD], default=0).astype(np.uint8)


def codes_of_planes(planes: NDArray[np.uint64], n_nodes: int) -> Codes:
    """Return the codes of the links at lag 0 that are the edges of graphs."""
    if not is_mixed(planes):
        return codes_of_tails(plain_marks(planes, n_nodes).astype(bool))
    at_target = mixed_marks(planes, n_nodes)
    return np.asarray(at_target.transpose(0, 2, 1) + 4 * at_target, np.uint8)


def has_cycle(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which graphs (n, d, d) have a directed cycle; without kernels, since graphs are read one by one."""
    if arcs.shape[-1] > _FEW_NODES:
        return np.array([_is_cyclic(one) for one in arcs], bool)
    reach = arcs.astype(np.float32)
    for _ in range(arcs.shape[-1].bit_length()):
        reach = np.minimum(reach + reach @ reach, 1)
    return np.asarray((np.einsum("nii->ni", reach) > 0).any(axis=1))


def _is_cyclic(arcs: NDArray[np.bool_]) -> bool:
    """Return whether a graph (d, d) has a directed cycle, by removing nodes without parents."""
    n_parents, n_left = arcs.sum(axis=0), len(arcs)
    free = np.flatnonzero(n_parents == 0).tolist()
    while free:
        children = np.flatnonzero(arcs[free.pop()])
        n_left -= 1
        n_parents[children] -= 1
        free += children[n_parents[children] == 0].tolist()
    return n_left > 0


def infer_kinds(codes: Codes) -> NDArray[np.uint8]:
    """Return the narrowest class of each graph (n, L + 1, d, d)."""
    kinds = np.full(len(codes), TS_PAG, np.uint8)
    plain = np.flatnonzero(is_plain(codes))
    some = codes[plain]
    directed = ~has_undirected(some) & ~has_cycle(some[:, 0] == DIRECTED)
    kinds[plain] = np.where(directed, TS_DAG, TS_PDAG)
    return kinds


def fault(codes: Codes, names: Sequence[str], kind: int) -> str | None:
    """Return what is wrong with a graph (L + 1, d, d) of a declared class, and how to mend it; None if nothing is."""
    diagonal = np.flatnonzero(np.einsum("ii->i", codes[0]))
    if len(diagonal):
        return (
            f"has a link at lag 0 from {names[diagonal[0]]!r} to itself; a variable may cause itself at lags from 1 "
            "only"
        )
    odd = np.argwhere(codes[0] != TURNED[codes[0].T])
    if len(odd):
        i, j = odd[0].tolist()
        one, other = (_written(codes[0], *cell) for cell in ((i, j), (j, i)))
        return (
            f"has {one} in the cell ({names[i]!r}, {names[j]!r}) of lag 0 and {other} in its mirror image; a link at "
            "lag 0 stands in both cells, as '->' and '<-'"
        )
    wrong = np.argwhere(~np.isin(codes[1:], (0, *LAGGED)))
    if len(wrong):
        lag, i, j = wrong[0].tolist()
        sign = _written(codes[lag + 1], i, j)
        return (
            f"has the link {names[i]!r} at lag {lag + 1} {sign} {names[j]!r}; an effect does not come before its "
            "cause, so that links at lags from 1 are '->', and '<->' or 'o->' where variables are latent"
        )
    found = int(infer_kinds(codes[None])[0])
    if found > kind:
        why = "circles or bidirected links" if found == TS_PAG else "undirected links or a directed cycle at lag 0"
        return f"is declared a {KINDS[kind]}, but has {why}; declare it a {KINDS[found]}, or leave kind out"
    return None


def _written(codes: Codes, i: int, j: int) -> str:
    number = int(codes[i, j])
    return repr(SIGN_OF_CODE.get(number, "" if not number else f"code {number}"))
