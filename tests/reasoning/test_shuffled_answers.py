"""The null model that shuffles a reasoner's answers: its draws and its exact law are those of the permutation."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from causaleval_pd.reasoning import score_questions

METRICS = ["answer_accuracy", "answer_false_yes", "answer_false_no"]


def wins(name, truth, answers):
    """Sum of a metric over answers, larger is better."""
    good = {
        "answer_accuracy": truth == answers,
        "answer_false_yes": truth | ~answers,
        "answer_false_no": ~truth | answers,
    }
    return good[name].sum()


def one_stratum(questions):
    """Return a table of questions, each given as true answers and answers."""
    parts = [
        pd.DataFrame({"truth": truth, "estimate": answers, "q": number, "s": "x"}, dtype=object)
        for number, (truth, answers) in enumerate(questions)
    ]
    return pd.concat(parts, ignore_index=True).astype({"truth": bool, "estimate": bool})


def shuffled(table):
    """Return the answers shuffled within their questions, in every way."""
    by_question = [part["estimate"].tolist() for _, part in table.groupby("q")]
    for ways in itertools.product(*(list(itertools.permutations(own)) for own in by_question)):
        yield np.array([answer for way in ways for answer in way])


CASES = [
    [([True, True, True, False, False, False], [True, True, True, False, False, False])],
    [([True, False, False, False, True], [True, True, False, False, True])],
    [([True, False, True], [True, False, False]), ([False, True, False, True], [False, True, True, True])],
    [([True, False], [True, False]), ([True, True], [True, False]), ([False, True, True], [False, True, False])],
    [([True, False, True], [True, True, True]), ([True, True, False], [True, True, False])],
]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_p_values_estimate_shares_of_all_shufflings(metric, case):
    table = one_stratum(CASES[case])
    truth, answers = table["truth"].to_numpy(), table["estimate"].to_numpy()
    observed = wins(metric, truth, answers)
    scored = np.array([wins(metric, truth, way) for way in shuffled(table)])
    cube = table.ceval.cube([metric], by=["s"], n_draws=4000, rng=1, context={"group": "q"})
    found, p = cube.ceval.summary(statistic="mean", columns="full").iloc[0], (scored >= observed).mean()
    assert found["p_method"] == "simulated"
    assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000)


def test_strata_agree_with_scores_of_answers():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"truth": rng.random(120) < 0.6, "q": rng.integers(0, 9, 120), "s": "x"})
    table["estimate"] = np.where(rng.random(120) < 0.4, table["truth"], rng.random(120) < 0.3)
    cube = table.ceval.cube(["answer_accuracy"], by=["s"], n_draws=4000, rng=1, context={"group": "q"})
    found = cube.ceval.summary(statistic="mean", columns="full").iloc[0]
    asked = table.assign(question=range(120), answer=table["estimate"])
    expected = score_questions(asked, within=[], shuffle_within=["q"]).iloc[0]
    p = expected["p_value"]
    assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000)


def drawn(table, n_draws=3000, **how):
    """Return the answers of each draw, (n_draws, rows), read from the controls' accuracies."""
    runs = table.assign(run=range(len(table)))
    cube = runs.ceval.cube(["answer_accuracy"], replicate="run", n_draws=n_draws, rng=4, **how)
    right = cube["answer_accuracy_control"].sel(replicate=runs["run"].to_numpy())
    right = right.stack(place=[dim for dim in right.dims if dim != "draw"]).dropna("place", how="all")
    right = right.sortby("replicate").transpose("draw", "place").to_numpy() == 1
    return np.where(runs["truth"].to_numpy(), right, ~right)


def test_draws_are_shufflings_all_equally_likely():
    answers = drawn(one_stratum(CASES[2]), by=["s"], context={"group": "q"})
    first, second = answers[:, :3], answers[:, 3:]
    assert (first.sum(axis=1) == 1).all() and (second.sum(axis=1) == 3).all()
    # 3 x 4 ways to place the answers
    _, counts = np.unique(first.argmax(axis=1) * 4 + second.argmin(axis=1), return_counts=True)
    assert len(counts) == 12 and stats.chisquare(counts).pvalue > 0.001


def test_answers_are_shuffled_within_strata():
    table = one_stratum(CASES[2])
    both = pd.concat([table, table.assign(s="y", estimate=~table["estimate"])], ignore_index=True)
    answers = drawn(both, n_draws=50, by=["s"], context={"group": "q"})
    assert [set(answers[:, part].sum(axis=1)) for part in (slice(3), slice(3, 7), slice(7, 10), slice(10, 14))] == [
        *({1}, {3}, {2}, {1})
    ]


@pytest.mark.slow
def test_draws_do_not_depend_on_order_or_blocks():
    rng = np.random.default_rng(5)
    n = 1200
    table = pd.DataFrame({"truth": rng.random(n) < 0.5, "estimate": rng.random(n) < 0.3, "q": rng.integers(0, 3, n)})
    how = {"rng": 3, "n_draws": 500, "method": "simulate", "context": {"group": "q"}}
    whole = table.ceval.with_controls(["answer_accuracy"], **how)
    turned = table.iloc[::-1].ceval.with_controls(["answer_accuracy"], **how).sort_index()
    pd.testing.assert_frame_equal(whole, turned)
    answers = drawn(table.assign(s="x"), n_draws=130, by=["s"], context={"group": "q"})
    for rows in table.groupby("q").indices.values():
        assert (answers[:, rows].sum(axis=1) == table["estimate"].to_numpy()[rows].sum()).all()
    shares = [answers[:, rows].mean() for rows in (table["truth"], ~table["truth"])]
    np.testing.assert_allclose(shares, table["estimate"].mean(), atol=0.01)


def test_answers_without_a_truth_are_shuffled_with_the_others():
    table = one_stratum(CASES[0])
    table = table.assign(truth=table["truth"].astype("boolean"))
    table.loc[5, "truth"] = pd.NA
    cube = table.ceval.cube(["answer_accuracy"], by=["s"], n_draws=999, rng=1)
    found = cube.ceval.summary(statistic="mean", columns="full").iloc[0]
    # three of six yes among five scored: all right with probability 1 / 20
    assert found["p_method"] == "simulated" and found["p_value"] == pytest.approx(0.05, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["mean", "rank"])
@pytest.mark.parametrize("method", ["auto", "simulate"])
@pytest.mark.parametrize(("samples", "questions", "share"), [(2, 10, 0.5), (4, 5, 0.5), (6, 1, 0.5), (10, 3, 0.2)])
def test_strata_of_coins_keep_the_level_where_truths_are_balanced(samples, questions, share, method, statistic):
    """Half of the true answers are yes: answers that were taken as independent were rejected too often here."""
    rng, strata = np.random.default_rng(6), 600
    size = samples * questions
    table = pd.DataFrame({"s": np.repeat(np.arange(strata), size), "q": np.tile(np.arange(size) // samples, strata)})
    table["truth"] = np.tile(np.arange(size) % 2 == 0, strata)
    table["estimate"] = rng.random(strata * size) < share
    how = {"by": ["s"], "n_draws": 199, "rng": 1, "method": method, "context": {"group": "q"}}
    p = (
        table.ceval.cube(["answer_accuracy"], **how)
        .ceval.summary(statistic=statistic, columns="full")["p_value"]
        .dropna()
    )
    for level in (0.01, 0.05, 0.2):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(p))
