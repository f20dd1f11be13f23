"""The fields of answers and quantities through every verb: metrics, null models, cubes."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.fields.reasoning.yes_counts import FIXED, QUANTITIES, Terms, estimates, parse_counts, quantity_laws
from causaleval_pd.reasoning import COUNTS, make_tasks, quantities, reasoners

NULLS = ("permute_answers", "random_answers", "biased_answers", "exchange_arms", "majority_answers")
QUANTITY_METRICS = sorted(ce.list_metrics("quantity").index)
ANSWER_METRICS = sorted(ce.list_metrics("answer").index)
NUMBERS = [0.0, 0.001, 0.2, 0.5, 1.0]


@pytest.fixture(scope="module")
def answers():
    tasks = make_tasks("candy_party", [[2, 3, 2]], n_samples=300, rng=2)
    given_ = reasoners.baselines(tasks.questionnaire(), tasks, names=["perfect", "noisy", "random"], error=0.2, rng=1)
    return given_, tasks


@pytest.fixture(scope="module")
def table(answers):
    return quantities(answers[0], by="model", worlds=answers[1])


def test_known_values(known):
    expected = known("estimates")
    found = ce.evaluate(expected, ["rae"], truth="truth_authors", estimate="est_pns")["rae"]
    defined = expected["truth_authors"] > 0
    np.testing.assert_allclose(found[defined], expected["rae_vs_authors"][defined], atol=1e-9)
    assert found[~defined].isna().all()
    exact = ce.evaluate(expected, ["rae"], truth="truth_exact", estimate="est_pns")["rae"]
    np.testing.assert_allclose(exact, expected["rae_vs_exact"], rtol=1e-6)


@pytest.mark.parametrize("name", QUANTITY_METRICS)
def test_quantity_metrics_have_their_optimum_range_and_symmetry(name):
    metric = ce.get_metric(name)
    low, high = metric.range
    for truth, estimate in itertools.product(NUMBERS, repeat=2):
        value = metric(truth, estimate)
        assert np.isnan(value) or low <= value <= high
        if truth == estimate and not np.isnan(value):
            assert value == metric.optimum
    pairs = [(metric(a, b), metric(b, a)) for a, b in itertools.product(NUMBERS, repeat=2)]
    assert all(np.isclose(a, b, equal_nan=True) for a, b in pairs) == metric.symmetric


@pytest.mark.parametrize("name", ANSWER_METRICS)
def test_answer_metrics_by_all_four_cases(name):
    expected = {"answer_accuracy": [1, 0, 0, 1], "answer_false_yes": [0, 1, 0, 0], "answer_false_no": [0, 0, 1, 0]}[
        name
    ]
    cases = pd.DataFrame({"truth": [False, False, True, True], "estimate": [False, True, False, True]})
    assert ce.evaluate(cases, [name])[name].tolist() == expected


def test_zeros_are_safe():
    assert np.isnan(ce.rae(0.0, 0.3))
    assert ce.rae(0.0, 0.0, zero_division=0.0) == 0.0
    assert ce.rae(0.0, 0.3, floor=0.1) == pytest.approx(3.0)
    assert ce.log_error(0.0, 0.0) == 0.0
    assert ce.log_error(0.0, 0.01) == 0.0
    table = pd.DataFrame({"truth": [0.0, 0.2], "estimate": [0.1, 0.1]})
    assert table.ceval.evaluate([ce.tweak("rae", zero_division=9.0)])["rae"].tolist() == [9.0, 0.5]
    with pytest.raises(ValueError, match="floor must be"):
        ce.rae(0.1, 0.1, floor=-1)
    with pytest.raises(ValueError, match="positive"):
        ce.log_error(0.1, 0.1, floor=0)


@pytest.mark.slow
def test_a_quantity_is_told_by_its_counts(table):
    pns = table[table["quantity"] == "pns"]
    assert pns.ceval.evaluate(["pns_error"], context=COUNTS)["pns_error"].notna().all()
    with pytest.raises(ValueError, match="pns_error applies to pns"):
        table.ceval.evaluate(["pns_error"], context=COUNTS)
    both = table.ceval.evaluate(["pns_error", "ate_error"], context=COUNTS, invalid="nan")
    assert (both["pns_error"].notna() == (both["quantity"] == "pns")).all()
    assert (both["ate_error"].notna() == (both["quantity"] == "ate")).all()


def test_counts_give_back_the_estimates(table):
    terms, factors = parse_counts(table["counts"].tolist())
    values = estimates(terms)
    product = [np.prod(row[1 : n + 1]) for row, n in zip(values, factors, strict=True)]
    np.testing.assert_allclose(product, table["estimate"], atol=1e-12)
    internal = (table["relation"] == "internal").to_numpy()
    np.testing.assert_allclose(values[internal, 0], table["truth"][internal])
    assert np.isnan(values[~internal, 0]).all()


@pytest.mark.parametrize(
    "text",
    ["", "pns", "pns 5 6 5 0 0", "pns 5 2 5 2 3", "pns 5 4 5 4 2", "nps 1 1 1 1 1", "pns 1 1 2 1 1", "pns 4 4 4 4 3"],
)
def test_impossible_counts_are_refused(text):
    with pytest.raises(ValueError, match="counts 0"):
        parse_counts([text])


def enumerated(null, quantity, one, zero):
    """Distribution of a quantity of few answers, by going through all ways that answers can fall."""
    one, zero = np.array(one), np.array(zero)
    n = len(one)
    if null == "permute_answers":
        worlds = [(one[list(p)], zero) for p in itertools.permutations(range(n))]
    elif null == "random_answers":
        bits = list(itertools.product([0, 1], repeat=n))
        worlds = [(np.array(a), np.array(b)) for a in bits for b in bits]
    else:
        swaps = itertools.product([False, True], repeat=n)
        worlds = [(np.where(s, zero, one), np.where(s, one, zero)) for s in map(np.array, swaps)]
    value = {
        "pns": lambda a, b: (a & ~b & 1).mean(),
        "monotonicity_violation": lambda a, b: (b & ~a & 1).mean(),
        "ate": lambda a, b: a.mean() - b.mean(),
        "p_do1": lambda a, b: a.mean(),
        "p_do0": lambda a, b: b.mean(),
    }[quantity]
    return np.array([value(a, b) for a, b in worlds])


def test_arms_of_unequal_size_are_exchanged_about_no_effect():
    terms, _ = parse_counts(["ate 10 7 4 1 -1"])
    [law] = quantity_laws("exchange_arms", Terms(*(x[:, 1] for x in terms)))
    counts, cumulative = law.support()
    values, weights = law.values(counts), np.diff(cumulative, prepend=0.0)
    # c of 8 yes are in the arm of 10, the others in the arm of 4
    np.testing.assert_allclose(values, counts / 10 - (8 - counts) / 4)
    assert (values * weights).sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("null", ["permute_answers", "random_answers", "exchange_arms"])
@pytest.mark.parametrize("quantity", ["pns", "monotonicity_violation", "ate", "p_do1", "p_do0"])
def test_laws_by_enumeration(null, quantity):
    one, zero = [1, 1, 0, 1, 0], [0, 1, 0, 0, 1]
    paired = quantity in ("pns", "monotonicity_violation")
    text = f"{quantity} 5 3 5 2 {1 if paired else -1}"
    if null == "exchange_arms" and not paired:
        # unpaired answers are dealt out anew: all ways to part the ten
        pool = [*one, *zero]
        deals = [(set(c), pool) for c in itertools.combinations(range(10), 5)]
        means = [(np.mean([p[i] for i in c]), np.mean([p[i] for i in range(10) if i not in c])) for c, p in deals]
        expected = np.array([{"ate": a - b, "p_do1": a, "p_do0": b}[quantity] for a, b in means])
    else:
        expected = enumerated(null, quantity, one, zero)
    terms, _ = parse_counts([text])
    laws = quantity_laws(null, Terms(*(x[:, 1] for x in terms)))
    values, weights = np.zeros(1), np.ones(1)
    for law in laws:
        counts, cumulative = law.support()
        values = np.add.outer(values, law.values(counts)[0]).ravel()
        weights = np.multiply.outer(weights, np.diff(cumulative[0], prepend=0)).ravel()
    for value in np.unique(np.round(expected, 9)):
        share = np.isclose(expected, value).mean()
        assert weights[np.isclose(values, value)].sum() == pytest.approx(share, abs=1e-12)


@pytest.mark.slow
@given(st.integers(1, 40), st.data())
@settings(max_examples=60, deadline=None)
def test_laws_have_the_expected_means(n, data):
    yes1, yes0 = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    both = data.draw(st.integers(max(0, yes1 + yes0 - n), min(yes1, yes0)))
    p1, p0 = yes1 / n, yes0 / n
    half, pooled = 0.25, (p1 + p0) / 2
    means = {
        "permute_answers": p1 * (1 - p0),
        "random_answers": half,
        "biased_answers": pooled * (1 - pooled),
        "exchange_arms": (p1 + p0 - 2 * both / n) / 2,
        "majority_answers": float(p1 > 0.5 >= p0),
        "always_yes": 0.0,
        "always_no": 0.0,
    }
    terms, _ = parse_counts([f"pns {n} {yes1} {n} {yes0} {both}"])
    for null in (*NULLS, *FIXED):
        mean = 0.0
        for law in quantity_laws(null, Terms(*(x[:, 1] for x in terms))):
            counts, cumulative = law.support()
            mean += float((law.values(counts)[0] * np.diff(cumulative[0], prepend=0)).sum())
        assert mean == pytest.approx(means[null], abs=1e-12), null


def test_windows_of_large_counts_lose_nothing():
    terms, _ = parse_counts(["pns 1000000 300000 1000000 100000 50000"])
    law = quantity_laws("permute_answers", Terms(*(x[:, 1] for x in terms)))[0]
    counts, cumulative = law.support()
    exact = stats.hypergeom(1_000_000, 300_000, 900_000)
    assert counts.shape[1] < 10_000
    np.testing.assert_allclose(cumulative[0], exact.cdf(counts[0]), atol=1e-9)


@pytest.mark.parametrize("null", [*NULLS, *FIXED])
def test_draws_follow_the_closed_forms(table, null):
    rows = table[(table["kind"] != "composition") & (table["model"] == "noisy")]
    names = ["quantity_error"]
    exact, drawn = (
        rows.ceval.with_controls(names, null=null, rng=3, n_draws=4000, method=method, context=COUNTS, columns="full")
        for method in ("auto", "simulate")
    )
    known = exact["quantity_error_mean_method"] == "exact"
    assert known.sum() >= len(rows) / 2
    spread = (exact["quantity_error_control_high"] - exact["quantity_error_control_low"]) / 4
    apart = (exact["quantity_error_control_mean"] - drawn["quantity_error_control_mean"]).abs()
    assert (apart[known] <= 5 * spread[known] / np.sqrt(4000) + 1e-9).all()
    p_apart = (exact["quantity_error_p"] - drawn["quantity_error_p"]).abs()
    assert (p_apart <= 5 * np.sqrt(0.25 / 4000)).all()


@pytest.mark.slow
def test_rows_do_not_depend_on_the_rows_beside_them(table):
    rows = table[table["model"] == "noisy"].iloc[::3]
    how = {"null": "random_answers", "rng": 3, "n_draws": 20, "context": COUNTS}
    together = rows.ceval.with_controls(["quantity_error"], **how)
    assert set(together["quantity_error_p_method"]) == {"exact", "simulated"}
    alone = pd.concat([rows.iloc[[i]].ceval.with_controls(["quantity_error"], **how) for i in range(len(rows))])
    pd.testing.assert_frame_equal(together, alone, check_exact=True)


def test_products_are_drawn_factor_by_factor(table):
    rows = table[(table["relation"] == "internal") & (table["model"] == "random")]
    scored = rows.ceval.with_controls(["quantity_bias"], null="random_answers", rng=3, n_draws=4000, context=COUNTS)
    factors = scored["path"].str.count(">")
    np.testing.assert_allclose(scored["quantity_bias_control_mean"], 0.25**factors - 0.25, atol=3e-3)


def test_random_reasoners_have_uniform_p_values():
    generator = np.random.default_rng(5)
    rows = []
    for _ in range(400):
        one, zero = generator.random((2, 60)) < 0.5
        both = int((one & zero).sum())
        rows.append(
            {"truth": 0.1, "estimate": (one & ~zero).mean(), "counts": f"pns 60 {one.sum()} 60 {zero.sum()} {both}"}
        )
    for null in ("permute_answers", "random_answers", "exchange_arms"):
        p = pd.DataFrame(rows).ceval.with_controls(["quantity_error"], null=null, rng=1, context=COUNTS)[
            "quantity_error_p"
        ]
        for level in (0.05, 0.2):
            assert (p <= level).mean() <= level + 2.5 * np.sqrt(level * (1 - level) / 400)
        assert p.mean() == pytest.approx(0.5, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("null", "arms"),
    [
        ("permute_answers", (0.7, 0.3)),
        ("random_answers", (0.5, 0.5)),
        ("biased_answers", (0.8, 0.8)),
        ("exchange_arms", (0.8, 0.8)),
    ],
)
def test_strata_of_guessed_answers_keep_the_level(null, arms):
    """Reasoners that answer by coins with a share of yes for each arm, on quantities and on single answers."""
    rng, rows = np.random.default_rng(8), []
    for i in range(400):
        one, zero = rng.random(20) < arms[0], rng.random(20) < arms[1]
        counts = f"pns 20 {one.sum()} 20 {zero.sum()} {(one & zero).sum()}"
        rows.append({"truth": rng.random() / 2, "estimate": (one & ~zero).mean(), "counts": counts, "s": i // 4})
    how = {"null": null, "n_draws": 59, "rng": 1}
    runs, metric = pd.DataFrame(rows), ["quantity_error"]
    found = [
        runs.ceval.with_controls(metric, context=COUNTS, **how)["quantity_error_p"],
        runs.ceval.cube(metric, by=["s"], context=COUNTS, **how).ceval.summary(columns="full")["p_value"],
    ]
    if null in ce.list_nulls("answer").index:
        singles = pd.DataFrame({"truth": rng.random(2000) < 0.3, "estimate": rng.random(2000) < arms[0]})
        singles = singles.assign(s=np.arange(2000) // 40, group=np.arange(2000) // 20)
        cube = singles.ceval.cube(["answer_accuracy"], by=["s"], context={"group": "group"}, **how)
        found.append(cube.ceval.summary(columns="full")["p_value"])
    for p in found:
        assert p.notna().all()
        for level in (0.05, 0.2):
            assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(p))


def test_controls_are_needed_from_counts(table):
    with pytest.raises(ValueError, match="pass context="):
        table.ceval.with_controls(["quantity_error"], n_draws=5)


def test_rows_keep_their_draws_in_any_order_and_chunk(table):
    rows = table[table["quantity"] == "pns"].reset_index(drop=True)
    options = {"rng": 4, "n_draws": 200, "method": "simulate", "context": COUNTS}
    whole = rows.ceval.with_controls(["quantity_error"], **options)
    turned = rows.iloc[::-1].ceval.with_controls(["quantity_error"], **options).sort_index()
    one = rows.iloc[[3]].ceval.with_controls(["quantity_error"], **options)
    pd.testing.assert_frame_equal(whole, turned)
    pd.testing.assert_frame_equal(whole.iloc[[3]], one)


@pytest.mark.slow
def test_a_cube_of_quantities(table):
    rows = table[(table["quantity"] == "pns") & (table["relation"] == "external")].assign(
        pair=lambda t: t["cause"] + ">" + t["effect"] + t["path"].fillna("")
    )
    cube = rows.ceval.cube(
        ["quantity_error"], by=["model", "kind"], n_draws=200, rng=1, context=COUNTS, replicate="pair"
    )
    summary = cube.ceval.summary(columns="full").set_index(["model", "kind"])
    by_hand = rows.assign(e=(rows["truth"] - rows["estimate"]).abs()).groupby(["model", "kind"])["e"].mean()
    for key, value in by_hand.items():
        assert summary.loc[key, "mean"] == pytest.approx(value)
    tests = cube.sel(model=["noisy", "perfect"]).ceval.compare("model", columns="full")
    assert (tests["effect"].abs() > 0).all()


@pytest.mark.slow
def test_answers_have_controls_of_their_question(answers):
    rows = answers[0].assign(group=lambda t: t["model"] + t["question"])
    rows = rows[rows["model"] != "random"].reset_index(drop=True)
    scored = rows.ceval.with_controls(
        ["answer_accuracy"], estimate="answer", rng=1, n_draws=10, context={"group": "group"}
    )
    share = rows.groupby("group")["answer"].transform("mean").astype(float)
    expected = np.where(rows["truth"], share, 1 - share)
    np.testing.assert_allclose(scored["answer_accuracy_control_mean"], expected)
    assert (scored["answer_accuracy_p_method"] == "exact").all()
    how = {"by": ["model", "world"], "estimate": "answer", "cluster": "sample", "context": {"group": "group"}}
    cube = rows.ceval.cube(["answer_accuracy"], n_draws=200, rng=1, **how)
    tests = cube.ceval.summary(columns="full")
    assert (tests["p_value"] < 0.05).all()
    for null in ("random_answers", "majority_answers", "always_yes", "always_no"):
        found = rows.ceval.with_controls(
            ["answer_accuracy"], estimate="answer", rng=1, null=null, context={"group": "group"}
        )
        assert found["answer_accuracy_control_mean"].between(0, 1).all()


def test_cells_are_checked():
    with pytest.raises(ValueError, match="parse_answers"):
        pd.DataFrame({"truth": [True], "estimate": ["yes"]}).ceval.evaluate(["answer_accuracy"])
    with pytest.raises(ValueError, match="a quantity is a finite number or missing, found inf"):
        pd.DataFrame({"truth": [0.1], "estimate": [np.inf]}).ceval.evaluate(["rae"])
    message = r"column 'truth', row 1 \(index 1\): .* number or missing, found 'a'; .*list_metrics"
    with pytest.raises(ValueError, match=message):
        pd.DataFrame({"truth": ["0.5", "a"], "estimate": [0.5, 0.5]}).ceval.evaluate(["rae"])
    with pytest.raises(TypeError, match="True or False"):
        ce.answer_accuracy(1, 0)
    with pytest.raises(TypeError, match="a quantity is a number"):
        ce.rae("0.1", 0.2)
    matrices = pd.DataFrame({"truth": [np.eye(2, k=1)], "estimate": [np.eye(2, k=1)]})
    with pytest.raises(ValueError, match=r"column 'truth', row 0 \(index 0\): found an ndarray of shape"):
        matrices.ceval.evaluate()
    failed = pd.DataFrame({"truth": [True, True], "estimate": pd.array([True, pd.NA], dtype="boolean")})
    assert failed.ceval.evaluate(["answer_accuracy"])["answer_accuracy"].isna().tolist() == [False, True]
    assert pd.DataFrame({"truth": [0.1], "estimate": [np.nan]}).ceval.evaluate(["rae"])["rae"].isna().all()


def test_every_metric_is_a_name_of_the_package():
    for name in (*QUANTITY_METRICS, *ANSWER_METRICS):
        assert getattr(ce, name) is ce.get_metric(name)
    assert len(QUANTITIES) == 7


def register(function, field, closed_form):
    return ce.metric(
        field=field,
        kinds=("answer",) if field == "answer" else ("pns", "number"),
        direction="minimize",
        range=(0, np.inf),
        optimum=0,
        long_name=function.__name__,
        closed_form=closed_form,
    )(function)


def share_of_errors(pairs):
    return np.full(pairs.n, (pairs.truth != pairs.estimate).mean())


def mean_error(pairs):
    return np.abs(pairs.truth - pairs.estimate.mean())


def standardised_error(pairs):
    n = np.ones(pairs.n) if pairs.terms is None else pairs.terms.n1[:, 1]
    return np.abs(pairs.truth - pairs.estimate) * np.sqrt(n)


def total_error(pairs):
    return np.abs(pairs.truth - pairs.estimate).sum()


@pytest.mark.parametrize(
    ("function", "field", "closed_form", "message"),
    [
        (share_of_errors, "answer", "answer", r"share_of_errors names closed_form='answer', but where truth is False"),
        (mean_error, "quantity", "counts", r"where the quantity is a number .* alone and .* among other pairs"),
        (standardised_error, "quantity", "counts", "depends on yes-counts"),
        (total_error, "quantity", "counts", r"array of shape \(\) for 4 pairs"),
        (mean_error, "quantity", "answer", "closed form 'answer' is for field 'answer', not 'quantity'"),
    ],
)
def test_a_metric_that_contradicts_its_rule_is_refused(function, field, closed_form, message):
    with pytest.raises(ValueError, match=message):
        register(function, field, closed_form)
    assert function.__name__ not in ce.list_metrics().index


def test_every_rule_has_a_probe():
    rules = ce.list_closed_forms()
    assert set(rules.index[rules["field"].isin(["answer", "quantity"])]) == {"answer", "counts"}


CODES = [
    *([0, 1, 1], [0.0, 1.0, None], [True, 0, None], [0, 2, 2], [2.0, 0.0, None], [1, 2, None], [-1, 1, None]),
    *([True, 2, None], [1234567, 0, None]),
]


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("dtype", [None, object, "category"])
def test_the_advice_on_codes_makes_them_answers(codes, dtype):
    cells = pd.Series(codes, dtype=dtype)
    with pytest.raises(ValueError, match="an answer is True, False or missing") as error:
        ce.evaluate(pd.DataFrame({"truth": True, "estimate": cells}), ["answer_accuracy"])
    call = re.search(r"(\.astype|\.map)\(.*\)$", str(error.value))[0]
    answers = eval(f"cells{call}", {"cells": cells})
    found = ce.evaluate(pd.DataFrame({"truth": True, "estimate": answers}), ["answer_accuracy"])["answer_accuracy"]
    yes = cells.dropna().astype(float)
    assert found.dropna().tolist() == (yes == yes.max()).astype(float).tolist()


@pytest.mark.parametrize("codes", [[0, 1, 2], [0.5, 1, 2], [2, 2, 2]])
def test_codes_of_several_labels_are_no_answers(codes):
    with pytest.raises(ValueError, match="row 0 .* score other labels by label_accuracy$"):
        ce.evaluate(pd.DataFrame({"truth": True, "estimate": codes}), ["answer_accuracy"])
