"""Reading and writing models: what is accepted, what canonical form means, where errors point; orders of outcomes."""

import copy

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd import configurational as cf
from causaleval_pd.fields.configurational.formula import set_text
from causaleval_pd.fields.configurational.minimisation import minimal_models
from causaleval_pd.fields.configurational.reader import MAX_TEXT, parse_set
from causaleval_pd.fields.configurational.truth_table import evaluation_order, topological_order

NAMES = ["A", "B", "LONG_NAME", "X1", "Ä"]
literals = st.tuples(st.sampled_from(NAMES), st.integers(0, 3))
disjunctions = st.lists(st.frozensets(literals, min_size=1, max_size=3), min_size=1, max_size=4)
atoms = st.builds(cf.Atom, disjunctions.map(tuple), literals, st.sampled_from(["<->", "=>", "<="]))
models = st.lists(atoms, min_size=1, max_size=3, unique_by=lambda a: a.outcome).map(tuple).map(cf.Model)


@pytest.mark.slow
@given(models)
def test_text_is_read_back(model):
    assert cf.parse(str(model)) == model
    assert hash(cf.parse(str(model))) == hash(model)
    assert model.complexity == sum(len(d) for a in model.atoms for d in a.disjuncts)


@pytest.mark.slow
@given(st.lists(models, max_size=3))
def test_sets_are_read_back(some):
    assert set(parse_set(set_text(some))) == set(some)


@pytest.mark.parametrize(
    "text",
    [
        "(D+E<->G)*(A+B*F<->D)", "(A+F*B<=>D),(E+D<->G)", " ( B*F*B + A + A <=> D ) * (D+ E<->G)",
        "M1: A + (B*F) <-> D, D + E <-> G", "{A{1}+B{1}*F{ 1 }<->D{1},(D[1]+E[1]<->G)}",
        "(A=1+B=1*F=1<->D=1)*(D+E<->G)",
    ],
)  # fmt: skip
def test_order_blanks_repetitions_and_notation_carry_no_meaning(text):
    assert str(cf.parse(text)) == "(A+B*F<->D)*(D+E<->G)"


def test_literals():
    assert cf.parse("A*~b+~C*d<->e").atoms[0] == cf.Atom(
        (frozenset({("A", 1), ("B", 1)}), frozenset({("C", 0), ("D", 0)})), ("E", 0)
    )
    assert str(cf.parse("smoking*AGE=2<->CANCER")) == "AGE=2*SMOKING=0<->CANCER=1"
    assert cf.parse("(A<->d)*(B<->D)").outcomes == (("D", 0), ("D", 1))


def test_sets():
    assert parse_set("{}") == () == parse_set(" {} ")
    assert parse_set("A<->B;C<->B; A <-> B;") == (cf.parse("A<->B"), cf.parse("C<->B"))
    assert set_text(()) == "{}"


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("", 0, "nothing"), ("A*+B<->C", 2, "expected a literal, found '+'"),
        ("A<->B*C", 5, "expected the end, found '*'"), ("A<->B+C", 5, "an outcome is one literal"),
        ("A<->B<->C", 5, "write a chain as (A<->B)*(B<->C)"),
        ("A + B", 5, "expected '*', '+' or '<->', found the end"),
        ("no solution", 3, "an output without models is written {}"),
        ("dev*~lit -> surv", 5, "~lit negates twice, because lower case means absent"),
        ("(A<->B", 6, "expected ')', found the end"), ("(A<->B)*C<->D", 8, "expected '(', found 'C'"),
        ("(A<->B)(C<->D)", 7, "expected the end, found '('"), ("A*(B+C)<->D", 2, "expected a literal, found '('"),
        ("A & B<->C", 2, "unexpected '&' at position 2 of 'A & B<->C'; * joins conjuncts"),
        ("A*Age<->C", 2, "write Age=1"), ("A=100<->C", 0, "values go up to 99"),
        ("~A=2<->C", 1, "~ applies to values 0 and 1"),
        ("(A<->B)*(C<->B)", 9, "a second atom with the outcome B"),
        ("A<->B; C*<->D", 9, "expected a literal, found '<->'"), ("A<->B;;C<->D", 6, "expected a model before ';'"),
        ("{A<->B", 0, "unexpected '{'"),
        ("{A<->C, B<->C}", 8, "a second atom with the outcome C"),
        ("A{x}<->B", 1, "unexpected '{'"), ("M1:", 3, "expected a literal, found the end"),
        ("M1: A<->B; M2:", 14, "expected a literal, found the end"),
        ("M1: M2: A<->B", 4, "expected a literal, found the end"),
        ("(A*b+C<->D", 10, "expected ')', found the end"),
        ("D+(A*b+C<->E", 8, "expected '*', '+' or ')', found '<->'"),
        ("D+((A))<->E", 3, "expected a literal, found '('"),
    ],
)  # fmt: skip
def test_errors_say_what_and_where(text, position, what):
    with pytest.raises(cf.FormulaError, match="position") as caught:
        parse_set(text)
    assert caught.value.position == position
    assert what in str(caught.value)


def test_limits_and_types():
    with pytest.raises(cf.FormulaError, match=f"at most {MAX_TEXT} characters"):
        cf.parse("A+" * MAX_TEXT + "B<->C")
    with pytest.raises(TypeError, match="found int"):
        cf.parse(3)
    with pytest.raises(cf.FormulaError) as caught:
        cf.parse("A+" * 100 + "+B<->C")
    assert len(str(caught.value)) < 200
    assert str(copy.copy(caught.value)) == str(caught.value)


def test_values_refuse_what_is_no_model():
    with pytest.raises(ValueError, match="at least one atom"):
        cf.Model(())
    with pytest.raises(ValueError, match="at least one disjunct"):
        cf.Atom((), ("A", 1))
    with pytest.raises(ValueError, match="two atoms have the outcome C"):
        cf.Model((cf.Atom((frozenset({("A", 1)}),), ("C", 1)), cf.Atom((frozenset({("B", 1)}),), ("C", 1))))


@pytest.mark.slow
@given(st.one_of(st.text(max_size=12), st.text("AaBbß中İ=12*+<->(),~;{}[]M: ", max_size=16)))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse_set(text)
    except cf.FormulaError as error:
        assert 0 <= error.position <= len(text)
    else:
        assert parse_set(set_text(found)) == found


def test_letters_without_case_name_their_value():
    assert str(cf.parse("中=0*B=1<->É")) == "B*中=0<->É"
    with pytest.raises(cf.FormulaError, match="write 中=1"):
        cf.parse("中<->B")
    with pytest.raises(cf.FormulaError, match="upper and lower case of 'ß' do not correspond"):
        cf.parse("ß<->B")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("A{1}*B{0}->Y{1}", "A*b=>Y"), ("A[2]*B[0]<->Y[1]", "A=2*B=0<->Y=1"), ("M1: A*~B + (C*d) => Y", "A*b+C*d=>Y"),
        ("A*b+C <= Y", "A*b+C<=Y"), ("A <- Y", "A<=Y"), ("((A)+B<->C)*(C->D)", "(A+B<->C)*(C=>D)"),
        ("{D<->E}", "D<->E"), ("{D<->E; A{1}<->E{0}}", "A<->e; D<->E"),
        ("M1: A*B + (C) -> Y\nM2: A*B + (D) -> Y\n", "A*B+C=>Y; A*B+D=>Y"),
        ("M1:A->Y M2:B->Y;", "A=>Y; B=>Y"), ("{ }", "{}"), ("A·¬B \u2228 C\u2227D ↔ E", "A*b+C*D<->E"),
        ("A·b+C → E", "A*b+C=>E"), ("A ⇐ E", "A<=E"),
    ],
)  # fmt: skip
def test_notations_of_programs(text, canonical):
    found = parse_set(text)
    assert set_text(found) == canonical
    assert parse_set(canonical) == found


@pytest.mark.slow
def test_sufficiency_and_necessity_are_not_equivalences():
    one, both = cf.parse("A*b+C => E"), cf.parse("A*b+C <-> E")
    assert one != both and one.one_way and one.as_equivalence() == both == both.as_equivalence()
    assert ce.is_submodel("A*b+C<->E", "A => E") == 1 == ce.lcr("A*b+C<->E", "A => E")
    with pytest.raises(ValueError, match=r"estimate is one-way.*tweak\('correctness', arrows='equivalence'\).*'lcr'"):
        ce.correctness("A*b+C<->E", "A => E")
    assert ce.correctness("A*b+C<->E", "A => E", arrows="equivalence") == 1
    with pytest.raises(ValueError, match="arrows must be .as_written. or .equivalence., found .both."):
        ce.correctness("A*b+C<->E", "A => E", arrows="both")
    for function in (cf.ideal_data, cf.exposition_table, minimal_models, cf.redundancy_free):
        with pytest.raises(ValueError, match=r"A<=E states necessity only, .*; write A<->E .*model.as_equivalence"):
            function("A <= E")
    runs = pd.DataFrame({"truth": "A*b+C<->E", "estimate": ["A+C<->E", "A+C=>E", "(A+C=>B)*(B=>A)"]})
    with pytest.raises(ValueError, match=r"row 1 .* \(2 of 3 rows\)"):
        ce.evaluate(runs, ["correctness"])
    read = ce.tweak("correctness", arrows="equivalence", name="read")
    found = ce.evaluate(runs, ["correctness", read, "lcr"], invalid="nan")
    assert found["correctness"].isna().tolist() == [False, True, True]
    assert found["read"].isna().tolist() == [False, False, True]
    assert found["lcr"].tolist() == [1, 1, 0]
    for null in ("complexity", "relabel"):
        scored = ce.with_controls(
            runs.head(2), [read], null=null, n_draws=20, rng=1, context={"factors": list("ABCDE")}
        )
        assert scored["read_control_mean"].notna().all()


graphs = st.dictionaries(st.sampled_from("ABCDE"), st.sets(st.sampled_from("ABCDEFG"), max_size=3), max_size=5)


def by_layers(causes: dict[str, set[str]]) -> list[str] | None:
    """Take away the names without causes among those that are left, until none is left."""
    left, order = set(causes), list[str]()
    while left:
        ready = sorted(name for name in left if not causes[name] & left)
        if not ready:
            return None
        left -= set(ready)
        order += ready
    return order


@pytest.mark.slow
@given(graphs)
def test_order_is_by_layers_and_names(causes: dict[str, set[str]]) -> None:
    assert topological_order(causes) == by_layers(causes)


def test_outcomes_of_models() -> None:
    assert evaluation_order(cf.parse("(B<->C)*(A<->B)*(A<->D)*(C+D<->E)")) == ["B", "D", "C", "E"]
    assert evaluation_order(cf.parse("(A*b<->C)*(a+B<->c)")) == ["C"]
    assert evaluation_order(cf.parse("A+c<->C")) is None
    assert evaluation_order(cf.parse("(A<->B)*(b<->a)")) is None


def long_model(n: int, salt: int) -> str:
    return "+".join(f"A{salt}X{i}*b" for i in range(n // 8)) + "<->E"


TEXTS = {
    "model": lambda n, salt: long_model(n, salt),
    "set": lambda n, salt: "; ".join(f"A{salt}X{i}<->E" for i in range(n // 10)),
    "spaces": lambda n, salt: f"A{salt}" + " " * n + "<->E", "nothing": lambda n, salt: ";" * (n + salt),
    "blanks": lambda n, salt: f"A{salt}" + " " * n + "?", "opened": lambda n, salt: "(" * (n + salt),
    "stars": lambda n, salt: "A*" * (n // 2 + salt), "negated": lambda n, salt: "~" * (n + salt),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("read", [cf.parse, parse_set])
def test_reading_takes_linear_time(read, name, count_lines):
    # texts are read once and kept, so that each has a salt of its own
    once, twice = (count_lines(read, TEXTS[name](n, salt)) for n, salt in ((1000, 3), (2000, 4)))
    assert twice < 2 * once + 100


@pytest.mark.parametrize("read", [cf.parse, parse_set])
def test_a_million_blanks_are_read_once(read, monkeypatch):
    """A pattern that reads the rest of the blanks at each of them would take longer than a test may."""
    monkeypatch.setattr(cf.reader, "MAX_TEXT", 2_000_000)
    assert read(TEXTS["spaces"](1_000_000, 5)) == read("A5<->E")
    with pytest.raises(ValueError, match=r"unexpected '\?' at position 1000002"):
        read(TEXTS["blanks"](1_000_000, 5))
