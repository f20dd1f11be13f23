"""Null models of formulas: the laws against enumeration, closed forms against the whole group, streams, refusals."""

import itertools
import math
import pathlib
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.configurational import Model, parse, random_models, redundancy_free
from causaleval_pd.contract.context import Context
from causaleval_pd.contract.metric import probe_closed_form
from causaleval_pd.contract.null import Controls, Matching
from causaleval_pd.fields.configurational.field import FORMULAS, batches, coerce
from causaleval_pd.fields.configurational.nulls import exchangeable, relabel
from causaleval_pd.fields.configurational.pairs import FormulaPairs

D3 = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"
NO_OTHERS = {"context": {"factors": ()}}
LINEAR = ("correctness_literal", "completeness_literal", "f_beta_literal")


def controls(
    null: str, truth: str, estimate: str, key: int = 5, *, options: dict[str, object] | None = None, **context: object
) -> tuple[FormulaPairs, Controls]:
    """The controls of one row."""
    columns = [coerce(pd.Series([text], dtype="str"), "cell") for text in (truth, estimate)]
    extra = Context(({"factors": ()} | context if "data" not in context else context,), np.zeros(1, np.int64))
    [(rows, pairs)] = batches(columns[0], columns[1], extra)
    matching = Matching(columns[0], columns[1], None, None, options or {}, extra)
    return pairs, FORMULAS.nulls[null].match(matching)(rows, pairs, np.array([key], np.uint64))


def drawn(made: Controls, n: int) -> list[tuple[Model, ...]]:
    """Cells of n controls."""
    pairs = made.draw(0, n)
    return [pairs.estimated_models(i) for i in range(n)]


def relabellings(pairs: FormulaPairs, *, flip: bool = False) -> list[tuple[Model, ...]]:
    """The estimate under every element of the group."""
    words = pairs.setting(0).vocabulary
    parts = []
    for names in exchangeable(pairs, 0):
        domain = words.domain(names[0])
        inner = list(itertools.permutations(domain)) if flip else [domain]
        parts.append(
            [
                {
                    (old, value): (new, shuffled[domain.index(value)])
                    for old, new, shuffled in zip(names, order, values, strict=True)
                    for value in domain
                }
                for order in itertools.permutations(names)
                for values in itertools.product(inner, repeat=len(names))
            ]
        )
    maps = [{k: v for part in chosen for k, v in part.items()} for chosen in itertools.product(*parts)]
    return [tuple(relabel(model, one) for model in pairs.estimated_models(0)) for one in maps]


def test_registered() -> None:
    assert set(FORMULAS.nulls) == {"complexity", "relabel", "search"}
    assert FORMULAS.default_null == "complexity"


@pytest.mark.parametrize(
    ("truth", "estimate"), [("A*b+C<->E", "A*c<->E"), ("A*b+C<->E", "A*b+C<->E"), ("(A+B<->D)*(D*c<->E)", "A*D<->E")]
)
@pytest.mark.parametrize("flip", [False, True])
def test_relabelling_is_uniform_over_the_group(truth: str, estimate: str, flip: bool) -> None:
    pairs, made = controls("relabel", truth, estimate, options={"flip": flip})
    law = Counter(relabellings(pairs, flip=flip))
    n = 4000
    found = Counter(drawn(made, n))
    assert set(found) == set(law)
    expected = [n * law[cell] / law.total() for cell in law]
    assert stats.chisquare([found[cell] for cell in law], expected).pvalue > 1e-3


def test_relabelling_leaves_outcomes_and_shape() -> None:
    _, made = controls("relabel", D3, "(A*B<->D)*(D+B*C<->G)")
    for (model,) in drawn(made, 50):
        assert model.outcomes == (("D", 1), ("G", 1))
        assert [sorted(map(len, atom.disjuncts)) for atom in model.atoms] == [[2], [1, 2]]
        assert ("D", 1) in model.by_outcome["G", 1].literals  # D is an outcome, so it stays
        assert ("E", 1) not in model.by_outcome["G", 1].literals  # of the truth too
    names = exchangeable(controls("relabel", D3, "A+B<->G")[0], 0)
    assert names == [["A", "B", "C", "F"]]


@pytest.mark.parametrize(
    ("truth", "estimate", "domains"),
    [
        ("A*b+C<->E", "A*c<->E", None), ("A*b+c*D<->E", "A*B+D<->E", None), ("A*b+C<->E", "A*b+C+D<->E", None),
        (D3, "(A*B<->D)*(D+B*C<->G)", None), (D3, "(A+B*F<->D)*(D+E<->G)", None), (D3, "A+B<->G", None),
        (D3, "(A+B<->G)*(A+a<->D)", None), ("A+B<->E", "A+B<->e", None),
        ("A=2*B=1+C=1<->E=1", "A=1*C=0+B=0<->E=1", {"A": [0, 1, 2], "B": [0, 1, 2]}),
        ("A=2*b+B=2<->E=1", "A=1*B=0<->E=1", {"A": [0, 1, 2], "B": [0, 1, 2]}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("name", LINEAR)
def test_closed_form_by_enumeration(truth: str, estimate: str, domains: object, name: str, flip: bool) -> None:
    context = {"domains": domains} if domains else {}
    pairs, made = controls("relabel", truth, estimate, options={"flip": flip}, **context)
    cells = relabellings(pairs, flip=flip)
    metric = ce.tweak(name, beta=2.0) if name == "f_beta_literal" else ce.get_metric(name)
    values = metric(pairs.with_estimates(cells, np.zeros(len(cells), np.int64)))
    known = made.closed_form(metric)
    assert known is not None
    assert known.mean == pytest.approx([values.mean()], abs=1e-12)
    assert known.variance == pytest.approx([values.var()], abs=1e-12)
    assert np.ptp(values) > 0 or values.mean() in (0, 1) or known.variance == pytest.approx([0])


def test_closed_form_of_one_outcome_is_the_formula() -> None:
    """E |L_X and L_Y| = |L_X| |L_Y| / (2 n) with n exogenous factors whose values flip; else over n by sign."""
    for flip, shared in ((True, 3 * 3 / (2 * 4)), (False, 5 / 4)):
        _, made = controls("relabel", "A*b+C<->E", "A*c+D<->E", options={"flip": flip})
        known = made.closed_form(ce.get_metric("correctness_literal"))
        assert known is not None
        assert known.mean == pytest.approx([shared / 3])


def test_no_closed_form_where_none_holds() -> None:
    data = pd.DataFrame({"A": [0, 1, 0, 1], "B": [0, 0, 1, 1], "E": [0, 1, 1, 1]})
    literal = ce.get_metric("correctness_literal")
    for null, estimate, context in (("relabel", "A<->E", {"data": data}), ("relabel", "A<->E; B<->E", {})):
        known = controls(null, "A+B<->E", estimate, **context)[1].closed_form(literal)
        assert known is not None
        assert np.isnan(known.mean).all()
    made = controls("relabel", "A+B<->E", "A<->E")[1]
    assert made.closed_form(ce.get_metric("correctness")) is None
    assert made.closed_form(ce.tweak("correctness_literal", models="any")) is None
    assert controls("complexity", "A+B<->E", "A<->E")[1].closed_form(literal) is None


@pytest.mark.parametrize(("signs", "n_models"), [("free", 24), ("estimate", 9), (0.25, 24), (0.0, 3), (1.0, 3)])
def test_complexity_has_its_law_over_models_of_the_shape(signs: str | float, n_models: int) -> None:
    _, made = controls("complexity", "A*b+C<->D", "A+b*c<->D", options={"signs": signs})
    factors = "ABC"
    pool = {}
    for one in factors:
        for two in itertools.combinations(factors, 2):
            for values in itertools.product((0, 1), repeat=3):
                pair = zip(two, values[1:], strict=True)
                text = [[(one, values[0])], list(pair)]
                model = parse("+".join("*".join(n if v else n.lower() for n, v in d) for d in text) + "<->D")
                negative = values.count(0)
                if not redundancy_free(model):
                    continue
                if isinstance(signs, str):
                    weight = float(signs == "free" or negative == 2)
                else:
                    weight = signs**negative * (1 - signs) ** (3 - negative)
                if weight:
                    pool[(model,)] = weight
    assert len(pool) == n_models
    found = Counter(drawn(made, 2400))
    assert set(found) == set(pool)
    expected = np.array(list(pool.values()))
    assert stats.chisquare([found[cell] for cell in pool], 2400 * expected / expected.sum()).pvalue > 1e-3


def test_drawn_models_are_not_always_true() -> None:
    _, made = controls("complexity", "A+b<->D", "A+b<->D", options={"signs": "free"})
    # neither A + A, which is redundant, nor A + a, which holds everywhere
    found = Counter(drawn(made, 400))
    assert set(found) == {(parse(f"{a}+{b}<->D"),) for a in "Aa" for b in "Bb"}
    assert stats.chisquare(list(found.values())).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("signs", ["free", "estimate"])
def test_complexity_over_factors_of_different_numbers_of_values(signs: str) -> None:
    """Free values of a factor are equally likely, so that those of a factor of two values come more often."""
    domains = {"A": [0, 1, 2], "B": [0, 1], "C": [0, 1, 2, 3], "E": [0, 1]}
    _, made = controls("complexity", "A=1<->E=1", "A=1<->E=1", options={"signs": signs}, domains=domains)
    found = Counter(drawn(made, 1800))
    literals = [(name, value) for name in "ABC" for value in domains[name] if signs == "free" or value == 1]
    law = {
        (parse(f"{name}={value}<->E=1"),): 1 / (len(domains[name]) if signs == "free" else 1)
        for name, value in literals
    }
    assert set(found) == set(law)
    expected = np.array(list(law.values()))
    assert stats.chisquare([found[cell] for cell in law], 1800 * expected / expected.sum()).pvalue > 1e-3


def test_signs_of_multi_value_models_are_those_of_the_estimate() -> None:
    domains = {"A": [0, 1, 2], "B": [0, 1], "C": [0, 1, 2]}
    _, made = controls("complexity", "A=2*B=0<->E=1", "A=2*B=0<->E=1", domains=domains)
    found = {str(cell[0]) for cell in drawn(made, 200)}
    assert found == {f"{text}<->E=1" for text in ("A=0*C=2", "A=2*B=0", "A=2*C=0", "B=0*C=2")}
    with pytest.raises(ValueError, match=r"signs must lie in \[0, 1\]"):
        controls("complexity", "A<->B", "A<->B", options={"signs": 2})
    with pytest.raises(ValueError, match="unknown value of signs 'estimated'; did you mean 'estimate'"):
        controls("complexity", "A<->B", "A<->B", options={"signs": "estimated"})
    with pytest.raises(TypeError, match="flip must be True or False"):
        controls("relabel", "A<->B", "A<->B", options={"flip": "no"})


def test_a_redundant_estimate_is_matched_by_its_minimal_form() -> None:
    _, made = controls("complexity", "B+E+F<->G", "b+B*E+F<->G")  # b+E+F
    shapes = {tuple(sorted(map(len, cell[0].atoms[0].disjuncts))) for cell in drawn(made, 50)}
    assert shapes == {(1, 1, 1)}
    signs = {sorted(v for _, v in cell[0].atoms[0].literals) == [0, 1, 1] for cell in drawn(made, 50)}
    assert signs == {True}


@pytest.mark.parametrize("null", ["complexity", "relabel"])
def test_unstated_factors_are_warned_of(null: str) -> None:
    runs = pd.DataFrame({"truth": ["A*b<->C"], "estimate": ["A<->C"]})
    with pytest.warns(UserWarning, match=r"controls use only the factors of truth and estimate.*context=\{'factors'"):
        ce.with_controls(runs, ["correctness"], null=null, n_draws=5, rng=1)
    names = list("ABCDEF")
    stated = [
        ce.with_controls(runs, ["correctness"], null=null, n_draws=200, rng=1, context=context, columns="full")
        for context in ({"factors": names}, {"domains": dict.fromkeys(names, (0, 1))})
    ]
    pd.testing.assert_frame_equal(*stated)
    # one of five literals is in the truth, where the signs are the estimate's
    assert stated[0]["correctness_control_mean"][0] == pytest.approx(1 / 5, abs=0.1)
    for wrong in ("ABC", 3, [1, 2]):
        with pytest.raises(TypeError, match="factors must be a list of names"):
            ce.with_controls(runs, ["correctness"], null=null, n_draws=5, rng=1, context={"factors": wrong})
    data = pd.DataFrame({"A": [0, 1], "B": [0, 1], "C": [0, 1]})
    with pytest.raises(ValueError, match=r"the factors \['X'\] are not columns of the data"):
        ce.evaluate(runs, ["correctness"], context={"factors": ["A", "X"], "data": data})


@pytest.mark.slow
def test_a_row_without_controls_is_counted_and_stops_no_other() -> None:
    runs = pd.DataFrame({"truth": "A<->G", "estimate": ["A<->G", "A*a<->G"], "algorithm": "m"})
    how = {"n_draws": 20, "rng": 1, "context": {"factors": ["A", "G"]}}
    with pytest.raises(ValueError, match=r".*row 1 .*has no control: .*It matches a\*A<->G; .*invalid='nan'"):
        ce.with_controls(runs, ["correctness"], **how)
    found = ce.with_controls(runs, ["correctness"], invalid="nan", **how, columns="full")
    assert found["correctness"].notna().all() and found["correctness_p"].isna().tolist() == [False, True]
    assert found["correctness_control_undefined"].tolist() == [0, 1]
    cube = ce.cube(runs, ["correctness"], by=["algorithm"], invalid="nan", **how)
    assert cube.ceval.summary(columns="full")["n_without_controls"].tolist() == [1]


def test_complexity_keeps_outcomes_and_sizes() -> None:
    _, made = controls("complexity", D3, "(A*B<->D)*(D+B*C<->G); c<->E")
    for cell in drawn(made, 30):
        assert len(cell) == 2
        shapes = {model.outcomes: [sorted(map(len, a.disjuncts)) for a in model.atoms] for model in cell}
        assert shapes == {(("D", 1), ("G", 1)): [[2], [1, 2]], (("E", 1),): [[1]]}
        assert all(redundancy_free(model) for model in cell)


def test_sets_of_equal_shapes_are_different_models() -> None:
    _, made = controls("complexity", "A+B<->C", "A<->C; B<->C; a<->C")
    assert all(len(set(cell)) == 3 for cell in drawn(made, 40))
    assert set(itertools.chain(*drawn(made, 40))) == {(parse(f"{x}<->C")) for x in "ABab"}


def test_guesses_range_over_the_factors_of_the_data() -> None:
    data = pd.DataFrame({"A": [0, 1], "B": [0, 1], "X": [0, 2], "Y": [1, 0]})
    _, made = controls("complexity", "A<->B", "A<->B", options={"signs": "free"}, data=data)
    lefts = {cell[0].atoms[0].literals for cell in drawn(made, 200)}
    wanted = [("A", 0), ("A", 1), ("X", 0), ("X", 2), ("Y", 0), ("Y", 1)]
    assert lefts == {frozenset([literal]) for literal in wanted}
    _, positive = controls("complexity", "A<->B", "A<->B", data=data)
    assert {str(cell[0]) for cell in drawn(positive, 50)} == {"A<->B", "Y<->B"}


def test_domains_name_factors_that_neither_model_mentions() -> None:
    pairs, made = controls("complexity", "A<->B", "A<->B", options={"signs": "free"}, domains={"X": [0, 1]})
    assert {str(cell[0]) for cell in drawn(made, 100)} == {"A<->B", "a<->B", "X<->B", "x<->B"}
    assert exchangeable(pairs, 0) == [["A", "X"]]


def test_a_shape_without_models_is_refused() -> None:
    _, made = controls("complexity", "A<->B", "A*a<->B")
    assert re.match(r".*row 0 .*has no control: .*It matches a\*A<->B; leave", made.draw(0, 1).undrawn)


@pytest.mark.slow
@pytest.mark.parametrize("null", ["complexity", "relabel"])
def test_rows_do_not_depend_on_order_or_neighbours(null: str) -> None:
    runs = pd.DataFrame(
        {
            "truth": [D3, "A*b+C<->E", D3, "A*b+C<->E"],
            "estimate": ["A+B<->G", "A+C<->E", "(A*B<->D)*(D+B*C<->G)", "b+C<->E; A<->E"],
        },
        index=["r", "s", "t", "u"],
    )
    settings = {"n_draws": 60, "null": null, "rng": 3, **NO_OTHERS}
    whole = ce.with_controls(runs, ["f_beta", "correctness_literal"], **settings)
    for part in (runs[::-1], runs.loc[["t"]], runs.loc[["u", "s"]]):
        again = ce.with_controls(part, ["f_beta", "correctness_literal"], **settings)
        pd.testing.assert_frame_equal(again, whole.loc[part.index])
    other = ce.with_controls(runs, ["f_beta"], **(settings | {"rng": 4}))
    assert not other["f_beta_control_mean"].equals(whole["f_beta_control_mean"])


@pytest.mark.slow
@pytest.mark.parametrize("null", ["complexity", "relabel"])
def test_a_guess_is_not_better_than_chance(null: str) -> None:
    """Estimates drawn from the null have p-values that are uniform or, for ties, conservative."""
    truth = "A*b+C*d<->E"
    factors = {"factors": list("ABCDEFGH")}
    made = controls(null, truth, "A*B+C*d<->E", key=77, **factors)[1]
    guesses = [str(cell[0]) for cell in drawn(made, 120)]
    runs = pd.DataFrame({"truth": truth, "estimate": guesses})
    p = ce.with_controls(runs, ["f_beta"], n_draws=99, null=null, rng=2, context=factors)["f_beta_p"]
    for level in (0.1, 0.25, 0.5):
        assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / len(p))
    assert p.min() < 0.2


@pytest.mark.slow
def test_simulated_agrees_with_the_closed_form() -> None:
    runs = pd.DataFrame({"truth": [D3], "estimate": ["(A+B*F<->D)*(D+E<->G)"]})
    exact, drawn_ = (
        ce.with_controls(
            runs, ["completeness_literal"], null="relabel", method=how, n_draws=2000, rng=1, columns="full", **NO_OTHERS
        )
        for how in ("auto", "simulate")
    )
    name = "completeness_literal_control_mean"
    assert exact[name][0] == pytest.approx(drawn_[name][0], abs=0.02)
    assert exact["completeness_literal_mean_method"][0] == "exact"


@pytest.mark.slow
@pytest.mark.parametrize("null", ["complexity", "relabel"])
def test_every_metric_has_mean_p_and_skill(null: str) -> None:
    metrics = ce.list_metrics("formula")
    aimed = metrics.index[metrics["direction"].notna()].tolist()
    assert {"correctness", "f_beta_sequential", "lcr", "ncr", "fit_coverage", "submodel_completeness"} <= set(aimed)
    data = pd.DataFrame(list(itertools.product((0, 1), repeat=5)), columns=list("ABCDE")).query("E == (A & ~B | C)")
    runs = pd.DataFrame({"truth": ["A*b+C<->E"], "estimate": ["A*b+C<->E"]})
    settings = {"n_draws": 60, "null": null, "rng": 1, "context": {"data": data}}
    # a guess that does not fit the data says nothing in them: its correctness is 0/0
    with ce.set_options(zero_division=0):
        scored = ce.with_controls(runs, aimed, **settings, columns="full").iloc[0]
    assert (
        ce.with_controls(runs, ["correctness"], **settings, columns="full")["correctness_control_undefined"].iloc[0]
        > 0.9
    )
    for name in aimed:
        assert scored[f"{name}_p"] < 0.2, name
        assert scored[f"{name}_skill"] == pytest.approx(1), name
        assert 0 <= scored[f"{name}_control_mean"] < 1, name


@pytest.mark.slow
@pytest.mark.parametrize("null", [pytest.param("complexity", marks=pytest.mark.slow), "relabel"])
def test_cubes_tests_and_comparisons(null: str, tmp_path: pathlib.Path) -> None:
    truths = random_models(10, 5, disjuncts=2, conjuncts=(1, 2), rng=1)
    guesses = random_models(10, 5, disjuncts=2, conjuncts=(1, 2), rng=2)
    runs = pd.concat(
        [
            pd.DataFrame({"truth": truths, "estimate": truths, "algorithm": "knows"}),
            pd.DataFrame({"truth": truths, "estimate": guesses.to_numpy(), "algorithm": "guesses"}),
        ],
        ignore_index=True,
    )
    metrics = ["correctness", "completeness", "completeness_literal"]
    cube = ce.cube(runs, metrics, by=["algorithm"], n_draws=100, null=null, rng=4, **NO_OTHERS)
    tests = cube.ceval.summary(columns="full").set_index(["metric", "algorithm"])["p_value"]
    assert (tests.xs("knows", level="algorithm") < 0.05).all()
    assert (tests.xs("guesses", level="algorithm") > 0.05).all()
    summary = cube.ceval.summary(columns="full").set_index(["metric", "algorithm"])
    assert (summary["skill"].xs("knows", level="algorithm") == 1).all()
    assert len(cube.ceval.compare("algorithm", columns="full")) == len(metrics)
    cube.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as again:
        xr.testing.assert_identical(again.load(), cube)
    rows = ce.with_controls(runs, metrics, n_draws=100, null=null, rng=4, **NO_OTHERS)
    mean = rows.groupby("algorithm")["completeness_control_mean"].mean()
    assert summary["control_mean"].xs("completeness").to_dict() == pytest.approx(mean.to_dict())


def test_an_empty_output_has_no_p() -> None:
    runs = pd.DataFrame({"truth": [D3, D3], "estimate": ["{}", "A<->G"]})
    for null in ("complexity", "relabel"):
        how = {"n_draws": 30, "null": null, "rng": 1, "columns": "full", **NO_OTHERS}
        scored = ce.with_controls(runs, ["completeness", "correctness"], **how)
        assert scored["completeness"].tolist()[0] == 0
        assert scored[["completeness_p", "correctness_p"]].isna().all(axis=1).tolist() == [True, False]
        assert scored["completeness_control_undefined"].tolist() == [1, 0]


RULES = {"literal_correctness": LINEAR[0], "literal_completeness": LINEAR[1], "literal_f_beta": LINEAR[2]}


@pytest.mark.parametrize("rule", RULES)
def test_other_metrics_contradict_the_closed_forms(rule: str) -> None:
    for name in ce.list_metrics("formula").index.drop(["fit_consistency", "fit_coverage"]):
        claimed = replace(ce.get_metric(name), closed_form=rule)
        if name == RULES[rule]:
            probe_closed_form(claimed)
        else:
            with pytest.raises(ValueError, match=f"{name} names closed_form='{rule}', but for truth .* it is"):
                probe_closed_form(claimed)


def blind(rng: np.random.Generator, share: float, kind: str) -> str:
    """Draw a model without looking at a truth, with this share of negative literals."""
    while True:
        sides = []
        for names in (list("ABCDE"), list("ABCDEF"))[: 1 + (kind == "chain")]:
            chosen = [rng.choice(names, size, replace=False) for size in (1, 2)]
            signed = [[name.lower() if rng.random() < share else str(name) for name in one] for one in chosen]
            sides.append("+".join("*".join(one) for one in signed))
        text = f"({sides[0]}<->F)*({sides[1]}<->G)" if kind == "chain" else f"{sides[0]}<->G"
        if kind == "redundant" or redundancy_free(text):
            return text if kind != "set" else "; ".join({text, f"{rng.choice(list('ABCDE'))}<->G"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "redundant", "set", "chain"])
@pytest.mark.parametrize(("share", "null"), [(0.0, "complexity"), (0.3, "complexity"), (0.0, "relabel")])
def test_sign_biased_guessers_are_not_rejected_too_often(kind: str, share: float, null: str) -> None:
    rng = np.random.default_rng(3)
    truth = "chain" if kind == "chain" else "one"
    runs = pd.DataFrame([(blind(rng, share, truth), blind(rng, share, kind)) for _ in range(150)])
    runs.columns = pd.Index(["truth", "estimate"])
    how = {"n_draws": 39, "rng": 1, "context": {"factors": list("ABCDEFG")}, "invalid": "nan"}
    found = ce.with_controls(runs, ["correctness"], null=null, **how)
    p = found["correctness_p"].dropna()
    assert len(p) > 140
    for level in (0.05, 0.2):
        assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / len(p))
    if kind == "one" and share == 0:
        # coins for signs make a guesser that shares the truth's expectations look skilful
        options = {"signs": "free"} if null == "complexity" else {"flip": True}
        free = ce.with_controls(runs, ["correctness"], null=ce.null_model(null, **options), **how)
        assert (free["correctness_p"] <= 0.2).mean() > 0.3
        assert free["correctness_skill"].mean() > 0.2 > abs(found["correctness_skill"].mean())


@pytest.mark.slow
@pytest.mark.parametrize("null", ["complexity", "relabel"])
def test_no_row_aborts_a_table_and_each_is_counted(null: str) -> None:
    huge = "+".join(f"X{i}" for i in range(25)) + "<->G"
    cells = [
        "A+B<->G", "b+B*E+F<->G", "A+a<->G", "A*a<->G", "(A+C<->B)*(B<->A)", "A=>G", "{}", None, huge, "A<->G; A+a<->G",
    ]  # fmt: skip
    runs = pd.DataFrame({"truth": "A*b+C<->G", "estimate": cells, "algorithm": "m"})
    metrics = ["correctness", "completeness", "correctness_literal", "lcr"]
    how = {"n_draws": 10, "rng": 1, "null": null, "invalid": "nan", "context": {"factors": list("ABCDE")}}
    scored = ce.with_controls(runs, metrics, **how)
    assert scored["correctness"].notna().tolist() == [True] * 4 + [False] * 5 + [True]
    assert scored["completeness"].notna().tolist() == [True] * 4 + [False, False, True, False, False, True]
    assert scored["correctness_p"].notna().tolist() == scored["correctness"].notna().tolist()
    counts = ce.cube(runs, metrics, by=["algorithm"], **how).ceval.summary(columns="full").set_index("metric")
    names = ["n_runs", "n_scored", "n_failed", "n_undefined", "n_without_controls"]
    assert counts.loc["correctness", names].tolist() == [10, 5, 1, 4, 0]
    assert counts.loc["completeness", names].tolist() == [10, 6, 1, 3, 1]


@pytest.mark.slow
def test_truths_with_the_stated_factors_are_relabelled_together():
    table = pd.DataFrame({"truth": ["A<->G", "B<->G"] * 2, "estimate": "A<->G", "s": 0, "g": 1, "r": range(4)})
    how = {"by": ["s"], "n_draws": 200, "rng": 1, "cluster": "g", "key": ["r"]}
    cases = pd.DataFrame(list(itertools.product((0, 1), repeat=4)), columns=list("ABCG"))
    factors, domains = {"factors": list("ABCG")}, {"domains": dict.fromkeys("ABCG", (0, 1))}
    for context in (factors, domains, {"data": cases, "con": 0.5, "cov": 0.5}):
        cube = table.ceval.cube(["correctness"], context=context, **how)
        assert ce.summary(cube, columns="full")["p_method"].item() == "relabelling by column g"
        first, again, other, _ = cube["correctness_relabelled"].to_numpy().reshape(4, 200) == 1
        # A takes the place of A or of B, never of both
        assert (first == again).all() and first.any() and other.any() and not (first & other).any()
    with pytest.raises(ValueError, match="different nodes or factors"):
        table.ceval.cube(["correctness"], context={"con": 1.0}, **how)
    more = {1: list("ABCG"), 2: list("ABCDG")}
    with pytest.raises(ValueError, match="different nodes or factors"):
        table.assign(f=[1, 2] * 2).ceval.cube(["correctness"], context={"factors": ("f", more)}, **how)
    placebo = table.ceval.placebo(rng=1, joint="all", field="formula", context=factors)
    assert placebo["estimate"].nunique() == 1


RUNS = pd.DataFrame(
    {"truth": ["A+B<->E", "A*b<->E", "C<->E"], "estimate": ["A<->E", "A*b<->E", "A<->E; B<->E"]}, index=["x", "y", "z"]
)


def one_cause(estimate: Model | tuple[Model, ...], rng: np.random.Generator) -> str:
    """Return a single cause, two for a set."""
    names = rng.choice(list("ABCD"), 1 if isinstance(estimate, Model) else len(estimate), replace=False)
    return "; ".join(f"{name}<->E" for name in names)


@pytest.mark.slow
def test_controls_are_those_of_the_function() -> None:
    found = ce.with_controls(RUNS, ["correctness"], null=one_cause, n_draws=400, rng=1, columns="full")
    assert found["correctness_control_mean"].tolist() == pytest.approx([0.5, 0.25, 0.5], abs=0.08)
    assert found["control_null"].unique().tolist() == ["one_cause"]
    again = ce.with_controls(RUNS[::-1], ["correctness"], null=one_cause, n_draws=400, rng=1, columns="full")
    pd.testing.assert_frame_equal(again[::-1], found)


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ("A", "row 0 .*: null 'bad' returned no model that can be scored: expected"),
        (None, "row 0 .*: null 'bad' returned no model .*found None"),
        ("A=2<->E=1", "row 0 .*: null 'bad' .*A=2 occurs, but factor A"),
    ],
)
def test_what_is_no_control(control: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ce.with_controls(RUNS, ["correctness"], null=ce.null_model(lambda e, rng: control, name="bad"), n_draws=2)
