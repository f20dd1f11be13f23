"""Errors of total effects: regressions by statsmodels, exact covariances, paths by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import causaleval_pd as ce

from .conftest import ARCS, NODES

TRUTH = "A -> B; B -> C; A -> D; E -> D; D -> F"
NAMES = ["total_effect_mae", "total_effect_rmse", "total_effect_scaled"]


def true_effects(weights):
    values = weights.to_numpy()
    total, power = np.zeros_like(values), values
    while power.any():
        total, power = total + power, power @ values
    return total


@pytest.fixture
def observed(perturbed):
    return perturbed[perturbed["gene"].isna()].drop(columns="gene").reset_index(drop=True)


def score(estimates, context, names=NAMES):
    runs = pd.DataFrame({"estimate": estimates})
    return runs.ceval.evaluate(names, truth=None, context=context)


@pytest.mark.parametrize("estimate", [TRUTH, "F -> D; D -> A; A -> B; C; E", "A -> B -> C -> D -> E -> F; A -> F"])
def test_adjustment_is_regression_on_the_cause_and_its_parents(observed, weights, estimate):
    graph = ce.as_graph(estimate).to_networkx()
    truth, errors, scaled = true_effects(weights), [], []
    for i, j in itertools.permutations(range(6), 2):
        cause, parents = NODES[i], sorted(graph.predecessors(NODES[i]))
        effect = 0.0
        if NODES[j] not in parents:
            effect = sm.OLS(observed[NODES[j]], sm.add_constant(observed[[cause, *parents]])).fit().params[cause]
        errors.append(effect - truth[i, j])
        scaled.append(errors[-1] * observed[cause].std() / observed[NODES[j]].std())
    [row] = score([estimate], {"data": observed, "coefficients": weights})[NAMES].to_numpy()
    known = [np.abs(errors).mean(), np.sqrt(np.square(errors).mean()), np.abs(scaled).mean()]
    np.testing.assert_allclose(row, known, rtol=1e-9)


def test_path_tracing_of_the_fitted_model(observed, weights):
    estimate = "A -> B; B -> C; A -> C; D -> F; E"
    graph = ce.as_graph(estimate).to_networkx()
    fitted = pd.DataFrame(0.0, index=NODES, columns=NODES)
    for node in NODES:
        parents = sorted(graph.predecessors(node))
        if parents:
            fitted.loc[parents, node] = sm.OLS(observed[node], sm.add_constant(observed[parents])).fit().params[parents]
    error = (true_effects(fitted) - true_effects(weights))[~np.eye(6, dtype=bool)]
    sem = ce.tweak("total_effect_mae", estimator="sem")
    found = score([estimate], {"data": observed, "coefficients": weights}, [sem])["total_effect_mae"]
    assert found[0] == pytest.approx(np.abs(error).mean(), rel=1e-9)


def test_the_true_graph_has_no_error_in_the_population(weights):
    """Data whose sample covariance is that of the model."""
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(50, 6))
    noise -= noise.mean(axis=0)
    white = noise @ np.linalg.inv(np.linalg.cholesky(np.cov(noise.T))).T
    data = pd.DataFrame(white @ np.linalg.inv(np.eye(6) - weights.to_numpy()), columns=NODES)
    sems = [ce.tweak(name, estimator="sem", name=f"{name}_sem") for name in NAMES]
    found = score([TRUTH], {"data": data, "coefficients": weights}, [*NAMES, *sems])
    np.testing.assert_allclose(found.iloc[0, 1:].to_numpy(float), 0, atol=1e-12)


def test_a_network_is_a_model_and_order_of_names_does_not_matter(observed, weights):
    parents = {node: [s for (s, t) in ARCS if t == node] for node in NODES}
    network = ce.GaussianNetwork(
        {node: parents[node][::-1] for node in NODES},
        {node: [ARCS[s, node] for s in parents[node][::-1]] for node in NODES},
        dict.fromkeys(NODES, 1.0),
    )
    turned = weights.loc[NODES[::-1], NODES[::-1]]
    found = [score([TRUTH], {"data": observed, "coefficients": x}, NAMES[:1]) for x in (weights, network, turned)]
    assert len({x["total_effect_mae"][0] for x in found}) == 1


def test_models_by_data_set_with_controls(observed, weights):
    runs = pd.DataFrame({"estimate": [TRUTH, TRUTH], "study": ["a", "b"]})
    context = {"data": observed, "coefficients": ("study", {"a": weights, "b": -weights})}
    found = runs.ceval.with_controls(["total_effect_mae"], truth=None, context=context, n_draws=99, rng=7)
    assert found["total_effect_mae"][0] < 0.1 < found["total_effect_mae"][1]
    assert found["total_effect_mae_p"][0] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coefficients": None}, "coefficients must be a GaussianNetwork, or a DataFrame"),
        ({"coefficients": pd.DataFrame({"A": [0.0]}, index=["A"])}, "the index of coefficients holds"),
        ({"coefficients": "cycle"}, "have a directed cycle"),
        ({"coefficients": "nan"}, "must be finite numbers"),
        ({"coefficients": "text"}, "must be numbers"),
        ({"data": "few"}, "6 cases, too few"),
        ({"data": "twice"}, "is a linear function of"),
    ],
)
def test_unsuited_inputs_are_refused(observed, weights, change, message):
    cycle, unknown = weights.copy(), weights.copy()
    cycle.loc["F", "A"], unknown.loc["F", "A"] = 1, np.nan
    special = {"cycle": cycle, "nan": unknown, "text": weights.astype(object).replace(0.0, "x")}
    special |= {"few": observed.head(6), "twice": observed.assign(F=2 * observed["A"])}
    given = {name: special.get(x, x) if isinstance(x, str) else x for name, x in change.items()}
    with pytest.raises((ValueError, TypeError), match=f"total_effect_mae: row 0 .*{message}"):
        score([TRUTH], {"data": observed, "coefficients": weights} | given, NAMES[:1])


def test_what_is_needed_is_named(observed):
    with pytest.raises(ValueError, match="total_effect_mae needs 'coefficients' in the context"):
        score([TRUTH], {"data": observed}, NAMES[:1])
    with pytest.raises(ValueError, match="total_effect_mae needs 'data' and 'coefficients'"):
        score([TRUTH], None, NAMES[:1])
    with pytest.raises(ValueError, match="estimator must be 'adjustment' or 'sem'"):
        score([TRUTH], {"data": observed}, [ce.tweak("total_effect_mae", estimator="ols")])
