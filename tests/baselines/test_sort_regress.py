"""Sort-and-regress against CausalDisco."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.baselines.data_matrix import correlations, read_data
from causaleval_pd.baselines.sort_regress import sort_regress_weights
from causaleval_pd.baselines.sortability import explained_share

NAMES = ("var_sort_regress", "r2_sort_regress", "random_sort_regress")


def test_weights_are_those_of_causaldisco(published):
    for one in published.values():
        data = read_data(one["data"])
        scores = {
            "var_sort_regress": data.values.var(axis=0),
            "r2_sort_regress": explained_share(correlations(data)),
            "random_sort_regress_seed0": np.random.default_rng(0).permutation(len(data.names)),
        }
        for name, score in scores.items():
            known = np.array(one[name])
            found = sort_regress_weights(data, score)
            np.testing.assert_array_equal(found != 0, known != 0)
            np.testing.assert_allclose(found, known, atol=1e-12)


@pytest.mark.slow
def test_graphs_are_the_supports_of_causaldisco(published):
    for one in published.values():
        for name in NAMES:
            known = np.array(one[name if name != "random_sort_regress" else f"{name}_seed0"]) != 0
            found = getattr(ce.baselines, name)(one["data"], 0)
            assert found.kind == "dag"
            np.testing.assert_array_equal(found.to_numpy(nodes=one["columns"]).astype(bool), known)


@pytest.mark.parametrize("name", NAMES)
def test_columns_may_come_in_any_order_and_are_not_changed(chain, name):
    before = chain.copy()
    find = getattr(ce.baselines, name)
    assert find(chain, 3) == find(chain[["w", "x", "y", "z"]], 3)
    pd.testing.assert_frame_equal(chain, before)


def test_the_scale_decides_for_one_and_not_for_the_other(chain):
    scaled = chain.assign(x=100 * chain["x"])
    assert ce.baselines.var_sort_regress(chain).edges == ("x -> y", "y -> z")
    assert "x -> y" not in ce.baselines.var_sort_regress(scaled).edges
    assert ce.baselines.r2_sort_regress(chain) == ce.baselines.r2_sort_regress(scaled)


def test_random_orders_depend_on_the_seed_alone(chain):
    orders = {ce.baselines.random_sort_regress(chain, seed) for seed in range(12)}
    assert len(orders) > 2
    generator = np.random.default_rng(7)
    assert ce.baselines.random_sort_regress(chain, np.random.default_rng(7)) == ce.baselines.random_sort_regress(
        chain, generator
    )
    with pytest.raises(TypeError, match="rng must be None, an integer or a numpy Generator"):
        ce.baselines.random_sort_regress(chain, "seed")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.assign(x=1.0), "the columns \\['x'\\] are constant"),
        (lambda data: data.assign(x=2 * data["y"]), "is a linear function of"),
        (lambda data: data.assign(x=data["x"].mask(data.index == 5)), "missing values, by column \\{'x': 1\\}"),
        (lambda data: data.assign(x=["a", "b"] * 200), "have columns of text"),
        (lambda data: data.rename(columns={"x": 3}), "columns of data are names of nodes"),
        (lambda data: data.iloc[:4], "4 cases, too few for a regression on 3 variables"),
        (lambda data: data["x"], "data must be a DataFrame"),
        (lambda data: pd.concat([data, data[["x"]]], axis=1), "two columns called 'x'"),
        (lambda data: data[[]], "data has no columns"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_unsuited_data_are_refused(chain, change, message, name):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(ce.baselines, name)(change(chain), 7)
