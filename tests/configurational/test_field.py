"""Formulas in tables: coercion, context, sets of models, failed runs, refusals, what must hold for every metric."""

import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import parse
from causaleval_pd.contract.field import get_field

# fit measures need data and are tested with them
NAMES = sorted(name for name in ce.list_metrics("formula").index if not name.startswith("fit_"))
JUDGED = [name for name in NAMES if ce.get_metric(name).direction is not None]
QUALITY = [name for name in JUDGED if name.startswith(("correctness", "completeness", "f_beta"))]
MODELS = [
    "A<->E", "A*b+C<->E", "A*B+a*C<->E", "A+B*c+C*b<->e", "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)",
    "(A+B<->C)*(c*D+A<->E)*(E*F+C<->G)", "(A<->D)*(d*B+F<->E)",
]  # fmt: skip
MANY = pd.DataFrame([(t, e) for t in MODELS for e in MODELS], columns=["truth", "estimate"])


def rename(text: str, names: str = "ABCDEFG", new: str = "QUVWXYZ") -> str:
    return text.translate(str.maketrans(names + names.lower(), new + new.lower()))


def flip(text: str) -> str:
    return text.translate(str.maketrans("Aa", "aA"))


@pytest.mark.parametrize("name", NAMES)
def test_values_stay_in_the_range(name):
    values = ce.evaluate(MANY, [name])[name].dropna().astype(float)
    low, high = ce.get_metric(name).range
    assert values.between(low, high).all()
    assert len(values) > 30


@pytest.mark.parametrize("name", JUDGED)
def test_the_truth_itself_scores_the_optimum(name):
    table = ce.evaluate(pd.DataFrame({"truth": MODELS, "estimate": MODELS}), [name])
    assert (table[name].astype(float) == ce.get_metric(name).optimum).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [rename, flip])
def test_names_and_polarity_carry_no_meaning(name, change):
    changed = MANY.map(change)
    before, after = (ce.evaluate(table, [name])[name].astype(float) for table in (MANY, changed))
    np.testing.assert_allclose(before, after, rtol=0, atol=1e-12)


def test_row_order_and_repetition_change_nothing():
    names = ["correctness", "completeness", "is_submodel", "ncr"]
    once = ce.evaluate(MANY, names)
    again = ce.evaluate(pd.concat([MANY, MANY]).sample(frac=1, random_state=1), names)
    pd.testing.assert_frame_equal(again.groupby(again.index).first(), once)


@pytest.mark.slow
def test_function_evaluate_and_accessor_agree():
    for name in QUALITY:
        values = MANY.ceval.evaluate([name])[name]
        scalars = [ce.get_metric(name)(t, e) for t, e in zip(MANY["truth"], MANY["estimate"], strict=True)]
        np.testing.assert_array_equal(values, scalars)


ONE_WAY = ["A -> C", "~A -> C", "B <- A", "A -> C; B -> C", "M1: A -> C", ["A -> C", "b -> C"]]


@pytest.mark.parametrize("cell", ONE_WAY)
@pytest.mark.parametrize("truth", ["A+B<->C", "A*B => C"])
def test_the_truth_tells_models_from_graphs(cell, truth):
    """An estimate is the same model alone as beside one that no graph is."""
    metric = ce.tweak("completeness", arrows="equivalence")

    def scored(cells):
        return ce.evaluate(pd.DataFrame({"truth": truth, "estimate": cells}), [metric])["completeness"].tolist()

    assert scored([cell]) == scored([cell, "A + B -> C"])[:1]


def test_truths_that_read_as_graphs_are_refused():
    for truth, estimate in (("A -> C", "A -> C"), ("A -> C", "A+B<->C"), ("A -> B; B -> C", "A => C")):
        with pytest.raises(ValueError, match=r"column 'truth', row 0 .* reads as a graph.*'shd'"):
            ce.evaluate(pd.DataFrame({"truth": [truth], "estimate": [estimate]}), ["correctness"])
    with pytest.raises(ValueError, match=r"column 'estimate', row 0 .*a graph \('A -> B; C'\) takes metrics .*'shd'"):
        ce.evaluate(pd.DataFrame({"truth": ["A*B<->C"], "estimate": ["A -> B; C"]}), ["correctness"])


def test_cells_become_canonical_strings():
    cells = [
        "C + b*A <-> E",
        parse("A*b+C<->E"),
        (parse("A*b+C<->E"),),
        None,
        float("nan"),
        [parse("A<->E"), parse("B<->E")],
        ["B<->E", "A<->E"],
    ]
    table = pd.DataFrame({"truth": ["A*b+C<->E"] * 7, "estimate": cells})
    before = table.copy(deep=True)
    canonical = get_field("formula").coerce(table["estimate"], "estimate")
    assert canonical.dtype == "str"
    assert canonical.tolist()[:3] == ["A*b+C<->E"] * 3
    assert canonical.isna().tolist() == [False, False, False, True, True, False, False]
    assert canonical.tolist()[5:] == ["A<->E; B<->E"] * 2
    found = ce.evaluate(table, ["submodel_completeness"])["submodel_completeness"]
    assert found.isna().tolist() == canonical.isna().tolist()
    assert found.dropna().tolist() == [1, 1, 1, 1 / 3, 1 / 3]
    pd.testing.assert_frame_equal(table, before)


def test_sets_of_models():
    table = pd.DataFrame({"truth": ["A*b+C<->E"] * 4, "estimate": ["A+C<->E; B+D<->E", "{}", None, "A<->E; C<->E"]})
    rules = [ce.tweak("correctness", models=rule, name=rule) for rule in ("max", "mean", "any", "all")]
    found = ce.evaluate(
        table, [*rules, "completeness", "f_beta", "is_submodel", ce.tweak("is_submodel", models="all", name="s")]
    )
    nan = math.nan
    np.testing.assert_array_equal(found["max"], [1, nan, nan, 1])
    np.testing.assert_array_equal(found["mean"], [0.5, nan, nan, 1])
    np.testing.assert_array_equal(found["any"], [1, 0, nan, 1])
    np.testing.assert_array_equal(found["all"], [0, 1, nan, 1])
    np.testing.assert_allclose(found["completeness"], [2 / 3, 0, nan, 1 / 3])
    np.testing.assert_allclose(found["f_beta"], [0.8, 0, nan, 0.5])
    assert found["is_submodel"].tolist() == [True, False, pd.NA, True]
    assert found["s"].tolist() == [False, True, pd.NA, True]
    with pytest.raises(ValueError, match="unknown rule for sets of models 'best'"):
        ce.correctness("A<->B", "A<->B", models="best")
    with pytest.raises(ValueError, match="rule for sets of models .mean.; .*known are .any., .all."):
        ce.is_submodel("A<->B", "A<->B", models="mean")


def test_undefined_values():
    table = pd.DataFrame({"truth": ["A+B<->C", "C+c<->D"], "estimate": ["C+c<->D", "A<->D"]})
    found = ce.evaluate(table, ["correctness", "completeness", "f_beta"])
    assert found[["correctness", "completeness", "f_beta"]].isna().to_numpy().tolist() == [
        [False, False, False],
        [False, True, False],
    ]
    undefined = [ce.tweak(name, constant_outcome="nan") for name in ("correctness", "completeness", "f_beta")]
    found = ce.evaluate(table, undefined).iloc[:, 2:]
    assert found.isna().to_numpy().tolist() == [[True, False, False], [True] * 3]


@pytest.mark.filterwarnings("ignore:.*do not reach:UserWarning")
def test_context():
    data = {"full": ce.configurational.ideal_data(parse(MODELS[4])), "small": pd.DataFrame({"A": [1, 0], "G": [1, 0]})}
    table = pd.DataFrame(
        {
            "truth": [MODELS[4]] * 3,
            "estimate": ["A+B<->G", "A<->G", "A<->G"],
            "d": ["full", "full", "small"],
            "con": [1, 0.7, 1],
        }
    )
    found = ce.evaluate(table, ["correctness"], context={"data": ("d", data), "con": "con"})["correctness"]
    # without errors in G's causes, A+B covers G in the full data only partly
    assert found.isna().tolist() == [True, True, False]
    low = ce.evaluate(table, ["correctness"], context={"data": ("d", data), "con": "con", "cov": 0.5})["correctness"]
    assert low.notna().all()
    with pytest.raises(ValueError, match=r"row 2 \(index 2\): .*\['B'\], which are not columns of the data"):
        ce.evaluate(table.assign(estimate="A+B<->G"), ["correctness"], context={"data": ("d", data)})
    with pytest.raises(ValueError, match="the thresholds con and cov need data"):
        ce.evaluate(table, ["correctness"], context={"con": "con"})


def test_domains():
    table = pd.DataFrame({"truth": ["(A=2+C=1<->B=1)*(B=1<->D=0)"], "estimate": ["A=2<->D=0"]})
    found = ce.evaluate(table, ["correctness", "is_submodel"], context={"domains": {"A": [0, 1, 2]}})
    assert found.loc[0, ["correctness", "is_submodel"]].tolist() == [1, False]
    with pytest.raises(ValueError, match=r"row 0 \(index 0\): A=2 occurs, but factor A is binary; give all its values"):
        ce.evaluate(table, ["correctness"])


@pytest.mark.parametrize(
    ("truth", "estimate", "error"),
    [
        ("A<->B", "A*<->B", r"column 'estimate', row 1 \(index 'y'\): expected a literal, found '<->' at position 2"),
        ("A<->B", 3, r"column 'estimate', row 1 \(index 'y'\): expected a model as text .*found 3"),
        ("A<->B", {"A": 1}, r"column 'estimate', row 1 \(index 'y'\): expected a model as text .*found {'A': 1}"),
        ({"A<->B", 2}, "A<->B", r"column 'truth', row 1 \(index 'y'\): expected a model as text .*found {"),
        ("A -> B", "A -> B; C",
         r"column 'estimate', row 1 .*a graph .* takes metrics of the field 'graph', e.g. 'shd'"),
        ("A -> B", "fire -- smoke", r"column 'estimate', row 1 .*a graph .* metrics of the field 'graph', e.g. 'shd'"),
        ("A -> B; B -> C", "A -> B", r"row 1 .*a truth is one model, found 2: .*metrics of the field 'graph'"),
        ("A<->C; B<->C", "A<->C", r"row 1 \(index 'y'\): a truth is one model, found 2"),
        ("{}", "A<->C", r"row 1 \(index 'y'\): a truth is one model, found 0"),
        ("(A<->B)*(B<->A)", "A<->B", r"row 1 \(index 'y'\), where truth is cyclic"),
        ("A<->B", "A<->B; (A<->B)*(B<->A)", r"row 1 \(index 'y'\), where .*estimate is cyclic"),
    ],
)  # fmt: skip
def test_refusals_name_the_row(truth, estimate, error):
    table = pd.DataFrame({"truth": ["A+C<->B", truth], "estimate": ["A+C<->B", estimate]}, index=["x", "y"])
    with pytest.raises((ValueError, TypeError), match=error):
        ce.evaluate(table, ["correctness"])


def test_cyclic_models_may_be_left_out():
    table = pd.DataFrame({"truth": ["A<->B"] * 2, "estimate": ["A<->B", "(A<->B)*(B<->A)"]})
    found = ce.evaluate(table, ["correctness", "is_submodel"], invalid="nan")
    assert found["correctness"].tolist()[:1] == [1] and found["correctness"].isna().tolist() == [False, True]
    assert found["is_submodel"].tolist() == [True, False]


def test_cells_settle_the_field():
    assert ce.evaluate(MANY.head(3)).columns.tolist()[2:] == ["correctness", "completeness", "f_beta"]
    objects = MANY.head(3).map(parse)
    assert "correctness" in ce.evaluate(objects)
    lists = pd.DataFrame({"truth": ["A*b<->C"], "estimate": [["A<->C", "b<->C"]]})
    assert ce.evaluate(lists)["completeness"].tolist() == [0.5]
    graphs = pd.DataFrame({"truth": ["A -> B; B -> C"], "estimate": ["A -> B; C"]})
    assert "shd" in ce.evaluate(graphs)


def test_models_that_are_too_large_are_refused_by_row_or_left_out():
    huge = "+".join(f"X{i}" for i in range(25)) + "<->B"
    table = pd.DataFrame({"truth": ["A+C<->B"] * 4, "estimate": ["A<->B", huge, "C<->B", huge]})
    with pytest.raises(ValueError, match=r"correctness: row 1 .*row 3 .*: X0\+X1.* the limit is 1048576"):
        ce.evaluate(table, ["correctness"])
    assert ce.evaluate(table, ["correctness"], invalid="nan")["correctness"].isna().tolist() == [False, True] * 2
    with pytest.raises(ce.configurational.FormulaTooLargeError):
        ce.correctness("A+C<->B", huge)


@pytest.fixture(scope="module")
def runs():
    truths = [str(m) for m in ce.configurational.random_models(5, 5, rng=3)]
    guesses = iter(ce.configurational.random_models(20, 5, rng=4))
    rows = [(t, method, n) for t in truths for method in ("cna", "qca") for n in (20, 80)]
    table = pd.DataFrame(rows, columns=["truth", "method", "n"])
    table["estimate"] = [t if (m, n) == ("cna", 80) else str(next(guesses)) for t, m, n in rows]
    return table


@pytest.mark.slow
def test_controls_do_not_depend_on_row_order(runs):
    names = ["correctness", "completeness", "lcr", "ncr"]
    how = {"n_draws": 9, "rng": 5, "context": {"factors": list("ABCDE")}}
    straight = runs.ceval.with_controls(names, **how)
    shuffled = runs.sample(frac=1, random_state=2).ceval.with_controls(names, **how)
    pd.testing.assert_frame_equal(shuffled.sort_index(), straight)


def test_models_are_no_graphs():
    runs = pd.DataFrame({"truth": ["A*b+C<->E", "(A+B<->C)*(C<->E)"], "estimate": ["M1: A*~B -> E", "C <-> E"]})
    read = [ce.tweak(name, arrows="equivalence") for name in ("correctness", "completeness")]
    assert runs.ceval.evaluate(read)["correctness"].tolist() == [1, 1]
    runs["estimate"] = ["A*b <-> E", "{}"]
    assert runs.ceval.evaluate()["completeness"].tolist() == [pytest.approx(ce.completeness("A*b+C<->E", "A*b<->E")), 0]
    # a text that is a graph as well as a model needs the field
    with pytest.raises(ValueError, match=r"may be of the fields \['graph', 'formula'\]"):
        pd.DataFrame({"truth": ["A <-> B"], "estimate": ["A <-> B"]}).ceval.evaluate()
    with pytest.raises(ValueError, match="the name 'A\\+B'; a configurational model"):
        ce.evaluate(pd.DataFrame({"truth": ["A+B <-> C"], "estimate": ["A <-> C"]}), ["shd"])
