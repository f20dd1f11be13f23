"""Networks that several tests of this folder score."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import NETWORKS, metastatic, metastatic_mutations
from causaleval_pd.contract.context import Context
from causaleval_pd.contract.null import Matching
from causaleval_pd.fields.causal_kl.pairs import pair

KNOWN = Path(__file__).parents[1] / "known_answers"


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


@pytest.fixture(scope="session", name="metastatic")
def _metastatic() -> ce.DiscreteNetwork:
    """The network of the published tables."""
    return metastatic()


@pytest.fixture(scope="session")
def mutations() -> dict[str, ce.DiscreteNetwork]:
    """The mutations of the published tables, parameterised by infinite data."""
    return metastatic_mutations()


def listed_controls(truth, estimate, name: str, null: str = "dags", **context) -> np.ndarray:
    """The scores of all controls of an estimate that are listed; NaN where undefined."""
    one, cell = np.zeros(1, np.int64), pd.Series([None], dtype=object)
    matching = Matching(cell, cell, None, None, {}, Context(({"data": None, "estimator": "joint", **context},), one))
    controls = NETWORKS.nulls.find(null).match(matching)(one, pair(truth, estimate), one.astype(np.uint64))
    return np.asarray(
        ce.get_metric(name)(controls.pairs_with([(0, tuple(dag)) for dag in controls.spaces[0].all.tolist()]))
    )
