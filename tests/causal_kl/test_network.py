"""Networks as values, canonical, frozen, checked by node; networks of other programs."""

import copy
import gzip
import json
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, sample
from causaleval_pd.fields.causal_kl.cells import Structure, pack_cell

from . import brute_force as brute

A, B = [0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]]


def two(a=A, b=B, parents=None, **more):
    return ce.DiscreteNetwork(parents or {"A": [], "B": ["A"]}, {"A": a, "B": b}, **more)


def gaussian(coefficients=(1.0,), variances=None):
    return ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": coefficients}, variances or {"A": 1, "B": 1})


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
        (lambda: two(a=[0.3, 0.6]), "node 'A': probabilities must .* sum to 1, .* found \\[0.3, 0.6\\]"),
        (lambda: two(b=[[0.9, 0.1], [1.2, -0.2]]), "node 'B' given A=1: probabilities must lie between 0 and 1"),
        (lambda: two(b=[[0.9, 0.1], [np.nan, 1]]), "node 'B' given A=1: .*NaN throughout"),
        (lambda: two(b=[0.9, 0.1]), "node 'B': .* the shape \\(2,\\), expected \\(2, 2\\): .*\\['A', 'B'\\]"),
        (lambda: two(b=[[0.9, 0.1]] * 3), "node 'B': its table has the shape \\(3, 2\\), expected \\(2, 2\\)"),
        (lambda: two(a="x"), "node 'A': its table must be an array of numbers"),
        (lambda: two(parents={"A": ["B"], "B": ["A"]}, a=B), "directed cycle (A -> B -> A|B -> A -> B)"),
        (lambda: two(parents={"A": [], "B": ["C"]}), "node 'B' has the parents \\['C'\\]"),
        (lambda: two(parents={"A": [], "B": ["A", "A"]}), "node 'B' has a parent twice"),
        (lambda: two(parents={"A": []}), "cpts lacks the nodes \\[\\] and has the unknown nodes \\['B'\\]"),
        (lambda: two(states={"A": ["x", "x"], "B": ["y", "z"]}), "node 'A' has the states .* must differ"),
        (lambda: two(states={"A": ["x"], "B": ["y", "z"]}), "node 'A': its table has the shape"),
        (lambda: gaussian(variances={"A": 1, "B": 0}), "node 'B': .*variance positive"),
        (lambda: gaussian([np.inf]), "node 'B': intercept and coefficients must be finite"),
        (lambda: gaussian([1, 2]), "node 'B' has 2 coefficients, expected one for each of its parents"),
        (lambda: two(parents={"A": [], "B": "A"}), "found 'B': 'A'"),
        (lambda: ce.DiscreteNetwork([("A", "B")], {}), "parents must be a mapping of node names to lists"),
        # before memory is taken
        (lambda: Structure(tuple(f"n{i:02}" for i in range(30)), (("0", "1"),) * 30, (*[()] * 29, tuple(range(29)))),
         "node 'n29' needs a table with 1073741824 entries; at most"),
    ],
)  # fmt: skip
def test_bad_networks_name_the_node(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_damaged_cells_are_refused():
    cell = two().to_bytes()
    structure = two().structure
    for bad, words in [
        (ce.as_graph("A -> B").to_bytes(), r"a packed graph, expected a network with parameters \(network_column\)"),
        (cell[:49] + b"\x03" + cell[50:], "format version 3"),
        (cell.replace(b"2 nodes", b"3 nodes"), "its first bytes .* are not those of its contents"),
        (cell[:-8], "bytes of parameters"),
        (cell.replace(b'"A"', b'"Z"'), "its digest"),
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


def test_cells_begin_with_a_readable_line():
    cell = two().to_bytes()
    assert cell.startswith(b"discrete network, 2 nodes, 1 arc ")
    damaged = pd.Series([cell, cell[:-8]], dtype=pd.ArrowDtype(pa.large_binary()))
    with pytest.raises(ValueError, match="row 1 .*damaged"):
        ce.network_column(damaged)
    with pytest.raises(ValueError, match="row 0 .*not a packed network"):
        ce.network_column([b"\xcd\x01" + cell[50:]])


with warnings.catch_warnings():
    # an extension module that cannot be imported where warnings are errors
    warnings.simplefilter("ignore")
    import pyagrum as gum

pytestmark = pytest.mark.filterwarnings("ignore")


def in_pyagrum(network):
    """The same network in pyagrum."""
    made = gum.BayesNet()
    for name in network.nodes:
        made.add(gum.LabelizedVariable(name, name, list(network.states[name])))
    for name, parents in network.parents.items():
        for parent in parents:
            made.addArc(parent, name)
    for name, table in network.cpts.items():
        axes = [*network.parents[name], name]
        wanted = list(made.cpt(name).names)[::-1]
        made.cpt(name)[:] = np.ascontiguousarray(table.transpose([axes.index(axis) for axis in wanted]))
    return made


def in_pgmpy(network):
    """The same network in pgmpy."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    made = DiscreteBayesianNetwork([(p, n) for n, found in network.parents.items() for p in found])
    made.add_nodes_from(network.nodes)
    for name, table in network.cpts.items():
        parents = list(network.parents[name])
        card = table.shape[-1]
        made.add_cpds(
            TabularCPD(
                name,
                card,
                table.reshape(-1, card).T,
                evidence=parents or None,
                evidence_card=list(table.shape[:-1]) or None,
                state_names={n: list(network.states[n]) for n in [name, *parents]},
            )
        )
    return made


def close(left, right):
    return left.structure == right.structure and np.allclose(left.parameters, right.parameters, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("convert", [in_pyagrum, in_pgmpy])
def test_networks_come_back_from_other_programs(seed, convert):
    network = brute.random_network(np.random.default_rng(seed), k=5, p=0.7)
    assert close(ce.as_network(convert(network)), network)
    assert ce.network_column([convert(network)]).notna().all()


def test_pgmpy_tables_whose_parents_name_their_states_otherwise_ordered():
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    made = DiscreteBayesianNetwork([("A", "B")])
    made.add_cpds(
        TabularCPD("A", 2, [[0.3], [0.7]], state_names={"A": ["n", "y"]}),
        TabularCPD("B", 2, [[0.9, 0.2], [0.1, 0.8]], ["A"], [2], state_names={"B": ["n", "y"], "A": ["y", "n"]}),
    )
    assert ce.as_network(made).table("B").loc["y", "n"] == 0.9


@pytest.mark.parametrize("suffix", ["bif", "xmlbif", "net", "bif.gz"])
def test_files(tmp_path, suffix, metastatic):
    """BIF is read here, XMLBIF and NET by pgmpy, as messages advise."""
    from pgmpy import readwrite

    path = tmp_path / f"network.{suffix}"
    plain = tmp_path / f"network.{suffix.removesuffix('.gz')}"
    name = suffix.removesuffix(".gz").upper()
    writer = getattr(readwrite, f"{name}Writer")(in_pgmpy(metastatic))
    (getattr(writer, "write", None) or getattr(writer, f"write_{name.lower()}"))(str(plain))
    if suffix.endswith("gz"):
        path.write_bytes(gzip.compress(plain.read_bytes()))
    read = str(path) if name == "BIF" else getattr(readwrite, f"{name}Reader")(str(plain)).get_model()
    assert close(ce.as_network(read), metastatic)
    assert ce.network_column([read]).notna().all()


def test_bnlearn_dicts():
    nodes = {
        "A": {"parents": [], "prob": [0.3, 0.7], "states": ["n", "y"]},
        "B": {"parents": "A", "prob": [[0.9, 0.2], [0.1, 0.8]], "states": ["n", "y"]},
    }
    assert ce.as_network(nodes).table("B").loc["n"].tolist() == [0.9, 0.1]
    gaussian = {
        "A": {"parents": [], "coefficients": {"(Intercept)": 1.0}, "sd": 2.0},
        "B": {"parents": ["A"], "coefficients": {"A": 0.5, "(Intercept)": -1.0}, "sd": 1.0},
    }
    found = ce.as_network(gaussian)
    assert found == ce.GaussianNetwork(
        {"A": [], "B": ["A"]}, {"A": [], "B": [0.5]}, {"A": 4, "B": 1}, {"A": 1, "B": -1}
    )


def test_linear_gaussian_networks_of_pgmpy():
    from pgmpy.factors.continuous import LinearGaussianCPD
    from pgmpy.models import DiscreteBayesianNetwork, LinearGaussianBayesianNetwork

    made = LinearGaussianBayesianNetwork([("A", "B")])
    made.add_cpds(LinearGaussianCPD("A", [1.0], 2.0), LinearGaussianCPD("B", [-1.0, 0.5], 1.0, ["A"]))
    expected = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [0.5]}, {"A": 4, "B": 1}, {"A": 1, "B": -1})
    assert ce.as_network(made) == expected
    with pytest.raises(ValueError, match=r"\['A', 'B'\] have no CPD"):
        ce.as_network(DiscreteBayesianNetwork([("A", "B")]))


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("network.txt", "not the path of a network"), ("A -> B", "not the path of a network.*from_data"),
        ("nowhere.bif", "nowhere.bif' does not exist"), ({"A": {"parents": []}}, "\\['A'\\] have no `prob`"),
        ({"A": {"parents": [], "prob": [0.5, 0.6]}}, "node 'A'"),
        ({"A": {"parents": [], "prob": [1.0], "states": ["x"]}, "B": {"parents": [], "prob": [1.0]}},
         "\\['B'\\] have no `states`"),
        (
            {"A": {"parents": [], "coefficients": {"B": 1}, "sd": 1}},
            "node 'A': its coefficients are those of .*'B'.*, expected \\['.Intercept.'\\]",
        ),
        ({"A": {"parents": [], "coefficients": [1.0], "sd": -1}},
         "node 'A': its sd must be one positive number, found -1"),
        ({"A": {"parents": [], "coefficients": [1.0], "sd": [1, 2]}}, "node 'A': its sd must be one positive number"),
    ],
)  # fmt: skip
def test_mistakes_are_named(cell, words):
    with pytest.raises(ValueError, match=words):
        ce.as_network(cell)


@pytest.mark.parametrize("seed", range(4))
def test_kl_agrees_with_pyagrum_in_bits(seed):
    rng = np.random.default_rng(seed)
    truth = brute.random_network(rng, k=5, cards=[2, 3, 2, 2, 3])
    estimate = brute.random_network(rng, k=5, cards=[2, 3, 2, 2, 3])
    left, right = in_pyagrum(truth), in_pyagrum(estimate)
    found = gum.ExactBNdistance(left, right).compute()["klPQ"]
    assert ce.kl(truth, estimate, base=2) == pytest.approx(found, abs=1e-9)


def test_an_infinite_kl_is_infinite_here(metastatic):
    few = from_data(metastatic, sample(metastatic, 5, rng=1), "uniform rows")
    assert ce.kl(metastatic, few) == math.inf and ce.zero_mass(metastatic, few, of="kl") > 0
    # the peer's number is finite there; it counts its errors instead
    left, right = in_pyagrum(metastatic), in_pyagrum(few)
    distance = gum.ExactBNdistance(left, right).compute()
    assert math.isfinite(distance["klPQ"]) and distance["errorPQ"] > 0
