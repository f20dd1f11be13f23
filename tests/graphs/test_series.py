"""The accessor series.graph."""

from operator import methodcaller

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs import KINDS, Graph, as_graph, graph_column
from causaleval_pd.graphs.packing import COLUMN_DTYPE

TEXTS = ["a -> b <- c; d", None, "a -- b; b -- c; d", "x -> y", "{}", "z", "a -> b -> c -> a", "a -> b -- c"]
LABELS = list("pqrstuvw")


@pytest.fixture
def column() -> pd.Series:
    return graph_column(TEXTS, index=LABELS).rename("truth")


def test_numbers(column: pd.Series) -> None:
    found = pd.DataFrame({name: getattr(column.graph, name) for name in ("n_nodes", "n_edges", "n_undirected")})
    assert found.dtypes.astype(str).tolist() == ["Int64"] * 3
    assert found.index.tolist() == LABELS
    assert found.n_nodes.tolist() == [4, pd.NA, 4, 2, 0, 1, 3, 3]
    assert found.n_edges.tolist() == [2, pd.NA, 2, 1, 0, 0, 3, 2]
    assert found.n_undirected.tolist() == [0, pd.NA, 2, 0, 0, 0, 0, 1]
    assert column.graph.v_structures().tolist() == [1, pd.NA, 0, 0, 0, 0, 0, 0]
    density = column.graph.density
    assert density.dtype == np.float64
    np.testing.assert_array_equal(density, [2 / 6, np.nan, 2 / 6, 1, np.nan, np.nan, 1, 2 / 3])


def test_kind_and_acyclicity(column: pd.Series) -> None:
    found = column.graph.kind.astype(object).tolist()
    assert found == ["dag", np.nan, "cpdag", "dag", "dag", "dag", "digraph", "pdag"]
    assert column.graph.kind.cat.categories.tolist() == list(KINDS)
    assert column.graph.is_acyclic.tolist() == [True, pd.NA, True, True, True, True, False, True]
    assert column.graph.is_acyclic.dtype == "boolean"


def test_strings_read_back(column: pd.Series) -> None:
    strings = column.graph.to_strings()
    assert strings.dtype == "str"
    assert strings.iloc[0] == "a -> b; c -> b; d"
    assert strings.isna().tolist() == column.isna().tolist()
    pd.testing.assert_series_equal(graph_column(strings), column)


def test_objects_read_back(column: pd.Series) -> None:
    values = column.graph.to_graphs()
    assert values.dtype == object
    assert values.iloc[1] is None
    assert values.iloc[0] == as_graph(TEXTS[0])
    assert all(isinstance(value, Graph) for value in values.drop("q"))
    pd.testing.assert_series_equal(graph_column(values), column)
    networks = column.graph.to_networkx()
    assert networks.iloc[1] is None
    assert isinstance(networks.iloc[0], nx.DiGraph)
    pd.testing.assert_series_equal(graph_column(networks), column)


def test_nodes(column: pd.Series) -> None:
    nodes = column.graph.nodes
    assert nodes.iloc[0] == ("a", "b", "c", "d")
    assert nodes.iloc[1] is None
    assert nodes.iloc[4] == ()
    pd.testing.assert_series_equal(graph_column(column.graph.to_strings(), nodes=nodes), column)


def test_matrices() -> None:
    column = graph_column(["a -> b; c", "b -- c; a"])
    assert column.graph.to_numpy().tolist() == [[[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]]]
    assert column.graph.to_numpy().dtype == np.int8
    nodes = ["c", "b", "a"]
    for encoding in ("row->column", "column->row"):
        stack = column.graph.to_numpy(nodes, encoding)
        pd.testing.assert_series_equal(graph_column(stack, nodes=nodes, encoding=encoding), column)
    gap = pd.concat([column, graph_column([None])]).graph.to_numpy()
    assert gap.shape == (3, 3, 3)
    assert np.isnan(gap[2]).all()
    np.testing.assert_array_equal(gap[:2], column.graph.to_numpy())
    assert graph_column([None]).graph.to_numpy(["a", "b"]).shape == (1, 2, 2)
    assert graph_column([]).graph.to_numpy().shape == (0, 0, 0)


def test_matrices_of_other_nodes(column: pd.Series) -> None:
    message = r"column 'truth', row 3 \(index 's'\): found the nodes \['x', 'y'\], but row 0 has \['a', 'b', 'c', 'd'\]"
    with pytest.raises(ValueError, match=message):
        column.graph.to_numpy()
    with pytest.raises(ValueError, match=r"nodes must hold the names \['x', 'y'\] in any order, found \['x'\]"):
        column.iloc[[3]].graph.to_numpy(["x"])


def test_skeleton(column: pd.Series) -> None:
    skeletons = column.graph.skeleton()
    assert skeletons.dtype == COLUMN_DTYPE
    assert (skeletons.index.tolist(), skeletons.name) == (LABELS, "truth")
    assert skeletons.graph.to_strings().tolist()[:1] == ["a -- b; b -- c; d"]
    assert skeletons.graph.kind.dropna().unique().tolist() == ["cpdag"]
    assert (skeletons.graph.n_edges.dropna() == column.graph.n_edges.dropna()).all()
    square = graph_column(["a -> b; a -> c; b -> d; c -> d"]).graph.skeleton()
    assert square.graph.kind.tolist() == ["pdag"]
    assert skeletons.dropna().map(lambda cell: Graph.from_bytes(cell)).tolist() == [
        graph.skeleton() for graph in column.graph.to_graphs().dropna()
    ]


def test_cpdag(column: pd.Series) -> None:
    found = column.drop("v").graph.cpdag()
    assert found.graph.to_strings().tolist() == [
        "a -> b; c -> b; d", np.nan, "a -- b; b -- c; d", "x -- y", "{}", "z", "a -- b; b -- c",
    ]  # fmt: skip
    assert found.graph.kind.dropna().unique().tolist() == ["cpdag"]
    with pytest.raises(
        ValueError, match=r"column 'truth', row 6 \(index 'v'\): the graph is .* which has no CPDAG.*drop it"
    ):
        column.graph.cpdag()


def test_nothing_is_changed(column: pd.Series) -> None:
    before = column.copy(deep=True)
    for name in ("n_edges", "density", "kind", "nodes"):
        getattr(column.graph, name)
    column.graph.skeleton()
    column.graph.to_strings()
    pd.testing.assert_series_equal(column, before)


@pytest.mark.parametrize(
    "series", [pd.Series(["a -> b"]), pd.Series([b"x"], dtype=object), pd.Series([1.0]), pd.Series([as_graph("a")])]
)
def test_other_dtypes(series: pd.Series) -> None:
    assert not hasattr(series, "graph")
    message = r"series.graph needs a column of packed graphs, found dtype .*graph_column"
    with pytest.raises(AttributeError, match=message):
        series.graph  # noqa: B018


def test_all_missing_and_empty() -> None:
    for column in (graph_column([None, None]), graph_column([])):
        n = len(column)
        assert column.graph.n_edges.isna().sum() == n
        assert column.graph.to_strings().isna().sum() == n
        assert column.graph.cpdag().isna().sum() == n
        assert column.graph.kind.isna().sum() == n
        assert column.graph.is_acyclic.isna().sum() == n


def test_density_is_a_share_of_pairs_whatever_the_edges_between_them():
    texts = ["A -> B; A <-> B", "A -> B; A <-> B; C", "A -> B; B <-> C", "A o-o B; C", "A -- B", "A; B", "A"]
    column = ce.graph_column(texts, kind=["admg", "admg", "admg", "pag", "cpdag", "dag", "dag"])
    np.testing.assert_allclose(column.graph.density, [1, 1 / 3, 2 / 3, 1 / 3, 1, 0, np.nan])
    assert column.graph.density.iloc[0] == ce.true_density(texts[0], texts[0])
    assert column.graph.n_edges.tolist() == [2, 2, 2, 1, 1, 0, 0]


@pytest.mark.parametrize(("n", "words"), [(10, "10 graphs"), (11, "11 graphs, the first 10 shown")])
def test_notebooks_show_ten_graphs_and_count_all(n: int, words: str) -> None:
    text = methodcaller("_repr_html_")(graph_column(["a -> b"] * n).graph)
    assert text.endswith(f"<p>{words}</p>") and text.count("<td>a -&gt; b</td>") == 10
