"""Networks of other programs, against what those programs say of them."""

from __future__ import annotations

import gzip
import math
import warnings

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, sample

from .. import brute_force as brute

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
    from pgmpy.models import LinearGaussianBayesianNetwork

    made = LinearGaussianBayesianNetwork([("A", "B")])
    made.add_cpds(LinearGaussianCPD("A", [1.0], 2.0), LinearGaussianCPD("B", [-1.0, 0.5], 1.0, ["A"]))
    expected = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [0.5]}, {"A": 4, "B": 1}, {"A": 1, "B": -1})
    assert ce.as_network(made) == expected


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("network.txt", "not the path of a network"),
        ("A -> B", "not the path of a network.*from_data"),
        ("nowhere.bif", "nowhere.bif' does not exist"),
        ({"A": {"parents": []}}, "\\['A'\\] have no `prob`"),
        ({"A": {"parents": [], "prob": [0.5, 0.6]}}, "node 'A'"),
        (
            {"A": {"parents": [], "prob": [1.0], "states": ["x"]}, "B": {"parents": [], "prob": [1.0]}},
            "\\['B'\\] have no `states`",
        ),
        ({"A": {"parents": [], "coefficients": {"B": 1}, "sd": 1}}, "node 'A': its coefficients lack"),
        (
            {"A": {"parents": [], "coefficients": [1.0], "sd": -1}},
            "node 'A': its sd must be one positive number, found -1",
        ),
        ({"A": {"parents": [], "coefficients": [1.0], "sd": [1, 2]}}, "node 'A': its sd must be one positive number"),
    ],
)
def test_mistakes_are_named(cell, words):
    with pytest.raises(ValueError, match=words):
        ce.as_network(cell)


def test_unfitted_networks_are_refused():
    from pgmpy.models import DiscreteBayesianNetwork

    with pytest.raises(ValueError, match="\\['A', 'B'\\] have no CPD"):
        ce.as_network(DiscreteBayesianNetwork([("A", "B")]))


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
