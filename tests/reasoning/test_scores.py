"""Classification scores and paired tests against peers, brute force and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from causaleval_pd.reasoning import answer_scores, label_scores, parse_answers, score_questions


def table(truth, answer, **more):
    bits = {"1": True, "0": False, "?": pd.NA}
    rows = {"task": 0, "sample": range(len(truth)), "cause": "X", "effect": "Y", "world": "do1"}
    frame = pd.DataFrame(rows).assign(truth=[bits[b] for b in truth], answer=[bits[b] for b in answer], **more)
    return frame.astype({"answer": "boolean", "truth": "boolean"})


def test_scores_agree_with_their_definitions():
    generator = np.random.default_rng(1)
    truth, answer = generator.random((2, 400)) < np.array([[0.3], [0.4]])
    answer = answer | (truth & (generator.random(400) < 0.5))
    text = ["".join("01"[int(b)] for b in bits) for bits in (truth, answer)]
    found = answer_scores(table(*text)).iloc[0]
    tp, fp, fn = (truth & answer).sum(), (~truth & answer).sum(), (truth & ~answer).sum()
    assert (found["tp"], found["fp"], found["fn"]) == (tp, fp, fn)
    assert found["f1"] == pytest.approx(stats.hmean([found["precision"], found["recall"]]))
    assert found["mcc"] == pytest.approx(np.corrcoef(truth, answer)[0, 1])
    from statsmodels.stats.inter_rater import cohens_kappa

    kappa = cohens_kappa([[found["tp"], found["fn"]], [found["fp"], found["tn"]]]).kappa
    assert found["kappa"] == pytest.approx(kappa)
    from statsmodels.stats.proportion import proportion_confint

    wilson = proportion_confint(found["tp"] + found["tn"], 400, method="wilson")
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(wilson)


@pytest.mark.slow
def test_known_classification_scores(known, known_answers):
    scores = answer_scores(known_answers, by="model", within=["task", "cause", "effect", "world"])
    found = scores.pivot_table(index=["model", "task", "cause", "effect"], columns="world", values="accuracy")
    expected = known("estimates").set_index(["reasoner", "task", "cause", "effect"]).loc[found.index]
    for ours, theirs in {"fact": "acc_fact", "do1": "acc_do1", "do0": "acc_do0"}.items():
        np.testing.assert_allclose(found[ours], expected[theirs], atol=1e-12)


def test_shuffled_answers_by_brute_force_over_two_questions():
    # samples with one answer each: those of two questions are shuffled apart
    parts = [table("1100", "1010"), table("1110", "1100").assign(effect="Z", sample=range(4, 8))]
    both = pd.concat(parts, ignore_index=True)
    found = answer_scores(both).iloc[0]
    truth = [np.array(p["truth"], bool) for p in parts]
    answer = [np.array(p["answer"], bool) for p in parts]
    right, f1 = [], []
    for orders in itertools.product(itertools.permutations(range(4)), repeat=2):
        given = np.concatenate([a[list(order)] for a, order in zip(answer, orders, strict=True)])
        true = np.concatenate(truth)
        right.append((given == true).mean())
        f1.append(2 * (given & true).sum() / (given.sum() + true.sum()))
    assert found["control_accuracy"] == pytest.approx(np.mean(right))
    assert found["control_f1"] == pytest.approx(np.mean(f1))


def test_clusters_of_questions_have_any_name():
    truth = np.arange(12) % 2 == 0
    plain = pd.DataFrame({"question": range(12), "truth": truth, "answer": truth, "story": np.arange(12) // 3})
    how = {"within": [], "shuffle_within": []}
    named = score_questions(plain, cluster="story", **how)
    pd.testing.assert_frame_equal(named, score_questions(plain.rename(columns={"story": "cluster"}), **how))
    assert named["n_clusters"].tolist() == [4]
    alone = score_questions(plain.rename(columns={"story": "cluster"}), cluster=None, **how)
    pd.testing.assert_frame_equal(alone, score_questions(plain, **how))
    assert alone["n_clusters"].tolist() == [12] and alone["ci_low"][0] > named["ci_low"][0]
    with pytest.raises(ValueError, match=r"unknown column \(cluster\) 'stories'; did you mean 'story'"):
        score_questions(plain, cluster="stories", **how)
    # questions without a cluster would be one
    for name in ("story", "question"):
        lost = plain.assign(**{name: plain[name].where(plain.index != 4)})
        with pytest.raises(ValueError, match=rf"{name}.*row 4 .*missing"):
            score_questions(lost, cluster="story" if name == "story" else None, **how)


def test_answers_without_a_sample_are_refused():
    answers = table("1010", "1110")
    answers["sample"] = answers["sample"].where(answers["sample"] != 2)
    with pytest.raises(ValueError, match=r"sample.*row 2 .*missing"):
        answer_scores(answers)


def clustered(truth, answer, cluster):
    return pd.DataFrame({"question": range(len(truth)), "truth": truth, "answer": answer}).assign(
        cluster=cluster, rung=1, query="a"
    )


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[20] * 5, [50] * 3, [100, 20, 10, 5, 5]])
def test_intervals_of_few_samples_with_accuracies_of_their_own_cover(sizes):
    generator = np.random.default_rng(9)
    cluster, covered = np.repeat(range(len(sizes)), sizes), []
    for _ in range(150):
        right = generator.random(len(cluster)) < generator.beta(4, 1, len(sizes))[cluster]
        found = score_questions(clustered(np.ones(len(cluster), bool), right, cluster)).iloc[0]
        covered.append(found["ci_low"] <= 0.8 <= found["ci_high"])
    # .95 less three standard errors; the normal quantile and the number of answers covered .5 to .8
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_missing_answers_bound_the_accuracy():
    found = answer_scores(table("1100", "1?0?")).iloc[0]
    assert (found["n"], found["n_failed"], found["accuracy"]) == (2, 2, 1.0)
    assert (found["accuracy_low"], found["accuracy_high"]) == (0.5, 1.0)
    empty = answer_scores(table("11", "??")).iloc[0]
    assert np.isnan(empty["accuracy"])
    assert (empty["accuracy_low"], empty["accuracy_high"]) == (0.0, 1.0)


def test_intervals_know_clusters():
    once = table("1100110010" * 4, "1101110000" * 4)
    copies = pd.concat([once.assign(replicate=i) for i in range(9)])
    one, nine = (answer_scores(t).iloc[0] for t in (once, copies))
    assert nine["n"] == 9 * one["n"]
    assert (nine["ci_low"], nine["ci_high"]) == pytest.approx((one["ci_low"], one["ci_high"]))


def test_refusals():
    with pytest.raises(ValueError, match="within takes"):
        answer_scores(table("1", "1", model="a"), within=["model"])


def test_sample_truth_and_answer_are_enough():
    rng = np.random.default_rng(3)
    truth = rng.random(60) < 0.5
    table = pd.DataFrame({"sample": range(60), "truth": truth, "answer": truth ^ (rng.random(60) < 0.1), "model": "m"})
    plain = answer_scores(table, by="model")
    assert len(plain) == 1
    whole = answer_scores(table.assign(task=0, cause=None, effect="Y", world="fact"), by="model").drop(columns="world")
    pd.testing.assert_frame_equal(plain, whole)
    # a column of questions tells them apart
    twice = pd.concat([table.assign(question="a"), table.assign(question="b")], ignore_index=True)
    assert answer_scores(twice, by="model")["n_clusters"].tolist() == [60]
    with pytest.raises(ValueError, match="answered more than once"):
        answer_scores(twice.drop(columns="question"), by="model")
    with pytest.raises(ValueError, match="no column 'sample'"):
        answer_scores(table.drop(columns="sample"))
    with pytest.raises(ValueError, match="unknown column 'world'"):
        answer_scores(table, within="world")


def test_questions_need_no_rungs_or_kinds():
    table = pd.DataFrame({"question": range(40), "truth": [True, False] * 20, "answer": [True, False, True, True] * 10})
    plain = score_questions(table)
    assert len(plain) == 1
    pd.testing.assert_frame_equal(plain, score_questions(table, within=[], shuffle_within=[]))


def test_texts_as_truths_are_refused_and_the_advice_reads_them():
    """Yes and no in words are read by `parse_answers`, in tables and verbs; other labels have their metric."""
    words = pd.DataFrame({"sample": range(3), "truth": ["yes", "no", "yes"], "answer": ["Yes", "yes", "yes."]})
    for call in (
        lambda: answer_scores(words),
        lambda: words.ceval.evaluate(["answer_accuracy"], estimate="answer"),
    ):
        with pytest.raises(ValueError, match=r"truth.* found 'yes'.*ce.reasoning.parse_answers.*label_"):
            call()
    read = words.assign(**{name: parse_answers(words[name]) for name in ("truth", "answer")})
    assert answer_scores(read)["accuracy"].item() == pytest.approx(2 / 3)
    assert read.ceval.evaluate(["answer_accuracy"], estimate="answer")["answer_accuracy"].tolist() == [1, 0, 1]
    labels = words.assign(answer=["yes", "maybe", "yes"])
    assert labels.ceval.evaluate(["label_accuracy"], estimate="answer")["label_accuracy"].tolist() == [1, 0, 1]
    assert label_scores(labels)["accuracy"].item() == pytest.approx(2 / 3)
