"""Arrays of edges in JSON, Tetrad's wrapped objects, and mappings of nodes to their parents or children."""

from __future__ import annotations

import json
import warnings

import networkx as nx
import pytest

import causaleval_pd as ce

WRAPPED = """{"graph": {"nodes": [{"name": "X"}, {"name": "Y"}, {"name": "Z"}], "edgesSet": [
{"node1": {"name": "X"}, "node2": {"name": "Y"}, "endpoint1": {"name": "Circle"}, "endpoint2": {"name": "Arrow"}}]}}"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[["A", "B"], ["B", "C"]]', "A -> B; B -> C"),
        ('[{"from": "A", "edge": "<->", "to": "B"}]', "A <-> B"),
        (' [ {"source": "A", "target": "B"} ]', "A -> B"),
        (WRAPPED, "X o-> Y; Z"),
    ],
)
def test_texts(text, expected):
    assert ce.as_graph(text) == ce.as_graph(expected)


def test_a_bad_edge_of_an_array_names_its_line():
    with pytest.raises(ValueError, match=r"line 2: edge 2: found \['B'\], expected an object"):
        ce.as_graph('[["A", "B"],\n["B"]]')


@pytest.mark.parametrize("edges", ["edges", "links"])
@pytest.mark.parametrize("graph", [nx.DiGraph([("A", "B"), ("C", "B")]), nx.Graph([("A", "B")]), nx.empty_graph("AB")])
def test_objects_of_json_are_read_as_their_text(graph, edges):
    with warnings.catch_warnings():
        # releases differ in the name of the list
        warnings.simplefilter("ignore", FutureWarning)
        found = nx.node_link_data(graph)
    found[edges] = found.pop("links" if "links" in found else "edges")
    assert ce.as_graph(found) == ce.as_graph(json.dumps(found)) == ce.as_graph(graph)
    assert ce.as_graph({"nodes": ["A", "B"], edges: [["A", "B"]]}) == ce.as_graph("A -> B")


def test_a_mapping_with_nodes_named_nodes_and_edges_is_no_object_of_json():
    assert ce.as_graph({"nodes": ["edges"], "edges": []}, encoding="children") == ce.as_graph("nodes -> edges")


def test_bad_edges_of_an_object_are_named():
    with pytest.raises(ValueError, match="edge 1: found an edge of the node 'Z', which is not among the nodes"):
        ce.as_graph({"nodes": [{"id": "A"}], "links": [{"source": "A", "target": "Z"}]})


def test_mappings_are_read_as_named():
    families = {"A": [], "B": ["A"], "C": {"A", "B"}}
    assert ce.as_graph(families, encoding="parents") == ce.as_graph("A -> B; A -> C; B -> C")
    assert ce.as_graph(families, encoding="children") == ce.as_graph("B -> A; C -> A; C -> B")
    assert ce.as_graph('{"B": ["A"], "D": []}', encoding="parents") == ce.as_graph("A -> B; D")
    undirected = nx.to_dict_of_lists(nx.Graph([("A", "B")]))
    assert ce.as_graph(undirected, encoding="children") == ce.as_graph("A -- B")


def test_a_mapping_without_an_encoding_lists_what_it_could_be():
    with pytest.raises(ce.AmbiguousEncodingError, match="'parents'.*reads 'A -> B'.*'children'.*reads 'B -> A'"):
        ce.as_graph({"B": ["A"]})


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        ({"B": "A"}, ValueError, "found 'A' for the node 'B', expected a list of nodes"),
        ({1: [2]}, TypeError, "found the node 1 of type int, expected a string"),
        ({"A": ["A"]}, ValueError, "from 'A' to itself"),
    ],
)
def test_other_mappings_are_refused(cell, error, message):
    with pytest.raises(error, match=message):
        ce.as_graph(cell, encoding="parents")


def test_a_list_of_mappings_is_a_table_of_edges():
    with pytest.raises(TypeError, match=r"pd.DataFrame\(edges\)"):
        ce.as_graph([{"source": "A", "target": "B"}])


@pytest.mark.parametrize("directed", [True, False])
def test_networkx_names_nodes_by_their_id_whatever_else_they_have(directed):
    graph = (nx.DiGraph if directed else nx.Graph)([(0, 1)])
    nx.set_node_attributes(graph, {0: "A", 1: "B"}, "name")
    nx.set_node_attributes(graph, {0: "x", 1: "y"}, "label")
    data = nx.node_link_data(graph)
    assert ce.as_graph(json.dumps(data)) == ce.as_graph(data) == ce.as_graph(graph)


@pytest.mark.parametrize(
    ("ordinals", "expected"), [((0, 1), "A -> B"), ((1, 1), "A <-> B"), ((2, 1), "A o-> B"), ((0, 0), "A -- B")]
)
def test_ordinals_of_endpoints_of_tetrad(ordinals, expected):
    ends = {f"endpoint{k}": {"ordinal": ordinal} for k, ordinal in enumerate(ordinals, 1)}
    edge = {"node1": {"name": "A"}, "node2": {"name": "B"}} | ends
    graph = {"nodes": [{"name": "A"}, {"name": "B"}], "edgesSet": [edge]}
    for cell in (graph, {"graph": graph}, json.dumps(graph), json.dumps({"graph": graph})):
        assert ce.as_graph(cell).to_string() == expected
    edge["endpoint1"] = {"ordinal": 4}
    with pytest.raises(ValueError, match="edge 1: found the endpoints .*expected TAIL, .* or their ordinals"):
        ce.as_graph(graph)
