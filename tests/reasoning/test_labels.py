"""Answers with three and more labels: scores by hand, the law of shuffled labels by brute force, and the verbs."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.reasoning import confusion, label_scores, parse_labels
from causaleval_pd.statistics.coincidences import coincidence_law


def table(truth, answer, **more):
    """Return one row per sample; `?` is a missing answer."""
    answers = [None if label == "?" else label for label in answer]
    return pd.DataFrame({"sample": range(len(truth)), "truth": list(truth), "answer": answers}).assign(**more)


def shuffled_hits(truth, answer):
    """Return the number of right answers in every order of the answers."""
    return np.array([sum(map(str.__eq__, truth, order)) for order in itertools.permutations(answer)])


CASES = [("aabbccc", "abbccca"), ("aabbcc", "aabbcc"), ("abcab", "ccccc"), ("aaab", "bbxx"), ("abcdef", "fbcdea")]


def margins(truth, answer):
    labels = sorted({*truth, *answer})
    return [[text.count(label) for label in labels] for text in (truth, answer)]


@pytest.mark.parametrize(("truth", "answer"), CASES)
def test_the_law_of_shuffled_labels_by_brute_force(truth, answer):
    """Exact probabilities are the shares of all orders."""
    every = shuffled_hits(truth, answer)
    law = coincidence_law(*margins(truth, answer))
    np.testing.assert_allclose(law, np.bincount(every, minlength=len(law)) / len(every), atol=1e-15)
    found = label_scores(table(truth, answer)).iloc[0]
    right = sum(map(str.__eq__, truth, answer))
    assert found["p_value"] == pytest.approx((every >= right).mean())
    assert found["control_accuracy"] == pytest.approx(every.mean() / len(truth))


def test_scores_of_labels_agree_with_their_definitions():
    """Accuracy, F1 of each label and confusion from counts by hand, with a label that no truth has."""
    answers = table("aaabbccc", "aabbxcc?", model="m")
    found = label_scores(answers, by="model").iloc[0]
    assert (found["n"], found["n_failed"], found["n_samples"], found["n_labels"]) == (7, 1, 7, 3)
    assert found["accuracy"] == pytest.approx(5 / 7)
    assert found["macro_f1"] == pytest.approx(np.mean([4 / 5, 2 / 4, 4 / 4, 0 / 1]))
    assert (found["accuracy_low"], found["accuracy_high"]) == (5 / 8, 6 / 8)
    assert found["majority_accuracy"] == 3 / 8
    counts = confusion(answers)
    assert counts.columns.tolist() == ["a", "b", "c", "x", "(missing)"]
    assert counts.to_numpy().tolist() == [[2, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 2, 0, 1]]


def test_control_macro_f1_is_the_mean_over_all_orders():
    """At fixed margins F1 of a label is linear in its right answers."""
    truth, answer = "aabbcc", "abbbca"

    def macro(order):
        both = [(t, g) for t, g in zip(truth, order, strict=True)]
        labels = sorted({*truth, *order})
        return np.mean([2 * sum(t == g == k for t, g in both) / (truth.count(k) + order.count(k)) for k in labels])

    found = label_scores(table(truth, answer)).iloc[0]
    assert found["macro_f1"] == pytest.approx(macro(tuple(answer)))
    expected = np.mean([macro(order) for order in itertools.permutations(answer)])
    assert found["control_macro_f1"] == pytest.approx(expected)


def test_answers_are_shuffled_within_tasks():
    """A reasoner that gives each task its label is no better than its shuffled answers."""
    answers = table("aaabbb", "aaabbb", task=[0, 0, 0, 1, 1, 1])
    assert label_scores(answers)["p_value"].item() == 1
    assert label_scores(answers, within=[])["p_value"].item() == pytest.approx(1 / 20)


@pytest.mark.parametrize(("truth", "answer"), CASES[:3])
def test_the_cube_tests_labels_by_shuffling(truth, answer):
    """P of a stratum is the share of all orders that do as well; rows have the share of their label."""
    every = shuffled_hits(truth, answer)
    right = sum(map(str.__eq__, truth, answer))
    cube = table(truth, answer).ceval.cube(["label_accuracy"], by=[], estimate="answer", n_draws=4000, rng=1)
    found, p = cube.ceval.summary(columns="full").iloc[0], (every >= right).mean()
    assert found["mean"] == pytest.approx(right / len(truth))
    assert found["control_mean"] == pytest.approx(every.mean() / len(truth))
    if 0 < p < 1:
        assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000)


def test_draws_of_labels_are_shufflings():
    """Every draw has the answers' own labels, in all orders alike."""
    answers = table("aabbc", "abbca", run=range(5))
    cube = answers.ceval.cube(["label_accuracy"], by=[], estimate="answer", replicate="run", n_draws=6000, rng=3)
    hits = cube["label_accuracy_control"].sum("replicate").to_numpy().astype(int)
    law = coincidence_law(*margins("aabbc", "abbca"))
    found = np.bincount(hits, minlength=len(law)) / 6000
    np.testing.assert_allclose(found, law, atol=4 * np.sqrt(0.25 / 6000))
    assert set(hits) == set(np.flatnonzero(law))


def test_labels_of_a_sample_move_together():
    """With repeated samples p is the share of orders of samples, and independent rows are named in a warning."""
    truth, answer = "abcab", "abcba"
    every = shuffled_hits(truth, answer)
    repeated = pd.concat([table(truth, answer, replicate=i) for i in range(3)], ignore_index=True)
    how = {"by": [], "estimate": "answer", "rng": 1}
    cube = repeated.ceval.cube(["label_accuracy"], cluster="sample", n_draws=4000, **how)
    found, p = cube.ceval.summary(columns="full").iloc[0], (every >= 3).mean()
    assert found["n_clusters"] == 5
    assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000))
    for n_draws in (99, None):
        with pytest.warns(UserWarning, match=r"share a value of column 'sample'.*pass cluster='sample'"):
            repeated.ceval.cube(["label_accuracy"], n_draws=n_draws, **how)
    assert np.isnan(label_scores(repeated)["p_value"].item()), "several answers on a sample depend on each other"


def test_models_are_compared_on_the_same_samples():
    """`compare` pairs samples, as for yes/no answers."""
    rng = np.random.default_rng(2)
    truth = rng.choice(list("abc"), 60)
    parts = [
        table(truth, np.where(rng.random(60) < share, truth, rng.choice(list("abc"), 60)), model=name)
        for name, share in {"good": 0.9, "poor": 0.1}.items()
    ]
    answers = pd.concat(parts, ignore_index=True)
    cube = answers.ceval.cube(["label_accuracy"], by="model", estimate="answer", cluster="sample", n_draws=199, rng=1)
    found = cube.ceval.compare("model").iloc[0]
    right = (answers["truth"] == answers["answer"]).groupby(answers["model"]).mean()
    assert found["effect"] == pytest.approx(right["good"] - right["poor"]) and found["n_truths"] == 60
    assert found["p_value"] < 1e-4


@pytest.mark.parametrize(
    "cells",
    [
        (["a", "b", "c"], ["a", "b", "c"]),
        ([0, 1, 2], [0.0, 1.0, np.nan]),
        ([True, False, "unknown"], ["True", "unknown", None]),
        (pd.Categorical(["a", "b", "c"]), pd.Categorical(["a", "c", None], categories=["c", "a", "z"])),
    ],
)
def test_labels_of_any_dtype_are_read(cells):
    """Texts, whole numbers, truth values and categories; missing answers are failed runs."""
    truth, answer = cells
    found = ce.evaluate(pd.DataFrame({"truth": truth, "estimate": answer}), ["label_accuracy"])["label_accuracy"]
    assert found.iloc[0] == 1 and found.isna().sum() == pd.Series(answer).isna().sum()


def test_categories_are_recognised_and_texts_are_not():
    """A categorical column is of labels, unless its categories are texts of graphs."""
    labels = pd.DataFrame({"truth": ["a", "b"], "estimate": ["a", "c"]}).astype("category")
    assert ce.evaluate(labels)["label_accuracy"].tolist() == [1, 0]
    graphs = pd.DataFrame({"truth": ["A -> B"], "estimate": ["A -> B"]}).astype("category")
    assert "shd" in ce.evaluate(graphs, ["shd"])


@pytest.mark.parametrize(
    ("truth", "answer", "message"),
    [
        (["yes", "no"], ["Yes", "no"], r"column 'answer', row 0 .*found the label 'Yes', where truths have 'yes'"),
        (["not causal", "x"], ["x", "not_causal"], "'not_causal', where truths have 'not causal'"),
        (["a", "b"], ["a ", "b"], r"row 0 .*with blanks around it; remove them by .str.strip\(\)"),
        (["a", "b"], ["a", ""], "row 1 .*a missing answer is pd.NA"),
        (["a", "b"], ["a", 0.5], "row 1 .*a label is a text, a whole number, True or False, found 0.5"),
        ([str(i) for i in range(200)], ["1"] * 200, r"column 'truth' has 200 different labels.*parse_labels"),
    ],
)
def test_cells_that_are_no_labels_are_named(truth, answer, message):
    """Refusals name row and column, under the verbs and in the tables."""
    answers = pd.DataFrame({"sample": range(len(truth)), "truth": truth, "answer": answer})
    for call in (
        lambda: label_scores(answers),
        lambda: confusion(answers),
        lambda: answers.ceval.evaluate(["label_accuracy"], estimate="answer"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_advice_on_case_is_followed():
    """The replacement that the message names gives the right accuracy."""
    answers = table(["yes", "no", "maybe"], ["Yes", "no", "maybe"])
    with pytest.raises(ValueError, match=r"\.replace\(\{'Yes': 'yes'\}\)"):
        label_scores(answers)
    mended = answers.assign(answer=answers["answer"].replace({"Yes": "yes"}))
    assert label_scores(mended)["accuracy"].item() == 1


def test_replies_are_read_as_labels():
    """The last line alone counts; what is unread is missing, and warned of from 5 % on."""
    labels = ["direct cause", "not_causal", "Collider"]
    replies = ["Answer: **direct cause**.", "x\nfinal answer: not_causal", '{"answer": "collider"}', "I guess so", None]
    with pytest.warns(UserWarning, match=r"1 of 4 replies \(25%\).*'I guess so'.*'Answer: direct cause'"):
        found = parse_labels(replies, labels)
    assert found.tolist()[:3] == labels and found.isna().tolist() == [False] * 3 + [True] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_labels(["Answer: collider"] * 30 + ["none"], labels)
    assert parse_labels(["X"], ["x", "y"], how=str.lower).tolist() == ["x"]
    with pytest.raises(ValueError, match=r"row 0 .*must return one of \['x', 'y'\] or None, found 'X'"):
        parse_labels(["X"], ["x", "y"], how=str)
    with pytest.raises(ValueError, match="different texts"):
        parse_labels(["x"], ["x", "X"])


def test_one_label_for_every_sample_is_no_evidence():
    """Nothing can be shuffled: every order of the answers is the same."""
    answers = table("abcab", "ccccc")
    for null in ("permute_answers", None):
        cube = answers.ceval.cube(["label_accuracy"], by=[], estimate="answer", null=null, n_draws=99, rng=1)
        found = cube.ceval.summary(columns="full").iloc[0]
        assert found["mean"] == found["control_mean"] == pytest.approx(1 / 5)
        assert np.isnan(found["p_value"]) or found["p_value"] == 1
    assert label_scores(answers)["p_value"].item() == 1


def test_labels_on_dask_are_those_of_the_table():
    """Answers are dealt over the whole stratum, wherever its rows stand."""
    dd = pytest.importorskip("dask.dataframe")
    import causaleval_pd.dask  # noqa: F401

    rng = np.random.default_rng(4)
    answers = pd.DataFrame({"row": range(60), "truth": rng.choice(list("abc"), 60), "g": np.arange(60) % 2})
    answers["estimate"] = np.where(rng.random(60) < 0.5, answers["truth"], "b")
    how = {"by": ["g"], "n_draws": 99, "rng": 1, "key": "row"}
    own = answers.ceval.cube(["label_accuracy"], **how)
    lazy = dd.from_pandas(answers, npartitions=3).ceval.cube(["label_accuracy"], **how)
    pd.testing.assert_frame_equal(own.ceval.summary(), lazy.ceval.summary(), check_dtype=False)
