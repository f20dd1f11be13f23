"""Metrics of users: a function of two graphs or of pairs, and what a wrong one returns."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

RUNS = ce.datasets.runs().query("algorithm == 'lingam'").head(8)


#: forgets what a test declares
pytestmark = pytest.mark.usefixtures("declare")


def declared(function, **settings):
    return ce.metric(**({"direction": "maximize", "optimum": 1} | settings))(function)


def test_three_lines_are_a_metric():
    @ce.metric(direction="minimize", optimum=0)
    def edge_count_error(truth, estimate):
        return abs(truth.n_edges - estimate.n_edges)

    assert (edge_count_error.long_name, edge_count_error.range) == ("edge count error", (0.0, np.inf))
    assert edge_count_error("A -> B; B -> C", "A -> B; C") == 1.0
    runs = RUNS.assign(group="all")
    expected = [abs(t - e) for t, e in zip(runs["truth"].graph.n_edges, runs["estimate"].graph.n_edges, strict=True)]
    assert runs.ceval.evaluate([edge_count_error])["edge_count_error"].tolist() == expected
    cube = runs.ceval.cube(["edge_count_error"], by=["group"], null="permutation", n_draws=9, rng=1)
    assert cube["edge_count_error_control_mean"].to_numpy().ravel().tolist() == pytest.approx(expected)


@pytest.mark.parametrize("null", ["edges", "permutation", "orientation", "degree", "oracle_skeleton", "empty"])
def test_a_function_of_graphs_is_the_function_of_pairs_on_controls(null):
    def missing_by_graphs(truth, estimate):
        both = (truth.skeleton().to_numpy() > 0) & ~(estimate.skeleton().to_numpy() > 0)
        assert truth.nodes == estimate.nodes
        return both.sum() / 2

    declared(missing_by_graphs, direction="minimize", optimum=0)
    declared(_missing_by_pairs, direction="minimize", optimum=0)
    names = ["missing_by_graphs", "_missing_by_pairs"]
    found = RUNS.ceval.with_controls(names, null=null, n_draws=9, rng=1)
    for part in ("", "_control_mean", "_p"):
        one, other = (found[name + part] for name in names)
        assert one.equals(other.rename(one.name)), part


def _missing_by_pairs(pairs):
    return pairs.counts.fn


def test_graphs_have_the_names_of_their_rows():
    @ce.metric(direction="maximize", optimum=1)
    def first_name(truth, estimate):
        assert truth.nodes == estimate.nodes
        return {"A": 0.0, "U": 0.5, "L": 0.25}[truth.nodes[0]]

    table = pd.DataFrame({"truth": ["A -> B; C", "U -> V; W", "L -> M"], "estimate": ["C -> A; B", "U; V; W", "M; L"]})
    assert table.ceval.evaluate([first_name])["first_name"].tolist() == [0.0, 0.5, 0.25]
    latent = pd.DataFrame({"truth": ["K -> U; K -> V"], "estimate": ["U <-> V"]})
    assert latent.ceval.evaluate([first_name], context={"latents": ["K"]})["first_name"].tolist() == [0.5]


def test_options_are_keywords():
    def weighted(truth, estimate, *, weight=2):
        return weight / 4

    declared(weighted)
    assert ce.tweak("weighted", weight=3)("A -> B", "A -> B") == 0.75
    with pytest.raises(ValueError, match="weighted has no option 'wight'; did you mean 'weight'"):
        ce.tweak("weighted", wight=3)


def _none(truth, estimate):
    pass


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (_none, TypeError, r"'_none' returned None, expected a number; return float\('nan'\) where it is undefined"),
        (lambda truth, estimate: "0.5", TypeError, r"'wrong' returned '0.5' \(str\), expected a number"),
        (lambda truth, estimate: 1j, TypeError, r"'wrong' returned 1j \(complex\), expected a number"),
        (lambda truth, estimate: np.ones(2), TypeError,
         r"'wrong' returned an array of shape \(2,\) and dtype float64, expected a number"),
        (lambda truth, estimate: 7, ValueError,
         r"returned 7, outside its range \(-inf, 1\), for the truth Graph\(.*declare its range="),
        (lambda truth, estimate: np.random.default_rng().random(), ValueError,
         r"returned 0\.\d+ and then 0\.\d+ for the same pair \(the truth Graph\("),
        (lambda pairs: 1.0, TypeError, r"returned 1.0 \(float\), expected an array \(8,\) of numbers, one per pair"),
        (lambda pairs: np.ones(pairs.n + 1), TypeError,
         r"returned an array of shape \(9,\) and dtype float64, expected an array \(8,\)"),
        (lambda pairs: np.full(pairs.n, "1"), TypeError, r"returned an array of shape \(8,\) and dtype <U1"),
        (lambda pairs: [None] * pairs.n, TypeError, r"returned an array of shape \(8,\) and dtype object"),
        (lambda pairs: np.arange(pairs.n)[::-1] / 10, ValueError, "the value of a pair depends on this pair alone"),
    ],
)  # fmt: skip
def test_wrong_values_are_explained(function, error, message):
    if function is not _none:
        function.__name__ = function.__qualname__ = "wrong"
    with pytest.raises(error, match=message):
        RUNS.ceval.evaluate([declared(function)])


@pytest.mark.parametrize("value", [True, np.float32(0.5), np.array(0.25), float("nan"), np.int64(1)])
def test_numbers_of_any_type_are_values(value):
    def constant(truth, estimate):
        return value

    assert declared(constant)("A -> B", "A -> B") == pytest.approx(float(value), nan_ok=True)


def test_an_error_in_the_function_shows_the_graphs():
    def broken(truth, estimate):
        return truth.size

    with pytest.raises(AttributeError) as error:
        declared(broken)("A -> B", "B -> A")
    assert "in the metric 'broken', of the truth Graph('A -> B', kind='dag')" in error.value.__notes__[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ce.metric(_none), r"@ce.metric\(direction='minimize', optimum=0\) above the line def _none\(tru"),
        (lambda: ce.metric(), r"metric needs to know what is good"),
        (lambda: declared(three_arguments), r"takes \(a, b, c\); a metric is a function of \(truth, estimate\) or of "),
        (lambda: declared(_none, dims={"k": ("a",)}), r"has dims, and so is a function of \(pairs\)"),
        (lambda: declared(_none, field="formula"), "kinds must name the kinds of cell of field 'formula'"),
        (lambda: RUNS.ceval.evaluate([_none]), "found the function '_none'; declare it by @ce.metric"),
        (lambda: RUNS.ceval.evaluate([lambda t, e: 1]), "found the function '<lambda>'; declare it by @ce.metric"),
    ],
)
def test_functions_that_are_no_metrics(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def three_arguments(a, b, c):
    return 1.0


def test_fields_without_cells_ask_for_a_function_of_pairs():
    def of_models(truth, estimate):
        return 1.0

    declared(of_models, field="formula", kinds=ce.get_metric("correctness").kinds)
    with pytest.raises(TypeError, match="have no cells for a metric of .truth, estimate.; write a function of pairs"):
        ce.get_metric("of_models")("A<->B", "A<->B")
