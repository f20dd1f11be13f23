"""The packed column: canonical bytes in and out, and every way in which bytes can be wrong."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.checks import name_row
from causaleval_pd.graphs import packing
from causaleval_pd.graphs.kernels.planes import DAG, DIGRAPH, PDAG, padding_mask, plane_words, planes_from_arcs

ABC = ("A", "B", "C")


def random_column(
    node_sets: list[tuple[str, ...]], n_rows: int, seed: int, missing: float = 0.2
) -> packing.UnpackedColumn:
    """Random pdags over random node sets, grouped as a column."""
    rng = np.random.default_rng(seed)
    node_sets = [tuple(sorted(names)) for names in node_sets]
    chosen = np.where(rng.random(n_rows) < missing, -1, rng.integers(0, len(node_sets), n_rows))
    sizes = np.array([len(names) for names in node_sets] + [-1])[chosen]
    blocks = []
    for n_nodes in sorted(set(sizes.tolist()) - {-1}):
        rows = np.flatnonzero(sizes == n_nodes)
        planes = rng.integers(0, 2**64, (len(rows), 2, plane_words(n_nodes)), dtype=np.uint64)
        planes[:, :, -1] &= ~padding_mask(n_nodes)
        kinds = rng.integers(0, 3, len(rows)).astype(np.uint8)
        planes[kinds == DAG, 1] &= ~planes[kinds == DAG, 0]
        blocks.append(packing.Block(n_nodes, rows, planes, kinds, chosen[rows]))
    return packing.UnpackedColumn(n_rows, tuple(blocks), tuple(node_sets))


def assert_same(left: packing.UnpackedColumn, right: packing.UnpackedColumn) -> None:
    assert left.n_rows == right.n_rows
    assert [b.n_nodes for b in left.blocks] == [b.n_nodes for b in right.blocks]
    for a, b in zip(left.blocks, right.blocks, strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        np.testing.assert_array_equal(a.planes, b.planes)
        np.testing.assert_array_equal(a.kinds, b.kinds)
        names = [[column.node_sets[i] for i in block.node_set] for column, block in ((left, a), (right, b))]
        assert names[0] == names[1]
        assert b.planes.flags.c_contiguous
        assert b.planes.flags.writeable


def cell(names: tuple[str, ...] = ABC, kind: int = PDAG, arcs: tuple[tuple[int, int], ...] = ((0, 1), (2, 1))) -> bytes:
    source, target = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    return packing.pack_cell(names, kind, planes_from_arcs(1, len(names), np.zeros_like(source), source, target)[0])


def packed(cells: list[bytes | None], kind: pa.DataType | None = None) -> pd.Series:
    dtype = pd.ArrowDtype(kind or pa.large_binary())
    return pd.Series(cells, dtype=dtype, name="estimate", index=[f"run{i}" for i in range(len(cells))])


NODE_SETS = {
    "one set": [("A", "B", "C", "D")],
    "one node": [("A",)],
    "no nodes": [()],
    "same size": [("A", "B", "C"), ("A", "B", "D"), ("x", "y", "z")],
    "long and short names": [("A", "B"), ("a rather long name", "B"), ("é" * 20, "ß")],
    "several sizes": [tuple(f"X{i}" for i in range(d)) for d in (0, 1, 2, 3, 12, 17, 40)],
    "many sets": [(f"u{i}", f"v{i}") for i in range(60)],
}


@pytest.mark.parametrize("node_sets", NODE_SETS.values(), ids=NODE_SETS.keys())
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_round_trip(node_sets: list[tuple[str, ...]], missing: float) -> None:
    column = random_column(node_sets, 300, 1, missing)
    series = packing.pack_column(column, index=pd.RangeIndex(5, 305), name="truth")
    assert series.dtype == packing.COLUMN_DTYPE
    assert series.name == "truth"
    assert series.index.equals(pd.RangeIndex(5, 305))
    assert series.isna().tolist() == column.missing.tolist()
    assert_same(column, packing.unpack_column(series))
    again = packing.pack_column(packing.unpack_column(series), index=series.index, name="truth")
    pd.testing.assert_series_equal(series, again)


@pytest.mark.parametrize("node_sets", [NODE_SETS["one set"], NODE_SETS["several sizes"]], ids=["one", "several"])
def test_blocks_own_their_memory(node_sets: list[tuple[str, ...]]) -> None:
    series = packing.pack_column(random_column(node_sets, 50, 4))
    before = series.tolist()
    for block in packing.unpack_column(series).blocks:
        block.planes[:] = 0
        block.kinds[:] = 0
    assert series.tolist() == before


def test_one_node_set_in_many_chunks_of_work() -> None:
    column = random_column([("A", "B", "C")], 50_000, 2, missing=0.0)
    assert_same(column, packing.unpack_column(packing.pack_column(column)))


@pytest.mark.parametrize("node_sets", [NODE_SETS["one set"], NODE_SETS["several sizes"]], ids=["one", "several"])
def test_arrow_layouts(node_sets: list[tuple[str, ...]], tmp_path: Path) -> None:
    column = random_column(node_sets, 200, 3)
    series = packing.pack_column(column)
    cells = [None if cell is pd.NA else cell for cell in series]
    array = pa.array(cells, pa.large_binary())
    frame = pd.DataFrame({"g": series})
    frame.to_parquet(tmp_path / "g.parquet", row_group_size=64)
    layouts = {
        "chunks": pa.chunked_array([array[:70], array[70:70], array[70:]]),
        "sliced": pa.concat_arrays([pa.array([b"odd"], pa.large_binary()), array])[1:],
        "binary": array.cast(pa.binary()),
        "binary chunks": pa.chunked_array([array[:70].cast(pa.binary()), array[70:].cast(pa.binary())]),
        "parquet": pd.read_parquet(tmp_path / "g.parquet")["g"].array.__arrow_array__(),
    }
    if hasattr(pa, "binary_view"):  # since pyarrow 16
        view = pa.array(cells, pa.binary_view())
        layouts |= {"view": view, "view chunks": pa.chunked_array([view, view[:0]])}
    for layout in layouts.values():
        found = pd.Series(pd.arrays.ArrowExtensionArray(layout))
        assert packing.is_packed(found)
        assert_same(column, packing.unpack_column(found))
    assert_same(column, packing.unpack_column(pd.Series(cells, dtype=object)))
    assert_same(column, packing.unpack_column(series.sample(frac=1, random_state=0).sort_index()))


def test_missing_cells_that_own_bytes() -> None:
    good = cell()
    data = good + b"left over" + good
    offsets = np.array([0, len(good), len(good) + 9, len(data)], dtype=np.int64)
    buffers = [pa.py_buffer(bytes([0b101])), pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.large_binary(), 3, buffers)
    found = packing.unpack_column(pd.Series(pd.arrays.ArrowExtensionArray(array)))
    assert found.missing.tolist() == [False, True, False]
    assert found.blocks[0].rows.tolist() == [0, 2]


@pytest.mark.parametrize("cells", [[], [None, None]])
def test_nothing_to_decode(cells: list[None]) -> None:
    for series in (packed(cells), pd.Series(cells, dtype=object)):
        found = packing.unpack_column(series)
        assert found.n_rows == len(cells)
        assert found.blocks == ()
        assert found.missing.tolist() == [True] * len(cells)
    pd.testing.assert_series_equal(packing.pack_column(found), pd.Series(cells, dtype=packing.COLUMN_DTYPE))


def test_fixed_size_binary() -> None:
    series = pd.Series(pd.arrays.ArrowExtensionArray(pa.array([cell(), cell()], pa.binary(len(cell())))))
    assert len(packing.unpack_column(series).blocks[0].rows) == 2


TEXT = 8 * packing.TEXT_WORDS


def damaged(where: int, value: bytes) -> bytes:
    raw = bytearray(cell())
    raw[TEXT + where : TEXT + where + len(value)] = value
    return bytes(raw)


def with_names(blob: bytes, n_nodes: int, words: int = 1) -> bytes:
    """Build a cell with any names and a right digest."""
    padded = blob + bytes(-len(blob) % 8)
    head = bytes([0xCE, 2, PDAG, 2]) + n_nodes.to_bytes(4, "little") + hashlib.blake2b(blob, digest_size=8).digest()
    return packing.cell_text(PDAG, n_nodes, 0) + head + len(blob).to_bytes(8, "little") + padded + bytes(16 * words)


FAULTS = {
    "empty": (b"", r"found 0 bytes starting with b'', not a packed graph; a cell has whole 64-bit words"),
    "not words": (cell() + b"x", r"found 81 bytes .* whole 64-bit words"),
    "too short": (cell()[:16], r"found 16 bytes .* at least seven"),
    "magic": (damaged(0, b"\x00"), r"not a packed graph \(these start with a line such as 'dag, 3 nodes, 2 edges'\)"),
    "only text": (cell()[:TEXT], r"not a packed graph"),
    "end of the header": (cell()[: TEXT + 16], r"not a packed graph"),
    "text": (b"A -> B; B -- C; D   12345678", r"not a packed graph"),
    "version": (damaged(1, b"\x07"), r"format version 7; this release reads version 2"),
    "class": (damaged(2, b"\x09"), r"class code 9; known are 0 to 8 for dag, cpdag, pdag, digraph, mag"),
    "planes": (damaged(3, b"\x04"), r"found 4 planes of marks; graphs of class pdag have 2"),
    "nodes": (damaged(4, b"\x02"), r"has 2 nodes but 3 names; the cell is damaged"),
    "words for the nodes": (
        damaged(4, b"\x0c"),
        r"found 80 bytes, but a graph of 12 nodes with 5 bytes of names has 96",
    ),
    "too many nodes": (damaged(4, b"\xff\xff\xff\xff"), r"has 4294967295 nodes; at most 20000 are supported"),
    "digest": (damaged(8, b"\x00" * 8), r"node names do not match their digest"),
    "length of names": (damaged(16, b"\x04"), r"node names do not match their digest"),
    "high bytes of the length": (damaged(20, b"\x01"), r"found 80 bytes, but a graph of 3 nodes with 4294967301 bytes"),
    "names": (damaged(24, b"Z"), r"node names do not match their digest"),
    "padding of names": (damaged(31, b"\x01"), r"node names do not match their digest"),
    "padding of planes": (damaged(32, b"\x08"), r"has bits set beyond its last pair of nodes"),
    "undirected dag": (cell(kind=DAG, arcs=((0, 1), (1, 0))), r"is declared a dag but has undirected edges"),
    "undirected digraph": (cell(kind=DIGRAPH, arcs=((0, 1), (1, 0))), r"is declared a digraph but has undirected"),
    "unsorted": (with_names(b"B\0A", 2), r"has its nodes out of code-point order \('B' before 'A'\)"),
    "repeated": (with_names(b"A\0A", 2), r"has the node name 'A' twice"),
    "nameless": (with_names(b"\0A", 2), r"has the node name ''; names are not empty"),
    "no UTF-8": (with_names(b"A\0\xff", 2), r"node names are not UTF-8"),
    "names without nodes": (with_names(b"A", 0), r"has 0 nodes but 1 names; the cell is damaged"),
    "nodes without names": (with_names(b"", 1), r"has 1 nodes but 0 names; the cell is damaged"),
}


@pytest.mark.parametrize(("bad", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_faulty_cells(bad: bytes, message: str) -> None:
    other = cell(("A", "D"), arcs=())
    for cells in ([bad], [cell(), cell(), bad, cell()], [other, cell(), None, bad], [bad, other]):
        row = cells.index(bad)
        with pytest.raises(ValueError, match=rf"^column 'estimate', row {row} \(index 'run{row}'\): .*{message}"):
            packing.unpack_column(packed(cells))


def test_names_of_another_set_under_the_same_digest() -> None:
    raw = bytearray(cell())
    raw[TEXT + 24 : TEXT + 25] = b"D"
    for cells in ([cell(), bytes(raw)], [cell(("x",), arcs=()), cell(), bytes(raw)]):
        with pytest.raises(ValueError, match="node names do not match their digest"):
            packing.unpack_column(packed(cells))


@pytest.mark.parametrize(
    "text",
    [
        "b'\\xce\\x01\\x00\\x02'", "Graph('A -> B', kind='dag')", "<networkx.classes.digraph.DiGraph object at 0x7f3>",
        "DiGraph with 4 nodes and 3 edges", "MultiDiGraph named 'x' with 2 nodes and 1 edges", "[[0 1]\n [0 0]]",
    ],
)  # fmt: skip
def test_cells_that_became_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"column 'g', row 1 .*turned into when dask, CSV .*Parquet, not CSV"):
        packing.unpack_column(pd.Series([None, text], name="g"))


def test_other_cells() -> None:
    message = r"column 'g', row 0 \(index 3\): expected packed bytes, found int; use graph_column"
    with pytest.raises(TypeError, match=message):
        packing.unpack_column(pd.Series([5], index=[3], dtype=object), column="g")


@pytest.mark.slow
def test_fuzz() -> None:
    rng = np.random.default_rng(7)
    good = cell(tuple("ABCDEFGHIJKLM"), arcs=((0, 1), (5, 2), (2, 5), (11, 12)))
    for i in range(600):
        if i % 2:
            raw = bytearray(good)
            raw[rng.integers(len(raw))] ^= int(rng.integers(1, 256))
            bad = bytes(raw)
        else:
            bad = good[: rng.integers(3)] + rng.bytes(8 * int(rng.integers(0, 9)) + (i % 10 == 0))
        for cells in ([bad], [good, bad]):
            try:
                column = packing.unpack_column(packed(cells))
            except ValueError as error:
                assert str(error).startswith("column 'estimate', row")
            else:
                assert [raw[TEXT:] for raw in packing.pack_column(column)] == [raw[TEXT:] for raw in cells]


@pytest.mark.slow
def test_a_changed_byte_is_another_graph_or_an_error() -> None:
    good = cell()
    for at in range(TEXT, len(good)):
        for bit in range(8):
            raw = bytearray(good)
            raw[at] ^= 1 << bit
            try:
                column = packing.unpack_column(packed([bytes(raw)]))
            except ValueError:
                continue
            assert packing.pack_column(column).iloc[0][TEXT:] == bytes(raw)[TEXT:]
            assert at >= TEXT + 32 or at == TEXT + 2  # other arcs, or another class


def test_texts() -> None:
    column = ce.graph_column(["A -> B; B -> C", "A", "{}", "A <-> B", None])
    texts = [raw[:TEXT].decode().strip() for raw in column.dropna()]
    assert texts == ["dag, 3 nodes, 2 edges", "dag, 1 node, 0 edges", "dag, 0 nodes, 0 edges", "mag, 2 nodes, 1 edge"]
    assert "dag, 3 nodes, 2 edges" in repr(column)
    assert packing.cell_text(DAG, 20000, 199990000) == b"dag, 20000 nodes".ljust(TEXT), "no part of a number"


def test_layout_is_as_documented() -> None:
    raw = cell(("A", "BB", "C"), kind=1, arcs=((0, 1), (2, 1), (1, 2)))
    words = np.frombuffer(raw, "<u8")
    assert raw[:TEXT] == b"cpdag, 3 nodes, 2 edges         "
    raw, words = raw[TEXT:], words[packing.TEXT_WORDS :]
    assert raw[:8] == bytes([0xCE, 2, 1, 2, 3, 0, 0, 0])
    assert raw[8:16] == hashlib.blake2b(b"A\0BB\0C", digest_size=8).digest()
    assert words[2] == 6
    assert raw[24:32] == b"A\0BB\0C\0\0"
    assert words[4:].tolist() == [0b101, 0b100]
    assert packing.names_header(("A", "BB", "C")).tolist()[1:] == words[1:4].tolist()


def test_name_row() -> None:
    assert name_row(3) == "row 3"
    assert name_row(1, pd.Index([4, 5]), "truth") == "column 'truth', row 1 (index 5)"
    index = pd.MultiIndex.from_tuples([("pc", 0.2), ("ges", 0.3)])
    assert name_row(1, index) == "row 1 (index ('ges', 0.3))"


def test_first_other_nodes() -> None:
    truth = packing.unpack_column(packed([cell(), None, cell(), cell()]))
    assert packing.first_other_nodes(truth, truth) is None
    other = cell(("A", "B", "D"))
    assert packing.first_other_nodes(truth, packing.unpack_column(packed([cell(), other, None, other]))) == 3
    assert packing.first_other_nodes(packing.unpack_column(packed([cell(), None, cell(), cell()])), truth) is None
    assert packing.first_other_nodes(truth, packing.unpack_column(packed([cell(), other, None, cell()]))) is None
    assert (
        packing.first_other_nodes(packing.unpack_column(packed([None])), packing.unpack_column(packed([other]))) is None
    )


def test_shared_rows() -> None:
    two = cell(("A", "B"), arcs=((0, 1),))
    truth = packing.unpack_column(packed([cell(), two, None, cell(), two]))
    estimate = packing.unpack_column(packed([cell(), two, cell(), None, two]))
    found = packing.shared_rows(truth, estimate)
    assert [(a.n_nodes, b.n_nodes, *(x.tolist() for x in rest)) for a, b, *rest in found] == [
        (2, 2, [1, 4], [0, 1], [0, 1]),
        (3, 3, [0], [0], [0]),
    ]
    assert packing.shared_rows(truth, packing.unpack_column(packed([None] * 5))) == []


def test_what_is_known_of_a_column_ends_with_it() -> None:
    good = ce.graph_column(["A -> B; B -> C"] * 50).tolist()
    bad = [*good[:-1], good[-1][:-1] + b"\xff"]
    for _ in range(20):  # memory that was freed is used again
        column = pd.Series(good, dtype=packing.COLUMN_DTYPE)
        assert packing.unpack_column(column, in_place=True).blocks[0].n_nodes == 3
        del column
        with pytest.raises(ValueError, match="row 49 "):
            packing.unpack_column(pd.Series(bad, dtype=packing.COLUMN_DTYPE), in_place=True)


def test_parts_of_a_known_column_are_read_by_themselves() -> None:
    column = ce.graph_column(["A -> B; C", "A; B; C", None, "B -> A; C"])
    whole = column.dropna()
    assert len(packing.unpack_column(whole, in_place=True).blocks[0].rows) == 3
    for part in (whole.iloc[1:], whole.iloc[:2], whole[::-1], pd.concat([whole, whole]), column):
        assert packing.unpack_column(part, in_place=True).n_rows == len(part)
        np.testing.assert_array_equal(
            packing.unpack_column(part, in_place=True).blocks[0].planes, packing.unpack_column(part).blocks[0].planes
        )
