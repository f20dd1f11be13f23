"""Expositions against published ones, and against a plain search by the definitions."""

import itertools
import pathlib

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causaleval_pd.configurational import FormulaTooLargeError, Setting, exposition_table, parse
from causaleval_pd.fields.configurational.formula import Atom, Model, dnf_text
from causaleval_pd.fields.configurational.quality import expose
from causaleval_pd.fields.configurational.truth_table import ideal_data

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"
KINDS = {"literal": "literal", "conjunction": "conjunctive", "disjunction": "disjunctive", "sequence": "sequential"}


def canonical(kind: str, item: str) -> str:
    return item.replace("-", "->") if kind == "sequence" else str(parse(f"{item}<->OUT")).split("<->")[0]


@pytest.mark.slow
def test_published_expositions():
    known = pd.read_csv(KNOWN / "configurational_expositions.csv.gz")
    assert known["formula"].nunique() == 264
    for formula, rows in known.groupby("formula"):
        expected = {(r.outcome, KINDS[r.kind], canonical(r.kind, r.item)) for r in rows.itertuples()}
        found = exposition_table(formula)
        assert set(found[["outcome", "component", "item"]].itertuples(index=False, name=None)) == expected, formula


def holds(disjuncts, case):
    return any(all(case[name] == value for name, value in one) for one in disjuncts)


def substituted(disjuncts, atom):
    """Replace an outcome and its negation literal by literal, as one would on paper."""
    name, value = atom.outcome
    picks = itertools.product(*atom.disjuncts)
    negation = {frozenset((n, 1 - v) for n, v in pick) for pick in picks}
    negation = {one for one in negation if not any((n, 1 - v) in one for n, v in one)}
    for literal, causes in ((atom.outcome, atom.disjuncts), ((name, 1 - value), negation)):
        disjuncts = {
            new
            for one in disjuncts
            for new in ([one] if literal not in one else [(one - {literal}) | cause for cause in causes])
        }
    return frozenset(disjuncts)


def all_candidates(model, atom):
    found, todo = set(), {frozenset(atom.disjuncts)}
    while todo:
        found |= todo
        names = lambda form: {name for one in form for name, _ in one}  # noqa: E731
        todo = (
            {substituted(f, a) for f in todo for a in model.atoms if a.outcome[0] in names(f)} - found - {frozenset()}
        )
    return found


def minimal_forms(candidates, outcome, cases, n_factors, n_outcomes):
    """Search the definitions: all conjunctions within candidates, all sets of them."""
    positive = [c for c in cases if c[outcome[0]] == outcome[1]]
    negative = [c for c in cases if c[outcome[0]] != outcome[1]]
    if not positive or not negative:
        return None
    parts = {
        frozenset(part)
        for candidate in candidates
        for one in candidate
        for size in range(1, len(one) + 1)
        for part in itertools.combinations(sorted(one), size)
    }
    sufficient = {p for p in parts if any(holds([p], c) for c in positive) and not any(holds([p], c) for c in negative)}
    sufficient = [p for p in sufficient if not any(q < p for q in sufficient)]
    n = n_factors - n_outcomes
    pool = [p for p in sufficient if len(p) <= n]
    covering: list[frozenset] = []
    for size in range(1, min(len(pool), 2 * n) + 1):
        for form in map(frozenset, itertools.combinations(pool, size)):
            if not any(smaller < form for smaller in covering) and all(holds(form, c) for c in positive):
                covering.append(form)

    def within(form, candidate):
        return len(form) <= len(candidate) and any(
            all(x <= y for x, y in zip(form, chosen, strict=True))
            for chosen in itertools.permutations(candidate, len(form))
        )

    small = [f for f in covering if sum(map(len, f)) <= 3 * n + 5]
    return {dnf_text(f) for f in small if any(within(list(f), list(c)) for c in candidates)}


@st.composite
def chains(draw):
    """A model with one or two atoms over few factors, redundant and contradictory ones included."""
    exogenous = st.tuples(st.sampled_from("ABC"), st.integers(0, 1))
    first = draw(st.lists(st.frozensets(exogenous, min_size=1, max_size=2), min_size=1, max_size=2))
    atoms = [Atom(tuple(first), ("X", draw(st.integers(0, 1))))]
    if draw(st.booleans()):
        further = st.tuples(st.sampled_from("ABX"), st.integers(0, 1))
        second = draw(st.lists(st.frozensets(further, min_size=1, max_size=2), min_size=1, max_size=3))
        atoms.append(Atom(tuple(second), ("Y", 1)))
    return Model(tuple(atoms))


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(chains())
def test_minimal_forms_are_those_of_the_definition(model):
    cases = ideal_data(model).to_dict("records")
    found = exposition_table(model)
    for atom in model.atoms:
        expected = minimal_forms(all_candidates(model, atom), atom.outcome, cases, len(model.factors), len(model.atoms))
        own = found[found["outcome"] == str(Atom(atom.disjuncts, atom.outcome)).split("<->")[1]]
        assert set(own.loc[own["component"] == "disjunctive", "item"]) == (expected or set()), str(model)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(chains())
def test_pairwise_paths_are_those_through_causes(model):
    setting = Setting()
    loose, strict = (expose(model, setting, path_rule=rule) for rule in ("outcome", "pairwise"))
    for outcome, ascribed in loose.items():
        for path in ascribed.sequences if ascribed else ():
            between = [bit for bit in path[1:-1] if loose.get(bit)]
            negated = any(bit not in loose for bit in path[1:-1])
            if not negated:
                kept = all(loose[bit].literals & path[0] for bit in between)
                assert (path in strict[outcome].sequences) == kept
        assert ascribed is None or set(strict[outcome].sequences) <= set(ascribed.sequences)


def test_relative_to_data():
    truth = ideal_data(parse("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"))
    model = "(A+B*F<->D)*(D+E<->G)"
    alone, on_data = (
        set(table.query("outcome == 'G' and component == 'disjunctive'")["item"])
        for table in (exposition_table(model), exposition_table(model, Setting(data=truth)))
    )
    assert (alone, on_data) == ({"D+E", "A+B*F+E"}, {"D+E", "A+B+E"})


def test_constant_outcomes_have_no_causes():
    assert exposition_table("C+c<->D").empty


def test_multi_value_chains_need_domains():
    model = "(A=2<->B=1)*(B=1+C=0<->D=1)"
    found = exposition_table(model, Setting(domains={"A": [0, 1, 2]}))
    assert set(found.query("outcome == 'D=1'")["item"]) >= {"A=2->B=1->D=1", "A=2+C=0", "B=1"}
    with pytest.raises(ValueError, match=r"A=2 occurs, but factor A is binary; give all its values"):
        exposition_table(model)
    with pytest.raises(ValueError, match=r"factor A has the values 0, 1"):
        exposition_table(model, Setting(domains={"A": [0, 1]}))


def test_fuzzy_data():
    data = pd.DataFrame({"A": [0.9, 0.8, 0.1, 0.3], "B": [0.2, 0.7, 0.6, 0.1], "C": [0.9, 0.9, 0.2, 0.2]})
    found = exposition_table("A*B+A*b<->C", Setting(data=data, con=0.9, cov=0.8))
    assert found.query("component == 'disjunctive'")["item"].tolist() == ["A"]


def test_values_of_data_are_the_domains():
    data = pd.DataFrame({"A": [1, 2, 3, 1], "b": [0, 0, 0, 0], "C": [1, 0, 0, 1]})
    words = Setting(data=data).vocabulary
    assert (words.domain("A"), words.domain("B"), words.domain("C")) == ((1, 2, 3), (0, 1), (0, 1))
    assert exposition_table("A=1<->C=1", Setting(data=data))["item"].tolist() == ["A=1", "A=1", "A=1", "A=1->C=1"]
    assert exposition_table("A=1<->C=1", Setting(data=data.head(0), domains={"A": [1, 2]})).empty
    with pytest.raises(TypeError, match="data must be a DataFrame"):
        Setting(data={"A": [1]})


def test_refusals():
    with pytest.raises(ValueError, match=r"\(B<->A\)\*\(A<->B\) is cyclic"):
        exposition_table("(A<->B)*(B<->A)")
    with pytest.raises(FormulaTooLargeError, match="the limit is 1048576"):
        exposition_table("+".join(f"X{i}" for i in range(30)) + "<->Y")
    with pytest.raises(ValueError, match="con must lie in"):
        Setting(data=pd.DataFrame({"A": [0, 1]}), con=1.5)
    with pytest.raises(ValueError, match="thresholds con and cov need data"):
        Setting(con=0.8)
    with pytest.raises(ValueError, match=r"\['C'\], which are not columns of the data: \['A', 'B'\]"):
        exposition_table("A+C<->B", Setting(data=pd.DataFrame({"A": [0, 1], "b": [0, 1]})))


def test_published_size_caps():
    odd = [code for code in range(32) if code.bit_count() % 2]
    parity = "+".join("*".join(n if code >> i & 1 else n.lower() for i, n in enumerate("ABCDE")) for code in odd)
    [capped] = expose(parse(f"{parity}<->F"), size_caps=True).values()
    assert not capped.literals, "16 disjuncts, where 2 n = 10"
    assert len(exposition_table(f"{parity}<->F").query("component == 'conjunctive'")) == 16
