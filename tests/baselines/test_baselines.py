"""Baselines against CausalDisco, optimality conditions and Fisher's z; refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.fields.baselines.rules import correlations, lasso_by_bic, lasso_path, read_data, sort_regress_weights
from causaleval_pd.fields.baselines.sortability import MEASURES, explained_by_parents, explained_share, order_alignment


@pytest.fixture
def chain():
    """Draw x -> y -> z with growing variances, and w by itself."""
    noise = np.random.default_rng(7).normal(size=(400, 4))
    x = noise[:, 0]
    y = 1.5 * x + noise[:, 1]
    return pd.DataFrame({"z": 1.5 * y + noise[:, 2], "y": y, "x": x, "w": noise[:, 3]})


def arcs_of(pairs, names):
    found = np.zeros((len(names), len(names)), bool)
    for source, target in pairs:
        found[names.index(source), names.index(target)] = True
    return found


def test_sortabilities_are_those_of_causaldisco(causaldisco):
    compared = 0
    for one in causaldisco.values():
        data = read_data(one["data"])
        matrix = correlations(data)
        for known in one["graphs"].values():
            arcs = arcs_of(known["arcs"], data.names)
            scores = {"var": data.values.var(axis=0), "r2": explained_share(matrix)}
            scores["snr"] = explained_by_parents(matrix, arcs)
            for name, score in scores.items():
                for measure in MEASURES:
                    found = order_alignment(arcs, score, measure=measure)
                    assert found == pytest.approx(known[f"{name}_sortability_{measure}"], abs=1e-12)
                    compared += 1
    assert compared == 10 * 3 * 6


def test_pairs_count_once_a_length_of_their_paths():
    diamond = arcs_of(["AB", "AC", "BD", "CD"], "ABCD")
    scores = np.array([0.0, 1.0, 2.0, -1.0])
    assert order_alignment(diamond, scores) == 2 / 5  # two edges of four up, and A to D, joined by two paths, down
    assert order_alignment(diamond, scores, measure="adjacent_pairs") == 2 / 4


def test_ties_count_one_half():
    edge = arcs_of(["AB"], "AB")
    assert order_alignment(edge, np.array([1.0, 1.0])) == 0.5
    assert order_alignment(edge, np.array([0.0, 0.5]), tolerance=0.5) == 0.5
    assert order_alignment(edge, np.array([0.0, 0.5]), tolerance=0.49) == 1
    assert np.isnan(order_alignment(np.zeros((2, 2), bool), np.array([0.0, 1.0])))


def test_shares_of_linear_functions_are_one(chain):
    data = read_data(chain.assign(v=chain["x"] + chain["w"]))
    share = explained_share(correlations(data))
    np.testing.assert_allclose(share[[data.names.index(x) for x in "vxw"]], 1, atol=1e-9)
    assert share[data.names.index("y")] < 0.99


NAMES = ("var_sort_regress", "r2_sort_regress", "random_sort_regress")


def test_weights_are_those_of_causaldisco(causaldisco):
    for one in causaldisco.values():
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
def test_graphs_are_the_supports_of_causaldisco(causaldisco):
    for one in causaldisco.values():
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
    drawn = {ce.baselines.random_sort_regress(chain, np.random.default_rng(7)) for _ in range(2)}
    assert len(drawn) == 1
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


@pytest.mark.slow
def test_every_corner_is_a_lasso_solution():
    """At penalty C, residuals have inner product +-C with active predictors and at most C with others."""
    rng = np.random.default_rng(7)
    drops = 0
    for _ in range(300):
        p = int(rng.integers(1, 8))
        # correlated predictors of unequal scale, so that some are dropped along the path
        x = rng.normal(size=(40, p)) @ rng.normal(size=(p, p)) * rng.uniform(0.01, 3, p)
        y = x @ rng.normal(size=p) + rng.normal(size=40)
        x, y = x - x.mean(axis=0), y - y.mean()
        path = lasso_path(x.T @ x, x.T @ y)
        sizes = (path != 0).sum(axis=1)
        drops += (np.diff(sizes) <= 0).sum()  # one comes, one goes
        left = x.T @ (y[:, None] - x @ path.T)
        penalty = np.abs(left).max(axis=0)
        assert (np.diff(penalty) < 0).all()
        scale = np.abs(x.T @ y).max()
        for coefficients, product, most in zip(path, left.T, penalty, strict=True):
            active = coefficients != 0
            np.testing.assert_allclose(product[active], most * np.sign(coefficients[active]), atol=1e-9 * scale)
        np.testing.assert_allclose(path[-1], np.linalg.lstsq(x, y, rcond=None)[0], rtol=1e-6, atol=1e-9)
    assert drops > 10, "no predictor was ever dropped: the rule is not tested"


def test_bic_chooses_no_predictor_of_noise_and_all_of_a_clear_signal():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(500, 3))
    assert (lasso_by_bic(x, rng.normal(size=500)) == 0).all()
    found = lasso_by_bic(x, x @ [1.0, -2.0, 3.0] + rng.normal(size=500))
    np.testing.assert_allclose(found, [1, -2, 3], atol=0.15)


def test_too_few_cases_are_refused():
    with pytest.raises(ValueError, match="4 cases are too few for a regression on 3 variables: it needs more than 4"):
        lasso_by_bic(np.eye(4)[:, :3], np.arange(4.0))


def test_pairs_are_joined_by_their_correlation_or_partial_correlation(chain):
    assert ce.baselines.correlation_threshold(chain).edges == ("x -- y", "x -- z", "y -- z")
    assert ce.baselines.partial_correlation_threshold(chain).edges == ("x -- y", "y -- z")
    assert ce.baselines.correlation_threshold(chain, n_edges=2).edges == ("x -- y", "y -- z")


@pytest.mark.parametrize("partial", [False, True])
def test_levels_are_those_of_fishers_z(partial):
    data = pd.DataFrame(np.random.default_rng(7).normal(size=(30, 3)), columns=list("abc"))
    r = data.corr().to_numpy()
    if partial:
        inverse = np.linalg.inv(r)
        r = -inverse / np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
    p = 2 * stats.norm.sf(np.sqrt(30 - 3 - partial) * np.abs(np.arctanh(r[0, 1])))
    find = ce.baselines.partial_correlation_threshold if partial else ce.baselines.correlation_threshold
    assert "a -- b" in find(data, alpha=p * 1.0001).edges
    assert "a -- b" not in find(data, alpha=p * 0.9999).edges


def test_fixed_graphs_take_only_the_names(chain):
    assert ce.baselines.empty(chain) == ce.as_graph("w; x; y; z")
    assert ce.baselines.complete(chain).n_undirected == 6
    dags = {ce.baselines.complete(chain, seed, kind="dag") for seed in range(9)}
    assert {dag.n_edges for dag in dags} == {6}
    assert len(dags) > 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda data: ce.baselines.correlation_threshold(data, alpha=2), "alpha"),
        (lambda data: ce.baselines.correlation_threshold(data, n_edges=7), "n_edges"),
        (lambda data: ce.baselines.correlation_threshold(data.iloc[:3]), "3 cases, too few for Fisher's z"),
        (lambda data: ce.baselines.partial_correlation_threshold(data.assign(v=data["x"] - data["y"])), "linear funct"),
        (lambda data: ce.baselines.complete(data, kind="pag"), "kind must be 'cpdag' or 'dag'"),
    ],
)
def test_wrong_options_are_refused(chain, call, message):
    with pytest.raises(ValueError, match=message):
        call(chain)
