"""Cells of edge scores, read from matrices and lists of edges: a line of text, header, names, planes of numbers.

A cell is a sequence of little-endian 64-bit words; equal scores have equal bytes.

========= ====================================================================================================
words 0-3 text for readers of printed tables: kind, number of nodes, whether symmetric
word 4    byte 0 magic 0xCB, byte 1 version 1, byte 2 kind code, byte 3 number of planes, bytes 4-7 n_nodes
word 5    BLAKE2b digest (8 bytes) of the names
word 6    bytes 0-3 length of the names in bytes, bytes 4-7 flags: 1 symmetric, 2 rounded to float32
names     UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes    float64, plane after plane, each d x d along its rows: source, then target; NaN is not scored
========= ====================================================================================================

A cell of one plane holds a score of every ordered pair. A cell of kind "types" holds probabilities of the types of edge
of a pair, as ensembles of graphs give them: plane 0 p(i -> j), plane 1 p(i -- j), plane 2, if any, p(i <-> j).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import CellFormat, pack_rows, register_cell_format, rows_of, unpack_distinct
from ...contract.checks import check_known, check_type, refuse_masked, shown
from ...contract.encoding import AmbiguousEncodingError
from ...graphs.edge_marks import is_no_arrow
from ...graphs.formats.edge_list import columns_of
from ...graphs.formats.graph_text import is_tetrad, read_tetrad_shares
from ...graphs.kernels.planes import ARROW, CIRCLE, TAIL
from ...graphs.node_names import NodeLists, node_name
from ...graphs.packing import HEADER_WORDS, TEXT_WORDS, check_names, coerce_cells, holds_cells, names_header, read_names
from ...graphs.weights import BOOTSTRAP, as_floats, is_p_value, is_rank, refuse_groups, unread_numbers

__all__ = ["score_column"]

MAGIC, VERSION = 0xCB, 1
#: what scores are: ranked by size, by magnitude, probabilities, and probabilities of types of edge
KINDS = ("score", "weight", "probability", "types")
SCORE, WEIGHT, PROBABILITY, TYPES = range(len(KINDS))
#: the first words of a cell, by kind
_WORDS = ("scores", "weights", "probabilities", "edge types")
#: planes of cells of types: directed and undirected edges, and bidirected ones
TYPE_PLANES = ("directed", "undirected", "bidirected")
SYMMETRIC, SINGLE = 1, 2
#: which pairs of nodes have a score
ORDERED, UNORDERED, DIAGONAL = range(3)
#: how null models move scores: over slots one by one, both directions of a pair together, pairs with one score along a
#: random order of the nodes, or with their nodes
ALONE, PAIRED, ALONG_ORDER, RELABELLED = range(4)
#: bytes of the line of text
_TEXT = 8 * TEXT_WORDS
_AS_TEXT = "the long table that its .score.to_frame() returns"
FORMAT = register_cell_format(CellFormat("packed scores", MAGIC, _TEXT, "score_column", _AS_TEXT))

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreBatch:
    """Scores of matrices with as many nodes and planes."""

    #: number of nodes d
    n_nodes: int
    #: (N, planes, d, d)
    planes: Floats
    #: (N,): position in `KINDS`
    kinds: NDArray[np.uint8]
    #: (N,): whether scores are of unordered pairs, and whether they were rounded to float32
    symmetric: NDArray[np.bool_]
    single: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.planes)

    @cached_property
    def values(self) -> Floats:
        """Scores of ordered pairs, (N, d, d): of types, p(i -> j) + p(i -- j) / 2."""
        if self.planes.shape[1] == 1:
            return self.planes[:, 0]
        return np.ascontiguousarray(self.planes[:, 0] + self.planes[:, 1] / 2)

    def take(self, at: NDArray[Any]) -> ScoreBatch:
        """Return the matrices at some positions."""
        return ScoreBatch(self.n_nodes, self.planes[at], self.kinds[at], self.symmetric[at], self.single[at])


class ScoreBlock(NamedTuple):
    """The cells of a column with as many nodes and planes."""

    #: (n,): positions among the distinct cells
    rows: NDArray[np.int64]
    #: their scores; of columns of graphs these as matrices of marks
    scores: Any
    #: (n,): position of each one's nodes in `node_sets`
    node_set: NDArray[np.int64]


class ScoreColumn(NamedTuple):
    """A decoded column: its distinct cells in blocks, and which of them stands in each row."""

    #: (rows,): number of the row's distinct cell, -1 where missing
    codes: NDArray[np.int64]
    #: blocks by numbers of nodes and planes
    blocks: tuple[ScoreBlock, ...]
    #: the distinct node sets, names in code-point order
    node_sets: tuple[tuple[str, ...], ...]

    @property
    def node_set(self) -> NDArray[np.int64]:
        """Position of the nodes of each distinct cell in `node_sets`."""
        set_numbers = np.zeros(int(self.codes.max(initial=-1)) + 1, np.int64)
        for block in self.blocks:
            set_numbers[block.rows] = block.node_set
        return set_numbers

    def places(self, block: ScoreBlock) -> NDArray[np.int64]:
        """Return the place of each row's cell in a block, -1 where it is not in it."""
        positions = np.full(int(self.codes.max(initial=-1)) + 2, -1, np.int64)
        positions[block.rows] = np.arange(len(block.rows))
        return positions[self.codes]


@lru_cache(maxsize=1024)
def _head(nodes: tuple[str, ...], kind: int, n_planes: int, flags: int) -> bytes:
    d, words = len(nodes), names_header(nodes)
    symmetric = ["symmetric"] if flags & SYMMETRIC else []
    text = FORMAT.line(_WORDS[kind], f"{d} node{'s' * (d != 1)}", *symmetric)
    words[0] = MAGIC | VERSION << 8 | kind << 16 | n_planes << 24 | d << 32
    words[2] |= np.uint64(flags << 32)
    return text + words.tobytes()


def pack_scores(nodes: tuple[str, ...], planes: Floats, kind: int, flags: int) -> bytes:
    """Return the canonical bytes of scores (planes, d, d) over names in code-point order."""
    values = planes + 0.0  # no negative zeros
    values[np.isnan(values)] = np.nan
    return _head(nodes, kind, len(planes), flags) + values.astype("<f8").tobytes()


@lru_cache(maxsize=1024)
def _read_head(head: bytes) -> tuple[tuple[str, ...], int, int, int]:
    """Return names, kind, number of planes and flags of the bytes before the planes."""
    version, kind, n_planes = head[_TEXT + 1], head[_TEXT + 2], head[_TEXT + 3]
    if version != VERSION:
        raise ValueError(f"found packed scores of format version {version}; this release reads version {VERSION}")
    if kind >= len(KINDS) or n_planes not in ((2, 3) if kind == TYPES else (1,)):
        raise ValueError(f"found kind code {kind} with {n_planes} planes; the cell is damaged")
    n_nodes = int.from_bytes(head[_TEXT + 4 : _TEXT + 8], "little")
    length, flags = (int.from_bytes(head[_TEXT + at : _TEXT + at + 4], "little") for at in (16, 20))
    begin = _TEXT + 8 * HEADER_WORDS
    names = read_names(head[begin : begin + length], n_nodes)
    if flags > SYMMETRIC | SINGLE or head != _head(names, kind, n_planes, flags):
        raise ValueError("its header is not the one of its kind and names; the cell is damaged")
    return names, kind, n_planes, flags


def is_score_column(cells: pd.Series) -> bool:
    """Return whether a column looks like packed edge scores, by its first cell that is not missing."""
    return holds_cells(cells, FORMAT)


def _read_cell(raw: bytes) -> tuple[tuple[str, ...], int, int, int, bytes]:
    """Return names, kind, number of planes, flags and planes of a cell."""
    if not isinstance(raw, bytes):
        raise TypeError(f"expected packed scores, found {type(raw).__name__}; use score_column")
    if not FORMAT.holds(raw):
        raise ValueError(f"{FORMAT.explain(raw)}; make them with score_column")
    if len(raw) < _TEXT + 8 * HEADER_WORDS:
        raise ValueError(f"found {len(raw)} bytes, fewer than a header of edge scores has; the cell is damaged")
    end = _TEXT + 8 * (HEADER_WORDS + (int.from_bytes(raw[_TEXT + 16 : _TEXT + 20], "little") + 7) // 8)
    nodes, kind, n_planes, flags = _read_head(raw[:end])
    if len(raw) != end + 8 * n_planes * len(nodes) ** 2:
        raise ValueError(f"found {len(raw)} bytes, not those of {len(nodes)} nodes; the cell is damaged")
    return nodes, kind, n_planes, flags, raw[end:]


_INFINITE = "has an infinite score; the cell is damaged"


def unpack_column(series: pd.Series) -> ScoreColumn:
    """Decode the distinct cells of a column; an error names the row."""
    codes, cells, where = unpack_distinct(series, _read_cell)
    numbers: dict[tuple[str, ...], int] = {}
    groups: dict[tuple[int, int], list[tuple[int, bytes, int, int, int]]] = {}
    for number, (nodes, kind, n_planes, flags, body) in enumerate(cells):
        node_set = numbers.setdefault(nodes, len(numbers))
        groups.setdefault((len(nodes), n_planes), []).append((number, body, kind, flags, node_set))
    blocks = []
    for (d, n_planes), members in sorted(groups.items()):
        places, bodies, kinds, flags_of, sets = zip(*members, strict=True)
        planes = np.frombuffer(b"".join(bodies), "<f8").reshape(len(members), n_planes, d, d)
        if np.isinf(planes).any():
            place = places[int(np.isinf(planes).any(axis=(1, 2, 3)).argmax())]
            raise ValueError(f"{where(place)}: {_INFINITE}")
        marked = np.array(flags_of, np.uint32)
        flagged = [(marked & flag).astype(bool) for flag in (SYMMETRIC, SINGLE)]
        scores = ScoreBatch(d, planes, np.array(kinds, np.uint8), *flagged)
        blocks.append(ScoreBlock(np.array(places, np.int64), scores, np.array(sets, np.int64)))
    return ScoreColumn(codes, tuple(blocks), tuple(numbers))


ENCODINGS = ("row->column", "column->row")


def score_column(
    values: Any,
    *,
    nodes: Any = None,
    encoding: str | None = None,
    symmetric: bool | None = None,
    kind: str | None = None,
    index: Any = None,
) -> pd.Series:
    """Make a column of edge scores: one matrix of weights, probabilities or other scores per row.

    Parameters
    ----------
    values : sequence
        One square matrix per row: numpy or scipy sparse (its zeros are scores of 0), a DataFrame whose index and
        columns name the nodes, or packed scores; also a stack of shape (N, d, d). NaN in a matrix means that the pair
        is not scored, 0 is a score. Or a list of scored edges: a DataFrame with the columns from and to (source and
        target, TF and target, ...) and one column of numbers, or strength and direction of bnlearn, whose product is
        taken; or a networkx graph with one number per edge. Pairs that are not in the list have the score 0. Or
        Tetrad's text with shares of bootstrap samples. None, NaN and pd.NA as a row stay missing (a failed run).
    nodes : list of str, one list per row, or packed column of graphs, optional
        Node names of rows and columns, in their order; default "0", "1", ..., and the labels of DataFrames. Of packed
        scores these, like `symmetric` and `kind`, must be as they were packed.
    encoding : {"row->column", "column->row"}, optional
        Where the score of the edge i -> j stands: in cell (i, j), or in cell (j, i). Required for matrices that are not
        symmetric; lists state it themselves.
    symmetric : bool, optional
        True: scores are of unordered pairs; a matrix that differs from its transpose is refused, and a list may have a
        pair once. False: scores are of ordered pairs, even where a matrix is symmetric. Default: as found, off the
        diagonal, NaN equal to NaN; constant scores, as of no edge, are of ordered pairs where an `encoding` is given.
    kind : {"weight", "probability", "score"}, optional
        "weight": the magnitude ranks edges, and the sign is kept. "probability": in [0, 1]. "score": larger is more
        likely an edge, also below 0. Default "probability" where all scores are in [0, 1], "weight" where some are
        above 1; scores below 0 need it. P-values are recognised by the name of their column in a list alone: small
        ones are likely edges, so turn them, into -p with "score" or 1 - p, of which those below 1e-16 tie.
    index : Index, optional
        Of the result; default that of `values`.

    Returns
    -------
    Series
        Packed scores, ``pd.ArrowDtype(pa.large_binary())``, which `series.score` reads. Equal scores are equal cells.

    Raises
    ------
    AmbiguousEncodingError
        If a matrix is not symmetric and no `encoding` is given, or its scores are negative and no `kind` is.
    ValueError
        If a matrix is not square, holds an infinite score, is not symmetric where this is declared, or holds
        probabilities outside [0, 1]; names the row and the pair.
    TypeError
        If a cell is not a matrix of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> weights = np.array([[0, 1.5, 0], [0, 0, -0.7], [0, 0, 0]])
    >>> column = ce.score_column([weights, None], nodes=["A", "B", "C"], encoding="row->column", kind="weight")
    >>> column.score.threshold(0.5).graph.to_strings().tolist()
    ['A -> B; B -> C', nan]
    """
    if encoding is not None:
        check_known(encoding, ENCODINGS, "encoding of scores")
    if kind is not None:
        check_known(kind, KINDS[:TYPES], "kind of scores")
    if symmetric is not None:
        check_type(symmetric, (bool, np.bool_), "True, False or None", "symmetric")
    series = rows_of(values, index, "matrices", dims=(2,))
    lists = NodeLists.read(nodes, len(series), values.index if isinstance(values, pd.Series) else None)
    return pack_rows(series, lambda row, cell: _read(cell, lists.rows[row], encoding, symmetric, kind))


def type_cells(nodes: Sequence[str], planes: Floats) -> bytes:
    """Pack probabilities of types of edge: planes (2 or 3, d, d) of p(i -> j), p(i -- j), p(i <-> j) off diagonals."""
    names, order = _ordered(tuple(nodes))
    stack = np.array(planes, np.float64)
    if stack.ndim != 3 or stack.shape[1:] != (len(names),) * 2 or len(stack) not in (2, 3):
        raise ValueError(f"expected planes of shape (2 or 3, {len(names)}, {len(names)}), found {stack.shape}")
    stack = stack[:, order][:, :, order]
    stack[:, range(len(names)), range(len(names))] = np.nan
    for plane, name in zip(stack, TYPE_PLANES, strict=False):
        _check_finite(plane, names)
        _check_probabilities(plane, names)
        if name != "directed":
            _check_symmetric(plane, names)
    return pack_scores(names, stack, TYPES, SYMMETRIC * (not len(_differing(stack[0]))))


def coerce_scores(cells: pd.Series, column: Hashable | None = None, *, kind: str | None = None) -> pd.Series:
    """Return a column of packed scores, or of DataFrames that name their nodes and are symmetric, as packed scores."""
    return coerce_cells(cells, lambda _, cell: _read(cell, None, None, None, None if isinstance(cell, bytes) else kind))


def _read(
    cell: Any, names: tuple[str, ...] | None, encoding: str | None, symmetric: bool | None, kind: str | None
) -> bytes:
    """Read one matrix as packed scores."""
    if isinstance(cell, bytes):
        if not FORMAT.holds(cell):
            raise ValueError(
                f"{FORMAT.explain(cell)}; make scores of matrices of weights or probabilities with score_column"
            )
        _check_packed(cell, names, symmetric, kind)
        return cell
    if isinstance(cell, str) and is_tetrad(cell):
        return _of_shares(cell, names)
    table = read_list(cell)
    if table is not None:
        # a list names the direction of its edges, a matrix does not
        cell, encoding = matrix_of_list(table, names, kind, symmetric=bool(symmetric)), "row->column"
    matrix, names = _matrix(cell, names)
    nodes, order = _ordered(names)
    values = np.asarray(matrix[np.ix_(order, order)], np.float64)
    _check_finite(values, nodes)
    differing = _differing(values)
    if symmetric:
        _check_symmetric(values, nodes)
    if len(differing) and encoding is None:
        i, j = differing[0].tolist()
        raise AmbiguousEncodingError(
            f"the scores of {nodes[i]!r} and {nodes[j]!r} differ by direction, so it must be known which is which; "
            'pass encoding="row->column" if cell (i, j) scores the edge i -> j, or encoding="column->row"'
        )
    if encoding == "column->row":
        values = np.ascontiguousarray(values.T)
    if symmetric is None:
        # constant scores, as of an empty estimate, among directed ones are not of another kind
        others = values[~np.eye(len(values), dtype=bool)]
        is_constant = bool((np.isnan(others) | (others == others[:1])).all())
        symmetric = not len(differing) and (encoding is None or not is_constant)
    flags = SYMMETRIC * bool(symmetric) | SINGLE * (matrix.dtype == np.float32)
    return pack_scores(nodes, values[None], _kind(values, kind, nodes), int(flags))


def _check_packed(cell: bytes, names: tuple[str, ...] | None, symmetric: bool | None, kind: str | None) -> None:
    """Refuse a damaged packed cell, and options that it does not have."""
    nodes, number, _, flags, body = _read_cell(cell)
    if np.isinf(np.frombuffer(body, "<f8")).any():
        raise ValueError(_INFINITE)
    packed_kind, paired = KINDS[number], bool(flags & SYMMETRIC)
    anew = "make the scores anew from their matrices or lists"
    if names is not None and {*names} != {*nodes}:
        raise ValueError(
            f"the scores are packed over the nodes {list(nodes)[:10]}, expected {list(names)[:10]} (nodes=); {anew}"
        )
    if kind is not None and kind != packed_kind and (kind, packed_kind) != (KINDS[PROBABILITY], KINDS[TYPES]):
        raise ValueError(f"the scores are packed as {packed_kind!r}, expected {kind!r} (kind=); {anew}")
    if symmetric is not None and symmetric != paired:
        pairs = "unordered" if paired else "ordered"
        raise ValueError(f"the scores are packed as scores of {pairs} pairs, and symmetric={bool(symmetric)}; {anew}")


def _of_shares(text: str, names: tuple[str, ...] | None) -> bytes:
    """Read shares of bootstrap samples of Tetrad: of types of edges, or of adjacencies where some have circles."""
    known, types = read_tetrad_shares(text)
    nodes = known if names is None else names
    if {*nodes} != {*known}:
        raise ValueError(f"the text has the nodes {list(known)[:10]}, expected {list(nodes)[:10]} (nodes=)")
    place = [nodes.index(name) for name in known]
    planes = np.zeros((3, len(nodes), len(nodes)))
    for a, b, at_a, at_b, share in types:
        i, j = place[a], place[b]
        plane = 0 if (at_a, at_b) == (TAIL, ARROW) else 2 if (at_a, at_b) == (ARROW, ARROW) else 1
        planes[plane, i, j] += share
        if plane:
            planes[plane, j, i] += share
    if any(CIRCLE in (at_a, at_b) for _, _, at_a, at_b, _ in types):
        both = np.minimum(planes[0] + planes[0].T + planes[1] + planes[2], 1.0)
        ordered, order = _ordered(nodes)
        return pack_scores(ordered, both[np.ix_(order, order)][None], PROBABILITY, SYMMETRIC)
    return type_cells(nodes, planes if planes[2].any() else planes[:2])


def _matrix(cell: Any, names: tuple[str, ...] | None) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the numbers of a cell, and the names of its rows and columns."""
    if isinstance(cell, pd.DataFrame):
        cell, names = _of_frame(cell, names)
    elif hasattr(cell, "toarray"):
        cell = cell.toarray()
    elif isinstance(cell, (str, dict)) or not hasattr(cell, "__len__"):
        raise TypeError(f"expected a matrix of scores, found {type(cell).__name__}: {shown(cell)}")
    matrix = _numbers(cell)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"expected a square matrix, found shape {matrix.shape}")
    if names is None:
        names = tuple(map(str, range(len(matrix))))
    if len(names) != len(matrix):
        raise ValueError(f"the matrix has {len(matrix)} rows, but there are {len(names)} nodes: {list(names)[:10]}")
    return matrix, names


def _of_frame(cell: pd.DataFrame, names: tuple[str, ...] | None) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the numbers of a DataFrame with its columns in the order of its index, and the names of both."""
    if cell.index.nlevels > 1:
        raise ValueError(
            f"found a table whose index has the levels {list(cell.index.names)}; for a list of scored edges make them "
            "columns, as by table.reset_index()"
        )
    rows, columns = ([node_name(x) for x in labels] for labels in (cell.index, cell.columns))
    texts = [name for name, dtype in cell.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    if sorted(rows) != sorted(columns) and texts:
        mend = "for a matrix make the column of its nodes the index, as by pd.read_csv(path, index_col=0)"
        if len(texts) > 1:
            ends = f"table.rename(columns={{{texts[0]!r}: 'from', {texts[1]!r}: 'to'}})"
            mend = f"for a list of scored edges from {texts[0]!r} to {texts[1]!r} name these, by {ends}"
        raise ValueError(f"found a table with the columns {columns[:10]}, some of text; {mend}")
    if sorted(rows) != sorted(columns):
        raise ValueError(f"the index {rows[:10]} and the columns {columns[:10]} must name the same nodes")
    if len(set(rows)) < len(rows):
        raise ValueError(f"the index {rows[:10]} names a node twice; names must be unique")
    if names is not None and sorted(names) != sorted(rows):
        raise ValueError(f"the DataFrame has the nodes {rows[:10]}, expected {list(names)[:10]} (nodes=)")
    return cell.iloc[:, [columns.index(name) for name in rows]].to_numpy(), tuple(rows)


def _numbers(cell: Any) -> NDArray[Any]:
    """Return an array of numbers, and refuse other objects."""
    refuse_masked(cell, "a score", "matrix.filled(np.nan) where a pair is not scored")
    try:
        matrix = np.asarray(cell)
    except ValueError as fault:
        raise ValueError(f"expected a square matrix, found lists of unequal length ({fault})") from None
    if matrix.dtype == object:
        try:
            matrix = np.where(pd.isna(matrix), np.nan, matrix).astype(np.float64)
        except (TypeError, ValueError):
            raise TypeError("expected a matrix of numbers, found other objects in it") from None
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"expected a matrix of numbers, found dtype {matrix.dtype}")
    return matrix


@lru_cache(maxsize=128)
def _ordered(names: tuple[str, ...]) -> tuple[tuple[str, ...], list[int]]:
    """Return names in code-point order, and the place of each among those given."""
    order = sorted(range(len(names)), key=names.__getitem__)
    nodes = tuple(names[i] for i in order)
    if fault := check_names(nodes):
        raise ValueError(f"the matrix {fault}")
    return nodes, order


def _differing(values: Floats) -> NDArray[np.int64]:
    """Return the ordered pairs whose score is not that of the opposite direction, (m, 2)."""
    return np.argwhere((values != values.T) & ~(np.isnan(values) & np.isnan(values.T)))


def _check_symmetric(values: Floats, nodes: tuple[str, ...]) -> None:
    differing = _differing(values)
    if len(differing):
        i, j = differing[0].tolist()
        raise ValueError(
            f"the matrix is not symmetric: {values[i, j]:.17g} from {nodes[i]!r} to {nodes[j]!r}, {values[j, i]:.17g} "
            "back; pass (S + S.T) / 2 if this is rounding (as in np.corrcoef), or leave symmetric=True out"
        )


def _refuse(values: Floats, wrong: NDArray[np.bool_], nodes: tuple[str, ...], what: str, expected: str) -> None:
    places = np.argwhere(wrong)
    if len(places):
        i, j = places[0].tolist()
        raise ValueError(f"has the {what} {values[i, j]:g} in the pair ({nodes[i]!r}, {nodes[j]!r}); {expected}")


def _check_finite(values: Floats, nodes: tuple[str, ...]) -> None:
    _refuse(values, np.isinf(values), nodes, "score", "scores are finite, NaN is not scored")


def _check_probabilities(values: Floats, nodes: tuple[str, ...]) -> None:
    _refuse(values, (values < 0) | (values > 1), nodes, "probability", "probabilities lie in [0, 1]")


def _kind(values: Floats, kind: str | None, nodes: tuple[str, ...]) -> int:
    """Return the kind of a matrix as declared, or the one that its numbers have."""
    if kind == KINDS[PROBABILITY]:
        _check_probabilities(values, nodes)
    if kind is not None:
        return KINDS.index(kind)
    others = values[~np.eye(len(values), dtype=bool)]
    if (others < 0).any():
        both = bool((others > 0).any())
        what = "scores of both signs" if both else "negative scores and no positive ones, as logarithms have"
        raise AmbiguousEncodingError(
            f"has {what}; pass kind='weight' to score_column if the magnitude ranks edges, as of coefficients and "
            "correlations, or kind='score' if larger scores are likelier edges"
        )
    return WEIGHT if ((values < 0) | (values > 1)).any() else PROBABILITY


def read_list(cell: Any) -> pd.DataFrame | None:
    """Return source, target and score of each edge of a list, nodes of a graph in `attrs`; None for other cells."""
    names = columns_of(cell)
    if names is not None:
        _refuse_marks(cell.drop(columns=list(names[:2])))
        refuse_groups(cell, names)
        columns = _of_numbers(cell, [*names, "lag"])
        return _checked(cell, list(names[:2]), columns)
    if not (hasattr(cell, "is_directed") and hasattr(cell, "is_multigraph")):
        return None
    if cell.is_multigraph():
        raise ValueError("found a multigraph; a score is of one edge between two nodes, so make it a DiGraph")
    edges = [{"from": a, "to": b} | data for a, b, data in cell.edges(data=True)]
    table = pd.DataFrame(edges, columns=None if edges else ["from", "to", "weight"])
    columns = _of_numbers(table, ["from", "to"])
    if not cell.is_directed():
        # once each way
        table = pd.concat([table, table.rename(columns={"from": "to", "to": "from"})], ignore_index=True)
    edge_table = _checked(table, ["from", "to"], columns)
    edge_table.attrs["nodes"] = [node_name(node) for node in cell.nodes]
    return edge_table


def _refuse_marks(columns: pd.DataFrame) -> None:
    """Refuse edges that are no arrow to their second node; a minus alone is the sign of an effect."""
    for name in columns:
        for number, value in enumerate(columns[name].tolist(), 1):
            if value != "-" and is_no_arrow(name, value):
                raise ValueError(
                    f"edge {number}: found {value!r:.60} in the column {name!r:.60}; a score is of an arrow from the "
                    "first node to the second: list an edge without direction once each way, and drop the column"
                )


def _shares_of_arcs(table: pd.DataFrame, columns: list[Hashable]) -> pd.DataFrame:
    """Return a table whose column share is the strength of an edge times the probability of its direction."""
    for name in columns:
        shares = as_floats(table[name])
        odd = np.flatnonzero(~shares.between(0, 1))
        if len(odd):
            value = table[name].iloc[int(odd[0])]
            raise ValueError(
                f"edge {odd[0] + 1}: found {shown(value)} in the column {name!r} beside that of "
                f"{next(other for other in columns if other != name)!r}, expected shares from 0 to 1; keep one of both"
            )
    return table.assign(share=np.prod([as_floats(table[name]) for name in columns], axis=0))


def _of_numbers(table: pd.DataFrame, read: Sequence[Hashable]) -> list[Any]:
    """Return the columns that may be scores: unlike in graphs, all of them may be 1."""
    ones = [name for name in table.columns if name not in read and pd.api.types.is_numeric_dtype(table[name])]
    return unread_numbers(table, read) or ones


#: names of scores that tools and papers use
_SCORES = ("score", "strength", "weight", "importance", "probability", "prob", "posterior", "confidence", "frequency")


def _checked(table: pd.DataFrame, ends: list[str], columns: list[Hashable]) -> pd.DataFrame:
    """Return nodes and scores of a table with one column of numbers."""
    if not columns:
        raise ValueError("found a list of edges without numbers; make it a column of graphs by graph_column")
    if {str(name).strip().lower() for name in columns} == {*BOOTSTRAP} and len(columns) == len(BOOTSTRAP):
        table, columns = _shares_of_arcs(table, columns), ["share"]
    if len(columns) > 1:
        # a number that all edges have is a run or a setting
        kept = max(columns, key=lambda name: (str(name).lower() in _SCORES, table[name].nunique() > 1))
        raise ValueError(
            f"found a list of edges with the numbers {', '.join(map(repr, columns))}, expected one score per edge; "
            f"keep the score and the nodes, as in table[{[*ends, kept]!r}]"
        )
    [name] = columns
    if is_p_value(name):
        raise ValueError(
            f"found a list of edges with the p-values {name!r}, of which small ones are likely edges; turn them, as by "
            f"table.assign(score=1 - table[{name!r}]).drop(columns={name!r}), or rename the column if larger numbers "
            "are more likely edges"
        )
    if is_rank(name):
        raise ValueError(
            f"found a list of edges with the ranks {name!r}, of which the first is the most likely edge; turn "
            f"them, as by table.assign(score=1 / (1 + table[{name!r}])).drop(columns={name!r}) with kind='score', or "
            "rename the column if larger numbers are more likely edges"
        )
    edge_table = pd.DataFrame({"source": table[ends[0]], "target": table[ends[1]]}).map(node_name)
    edge_table["score"] = as_floats(table[name]).to_numpy(np.float64)
    odd = np.flatnonzero(edge_table["score"].isna())
    if len(odd):
        value = table[name].iloc[int(odd[0])]
        raise ValueError(f"edge {odd[0] + 1}: found {value!r:.60} in the column {name!r}, expected a number")
    again = np.flatnonzero(edge_table.duplicated(["source", "target"]))
    if len(again):
        source, target = edge_table.iloc[int(again[0]), :2]
        raise ValueError(f"edge {again[0] + 1}: found {source} -> {target} twice in a list of edges; keep one score")
    return edge_table


def matrix_of_list(
    table: pd.DataFrame, names: tuple[str, ...] | None, kind: str | None, *, symmetric: bool
) -> pd.DataFrame:
    """Return the matrix of a list of edges, 0 where it has none; `symmetric` copies scores that stand once per pair."""
    listed = table.attrs.get("nodes") or pd.unique(table[["source", "target"]].to_numpy().ravel()).tolist()
    nodes = sorted(listed) if names is None else list(names)
    unknown = sorted({*listed} - {*nodes})
    if unknown:
        raise ValueError(f"the list has the node {unknown[0]!r}, which is not among {nodes[:10]} (nodes=)")
    n_pairs = len(nodes) * (len(nodes) - 1) // (2 if symmetric else 1)
    if kind == "score" and (table["score"] < 0).any() and len(table) < n_pairs:
        raise ValueError(
            f"found the score {table['score'].min():g} below 0 in a list that lacks some pairs, which would have the "
            "score 0; list every pair, or pass kind='weight' if the magnitude ranks edges"
        )
    matrix = table.pivot(index="source", columns="target", values="score").reindex(index=nodes, columns=nodes)
    matrix = matrix.rename_axis(index=None, columns=None)
    return (matrix.combine_first(matrix.T) if symmetric else matrix).fillna(0.0)
