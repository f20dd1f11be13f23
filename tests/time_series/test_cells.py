"""Lagged graphs as cells and columns; summaries, contemporaneous and window graphs; classes by brute force."""

import hashlib
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.fields.time_series.cells import CODE_OF_SIGN, DIRECTED, TURNED

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
        ("X -> X", "itself"), ("X -> Y@-1", "links end at t|before its cause"), ("X@-2 -> Y@-1", "links end at t"),
        ("X@-1 -- Y", "an effect does not come before its cause"),
        ("X@1 -> Y", "is written with its time, as in 'X@-1'"),
        ("X@-1.5 -> Y", "found 'X@-1.5'; a variable at t - 1 is written with its time"),
        ("X@-99999999999 -> Y", "is written with its time"), ("X@\u22121 -> Y", "is written with its time"),
        ("X(t-1) -> Y(t)", r"found 'X\(t-1\)'.*; a variable at t - 1 is written with its time, as in 'X@-1'"),
        ("X_t-1 -> Y_t", "is written with its time"), ("X_lag1 -> Y", r"found 'X_lag1'.*has another: X_lag1@0$"),
        ("X.l1 -> Y", "is written with its time"), ("L1.X -> Y", r"found 'L1.X'"),
        ("X.L1 -> Y", r"found 'X.L1'"), ('"X@t-1" -> Y', "found 'X@t-1'; a variable at t - 1 is written"),
        ('"X:1" --> X', "is written with its time, as in 'X@-1' .* has another: \"X:1@0\"$"),
        ("X:1 --> X", "; a variable at t - 1 is written with its time, as in 'X@-1'"),
        ("X[t-1] -> X", "; a variable at t - 1 is written with its time, as in 'X@-1'"),
        ("lag 0..1: X@-1 -> Y", "found 'lag 0..1: X@-1 -> Y'; a text begins with its searched lags as in 'lags 0..2:'"),
        ("lags 0..1000000: X@-1 -> Y", "begins with its searched lags"),
        ('"X_{t-2}" -> Y', "is written with its time"),
        ("; ".join(f"X{i} -> X{i + 1}" for i in range(100_000)), "at most 100,000,000 cells"),
        ("lags 0..1: X@-2 -> Y", "beyond 1"),
        ("lags 1..2: X -> Y", "min_lag is 1, but the graph has links at lag 0"),
        ("X -> Y; Y -> X", "expected one edge between two nodes"),
    ],
)  # fmt: skip
def test_texts_that_are_no_graph(text, message):
    with pytest.raises(ValueError, match=message):
        ce.as_lagged(text)


TIMES = [
    "(t-1)",
    "[t-1]",
    "{t-1}",
    "_{t-1}",
    "(T-1)",
    "(-1)",
    "[-1]",
    "{-1}",
    "(t - 1)",
    " (lag 1)",
    "(lag=1)",
    "_lag_1",
    "@t-1",
    ":1",
    "@- 1",
    "@-1.5",
    "@\u22121",
]


# braces without quotes are those of JSON until they are quoted
@pytest.mark.parametrize(("time", "quote"), [(time, q) for time in TIMES for q in ['"', ""] if q or "{" not in time])
def test_a_time_that_is_written_otherwise_is_no_name(time, quote):
    """The message has the text with the time, and the text for a variable of this name, which both are read."""
    with pytest.raises(ValueError, match="as in 'X@-1' or, in quotes, ") as refused:
        ce.as_lagged(f"{quote}X{time}{quote} -> Y")
    advised = str(refused.value).rpartition("has another: ")[2]
    assert ce.as_lagged(f"{advised} -> Y").nodes == (f"X{time}", "Y")


@pytest.mark.parametrize("time", [time for time in TIMES if "{" in time])
def test_braces_around_a_time_are_told_how_a_time_is_written(time):
    with pytest.raises(ValueError, match="which has braces; .*; a variable at t - 1 is written with its time"):
        ce.as_lagged(f"X{time} -> Y")


@pytest.mark.parametrize(("text", "name"), [("@-1 -> Y", "@-1"), ("X_t-1", "X_t-1")])
def test_names_that_need_quotes_for_another_reason_are_quoted_with_their_time(text, name):
    with pytest.raises(ValueError, match=f"found '{name}'; a variable at t - 1 .* has another: ") as refused:
        ce.as_lagged(text)
    assert ce.as_lagged(str(refused.value).rpartition("has another: ")[2]).nodes == (name,)


@pytest.mark.parametrize("name", ['"S&P 500"@-1', "'S&P 500'@-1", '"S&P 500"(t-1)', "S&P 500@-1"])
def test_the_time_of_a_quoted_name_is_in_its_quotes(name):
    with pytest.raises(ValueError, match="""in quotes, '"S&P 500@-1"'$"""):
        ce.as_lagged(f"{name} -> Y")
    assert ce.as_lagged('"S&P 500@-1" -> Y') == ce.as_lagged({"source": ["S&P 500"], "target": ["Y"], "lag": [1]})


def test_names_that_end_like_a_time_are_written_with_one():
    names = ["IL-6", "L1.X", "X(t-1)", "X:1", "X_lag1", "Y@1", "flag1", "lag 0..1: X", "start-2", "t-1"]
    codes = np.zeros((2, 10, 10), np.uint8)
    codes[1, 0, 2] = codes[1, 2, 5] = codes[1, 7, 1] = codes[1, 4, 6] = codes[1, 3, 9] = DIRECTED
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


STORED = {
    "packed": lambda *graphs: ce.lagged_column([None, *graphs]),
    "LaggedGraph": lambda *graphs: [None, *map(ce.as_lagged, graphs)],
    "bytes": lambda *graphs: [None, *(ce.as_lagged(graph).to_bytes() for graph in graphs)],
    "text": lambda *graphs: [None, *graphs],
}


@pytest.mark.parametrize("form", STORED)
def test_lags_and_class_of_stored_graphs_are_changed_as_asked(form):
    cells = STORED[form]("lags 0..1: X@-1 -> Y", "lags 0..2: Y; X")
    how = {"min_lag": 1, "max_lag": 3, "nodes": ["Y", "X"], "kind": "ts_pag"}
    changed = ce.lagged_column(cells, index=list("abc"), **how)
    assert changed.lagged.to_strings().tolist()[1:] == ["lags 1..3: X@-1 -> Y", "lags 1..3: X; Y"]
    assert changed.index.tolist() == list("abc") and changed.isna().tolist() == [True, False, False]
    assert changed.lagged.kind.tolist()[1:] == ["ts_pag"] * 2
    # searched lags without links are cut, links are not
    assert ce.lagged_column(cells, max_lag=1).lagged.to_strings().tolist()[2] == "lags 0..1: X; Y"
    with pytest.raises(ValueError, match="row 1 .*has the link 'X' -> 'Y' at lag 1, beyond max_lag=0"):
        ce.lagged_column(cells, max_lag=0)
    with pytest.raises(ValueError, match="row 1 .*min_lag is 1, but the graph has links at lag 0"):
        ce.lagged_column(STORED[form]("X -> Y; Y@-1 -> Y"), min_lag=1)
    with pytest.raises(ValueError, match="row 1 .*has the variables .*, but nodes= has no 'X'"):
        ce.lagged_column(cells, nodes=["Y", "Z"])
    if form != "text":
        # which variables a graph has is settled
        with pytest.raises(ValueError, match=r"row 1 .*but nodes= has also 'Z'; .*column.lagged.to_strings\(\)"):
            ce.lagged_column(cells, nodes=["X", "Y", "Z"])
        texts = ce.lagged_column(cells).lagged.to_strings()
        assert ce.lagged_column(texts, nodes=["X", "Y", "Z"]).lagged.to_strings()[1] == "lags 0..1: X@-1 -> Y; Z"
    with pytest.raises(ValueError, match="row 1 .*is declared a ts_dag, but has circles"):
        ce.lagged_column(STORED[form]("X@-1 o-> Y"), kind="ts_dag")


def test_declared_classes_of_stored_graphs_stay():
    column = ce.lagged_column(["X@-1 -> Y"], kind="ts_pag")
    for how in ({}, {"min_lag": 1}, {"nodes": ["X", "Y"]}):
        assert ce.lagged_column(column, **how).lagged.kind.tolist() == ["ts_pag"]
        assert ce.lagged_column(column.lagged.to_graphs().tolist(), **how).lagged.kind.tolist() == ["ts_pag"]


def test_options_are_checked():
    for option, value in {"min_lag": 2, "max_lag": -1, "first_lag": True, "threshold": -1, "alpha": 2}.items():
        with pytest.raises(ValueError, match=option):
            ce.lagged_column(["X"], **{option: value})
    with pytest.raises(ValueError, match="expected a lagged graph, found None"):
        ce.as_lagged(None)
    with pytest.raises(ValueError, match="codes of shape"):
        ce.LaggedGraph(("A",), np.zeros((1, 2, 2)), 0, "ts_dag")


NAMES = ["X", "Y", "Z"]


def test_views_of_tigramite(run):
    column = ce.lagged_column([run["graph"], None], nodes=NAMES)
    at_lag_0 = column.lagged.contemporaneous()
    edges = [f"{a} {'--' if sign == 'o-o' else '->'} {b}" for a, sign, b in run["contemporaneous"]]
    isolated = [x for x in NAMES if not any(x in (a, b) for a, _, b in run["contemporaneous"])]
    assert at_lag_0.graph.to_strings()[0] == "; ".join([*edges, *isolated])
    assert at_lag_0.graph.kind[0] in ("dag", "pdag", "mixed") and at_lag_0.isna().tolist() == [False, True]
    arcs = {tuple(arc) for arc in run["summary_directed"]}
    if any((b, a) in arcs for a, b in arcs):
        with pytest.raises(ValueError, match=r"row 0.*'X' and 'Z' have other marks .* two_cycles='undirected'"):
            column.lagged.summary()
        joined = column.lagged.summary(two_cycles="undirected").graph
        assert joined.to_strings()[0] == "X -> Y; X -- Z; Y -> Z" and joined.kind[0] == "pdag"
    elif run["name"].startswith("run_lpcmci"):
        found = column.lagged.summary().graph
        assert found.to_strings()[0] == "X <-> Y; Y -> Z" and found.kind[0] == "mixed"
    else:
        found = column.lagged.summary().graph
        assert {tuple(edge.split(" -> ")) for edge in found.to_strings()[0].split("; ")} == arcs
        assert found.kind[0] == "digraph"
    confusion = [ce.summary_tp(column.lagged.to_graphs()[0], column.lagged.to_graphs()[0])]
    assert confusion == [len(arcs)]
    assert ce.lagged_tp(*[column.lagged.to_graphs()[0]] * 2, links="self") == len(run["self_links"])


def test_links_at_lag_0_yield_to_lagged_ones_in_the_summary():
    column = ce.lagged_column(["X -- Y; X@-1 -> Y; Y -- Z", "X o-o Y; Y@-1 -> X; Y o-o Z; X@-1 -> X"])
    assert column.lagged.summary().graph.to_strings().tolist() == ["X -> Y; Y -- Z", "Y -> X; Y o-o Z"]
    assert column.lagged.summary().graph.kind.tolist() == ["pdag", "mixed"]


def test_windows():
    column = ce.lagged_column(["X@-1 -> Y; X@-3 -> X; Y -- X", "X@-1 <-> Y; Y@-1 o-> X"])
    window = column.lagged.window()
    assert window.graph.n_nodes.tolist() == [8, 4]
    # a link at lag k stands max_lag + 1 - k times: 4 of lag 0, 3 of lag 1, 1 of lag 3
    assert window.graph.n_edges.tolist() == [8, 2] and window.graph.kind.tolist() == ["pdag", "mixed"]
    last = column.lagged.window(last=True)
    assert last.graph.n_edges.tolist() == [3, 2]
    assert "X@-3 -> X@0" in last.graph.to_strings()[0] and "X@-1 <-> Y@0" in last.graph.to_strings()[1]
    assert column.lagged.window(4).graph.n_edges.tolist() == [5 + 4 + 2, 8]
    with pytest.raises(ValueError, match="row 0.*beyond max_lag=2"):
        column.lagged.window(2)


def test_lag_0_that_was_not_searched_has_no_graph():
    column = ce.lagged_column(["X@-1 -> Y", "lags 1..1: X@-1 -> Y"])
    with pytest.raises(ValueError, match=r"row 1 .*lag 0 was not searched"):
        column.lagged.contemporaneous()
    assert column.lagged.summary().graph.to_strings().tolist() == ["X -> Y"] * 2


def directed_graphs(d, lagged):
    """List all directed graphs with these lagged links that are acyclic at lag 0."""
    pairs = list(itertools.combinations(NAMES[:d] if d <= 3 else "WXYZ", 2))
    for choice in itertools.product(range(3), repeat=len(pairs)):
        edges = [f"{a} -> {b}" if c == 1 else f"{b} -> {a}" for c, (a, b) in zip(choice, pairs, strict=True) if c]
        graph = ce.as_lagged("; ".join([*edges, lagged, *(NAMES[:d] if d <= 3 else "WXYZ")]))
        if graph.kind == "ts_dag":
            yield graph


@pytest.mark.parametrize(
    ("d", "lagged"),
    [
        (3, "X@-1"), (3, "X@-1 -> X"), (3, "X@-1 -> X; X@-1 -> Y"), (3, "X@-1 -> X; X@-1 -> Y; X@-1 -> Z"),
        (3, "Z@-2 -> Y"),
    ],
)  # fmt: skip
def test_equivalence_classes_by_brute_force(d, lagged):
    # classes of windows in which earlier times are fixed: same adjacencies and same colliders at t
    lagged = "lags" if lagged == "X@-1" else lagged
    graphs = list(directed_graphs(d, "X@-1 -> Y" if lagged == "lags" else lagged))

    def colliders(graph):
        window = ce.lagged_column([graph]).lagged.window(last=True)[0:1]
        matrix = window.graph.to_numpy()[0].astype(bool)
        adjacent = matrix | matrix.T
        triples = {
            (a, c, b)
            for c in range(len(matrix))
            for a, b in itertools.combinations(np.flatnonzero(matrix[:, c]).tolist(), 2)
            if not adjacent[a, b]
        }
        # two lagged causes meet in every member of the class
        return adjacent.tobytes(), frozenset(triples)

    classes = {}
    for graph in graphs:
        classes.setdefault(colliders(graph), []).append(graph)
    assert len(classes) < len(graphs)
    for members in classes.values():
        codes = np.stack([graph.codes for graph in members])
        shared = np.where((codes == codes[0]).all(axis=0), codes[0], 5)
        for graph in members:
            found = ce.lagged_column([graph]).lagged.lagged_cpdag().lagged.to_graphs()[0]
            np.testing.assert_array_equal(found.codes, shared)


def test_autocorrelation_directs_links_at_lag_0():
    column = ce.lagged_column(["X -> Y", "X@-1 -> X; X -> Y", "X@-1 -> X; X@-1 -> Y; X -> Y"])
    found = column.lagged.lagged_cpdag().lagged
    assert found.kind.tolist() == ["ts_pdag", "ts_dag", "ts_pdag"]
    with pytest.raises(ValueError, match="row 0.*is a ts_pdag"):
        ce.lagged_column(["X -- Y"]).lagged.lagged_cpdag()


def test_a_cycle_at_lag_0_is_a_digraph_in_views():
    column = ce.lagged_column(
        ["X -> Y; Y -> Z; Z -> X; X@-1 -> X", "X -> Y; Y -- Z; X@-1 -> X", "X -> Y; Z; X@-1 -> X"]
    )
    assert column.lagged.contemporaneous().graph.kind.tolist() == ["digraph", "pdag", "dag"]
    assert column.lagged.window().graph.kind.tolist() == ["digraph", "pdag", "dag"]
