"""Every network that an installed package ships is read as pyagrum reads it, and scored or refused by name."""

from __future__ import annotations

import gzip
import importlib.util
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import causaleval_pd as ce

FOLDER = Path(importlib.util.find_spec("pgmpy").origin).parent / "utils" / "example_models"
#: nodes, arcs and free parameters, as the page of bnlearn's repository lists them
KNOWN = {
    "alarm": (37, 46, 509),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "pathfinder": (109, 195, 72079),
    "pigs": (441, 592, 5618),
    "water": (32, 66, 10083),
}
NAMES = sorted(path.name.removesuffix(".bif.gz") for path in FOLDER.glob("*.bif.gz"))
#: states such as 5-12, which pyagrum refuses
REFUSED_BY_PEER = {"child"}
#: those of many parameters, and those too dense for an exact CKL2
LARGE = {
    "andes",
    "barley",
    "diabetes",
    "link",
    "mildew",
    "munin",
    "munin1",
    "munin2",
    "munin3",
    "munin4",
    "pathfinder",
    "pigs",
    "water",
}


def without_an_arc(network: ce.DiscreteNetwork) -> ce.DiscreteNetwork:
    """Return the network without the first parent of the first node with fewest parents, whose table is averaged."""
    parents, cpts = {name: list(found) for name, found in network.parents.items()}, dict(network.cpts)
    child = min((name for name in parents if parents[name]), key=lambda name: len(parents[name]))
    parents[child], cpts[child] = parents[child][1:], cpts[child].mean(axis=0)
    return ce.DiscreteNetwork(parents, cpts, network.states)


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.slow if x in LARGE else ()) for x in NAMES])
def test_networks_of_the_repository(name, tmp_path):
    with warnings.catch_warnings():
        # an extension module that cannot be imported where warnings are errors
        warnings.simplefilter("ignore")
        import pyagrum as gum
    path, plain = FOLDER / f"{name}.bif.gz", tmp_path / f"{name}.bif"
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    found = ce.as_network(path)
    if name not in REFUSED_BY_PEER:
        peer = ce.as_network(gum.loadBN(str(plain)))
        assert found.structure == peer.structure
        # the peer reads numbers in single precision
        assert np.allclose(found.parameters, peer.parameters, rtol=0, atol=1e-7)
    rows = [cpt.reshape(-1, cpt.shape[-1]) for cpt in found.cpts.values()]
    assert max(np.abs(row.sum(axis=1) - 1).max() for row in rows) < 1e-14
    n_free = sum(len(row) * (row.shape[1] - 1) for row in rows)
    assert KNOWN.get(name) in (None, (len(found.nodes), found.n_arcs, n_free))
    assert ce.ckl3(found, found) == 0
    wrong = without_an_arc(found)
    for metric in (ce.ckl3, ce.ckl2):
        try:
            assert metric(found, wrong) > 0
        except ValueError as error:
            # too densely connected for an exact answer
            assert name in LARGE
            assert "needs a table over" in str(error)


def test_graphs_without_parameters_are_refused_by_name():
    paths = sorted(FOLDER.glob("*.txt"))
    assert paths
    for path in paths:
        with pytest.raises(ValueError, match=f"{path.name}.*a graph has no parameters"):
            ce.as_network(path)


def test_gaussian_networks_of_the_repository():
    paths = sorted(FOLDER.glob("*.json"))
    assert paths
    for path in paths:
        nodes = json.loads(path.read_text(encoding="utf-8"))["cpds"]
        dicts = {
            name: {
                "parents": node["parents"],
                "coefficients": {key: value[0] for key, value in node["coefficients"].items()},
                "sd": node["variance"][0] ** 0.5,
            }
            for name, node in nodes.items()
        }
        found = ce.as_network(dicts)
        assert found.kind == "gaussian" and len(found.nodes) == len(nodes)
        assert ce.ckl3(found, found) == 0
