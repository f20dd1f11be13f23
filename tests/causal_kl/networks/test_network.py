"""Networks as values: canonical, frozen, checked by node."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.causal_kl.networks.packed import pack_cell
from causaleval_pd.causal_kl.networks.structure import Structure

from .. import brute_force as brute

A, B = [0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]]


def two(a=A, b=B, parents=None, **more):
    return ce.DiscreteNetwork(parents or {"A": [], "B": ["A"]}, {"A": a, "B": b}, **more)


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_bytes_come_back_and_are_canonical(seed):
    rng = np.random.default_rng(seed)
    network = brute.random_network(rng, k=4)
    assert ce.DiscreteNetwork.from_bytes(network.to_bytes()) == network
    order = rng.permutation(4)
    listed = {network.nodes[i]: list(network.parents[network.nodes[i]]) for i in order}
    turned = {}
    for name, parents in listed.items():
        axes = rng.permutation(len(parents))
        turned[name] = network.cpts[name].transpose(*axes, len(parents))
        listed[name] = [parents[i] for i in axes]
    again = ce.DiscreteNetwork(listed, turned)
    assert again.to_bytes() == network.to_bytes() and hash(again) == hash(network)


def test_values_are_frozen_and_inputs_stay():
    table = np.array(B)
    network = two(b=table)
    table[0] = 0.5
    assert network.cpts["B"].tolist() == B
    with pytest.raises(ValueError, match="read-only"):
        network.cpts["B"][0, 0] = 1
    with pytest.raises(AttributeError):
        network.structure = None
    with pytest.raises(TypeError):
        network.parents["A"] = ("B",)


def test_copies_are_equal():
    network = two()
    assert pickle.loads(pickle.dumps(network)) == copy.deepcopy(network) == network
    gaussian = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [2.0]}, {"A": 1, "B": 1}, {"A": 0, "B": -0.0})
    assert pickle.loads(pickle.dumps(gaussian)) == gaussian
    assert gaussian != network and network != two(a=[0.4, 0.6]) and network != "A -> B"


def test_zeros_and_nans_have_one_form():
    nan = [np.frombuffer(np.uint64(0x7FF8000000000001).tobytes(), float)[0]] * 2
    assert two(b=[[1, -0.0], nan]).to_bytes() == two(b=[[1, 0], [np.nan] * 2]).to_bytes()


def test_states_that_are_numbers_are_ordered_by_value():
    network = ce.DiscreteNetwork({"A": []}, {"A": np.full(11, 1 / 11)})
    assert network.states["A"] == tuple(map(str, range(11)))
    named = two(states={"A": ["yes", "no"], "B": ["hi", "lo"]})
    assert named.table("B").loc["yes", "hi"] == 0.9
    assert named.table("A").columns.tolist() == ["no", "yes"]


def test_its_graph():
    assert two().graph == ce.as_graph("A -> B")
    assert repr(two()) == "DiscreteNetwork(2 nodes, 1 arcs: A -> B)"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: two(a=[0.3, 0.6]), "node 'A': the probabilities must sum to 1, found \\[0.3, 0.6\\]"),
        (lambda: two(b=[[0.9, 0.1], [1.2, -0.2]]), "node 'B' given A=1: probabilities must lie between 0 and 1"),
        (lambda: two(b=[[0.9, 0.1], [np.nan, 1]]), "node 'B' given A=1: .*NaN throughout"),
        (lambda: two(b=[0.9, 0.1]), "node 'B': its table has 1 axes, expected 2"),
        (lambda: two(b=[[0.9, 0.1]] * 3), "node 'B': its table has the shape \\(3, 2\\), expected \\(2, 2\\)"),
        (lambda: two(a="x"), "node 'A': its table must be an array of numbers"),
        (lambda: two(parents={"A": ["B"], "B": ["A"]}, a=B), "directed cycle (A -> B -> A|B -> A -> B)"),
        (lambda: two(parents={"A": [], "B": ["C"]}), "node 'B' has the parents \\['C'\\]"),
        (lambda: two(parents={"A": [], "B": ["A", "A"]}), "node 'B' has a parent twice"),
        (lambda: two(parents={"A": []}), "cpts lacks the nodes \\[\\] and has the unknown nodes \\['B'\\]"),
        (lambda: two(states={"A": ["x", "x"], "B": ["y", "z"]}), "node 'A' has the states .* must differ"),
        (lambda: two(states={"A": ["x"], "B": ["y", "z"]}), "node 'A': its table has the shape"),
    ],
)
def test_bad_networks_name_the_node(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("variances", "coefficients", "words"),
    [
        ({"A": 1, "B": 0}, {"A": [], "B": [1]}, "node 'B': .*variance positive"),
        ({"A": 1, "B": 1}, {"A": [], "B": [np.inf]}, "node 'B': intercept and coefficients must be finite"),
        ({"A": 1, "B": 1}, {"A": [], "B": [1, 2]}, "node 'B' has 2 coefficients, expected one for each of its parents"),
    ],
)
def test_bad_gaussian_networks_name_the_node(variances, coefficients, words):
    with pytest.raises(ValueError, match=words):
        ce.GaussianNetwork({"A": [], "B": ["A"]}, coefficients, variances)


def test_huge_networks_are_refused_before_memory_is_taken():
    names = [f"n{i:02}" for i in range(30)]
    with pytest.raises(ValueError, match="parameters, most of them at node 'n29'"):
        Structure(tuple(names), (("0", "1"),) * 30, (*(((),) * 29), tuple(range(29))))


def test_damaged_cells_are_refused():
    cell = two().to_bytes()
    structure = two().structure
    for bad, words in [
        (ce.as_graph("A -> B").to_bytes(), r"a packed graph, expected a network with parameters \(network_column\)"),
        (cell[:49] + b"\x03" + cell[50:], "format version 3"),
        (cell.replace(b"2 nodes", b"3 nodes"), "not those of its contents"),
        (cell[:-8], "bytes of parameters"),
        (cell.replace(b'"A"', b'"Z"'), "digest"),
        (b"", "not a packed network"),
        (pack_cell(structure, np.array([0.3, 0.8, 1, 0, 1, 0])), "node 'A'.*sum to 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            ce.DiscreteNetwork.from_bytes(bad)
    with pytest.raises(ValueError, match="discrete network, not a GaussianNetwork"):
        ce.GaussianNetwork.from_bytes(cell)
    with pytest.raises(TypeError, match="expected the bytes"):
        ce.DiscreteNetwork.from_bytes("x")


def test_forged_structures_are_refused():
    for text in ('{"nodes":["A","B"],"states":null,"parents":[[],[false]]}', "[" * 100_000, "{}", '{"nodes":1}'):
        with pytest.raises(ValueError, match="damaged|distinct ascending positions"):
            Structure.from_text(text)
    long = {"nodes": ["A"], "states": [["x", "y"], ["z"]], "parents": [[]]}
    with pytest.raises(ValueError, match="1 nodes, but states of 2"):
        Structure.from_text(json.dumps(long, separators=(",", ":")))
    for part in ({"states": []}, {"parents": []}, {"parents": [[], []]}):
        forged = {"nodes": ["A"], "states": [["x"]], "parents": [[]]} | part
        with pytest.raises(ValueError, match="1 nodes, but (states|parents) of"):
            Structure.from_text(json.dumps(forged, separators=(",", ":")))


def test_parents_that_are_no_names_are_refused():
    with pytest.raises(TypeError, match="found 'B': 'A'"):
        two(parents={"A": [], "B": "A"})
    with pytest.raises(TypeError, match="parents must map"):
        ce.DiscreteNetwork([("A", "B")], {})


def test_cells_begin_with_a_readable_line():
    cell = two().to_bytes()
    assert cell.startswith(b"discrete network, 2 nodes, 1 arc ")
    damaged = pd.Series([cell, cell[:-8]], dtype=pd.ArrowDtype(pa.large_binary()))
    with pytest.raises(ValueError, match="row 1 .*damaged"):
        ce.network_column(damaged)
    with pytest.raises(ValueError, match="row 0 .*not a packed network"):
        ce.network_column([b"\xcd\x01" + cell[50:]])
