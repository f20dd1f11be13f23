"""Networks that several tests of this folder score."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_joint

KNOWN = Path(__file__).parents[1] / "known_answers"
STATES = {node: ["T", "F"] for node in "MSBC"}
MUTATIONS = {
    "true": "M->S; M->B; S->C; B->C",
    "add.weak": "M->S; M->B; S->C; B->C; S->B",
    "add.strong": "M->S; M->B; S->C; B->C; S->B; M->C",
    "del.weak": "M->B; S->C; B->C",
    "del.strong": "M->S; S->C; B->C",
    "rev.in.weak": "S->M; M->B; S->C; B->C",
    "rev.in.strong": "M->S; B->M; S->C; B->C",
    "rev.out.weak": "M->S; M->B; C->S; B->C",
    "rev.out.strong": "M->S; M->B; S->C; C->B",
}


def make_metastatic(weak: float = 0.8, strong: float = 0.8) -> ce.DiscreteNetwork:
    """The metastatic cancer network, perhaps with a changed row: C given S and not B, or B and not S."""
    return ce.DiscreteNetwork(
        {"M": [], "S": ["M"], "B": ["M"], "C": ["S", "B"]},
        {
            "M": [0.9, 0.1],
            "S": [[0.2, 0.8], [0.05, 0.95]],
            "B": [[0.8, 0.2], [0.2, 0.8]],
            "C": [[[0.8, 0.2], [weak, 1 - weak]], [[strong, 1 - strong], [0.05, 0.95]]],
        },
        STATES,
    )


def known(name: str) -> pd.DataFrame:
    """A table of known answers."""
    return pd.read_csv(KNOWN / f"causal_kl_{name}.csv.gz")


def known_networks() -> dict[str, ce.DiscreteNetwork]:
    """The discrete networks of the known answers, by name."""
    text = gzip.decompress((KNOWN / "causal_kl_networks.json.gz").read_bytes()).decode()
    return {name: _discrete(content) for name, content in json.loads(text)["networks"].items()}


def _discrete(content: dict) -> ce.DiscreteNetwork:
    names, cards = content["nodes"], content["card"]

    def table(i: int) -> np.ndarray:
        shape = [*(cards[p] for p in content["parents"][i]), cards[i]]

        def fill(part: list | None, depth: int) -> np.ndarray:
            if part is None:
                return np.full(shape[depth:], np.nan)
            return np.array(part) if depth == len(shape) - 1 else np.stack([fill(x, depth + 1) for x in part])

        return fill(content["cpt"][i], 0)

    parents = {name: [names[p] for p in content["parents"][i]] for i, name in enumerate(names)}
    return ce.DiscreteNetwork(parents, {name: table(i) for i, name in enumerate(names)})


def known_gaussian_networks() -> dict[str, ce.GaussianNetwork]:
    """The linear-Gaussian networks of the known answers, by name."""
    text = gzip.decompress((KNOWN / "causal_kl_gaussian_networks.json.gz").read_bytes()).decode()
    made = {}
    for name, content in json.loads(text)["networks"].items():
        nodes = content["nodes"]
        parents = {node: [nodes[p] for p in content["parents"][i]] for i, node in enumerate(nodes)}
        numbers = [dict(zip(nodes, content[key], strict=True)) for key in ("coef", "var", "intercept")]
        made[name] = ce.GaussianNetwork(parents, *numbers)
    return made


@pytest.fixture(scope="session")
def metastatic() -> ce.DiscreteNetwork:
    """The network of the published tables."""
    return make_metastatic()


@pytest.fixture(scope="session")
def mutations(metastatic) -> dict[str, ce.DiscreteNetwork]:
    """The mutations of the published tables, parameterised by infinite data."""
    made = {name: from_joint(arcs, metastatic) for name, arcs in MUTATIONS.items()}
    return made | {"tweak.weak": make_metastatic(weak=0.75), "tweak.strong": make_metastatic(strong=0.75)}
