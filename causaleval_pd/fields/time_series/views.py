"""Views of lagged graphs: graphs over the variables, or over the variables at times, and the equivalence class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import packed_column
from ...contract.checks import check_choice, check_flag, check_whole, name_row
from ...graphs.kernels.planes import DAG, DIGRAPH, MIXED, PDAG, planes_from_marks
from ...graphs.mixed.marks import ARROW, CIRCLE, TAIL
from ...graphs.mixed.marks import planes_from_marks as mixed_planes
from ...graphs.packing import Block as GraphBlock
from ...graphs.packing import UnpackedColumn, join_by_key, pack_column
from .cells import (
    BACKWARD,
    DIRECTED,
    KINDS,
    MAX_CELLS,
    TS_DAG,
    TS_PDAG,
    TURNED,
    UNDIRECTED,
    Codes,
    has_undirected,
    mixed_planes_at_lag_0,
    pack_cell,
    plain_planes_at_lag_0,
)
from .column import Block, LaggedCells, unpack_lagged

Planes = NDArray[np.uint64]
#: names of nodes, planes and classes of the graphs of a block
View = tuple[tuple[str, ...], Planes, NDArray[np.uint8]]

#: classes of graphs by those of lagged graphs, where all links are kept
_KINDS = np.array([DAG, PDAG, MIXED], np.uint8)


def contemporaneous(series: pd.Series) -> pd.Series:
    """Return the links at lag 0 as graphs."""

    def view(block: Block, where: Callable[[int], str]) -> View:
        if block.head.min_lag:
            raise ValueError(
                f"{where(0)}: lag 0 was not searched (min_lag is 1), which is not a graph without links at lag 0"
            )
        return block.head.nodes, lag_0_planes(block.codes, block.head.n_planes > 1), _classes(block)

    return _graphs(series, view)


def _classes(block: Block) -> NDArray[np.uint8]:
    """Return the classes of graphs with all links: a directed one that is not a ts_dag has a cycle at lag 0."""
    cyclic = (block.kinds == TS_PDAG) & ~has_undirected(block.codes)
    return np.where(cyclic, DIGRAPH, _KINDS[block.kinds]).astype(np.uint8)


def lag_0_planes(codes: Codes, is_pag: bool) -> Planes:
    """Return the links at lag 0 of graphs (n, L + 1, d, d) as planes."""
    return mixed_planes_at_lag_0(codes) if is_pag else plain_planes_at_lag_0(codes)


def summary(series: pd.Series, two_cycles: str = "raise") -> pd.Series:
    """Return the summary graphs."""
    check_choice(two_cycles, ("raise", "undirected"), "two_cycles")

    def view(block: Block, where: Callable[[int], str]) -> View:
        marks = _pag_summary(block.codes) if block.head.n_planes > 1 else _summary(block.codes)
        both = _conflicts(marks)
        if both.any() and two_cycles == "raise":
            at, i, j = np.argwhere(both)[0].tolist()
            a, b = block.head.nodes[i], block.head.nodes[j]
            raise ValueError(
                f"{where(at)}: the links between {a!r} and {b!r} have other marks at one lag than at another, as "
                "'->' and '<-', which an edge of a graph cannot hold; metrics 'summary_...' compare such links as they "
                "are, and two_cycles='undirected' makes them undirected"
            )
        joined = _joined(marks)
        if block.head.n_planes > 1:
            return block.head.nodes, mixed_planes(joined), np.full(len(joined), MIXED, np.uint8)
        lines = (joined == TAIL) & (joined.transpose(0, 2, 1) == TAIL)
        tails = joined.transpose(0, 2, 1) == TAIL
        kinds = np.where(lines.any(axis=(1, 2)), PDAG, DIGRAPH).astype(np.uint8)
        return block.head.nodes, planes_from_marks(tails, np.arange(len(block.head.nodes))), kinds

    return _graphs(series, view)


def _summary(codes: Codes) -> NDArray[np.uint8]:
    """Return the marks at j of the links between i and j at any lag as bits, 1 << mark, (n, d, d)."""
    arcs = (codes == DIRECTED).any(axis=1)
    turned = arcs.transpose(0, 2, 1)
    lines = (codes[:, 0] == UNDIRECTED) & ~arcs & ~turned
    return np.asarray((arcs << ARROW) | ((turned | lines) << TAIL), np.uint8)


def _pag_summary(codes: Codes) -> NDArray[np.uint8]:
    """Return the same of graphs with any marks; links at lag 0 that are not directed yield to lagged ones."""
    at_target = np.where(codes > 0, np.left_shift(np.uint8(1), codes >> 2), 0).astype(np.uint8)
    at_source = np.where(codes > 0, np.left_shift(np.uint8(1), codes & 3), 0).astype(np.uint8)
    lagged = np.bitwise_or.reduce(at_target[:, 1:], axis=1) | np.bitwise_or.reduce(at_source[:, 1:], axis=1).transpose(
        0, 2, 1
    )
    lag_0_mask = np.isin(codes[:, 0], (DIRECTED, BACKWARD)) | (lagged == 0)
    return np.asarray(lagged | np.where(lag_0_mask, at_target[:, 0], 0), np.uint8)


def _conflicts(marks: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which pairs have several marks at one end, without those of a variable on itself."""
    conflicts = (marks & (marks - 1)) != 0
    np.einsum("nii->ni", conflicts)[:] = False
    return np.asarray(conflicts & (marks > 0))


def _joined(marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one mark an end: several are a tail beside an arrow in directed graphs, and else a circle."""
    several = _conflicts(marks)
    single = np.zeros(256, np.uint8)
    single[1 << TAIL], single[1 << ARROW], single[1 << CIRCLE] = TAIL, ARROW, CIRCLE
    plain = (
        not (marks & (1 << CIRCLE)).any()
        and not ((marks == 1 << ARROW) & (marks.transpose(0, 2, 1) == 1 << ARROW)).any()
    )
    joint_marks = np.where(several, TAIL if plain else CIRCLE, single[marks])
    np.einsum("nii->ni", joint_marks)[:] = 0
    return np.asarray(joint_marks, np.uint8)


def window(series: pd.Series, max_lag: int | None = None, *, last: bool = False) -> pd.Series:
    """Return the graphs over the variables at t, t - 1, ..., t - max_lag."""
    asked = None if max_lag is None else check_whole(max_lag, "max_lag")
    check_flag(last, "last")

    def view(block: Block, where: Callable[[int], str]) -> View:
        steps = block.head.max_lag if asked is None else asked
        beyond = block.codes[:, steps + 1 :].any(axis=(1, 2, 3))
        if beyond.any():
            raise ValueError(f"{where(int(beyond.argmax()))}: has links at lags beyond max_lag={steps}")
        nodes = block.head.nodes
        d, size = len(nodes), (steps + 1) * len(nodes)
        if size**2 * len(block.codes) > MAX_CELLS:
            raise ValueError(
                f"{where(0)}: windows of {size} nodes of {len(block.codes)} graphs have more than {MAX_CELLS:,} cells; "
                "take fewer lags or rows at a time"
            )
        # node lag * d + i is variable i at t - lag
        wide = np.zeros((len(block.codes), size, size), np.uint8)
        for head in range(1 if last else steps + 1):
            for lag in range(min(steps - head, block.head.max_lag) + 1):
                sources, targets = (slice(k * d, (k + 1) * d) for k in (head + lag, head))
                wide[:, sources, targets] = block.codes[:, lag]
                wide[:, targets, sources] = TURNED[block.codes[:, lag].transpose(0, 2, 1)]
        names = [f"{name}@{-lag}" for lag in range(steps + 1) for name in nodes]
        order = np.array(sorted(range(size), key=names.__getitem__), np.int64)
        moved = wide[:, order][:, :, order]
        if block.head.n_planes > 1:
            planes = mixed_planes((moved >> 2).astype(np.uint8))
        else:
            planes = planes_from_marks((moved & 3) == TAIL, np.arange(size))
        return tuple(names[i] for i in order), planes, _classes(block)

    return _graphs(series, view)


def lagged_cpdag(series: pd.Series) -> pd.Series:
    """Return the lagged graphs that share independences with directed ones: lag 0 is directed where all agree."""
    cells = unpack_lagged(series)
    where = _where(series, cells)
    block_cells = []
    for number, block in enumerate(cells.blocks):
        wrong = block.kinds != TS_DAG
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(f"{where(number, at)}: is a {KINDS[block.kinds[at]]}, which has no equivalence class here")
        codes = block.codes.copy()
        codes[:, 0] = _class_at_lag_0(block.codes)
        kinds = np.where(has_undirected(codes), TS_PDAG, TS_DAG).tolist()
        packed_as = zip(codes, kinds, strict=True)
        block_cells.append([pack_cell(block.head.nodes, one, block.head.min_lag, kind) for one, kind in packed_as])
    packed = [
        None if block < 0 else block_cells[block][place]
        for block, place in zip(cells.block.tolist(), cells.place.tolist(), strict=True)
    ]
    return packed_column(packed, series.index, series.name)


def _class_at_lag_0(codes: Codes) -> Codes:
    """Return lag 0 of graphs (n, L + 1, d, d) with the directed links that all graphs of the class share.

    Colliders with nonadjacent causes, lagged or not, and Meek's rules direct links at lag 0; rules that need another
    undirected link concern lag 0 alone, since time directs lagged ones.
    """
    arcs = codes[:, 0] == DIRECTED
    adjacent = arcs | arcs.transpose(0, 2, 1)
    lagged = (codes[:, 1:] == DIRECTED).reshape(len(codes), -1, codes.shape[2]).astype(np.float32)
    # a lagged cause of one end only directs the link: as a collider, or away from the collider that is not there
    n_causes = lagged.sum(axis=1)
    shared = lagged.transpose(0, 2, 1) @ lagged
    same = (shared == n_causes[:, :, None]) & (shared == n_causes[:, None, :])
    apart = ~adjacent
    np.einsum("nii->ni", apart)[:] = False
    known = arcs & (~same | _product(apart, arcs))
    while True:
        lines = adjacent & ~known & ~known.transpose(0, 2, 1)
        directed = _product(known.transpose(0, 2, 1), apart) | _product(known, known)
        new = lines & (directed | _two_colliders(lines, known, apart))
        if not new.any():
            break
        known |= new
    arrows = np.where(known, DIRECTED, np.where(known.transpose(0, 2, 1), BACKWARD, 0))
    return np.where(adjacent & (arrows == 0), UNDIRECTED, arrows).astype(np.uint8)


def _product(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether there is a k with left (i, k) and right (k, j), (n, d, d)."""
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)


def _two_colliders(lines: NDArray[np.bool_], known: NDArray[np.bool_], apart: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which i, j have k and l that are apart, with i -- k -> j and i -- l -> j."""
    pairs = np.zeros_like(lines)
    for graph in np.flatnonzero(lines.any(axis=(1, 2))).tolist():
        through = lines[graph][:, None, :] & known[graph].T[None, :, :]
        nearby = through.astype(np.float32) @ apart[graph].astype(np.float32) > 0
        pairs[graph] = (through & nearby).any(axis=2)
    return pairs


def _where(series: pd.Series, cells: LaggedCells) -> Callable[[int, int], str]:
    """Return a function that names the first row with a graph of a block."""

    def where(block: int, at: int) -> str:
        row = int(np.argmax((cells.block == block) & (cells.place == at)))
        return name_row(row, series.index, series.name)

    return where


def _graphs(series: pd.Series, view: Callable[[Block, Callable[[int], str]], View]) -> pd.Series:
    """Return a packed column of the views of a column's graphs; each distinct graph is viewed once."""
    cells = unpack_lagged(series)
    where = _where(series, cells)
    blocks: list[GraphBlock] = []
    node_sets: list[tuple[str, ...]] = []
    for number, block in enumerate(cells.blocks):
        names, planes, kinds = view(block, partial(where, number))
        rows = np.flatnonzero(cells.block == number).astype(np.int64)
        at = cells.place[rows]
        node_set = np.full(len(rows), len(node_sets), np.int64)
        blocks.append(GraphBlock(len(names), rows, planes[at], kinds[at], node_set))
        node_sets.append(names)
    distinct = {names: i for i, names in enumerate(dict.fromkeys(node_sets))}
    to = np.array([distinct[names] for names in node_sets], np.int64)
    merged = [GraphBlock(x.n_nodes, x.rows, x.planes, x.kinds, to[x.node_set]) for x in blocks]
    unpacked = UnpackedColumn(len(series), join_by_key(merged), tuple(distinct))
    return pack_column(unpacked, index=series.index, name=series.name)
