"""Cells of lagged graphs: text, bytes, columns, and what is refused."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.time_series.cells import CODE_OF_SIGN, DIRECTED, TURNED

SIGNS_AT_LAG_0 = ["", "->", "<-", "--", "<->", "o->", "o-o", "--o"]


@st.composite
def graphs(draw):
    d, lags = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    plain = draw(st.booleans())
    codes = np.zeros((lags + 1, d, d), np.uint8)
    signs = SIGNS_AT_LAG_0[:4] if plain else SIGNS_AT_LAG_0
    for i in range(d):
        for j in range(i):
            sign = draw(st.sampled_from(signs))
            if sign:
                codes[0, i, j] = CODE_OF_SIGN[sign]
                codes[0, j, i] = TURNED[codes[0, i, j]]
    for lag in range(1, lags + 1):
        for i in range(d):
            for j in range(d):
                sign = draw(st.sampled_from(["", "->"] if plain else ["", "->", "<->", "o->"]))
                codes[lag, i, j] = CODE_OF_SIGN[sign] if sign else 0
    min_lag = int(bool(lags) and not codes[0].any() and draw(st.booleans()))
    names = draw(st.sampled_from([("X", "Y@-1", "Z_lag1", "o"), ("a b", "b; c", "x->y", "é"), ("0", "1", "10", "2")]))
    return ce.LaggedGraph.of(sorted(names[:d]), codes, min_lag)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(graphs())
def test_text_and_bytes_are_read_back(graph):
    assert ce.LaggedGraph.from_bytes(graph.to_bytes()) == graph
    assert ce.as_lagged(graph.to_string()) == graph
    assert hash(ce.as_lagged(graph.to_string())) == hash(graph)
    column = ce.lagged_column([graph])
    assert column.lagged.to_graphs()[0] == graph and column.lagged.kind[0] == graph.kind
    if graph.nodes:
        assert ce.as_lagged(graph.to_frame(), nodes=graph.nodes, max_lag=graph.max_lag, min_lag=graph.min_lag) == graph


def test_bytes_are_canonical():
    cell = ce.as_lagged("X@-1 -> Y; Y -> Z").to_bytes()
    assert cell[:32] == b"ts_dag, 3 variables, 2 links".ljust(32)
    assert cell[32:40] == bytes([0xCC, 1, 0, 1, 3, 0, 0, 0])
    assert cell[40:48] == hashlib.blake2b(b"X\0Y\0Z", digest_size=8).digest()
    assert cell[48:56] == bytes([5, 0, 0, 0, 1, 0, 0, 0]) and cell[56:64] == b"X\0Y\0Z\0\0\0"
    # Y -> Z at lag 0 is bit 5, X -> Y at lag 1 is bit 10
    assert cell[64:] == (1 << 5 | 1 << 10).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cell: cell[:-8], "the cell is damaged"),
        (lambda cell: cell[:33] + b"\2" + cell[34:], "format version 2"),
        (lambda cell: cell[:34] + b"\7" + cell[35:], "class code 7"),
        (lambda cell: cell[:40] + b"12345678" + cell[48:], "do not match their digest"),
        (lambda cell: cell[:-1] + b"\x80", "bits set beyond"),
        (lambda cell: cell[:54] + b"\5\0" + cell[56:], "smallest lag 5"),
        (lambda cell: b"", "not a packed lagged graph"),
        (lambda cell: ce.as_graph("A -> B").to_bytes(), "found a packed graph, expected a packed lagged graph"),
    ],
)
def test_damaged_cells(change, message):
    good = ce.as_lagged("X@-1 -> Y; Y -> Z").to_bytes()
    column = pd.Series([good, change(good)], dtype=ce.lagged_column(["X"]).dtype)
    with pytest.raises(ValueError, match=f"row 1.*{message}"):
        ce.lagged_column(column)


def test_a_cell_that_declares_another_class():
    cell = bytearray(ce.as_lagged("X -- Y").to_bytes())
    cell[34] = 0
    with pytest.raises(ValueError, match="is declared a ts_dag, but has undirected links"):
        ce.lagged_column([bytes(cell)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X -> X", "itself"),
        ("X -> Y@-1", "links end at t|before its cause"),
        ("X@-2 -> Y@-1", "links end at t"),
        ("X@-1 -- Y", "an effect does not come before its cause"),
        ("X@1 -> Y", "is written with its time, as in 'X@-1'"),
        ("X@-1.5 -> Y", "found 'X@-1.5', .*; a variable at t - 1 is written with its time"),
        ("X@-99999999999 -> Y", "is written with its time"),
        ("X@\u22121 -> Y", "is written with its time"),
        ("X(t-1) -> Y(t)", r"found 'X\(t-1\)'.*; a variable at t - 1 is written with its time, as in 'X@-1'"),
        ("X_t-1 -> Y_t", "is written with its time"),
        ("X_lag1 -> Y", r"found 'X_lag1'.*as in 'X_lag1@0'"),
        ("X.l1 -> Y", "is written with its time"),
        ("L1.X -> Y", r"found 'L1.X'"),
        ("lag 0..1: X@-1 -> Y", "found 'lag 0..1: X@-1 -> Y'; a text begins with its searched lags as in 'lags 0..2:'"),
        ("lags 0..1000000: X@-1 -> Y", "begins with its searched lags"),
        ('"X_{t-2}" -> Y', "is written with its time"),
        ("; ".join(f"X{i} -> X{i + 1}" for i in range(100_000)), "at most 100,000,000 cells"),
        ("lags 0..1: X@-2 -> Y", "beyond 1"),
        ("lags 1..2: X -> Y", "min_lag is 1, but the graph has links at lag 0"),
        ("X -> Y; Y -> X", "expected one edge between two nodes"),
    ],
)
def test_texts_that_are_no_graph(text, message):
    with pytest.raises(ValueError, match=message):
        ce.as_lagged(text)


def test_names_that_end_like_a_time_are_written_with_one():
    names = ["IL-6", "L1.X", "X(t-1)", "X_lag1", "Y@1", "flag1", "lag 0..1: X", "start-2", "t-1"]
    codes = np.zeros((2, 9, 9), np.uint8)
    codes[1, 0, 2] = codes[1, 2, 4] = codes[1, 6, 1] = codes[1, 3, 5] = DIRECTED
    graph = ce.LaggedGraph(names, codes, 0, "ts_dag")
    text = graph.to_string()
    assert "X(t-1)@0" in text and "Y@1@0" in text
    assert ce.as_lagged(text) == ce.as_lagged(graph)


def test_cycles_of_many_nodes_are_found():
    chain = [f"X{i} -> X{i + 1}" for i in range(600)]
    assert ce.as_lagged("; ".join(chain)).kind == "ts_dag"
    assert ce.as_lagged("; ".join([*chain, "X600 -> X0"])).kind == "ts_pdag"


def test_classes():
    assert ce.as_lagged("X -> Y; Y -> Z; Z -> X").kind == "ts_pdag"
    assert ce.as_lagged("X@-1 -> Y; Y@-1 -> X").kind == "ts_dag"
    assert ce.as_lagged("X -> Y", kind="ts_pag").kind == "ts_pag"
    assert ce.as_lagged("X -> Y", kind="ts_pag") != ce.as_lagged("X -> Y")
    with pytest.raises(ValueError, match="is declared a ts_dag, but has a|is declared a ts_dag, but has undirected"):
        ce.as_lagged("X -- Y", kind="ts_dag")
    with pytest.raises(ValueError, match="kind must be"):
        ce.as_lagged("X -> Y", kind="dag")


def test_columns_work_in_pandas(tmp_path):
    column = ce.lagged_column(pd.Series(["X@-1 -> Y", None, "Y; X@-1 -> Y"], index=list("abc"), name="g"))
    assert column["a"] == column["c"] and column.isna().tolist() == [False, True, False]
    assert column.lagged.n_links.tolist() == [1, pd.NA, 1] and column.lagged.nodes["a"] == ("X", "Y")
    pd.DataFrame({"g": column}).to_parquet(tmp_path / "g.parquet")
    read = pd.read_parquet(tmp_path / "g.parquet", dtype_backend="pyarrow")["g"]
    assert read.lagged.to_strings().tolist() == column.lagged.to_strings().tolist()
    assert ce.lagged_column(read).equals(column)
    with pytest.raises(AttributeError, match="make one with lagged_column"):
        pd.Series(["X"]).lagged  # noqa: B018
    with pytest.raises(ValueError, match="1 graphs are missing"):
        column.lagged.to_numpy()
    frame = column.lagged.to_frame()
    assert frame.index.tolist() == ["a", "c"] and frame["lag"].tolist() == [1, 1]
    assert column.iloc[1:2].lagged.to_frame().empty
    assert "links" in column.lagged.show() and "summary" in repr(column.lagged)


def test_options_are_checked():
    for option, value in {"min_lag": 2, "max_lag": -1, "first_lag": True, "threshold": -1, "alpha": 2}.items():
        with pytest.raises(ValueError, match=option):
            ce.lagged_column(["X"], **{option: value})
    with pytest.raises(ValueError, match="expected a lagged graph, found None"):
        ce.as_lagged(None)
    with pytest.raises(ValueError, match="codes of shape"):
        ce.LaggedGraph(("A",), np.zeros((1, 2, 2)), 0, "ts_dag")
