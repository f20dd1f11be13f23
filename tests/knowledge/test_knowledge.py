"""Knowledge as truth: its value, metrics by hand, and its null models."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

NAMES = ["required_recall", "forbidden_violated", "known_accuracy"]
KNOWN = ce.Knowledge(required=["A -> B", ("B", "C")], forbidden=["D -> C"], tiers=[["A"], ["B", "D"]])
#: the first and third are forbidden by the tiers
FORBIDDEN = (("B", "A"), ("D", "A"), ("D", "C"))


def test_knowledge_is_a_value():
    same = ce.Knowledge(tiers=[["A"], ("D", "B")], forbidden=[["D", "C"]], required=["B->C", "A -> B", "A -> B"])
    assert same == KNOWN
    assert hash(same) == hash(KNOWN)
    assert KNOWN.known_absent == tuple(sorted(FORBIDDEN))
    assert KNOWN.nodes == ("A", "B", "C", "D")
    assert ce.Knowledge.from_json(KNOWN.to_json()) == KNOWN
    assert repr(ce.Knowledge()) == "Knowledge(0 required, 0 forbidden)"


@pytest.mark.parametrize(
    ("estimate", "undirected", "values"),
    [
        ("A -> B; B -> C; D", "half", [1, 0, 1]), ("B -> A; D -> C", "half", [0, 2 / 3, 1 / 5]),
        ("A -- B; C -- D", "half", [0.25, (0.5 + 0.5) / 3, (0.5 + 2) / 5]),
        ("A -- B; C -- D", "match", [0.5, 0, (1 + 3) / 5]), ("A -- B; C -- D", "miss", [0, 2 / 3, 1 / 5]),
        ("A; B; C; D", "half", [0, 0, 3 / 5]), ("A -> B -> C -> A; D", "half", [1, 0, 1]),
    ],
)  # fmt: skip
def test_what_is_known_is_scored(estimate, undirected, values):
    for name, value in zip(NAMES, values, strict=True):
        assert ce.get_metric(name)(KNOWN, estimate, undirected=undirected) == pytest.approx(value)
    runs = pd.DataFrame({"truth": [KNOWN], "estimate": [estimate]})
    metrics = [ce.tweak(name, undirected=undirected) for name in NAMES]
    np.testing.assert_allclose(runs.ceval.evaluate(metrics)[NAMES].to_numpy()[0], values)


@pytest.mark.filterwarnings("ignore:found an estimate without a truth in 1 of 4 rows")
@pytest.mark.slow
def test_tables_hold_knowledge_as_values_or_text():
    runs = pd.DataFrame(
        {
            "truth": [KNOWN, KNOWN.to_json(), None, ce.Knowledge(forbidden=["E -> F"])],
            "estimate": ["A -> B; C -> D", "A -> B; C -> D", "A -> B; C -> D", "F -> E"],
        }
    )
    found = runs.ceval.evaluate()
    assert found["required_recall"].tolist()[:2] == [0.5, 0.5]
    assert found["required_recall"].isna().tolist() == [False, False, True, True], "no required edge is undefined"
    assert found["forbidden_violated"].tolist()[3] == 0
    with ce.set_options(zero_division=0.0):
        assert runs.ceval.evaluate()["required_recall"][3] == 0
    pd.testing.assert_series_equal(found["truth"], runs["truth"])
    summary = runs.ceval.cube(by=[], null="permutation", n_draws=50, rng=7).ceval.summary(columns="full")
    assert summary.set_index("metric").loc["known_accuracy", "n_scored"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ["A -> B; C -> B; D", "A -- B; C -> D", "A -> B -> C -> A; D"])
def test_relabelling_means_are_those_of_all_permutations(estimate):
    names = list("ABCD")
    values = []
    for order in itertools.permutations(names):
        text = estimate.translate(str.maketrans(dict(zip(names, order, strict=True))))
        values.append([ce.get_metric(name)(KNOWN, text) for name in NAMES])
    runs = pd.DataFrame({"truth": [KNOWN], "estimate": [estimate]})
    settings = {"null": "permutation", "n_draws": 2000, "rng": 7, "columns": "full"}
    found = runs.ceval.with_controls(NAMES, **settings)
    np.testing.assert_allclose(
        found[[f"{name}_control_mean" for name in NAMES]].to_numpy(float)[0], np.mean(values, axis=0)
    )
    assert (found[[f"{name}_mean_method" for name in NAMES]] == "exact").all(axis=None)
    share = np.mean([x[0] >= found["required_recall"][0] - 1e-9 for x in values])
    assert found["required_recall_p"][0] == pytest.approx(share, abs=4 * np.sqrt(0.25 / 2000))


@pytest.mark.parametrize(
    ("estimate", "exact"), [("A -> B; C -> D; A -> C", True), ("A -> B -> C -> A; D", True), ("A -- B; C -> D", False)]
)
def test_means_under_random_graphs_are_shares_of_ordered_pairs(estimate, exact):
    runs = pd.DataFrame({"truth": [KNOWN], "estimate": [estimate]})
    settings = {"null": "edges", "n_draws": 4000, "rng": 7, "columns": "full"}
    found = runs.ceval.with_controls(NAMES, **settings)
    assert (found["known_accuracy_mean_method"][0] == "exact") == exact
    drawn = runs.ceval.with_controls(NAMES, method="simulate", **settings)
    for name in NAMES:
        gap = abs(found[f"{name}_control_mean"][0] - drawn[f"{name}_control_mean"][0])
        assert gap <= 4 * drawn[f"{name}_control_mean_se"][0]
    if exact:
        assert found["required_recall_control_mean"][0] == pytest.approx(3 / 12)
        in_order = runs.assign(estimate="A -> B; C -> D; A -> C").ceval.with_controls(
            NAMES, **settings | {"null": ce.null_model("edges", permute=False), "method": "auto"}
        )
        assert in_order["known_accuracy_mean_method"][0] == "simulated"


def test_graphs_without_a_truth_are_still_graphs():
    runs = pd.DataFrame({"estimate": ["A -> B"]})
    with pytest.raises(ValueError, match="judges estimates by data"):
        runs.ceval.evaluate(truth=None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"required": ["A -> B"], "forbidden": ["A -> B"]}, "A -> B is required, and forbidden"),
        ({"required": ["B -> A"], "tiers": [["A"], ["B"]]}, "B -> A is required, and forbidden"),
        ({"required": ["A -> B", "B -> C", "C -> A"]}, "form a directed cycle"),
        ({"required": ["A -> A"]}, "an edge from 'A' to itself"), ({"required": "A -> B"}, "required must hold edges"),
        ({"forbidden": ["A -- B"]}, "forbidden must hold edges"),
        ({"forbidden": [("A", 3)]}, "forbidden must hold edges"), ({"tiers": ["A"]}, "tiers must hold groups of names"),
        ({"tiers": [["A"], ["A"]]}, "tiers holds 'A' twice"), ({"tiers": [[3]]}, "found the name 3"),
    ],
)  # fmt: skip
def test_knowledge_that_cannot_be_is_refused(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ce.Knowledge(**given)


@pytest.mark.parametrize("text", ["", "[]", '{"needed": []}', "{" * 3000, '{"required": 3}', '{"required": [["A"]]}'])
def test_text_that_is_no_knowledge_is_refused(text):
    runs = pd.DataFrame({"truth": [KNOWN, text], "estimate": ["A -> B; C; D"] * 2})
    with pytest.raises((ValueError, TypeError), match=r"row 1 \(index 1\): (knowledge is|required must)"):
        runs.ceval.evaluate(["known_accuracy"])


def test_nodes_and_classes_that_do_not_fit_are_refused():
    runs = pd.DataFrame({"truth": [KNOWN] * 2, "estimate": ["A -> B; C; D", "A -> B; C"]})
    with pytest.raises(ValueError, match=r"row 1 .*knowledge names 'D', which is not a node of the estimate"):
        runs.ceval.evaluate(["known_accuracy"])
    runs = pd.DataFrame({"truth": [KNOWN], "estimate": ["A o-> B; C; D"]})
    with pytest.raises(ValueError, match="known_accuracy applies to knowledge as truth with dag or"):
        runs.ceval.evaluate(["known_accuracy"])
    with pytest.raises(ValueError, match="undirected must be 'half', 'match' or 'miss'"):
        ce.known_accuracy(KNOWN, "A -> B; C; D", undirected="any")
    message = "the cells are of field 'knowledge'.*as required_recall; shd is of field 'graph'"
    with pytest.raises(ValueError, match=message):
        runs.ceval.evaluate(["shd"])


TETRAD = """/knowledge

addtemporal

1* A B
2 C,D
0 E

forbiddirect

C D

requiredirect

A C
"""


def test_knowledge_files_of_tetrad():
    known = ce.Knowledge.from_tetrad(TETRAD)
    expected = ce.Knowledge(["A -> C"], ["A -> B", "B -> A", "C -> D"], [["E"], ["A", "B"], ["C", "D"]])
    assert known == expected and ce.Knowledge.from_json(known.to_json()) == known
    runs = pd.DataFrame({"truth": [TETRAD, known], "estimate": ["A -> C; C -> D; B -> E"] * 2})
    found = runs.ceval.evaluate(["required_recall", "forbidden_violated"])
    assert found["required_recall"].tolist() == [1.0, 1.0]
    # of 3 + 2 x 2 + 2 + 2 forbidden edges, C -> D and B -> E
    assert found["forbidden_violated"].tolist() == pytest.approx([2 / 11] * 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("addtemporal\n1 A", "line 1: found 'addtemporal', expected the line '/knowledge'"),
        ("", "found no line '/knowledge'"),
        ("/knowledge\naddtemporal\nA B", "line 3: found 'A B', expected a tier as '1 X Y'"),
        ("/knowledge\naddtemporal\n1- A B", "line 3: found the tier 1- whose nodes cause the next tier only"),
        ("/knowledge\nforbiddirect\nA B C", "line 3: found 'A B C', expected two names"),
        ("/knowledge\nforbiddengroup\nA", "line 2: found 'forbiddengroup', expected the line 'addtemporal'"),
        ("/knowledge\naddtemporal\n1 A\n2 A", "tiers holds 'A' twice"),
        ("/knowledge\naddtemporal\n1* A B\nrequiredirect\nA B", "the edge A -> B is required, and forbidden"),
    ],
)
def test_knowledge_files_that_are_not_read(text, message):
    with pytest.raises(ValueError, match=message):
        ce.Knowledge.from_tetrad(text)
