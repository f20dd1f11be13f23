"""Correctness and completeness against the paper, the published functions, and what must hold by meaning."""

import io
import itertools
import math
import pathlib
import random

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import (
    Atom,
    Convention,
    Model,
    Setting,
    ideal_data,
    parse,
    quality_table,
    redundancy_free,
)
from causaleval_pd.fields.configurational.submodel import submodel_of

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"
SCORES = {
    "corr": "correctness",
    "comp": "completeness",
    **{
        f"{short}_{name[0]}": f"{long}_{name}"
        for short, long in (("corr", "correctness"), ("comp", "completeness"))
        for name in ("literal", "conjunctive", "disjunctive", "sequential")
    },
    "lcr": "lcr",
    "ncr": "ncr",
}
F_SCORES = {"f05": 0.5, "f1": 1, "f2": 2}
METRICS = [*SCORES.values(), *(ce.tweak("f_beta", beta=beta, name=name) for name, beta in F_SCORES.items())]
D3 = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"


def frames(texts: pd.Series) -> dict[str, pd.DataFrame]:
    return {text: pd.read_csv(io.StringIO(text)) for text in texts.dropna().unique()}


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return pd.read_csv(KNOWN / "configurational_pairs.csv.gz").rename(columns={"model": "estimate"})


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["corrected", "paper"])
@pytest.mark.parametrize("on_data", [False, True])
def test_published_functions(pairs: pd.DataFrame, on_data: bool, convention: str) -> None:
    known = pairs[(pairs["minimisation"] == "data") == on_data]
    assert len(known) == (38 if on_data else 267)
    context = {"data": ("data", frames(known["data"])), "con": "con", "cov": "cov"} if on_data else None
    cells = known[["truth", "estimate", "data", "con", "cov"]]
    quality = [m for m in METRICS if m not in ("lcr", "ncr")]
    chosen = [ce.tweak(m, convention=convention, name=m if isinstance(m, str) else m.name) for m in quality]
    found = ce.evaluate(cells, [*chosen, "lcr", "ncr"], context=context)
    for column, name in {**SCORES, **{name: name for name in F_SCORES}}.items():
        expected = known[column]
        given = expected.notna() if column == "ncr" else slice(None)
        np.testing.assert_allclose(found[name][given].astype(float), expected[given], rtol=0, atol=1e-9, err_msg=name)


def test_examples_of_the_paper() -> None:
    known = pd.read_csv(KNOWN / "configurational_paper.csv.gz")
    columns = {**SCORES, "f05": "f05", "f1": "f1", "f2": "f2", "ncr (against (10))": "ncr"}
    found = ce.evaluate(known[["truth", "model"]], METRICS, estimate="model")
    values = [found.loc[i, columns[measure]] for i, measure in known["measure"].items()]
    np.testing.assert_allclose(np.array(values, float), known["r_value"], rtol=0, atol=1e-9)
    printed = known["paper_value"].notna()
    assert printed.sum() == 66
    np.testing.assert_allclose(np.array(values, float)[printed], known["paper_value"][printed], rtol=0, atol=0.00501)


@pytest.mark.slow
def test_what_the_published_functions_do_not_answer() -> None:
    known = pd.read_csv(KNOWN / "configurational_unanswered.csv.gz").rename(columns={"model": "estimate"})
    data = frames(known["data"])
    for i in known.index:
        row = known.loc[[i], ["truth", "estimate", "data", "con", "cov"]]
        context = {"data": ("data", data), "con": "con", "cov": "cov"} if row["data"].notna().all() else None
        found = ce.evaluate(row, ["correctness", "completeness"], context=context)
        assert found.loc[:, ["correctness", "completeness"]].notna().all(axis=None)
        constant = known.loc[i, "published_error"].startswith(("Invalid input", "subscript"))
        undefined = ce.evaluate(row, [ce.tweak("correctness", constant_outcome="nan")], context=context)
        assert undefined.iloc[:, -1].isna().all() == constant


@pytest.mark.slow
def test_breakdown_adds_up(pairs: pd.DataFrame) -> None:
    for row in pairs[pairs["minimisation"] == "ideal"].head(40).itertuples():
        table = quality_table(row.truth, row.estimate)
        sums = table.groupby("measure")[["shared", "complexity"]].sum()
        assert sums.loc["correctness", "shared"] / sums.loc["correctness", "complexity"] == pytest.approx(row.corr)
        assert sums.loc["completeness", "shared"] / sums.loc["completeness", "complexity"] == pytest.approx(row.comp)
        assert (table["shared"] <= table["complexity"] + 1e-12).all()


def test_conventions() -> None:
    def completeness(model: str, **options: bool) -> float:
        return ce.completeness(D3, model, convention=Convention(**options))

    assert completeness("A+B+E<->G") == pytest.approx(0.292517, abs=1e-6)
    assert completeness("A+B+E<->G", partial_credit=False) == pytest.approx(0.265, abs=5e-4)
    assert completeness("A+B+E+D<->G", partial_credit=False) == pytest.approx(0.347, abs=5e-4)
    pair = "(a*b*d+B*D*a<->E)*(C<->F)*(C*b<->G)", "(a*b*G+B*D*a*G<->E)*(D<->F)*(C*b+B<->G)"
    assert ce.correctness(*pair) == pytest.approx(35 / 55)
    # the estimate's path b -> G -> E: b is a cause of E, but not of G
    assert ce.correctness(*pair, convention=Convention(path_rule="pairwise")) == pytest.approx(35 / 54)
    assert len({Convention.of(name) for name in ("corrected", "paper", "text")}) == 3
    with pytest.raises(ValueError, match="unknown convention 'papr'; did you mean 'paper'"):
        ce.correctness(D3, D3, convention="papr")
    with pytest.raises(ValueError, match="unknown tie_rule 'most'"):
        Convention(tie_rule="most")


def test_tie_rule_where_no_counterpart_is_best_in_both() -> None:
    # A*B*C+D has three literals in common with E+A*B*C (one disjunct) and two with A+D (two disjuncts)
    from causaleval_pd.fields.configurational.formula import Work
    from causaleval_pd.fields.configurational.quality import shared_disjunctions

    a, b, c, d, e = (1 << i for i in range(5))
    own, others = frozenset([a | b | c, d]), (frozenset([e, a | b | c]), frozenset([a, d]))
    assert shared_disjunctions(own, others, "published", Work()) == 1
    assert shared_disjunctions(own, others, "disjuncts_first", Work()) == 2


def test_minimised_on_data_of_the_truth() -> None:
    data = ce.configurational.ideal_data(ce.configurational.parse(D3))
    model = "(A+B*F<->D)*(D+E<->G)"
    table = pd.DataFrame({"truth": [D3], "estimate": [model]})
    alone, on_data = (
        ce.evaluate(table, ["correctness"], context=context)["correctness"][0] for context in (None, {"data": data})
    )
    assert (alone, on_data) == (0.875, 1.0)
    assert quality_table(D3, model, setting=Setting(data=data)).query("measure == 'correctness'")["score"].eq(1).all()


@pytest.mark.parametrize("beta", [-1, float("nan"), float("inf")])
def test_beta_must_be_a_number(beta: float) -> None:
    with pytest.raises(ValueError, match="beta must be a number from 0"):
        ce.f_beta(D3, D3, beta=beta)
    assert ce.f_beta(D3, "A+B<->G", beta=0) == ce.correctness(D3, "A+B<->G")


def test_the_table_of_a_column_is_that_of_its_rows() -> None:
    models = pd.Series(["A+B<->G", "A+B+E<->G", "A+B<->G"], index=["x", "y", "z"])
    found = quality_table(D3, models)
    assert list(found.columns[:3]) == ["row", "truth", "estimate"]
    for label, model in models.items():
        own = found[found["row"] == label].drop(columns=["row", "truth", "estimate"]).reset_index(drop=True)
        pd.testing.assert_frame_equal(own, quality_table(D3, model))
    pd.testing.assert_frame_equal(found, quality_table(pd.Series(D3, models.index), models))
    # a cell with several models has the rows of each
    assert quality_table(D3, ["A<->G; B<->G"])["estimate"].unique().tolist() == ["A<->G", "B<->G"]
    assert quality_table([D3], [parse("A<->G")]).equals(quality_table(D3, ["A<->G"]))


@pytest.mark.parametrize(
    ("truth", "estimate", "message"),
    [
        (D3, ["A<->G", None], r"'estimate', row 1 \(index 1\) is missing"),
        (D3, ["{}"], "'estimate', row 0 .*expected a model, found 0"),
        (["A<->B; C<->B"], "A<->B", "'truth', row 0 .*expected one model, found 2"),
        ([D3], ["A<->G", "B<->G"], "truth has 1 rows and estimate 2"),
        (None, "A<->G", "truth is missing"),
    ],
)
def test_columns_that_have_no_table(truth, estimate, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        quality_table(truth, estimate)


CHAIN = "(A+B<->C)*(C+D<->E)"
LARGE = "A*B*C*D+a*b*c*d+A*b*C*d+a*B*c*D+A*B*c*d<->E"
PARTS = ("", "_literal", "_conjunctive", "_disjunctive", "_sequential")


def test_a_constant_outcome_is_no_way_to_a_better_mean() -> None:
    right, wrong, half = "(A<->C)*(D<->E)", "(a*b<->C)*(d<->E)*(A+a<->F)", "(A<->C)*(D<->E)*(A+a<->F)"
    assert ce.correctness(CHAIN, right) == 1
    assert ce.correctness(CHAIN, half) < 1
    assert ce.correctness(CHAIN, wrong) == 0 == ce.f_beta(CHAIN, wrong) == ce.completeness(CHAIN, wrong)
    # what is right counts as without the atom, whose parts as written count as wrong: 2 + 2 + 2 + 2
    table = ce.configurational.quality_table(CHAIN, half).query("measure == 'correctness'")
    own = table.groupby("outcome")[["shared", "complexity"]].sum()
    assert own.loc["F"].tolist() == [0, 8]
    assert ce.correctness(CHAIN, half) == own["shared"].sum() / own["complexity"].sum()
    assert ce.completeness(CHAIN, half) == ce.completeness(CHAIN, right)
    # a constant atom of an outcome that the truth explains finds nothing, and hides nothing else
    assert ce.completeness(CHAIN, "(A+a<->C)*(D<->E)") == pytest.approx(ce.completeness(CHAIN, "D<->E"))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("estimate", "others"),
    [("(A<->C)*(A+a<->F)", "A<->C"), ("(A+a<->C)*(D<->E)", "D<->E"), ("(D<->E)*(A*a<->C)", "D<->E")],
)
def test_rules_for_constant_outcomes(part: str, estimate: str, others: str) -> None:
    correctness, f_beta = (ce.get_metric(name + part) for name in ("correctness", "f_beta"))
    penalised, dropped, undefined = (
        correctness(CHAIN, estimate, constant_outcome=rule) for rule in ("penalise", "drop", "nan")
    )
    assert penalised == correctness(CHAIN, estimate) < correctness(CHAIN, others) == dropped
    assert correctness(CHAIN, estimate, convention="paper") == dropped
    assert correctness(CHAIN, estimate, convention="paper", constant_outcome="penalise") == penalised
    assert math.isnan(undefined) and math.isnan(f_beta(CHAIN, estimate, constant_outcome="nan"))
    with pytest.raises(ValueError, match="unknown constant_outcome 'punish'"):
        correctness(CHAIN, estimate, constant_outcome="punish")


def test_a_truth_with_a_constant_outcome_has_nothing_to_be_found() -> None:
    truth = "(A+a<->C)*(B<->D)"
    assert ce.completeness(truth, "B<->D") == 1
    assert ce.correctness(truth, "(A<->C)*(B<->D)") == 0.5
    assert math.isnan(ce.completeness("A+a<->C", "A<->C"))
    assert ce.f_beta("A+a<->C", "A<->C") == 0


def test_outcomes_that_are_constant_in_data() -> None:
    data = ideal_data(CHAIN).query("C == 1")
    runs = pd.DataFrame({"truth": [CHAIN], "estimate": ["A<->C"]})
    for rule, value in (("penalise", 0.0), ("drop", math.nan), ("nan", math.nan)):
        metric = ce.tweak("correctness", constant_outcome=rule, name="c")
        found = ce.evaluate(runs, [metric, "f_beta"], context={"data": data})
        assert found["c"][0] == pytest.approx(value, nan_ok=True)
        assert found["f_beta"][0] == 0


def test_undefined_members_of_sets_are_skipped() -> None:
    two = "A<->C; A+a<->C"
    assert ce.correctness("A+B<->C", two) == 1
    assert ce.correctness("A+B<->C", two, models="mean") == 0.5
    for rule in ("max", "mean", "any", "all"):
        assert ce.correctness("A+B<->C", two, models=rule, constant_outcome="nan") == 1
        assert math.isnan(ce.correctness("A+B<->C", "A+a<->C", models=rule, constant_outcome="nan"))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("estimate", ["{}", "a<->C", "A+a<->C", "X<->Y", "A<->C", "A+a<->F; A<->C", CHAIN])
@pytest.mark.parametrize("convention", ["corrected", "paper", "text"])
def test_f_beta_is_that_of_its_parts(part: str, estimate: str, convention: str) -> None:
    p, r, f = (
        ce.get_metric(name + part)("A+B<->C", estimate, convention=convention)
        for name in ("correctness", "completeness", "f_beta")
    )
    if 0 in (p, r):
        assert f == 0
    elif ";" not in estimate:
        assert f == pytest.approx(2 * p * r / (p + r), nan_ok=True)


@pytest.mark.filterwarnings("ignore:.*do not reach:UserWarning")
def test_true_values_beyond_the_published_sizes() -> None:
    assert ce.correctness(LARGE, LARGE) == ce.completeness(LARGE, LARGE) == 1
    assert ce.correctness(LARGE, "A*B*C*D<->E") == 1
    assert math.isnan(ce.correctness(LARGE, LARGE, convention="paper"))
    # relative to data too
    wide = "A+B+C+D+E<->F"
    runs = pd.DataFrame({"truth": [wide, wide], "estimate": [wide, "A+B<->F"]})
    data = ideal_data(wide)
    paper = ce.tweak("completeness", convention="paper", name="paper")
    found = ce.evaluate(runs, ["correctness", "completeness", paper], context={"data": data})
    assert found.loc[0, ["correctness", "completeness", "paper"]].tolist() == [1, 1, 0]
    sized = ce.evaluate(runs, ["completeness"], context={"data": data, "max_size": (3, 4, 10)})
    assert sized["completeness"][0] == 0
    with pytest.raises(ValueError, match="max_size must be three numbers"):
        ce.evaluate(runs, ["completeness"], context={"data": data, "max_size": 3})


def test_estimates_below_their_thresholds_are_counted_and_named() -> None:
    data = ideal_data("A+B<->C")
    runs = pd.DataFrame({"truth": ["A+B<->C"] * 5, "estimate": ["A+B<->C", "A<->C", "{}", "a<->C; A+B<->C", None]})
    runs.index = pd.Index(list("vwxyz"))
    context = {"data": data, "con": 0.9, "cov": 0.9}
    message = (
        r"2 of 5 estimates have atoms that do not reach con=0\.9 and cov=0\.9 in their data "
        r"\(row 1 \(index 'w'\), row 3 \(index 'y'\)\): such atoms ascribe no causes"
    )
    for verb in (ce.evaluate, lambda *args, **options: ce.with_controls(*args, **options, n_draws=9, rng=1)):
        with pytest.warns(UserWarning, match=message) as caught:
            found = verb(runs, ["correctness", "completeness"], context=context)
        assert len([one for one in caught if "do not reach" in str(one.message)]) == 1
        assert found["completeness"].fillna(-1).tolist() == [1, 0, 0, 1, -1]
    # thresholds play no part where all are reached, without data, and in measures of fit
    ce.evaluate(runs, ["correctness"], context={"data": data, "con": 0.5, "cov": 0.3})
    ce.evaluate(runs, ["fit_coverage", "is_submodel"], context=context)


def random_form(rng: random.Random, names: str) -> list[frozenset[tuple[str, int]]]:
    sizes = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    return [frozenset((name, rng.randint(0, 1)) for name in rng.sample(names, size)) for size in sizes]


def damaged(rng: random.Random, form: list[frozenset]) -> list[frozenset]:
    """Lose, negate and add parts of a formula."""
    found = []
    for one in form:
        kept = {(name, v if rng.random() > 0.1 else 1 - v) for name, v in one if rng.random() > 0.25}
        found += [frozenset(kept)] if kept and rng.random() > 0.25 else []
    if rng.random() < 0.3 or not found:
        found.append(frozenset([(rng.choice("ABCD"), rng.randint(0, 1))]))
    return found


def best_pairings(own, true):
    """Pairings of disjuncts with most literals in common, and among these with most disjuncts."""
    scored = {}
    for chosen in set(itertools.permutations([*range(len(true)), *([None] * len(own))], len(own))):
        overlap = {one & true[j] for one, j in zip(own, chosen, strict=True) if j is not None} - {frozenset()}
        scored.setdefault((sum(map(len, overlap)), len(overlap)), []).append(chosen)
    return scored[max(scored)]


def true_expansions(own, true):
    for pairing in best_pairings(own, true):
        for i, j in enumerate(pairing):
            if j is not None and own[i] <= true[j]:
                yield from ([*own[:i], own[i] | {literal}, *own[i + 1 :]] for literal in true[j] - own[i])
        yield from ([*own, true[j]] for j in range(len(true)) if j not in pairing)


def model(form) -> Model:
    return Model((Atom(tuple(form), ("Y", 1)),))


@pytest.mark.slow
def test_true_additions_never_lower_correctness():
    rng, n_expansions = random.Random(20240725), 0
    while n_expansions < 1500:
        true = random_form(rng, "ABCD")
        own = list(model(damaged(rng, true)).atoms[0].disjuncts)
        if not (redundancy_free(model(true)) and redundancy_free(model(own))):
            continue
        truth, before = str(model(true)), ce.correctness(str(model(true)), str(model(own)))
        for new in {model(form) for form in true_expansions(own, list(model(true).atoms[0].disjuncts))}:
            if redundancy_free(new) and new != model(own):
                assert ce.correctness(truth, str(new)) >= before - 1e-12, (truth, str(model(own)), str(new))
                n_expansions += 1


@pytest.mark.parametrize(
    ("truth", "smaller", "larger", "before", "after"),
    [
        # D belongs to A in the truth, but A is no alternative to C*D there, and now two literals are misplaced
        ("A*C*D<->X", "A+C*D<->X", "A*D+C*D<->X", 11 / 12, 12 / 14),
        # B<->X is true, but beside it the model denies that B works through X
        ("(B<->X)*(A*X*d<->Y)", "B<->Y", "(B<->X)*(B<->Y)", 1, 7 / 8),
        # x is a cause of Z, but beside it the model denies that D works through x
        ("(b*d<->X)*(C<->Y)*(x<->Z)", "(C<->Y)*(D<->Z)", "(C<->Y)*(D+x<->Z)", 1, 10 / 12),
    ],
)
def test_counter_examples(truth, smaller, larger, before, after):
    assert submodel_of(parse(smaller), parse(larger))
    assert ce.correctness(truth, smaller) == pytest.approx(before)
    assert ce.correctness(truth, larger) == pytest.approx(after)


def test_columns_that_number_the_cases_are_no_factors() -> None:
    data = pd.DataFrame({"A": [0.1, 0.4, 0.6, 0.7, 0.9], "B": [0, 1, 0, 1, 1]})
    assert Setting(data=data).names == ["A", "B"], "memberships may all differ"
    assert Setting(data=data.assign(A=range(5))[:4]).names == ["A", "B"], "as may values of few cases"
    with pytest.raises(ValueError, match="column 'A' has a value of its own in each of the 5 cases"):
        Setting(data=data.assign(A=range(5)))
