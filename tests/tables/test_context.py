"""Extra inputs of cells: constants, columns, and columns that name objects; they reach metrics and null models."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.tables.context import describe_context, fingerprint, resolve_context

RUNS = pd.DataFrame({"study": ["a", "b", "a"], "n": [10, 10, 20]}, index=["x", "y", "z"])
FRAME = pd.DataFrame({"v": [1]})
TAKES = {"some": ("data", "n", "estimator")}


def rows(context):
    return [dict(context.values[code]) for code in context.codes]


def test_constants_columns_and_named_objects_are_joined_by_row():
    frames = {"a": pd.DataFrame({"v": [1]}), "b": pd.DataFrame({"v": [2]}), "unused": None}
    found = resolve_context(RUNS, {"data": ("study", frames), "n": "n", "estimator": "mle"}, TAKES)
    assert [r["n"] for r in rows(found)] == [10, 10, 20]
    assert [r["estimator"] for r in rows(found)] == ["mle"] * 3
    assert [r["data"] is frames[s] for r, s in zip(rows(found), RUNS.study, strict=True)] == [True] * 3
    assert len(found.values) == 3
    assert rows(found.take(np.array([2, 0]))) == [rows(found)[2], rows(found)[0]]


def test_equal_inputs_are_stored_once():
    found = resolve_context(RUNS, {"estimator": "mle"}, TAKES)
    assert len(found.values) == 1
    assert found.codes.tolist() == [0, 0, 0]
    assert resolve_context(RUNS, None, TAKES) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dta": 1}, "unknown input 'dta'.*did you mean 'data'.*some takes data, n, estimator"),
        ({"data": ("studi", {})}, "no column 'studi'.*'study'"),
        ({"data": ("study", {"a": 1})}, "row 1.*'y'.*'b' is not among the named objects"),
        ({"data": ("lost", {"a": 1})}, "row 1.*missing"),
        *(
            (
                {"data": several},
                r"context 'data' holds 2 tables: .* context=\{'data': \('run', \{name: table, ...\}\)\}",
            )
            for several in ([FRAME, FRAME], (FRAME, FRAME), {"a": FRAME, "b": FRAME})
        ),
        ({"data": "lists"}, "context 'data': column 'lists' holds cells that cannot be compared"),
    ],
)
def test_mistakes_are_named(given, words):
    runs = RUNS.assign(lost=["a", None, "a"], lists=[[["a"]], [["b"]], [["a"]]])
    with pytest.raises((ValueError, TypeError), match=words):
        resolve_context(runs, given, TAKES)


def test_inputs_of_other_fields_are_refused():
    runs = pd.DataFrame({"truth": ["A -> B"], "estimate": ["B -> A"]})
    with pytest.raises(ValueError, match="unknown input 'estimator'; .*graph takes latents, target, undirected, data"):
        ce.evaluate(runs, ["shd"], context={"estimator": "mle"})


@pytest.mark.parametrize("metrics", [["kl", "shd"], ["kl"], ["shd"]])
@pytest.mark.parametrize("verb", ["evaluate", "with_controls", "cube"])
def test_inputs_of_the_cells_are_taken_whichever_metrics_are_chosen(metrics, verb):
    network = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.1, 0.9]]})
    data = pd.DataFrame(np.random.default_rng(7).integers(0, 2, (50, 2)), columns=["A", "B"])
    estimate = ce.causal_kl.from_data("A; B", data, estimator=0.5)
    runs = pd.DataFrame({"truth": ce.network_column([network]), "estimate": ce.network_column([estimate])})
    settings = {} if verb == "evaluate" else {"n_draws": 5, "rng": 1} | ({"by": []} if verb == "cube" else {})
    found = getattr(ce, verb)(runs, metrics, context={"data": data, "estimator": 0.5}, **settings)
    assert {*metrics} <= {*found}
    with pytest.raises(ValueError, match="unknown input 'estimater'; did you mean 'estimator'"):
        getattr(ce, verb)(runs, metrics, context={"data": data, "estimater": 0.5}, **settings)


def test_results_say_what_was_given():
    given = {"data": ("study", {}), "frame": RUNS, "n": 5, "estimator": "mle"}
    words = describe_context(given)
    assert words.pop("frame") == fingerprint(RUNS)
    assert words == {"data": "by column study", "n": "5", "estimator": "mle"}
    named = describe_context({"data": ("study", {"a": RUNS})})["data"]
    assert named == f"by column study (a: {fingerprint(RUNS)})"
    assert describe_context({"latents": ("L", "M")}) == describe_context({"latents": ["L", "M"]})
    assert describe_context({"latents": {"M", "L"}}) == {"latents": "['L', 'M']"}


def test_data_sets_have_the_same_number_in_any_part_of_a_table():
    runs = pd.DataFrame({"study": ["a", "b", "a", "c"], "n": [1, 1, 2, 2]})
    objects = {"a": 1.5, "b": 2.5, "c": 3.5}
    accepted = {"f": ("data", "n")}
    whole = resolve_context(runs, {"data": ("study", objects), "n": 10}, accepted).data_sets
    part = resolve_context(runs.iloc[1:], {"data": ("study", objects), "n": 10}, accepted).data_sets
    assert whole[1:].tolist() == part.tolist() and (whole != 0).all()
    assert [whole[0] == whole[2], whole[0] == whole[1], whole[1] == whole[3]] == [True, False, False]
    both = resolve_context(runs, {"data": ("study", objects), "n": "n"}, accepted)
    assert len(set(both.data_sets)) == 4 and both.take(slice(2)).data_sets.tolist() == both.data_sets[:2].tolist()
    assert resolve_context(runs, {"n": 10}, accepted).data_sets is None
    # another level of tests makes no other data
    one = resolve_context(runs, {"data": 1.5, "alpha": "n"}, {"f": ("data", "alpha")})
    assert one.data_sets.tolist() == [1] * 4 and len(one.values) == 2


def test_a_fingerprint_depends_on_names_and_values_and_not_on_the_index():
    data = pd.DataFrame({"A": [1.0, 2.0]})
    assert fingerprint(data) == fingerprint(data.set_axis([5, 9], axis=0))
    assert len({fingerprint(x) for x in (data, data + 1, data.rename(columns={"A": "B"}))}) == 3
    assert fingerprint(pd.DataFrame({"A": [[1]]})) == "DataFrame of 1 rows and 1 columns"
