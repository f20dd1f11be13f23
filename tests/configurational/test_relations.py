"""Submodels, redundancy and NCR against published programs and against their definitions."""

import itertools
import pathlib

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.configurational import (
    Atom,
    FormulaTooLargeError,
    Model,
    ideal_data,
    parse,
    redundancy_free,
    submodels,
)
from causaleval_pd.fields.configurational.minimisation import minimal_models
from causaleval_pd.fields.configurational.submodel import judge_claims, submodel_of
from causaleval_pd.fields.configurational.truth_table import evaluation_order

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers" / "configurational_relations.csv.gz"
DOMAINS = {"A": range(3), "B": range(3), "C": range(4), "D": range(2), "E": range(3)}

literals = st.tuples(st.sampled_from("ABCD"), st.integers(0, 1))
formulas = st.lists(st.frozensets(literals, min_size=1, max_size=3), min_size=1, max_size=3)
models = formulas.map(lambda form: Model((Atom(tuple(form), ("Y", 1)),)))


@pytest.mark.parametrize("kind", ["cs", "mv"])
def test_published_relations(kind):
    known = pd.read_csv(KNOWN).query("type == @kind")
    assert len(known) == {"cs": 176, "mv": 27}[kind]
    domains = DOMAINS if kind == "mv" else None
    for row in known.itertuples():
        x, y = parse(row.x), parse(row.y)
        assert submodel_of(x, y) == row.is_submodel, row
        assert (x == y) == row.identical, row
        assert (x.complexity, evaluation_order(x) is None) == (row.complexity_x, row.cyclic_x), row
        if len(x.atoms) == 1:
            assert redundancy_free(x, domains) == row.inus_x, row


@given(models, models)
def test_submodels_are_injections(x, y):
    (small,), (large,) = x.atoms, y.atoms
    expected = any(
        all(a <= b for a, b in zip(small.disjuncts, chosen, strict=True))
        for chosen in itertools.permutations(large.disjuncts, len(small.disjuncts))
    )
    assert submodel_of(x, y) == expected


def truth_values(form, names):
    cases = [dict(zip(names, values, strict=True)) for values in itertools.product((0, 1), repeat=len(names))]
    return [any(all(case[n] == v for n, v in one) for one in form) for case in cases]


def inus_by_definition(form):
    names = sorted({name for one in form for name, _ in one})
    values = truth_values(form, names)
    if len(set(values)) == 1:
        return False
    fewer = [[*form[:i], *form[i + 1 :]] for i in range(len(form)) if len(form) > 1]
    shorter = [
        [*form[:i], one - {literal}, *form[i + 1 :]] for i, one in enumerate(form) if len(one) > 1 for literal in one
    ]
    return all(truth_values(other, names) != values for other in fewer + shorter)


@given(models)
def test_inus_by_definition(model):
    form = list(model.atoms[0].disjuncts)
    assert redundancy_free(model) == inus_by_definition(form)


def submodels_by_definition(form):
    subsets = [[frozenset(c) for n in range(len(d) + 1) for c in itertools.combinations(sorted(d), n)] for d in form]
    found = set()
    for parts in itertools.product(*subsets):
        kept = [part for part in parts if part]
        if kept and len(set(kept)) == len(kept) and inus_by_definition(kept):
            found.add(frozenset(kept))
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(models, models)
def test_ncr_by_definition(truth, estimate):
    true, own = (submodels_by_definition(list(m.atoms[0].disjuncts)) for m in (truth, estimate))
    if own:
        assert ce.ncr(str(truth), str(estimate)) == pytest.approx(len(own & true) / len(own))


def test_ncr_of_other_outcomes_and_chains():
    assert ce.ncr("D+E<->G", "A+B<->D") == 0
    assert ce.ncr("(A+B<->C)*(C+D<->E)", "(A+B<->C)*(C+F<->E)") == pytest.approx((3 + 1) / 6)
    with pytest.raises(FormulaTooLargeError, match="the limit is 16 literals"):
        ce.ncr("A<->Z", "+".join(f"X{i}" for i in range(17)) + "<->Z")


@pytest.mark.parametrize(
    ("truth", "estimate", "standing"),
    [
        ("(A+B<->C)*(C+D<->E)", "A+D<->E", {"both", "indirect"}),
        ("(A+B<->C)*(C+D<->E)", "(A<->C)*(A+D<->E)", {"both", "bypass"}),  # C is no bypass where the model has C
        ("(A+B*f<->C)*(C*F+D<->E)", "B<->E", {"false"}),  # B never works through C*F
    ],
)
def test_indirect_causes(truth, estimate, standing):
    found = judge_claims(parse(truth), parse(estimate))
    assert {verdict.standing for verdict in found.values()} == standing


def test_criteria_in_use_before():
    assert ce.submodel_completeness("A*b+C<->E", "C + b*A <-> E") == 1
    assert ce.submodel_completeness("A*b+C<->E", "A+C<->E") == pytest.approx(2 / 3)
    assert ce.submodel_completeness("A*b+C<->E", "A+D<->E") == 0


@pytest.mark.slow
@given(models)
def test_minimal_models_allow_the_same_configurations(model):
    found = minimal_models(model)
    names = sorted(set("ABCD") | set(model.factors))
    whole = ideal_data(model, dict.fromkeys(names, (0, 1)))
    assert all(submodel_of(one, model) and redundancy_free(one) for one in found)
    for one in found:
        pd.testing.assert_frame_equal(ideal_data(one, dict.fromkeys(names, (0, 1))), whole)
    assert bool(found) == (len(set(truth_values(model.atoms[0].disjuncts, names))) == 2)


def test_submodels_are_those_of_the_printed_ratios() -> None:
    """The shares that the source prints: NCR of (4), (5) against (1), and of (6) to (8) against (2)."""
    first, second = "A*b+c*D<->E", "A*b*D*F+a*B*C*D<->E"
    for model, truth, shared, n in (
        ("A*B+D<->E", first, 3, 7),
        ("A*B*D<->E", first, 2, 7),
        ("A+C+D<->E", second, 6, 7),
        ("A*b+C+D<->E", second, 12, 15),
        ("A*b*F+C+D<->E", second, 24, 31),
    ):
        found = submodels(model, truth)
        assert (found["shared"].sum(), len(found)) == (shared, n)
        assert found["shared"].mean() == pytest.approx(ce.ncr(truth, model))
        assert found["submodel"].is_unique and found["submodel"].iloc[-1] == model
        assert all(submodel_of(one, model) and redundancy_free(one) for one in found["submodel"])
        assert submodels(model).equals(found.drop(columns="shared"))


@pytest.mark.slow
@given(formulas)
def test_submodels_by_brute_force(form: list[frozenset[tuple[str, int]]]) -> None:
    """All sets of parts of different disjuncts that are irredundant; equal parts do not count."""
    model = Model((Atom(tuple(form), ("Y", 1)),))
    if model.complexity > 7:
        return
    parts = [
        [None, *(frozenset(c) for n in range(1, len(d) + 1) for c in itertools.combinations(sorted(d), n))]
        for d in model.atoms[0].disjuncts
    ]
    expected = set()
    for chosen in itertools.product(*parts):
        kept = [part for part in chosen if part]
        if kept and len(set(kept)) == len(kept) and redundancy_free(one := Model((Atom(tuple(kept), ("Y", 1)),))):
            expected.add(str(one))
    assert set(submodels(model)["submodel"]) == expected


def test_submodels_of_several_outcomes() -> None:
    found = submodels("(A*b<->C)*(C<->D)", "(A<->C)*(b<->D)")
    assert found["submodel"].tolist() == ["A<->C", "b<->C", "A*b<->C", "C<->D"]
    assert found["shared"].tolist() == [True, False, False, False]
    assert submodels("A=2<->Y=1", domains={"A": [0, 1, 2]})["submodel"].tolist() == ["A=2<->Y=1"]
    with pytest.raises(FormulaTooLargeError, match="16 literals"):
        submodels("+".join(f"X{i}" for i in range(17)) + "<->Y")
