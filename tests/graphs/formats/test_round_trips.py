"""What is written is read back: random graphs of each kind in each encoding that is written."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.contract.checks import face

LISTED = ce.list_encodings().index
TEXTS = ["dagitty", "DOT", "edge table", "GraphML", "JSON", "model string", "Tetrad text", "edge string"]
MATRICES = ["row->column", "column->row", "pcalg amat.pag", "pcalg amat.cpdag", "bnmetrics", "causal-learn matrix"]
MATRICES += ["Tetrad R matrix", "MXM", "pywhy-graphs matrix", "gadjid row->column", "gadjid column->row", "gCastle"]
MATRICES += ["lingam", "tigramite"]
SIGNS = ["->", "<-", "--", "<->", "o->", "<-o", "o-o", "o--"]

# names of which something shows, and no two of which look alike, which graphs refuse
NAMES = st.text(st.sampled_from("ABab01_. -o>~&<\"'\\|é[]@"), min_size=1, max_size=4).filter(face)


@st.composite
def graphs(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> ce.Graph:
    nodes = draw(st.lists(names, min_size=1, max_size=5, unique_by=face))
    allowed = draw(st.sampled_from([SIGNS[:1], SIGNS[:2], SIGNS[:3], [SIGNS[0], SIGNS[3]], SIGNS]))
    quoted = ['"' + name.replace('"', '""') + '"' for name in nodes]
    edges = list(quoted)
    for i, a in enumerate(quoted):
        for b in quoted[i + 1 :]:
            sign = draw(st.sampled_from(["", *allowed]))
            edges += [f"{a} {sign} {b}"] if sign else []
            if sign == "->" and allowed == [SIGNS[0], SIGNS[3]] and draw(st.booleans()):
                edges.append(f"{a} <-> {b}")
    return ce.as_graph("\n".join(edges))


def written(write: Any) -> Any:
    """Return what a writer returns, None if it refuses the marks or names with a reason."""
    try:
        return write()
    except ValueError as error:
        reasons = ("cannot hold", "has no codes", "holds directed edges only", "directed cycle")
        assert any(reason in str(error) for reason in (*reasons, "ambiguous", "is a model string or"))
        return None


@pytest.mark.slow
@pytest.mark.parametrize("encoding", TEXTS)
@settings(max_examples=25, deadline=None)
@given(graph=graphs())
def test_texts(encoding: str, graph: ce.Graph) -> None:
    text = written(lambda: graph.to_text(encoding))
    if text is not None:
        assert ce.as_graph(text, encoding=encoding) == graph
        if encoding != "edge string":
            assert ce.as_graph(text) == graph
        assert ce.graph_column([graph, None]).graph.to_text(encoding).tolist()[0] == text


@pytest.mark.parametrize("encoding", TEXTS)
@settings(max_examples=12, deadline=None)
@given(graph=graphs(st.text(st.sampled_from("ABC123"), min_size=1, max_size=3).map("X".__add__)))
def test_texts_of_plain_names(encoding: str, graph: ce.Graph) -> None:
    text = written(lambda: graph.to_text(encoding))
    if text is None:
        assert encoding == "model string"
        assert graph.kind != "dag" or len(graph.nodes) < 2
    if text is not None:
        assert ce.as_graph(text) == graph


@pytest.mark.slow
@pytest.mark.parametrize("encoding", MATRICES)
@settings(max_examples=25, deadline=None)
@given(graph=graphs(), data=st.data())
def test_matrices(encoding: str, graph: ce.Graph, data: st.DataObject) -> None:
    order = data.draw(st.permutations(graph.nodes))
    matrix = written(lambda: graph.to_numpy(order, encoding=encoding))
    if matrix is not None:
        # codes of PAGs name the class, in which a graph without circles need not be
        kind = graph.kind if encoding == "pcalg amat.pag" else None
        assert ce.as_graph(matrix, nodes=order, encoding=encoding, kind=kind) == graph
        stack = ce.graph_column([graph]).graph.to_numpy(order, encoding=encoding)
        assert (stack[0] == matrix).all()
    if encoding in ("causal-learn matrix", "tigramite"):
        assert matrix is not None


def test_every_encoding_that_is_written_is_tested() -> None:
    graph = ce.as_graph("A -> B")
    with pytest.raises(ValueError, match="to_text writes ") as error:
        graph.to_text("networkx")
    texts = str(error.value).partition("to_text writes ")[2].split(", ")
    assert {text.strip("'") for text in texts} == set(TEXTS)
    with pytest.raises(ValueError, match="to_numpy writes ") as error:
        graph.to_numpy(encoding="networkx")
    matrices = str(error.value).partition("to_numpy writes ")[2].split(", ")
    assert {text.strip("'") for text in matrices} == set(MATRICES)
    assert {*TEXTS, *MATRICES} <= {*LISTED}


def test_causal_learn_reads_what_is_written() -> None:
    general = pytest.importorskip("causallearn.graph.GeneralGraph")
    from causallearn.graph.GraphNode import GraphNode

    graph = ce.as_graph("A o-> B; B <-> C; C -> D; A o-o D")
    made = general.GeneralGraph([GraphNode(name) for name in graph.nodes])
    made.graph = graph.to_numpy(encoding="causal-learn matrix").astype(int)
    made.reconstitute_dpath(made.get_graph_edges())
    assert ce.as_graph(made) == graph
    assert ce.as_graph(str(made)) == graph, "its text is that of Tetrad"
    assert (made.graph == graph.to_numpy(encoding="causal-learn matrix")).all()
    assert np.asarray(graph.to_numpy(encoding="causal-learn matrix")).dtype == np.int8
