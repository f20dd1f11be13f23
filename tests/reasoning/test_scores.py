"""Classification scores and paired tests against peers, brute force and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from causaleval_pd.reasoning import answer_scores, score_questions


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
    assert found["p_value"] == pytest.approx(
        stats.fisher_exact([[tp, fn], [fp, found["tn"]]], alternative="greater").pvalue
    )
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
    hits, right, f1 = [], [], []
    for orders in itertools.product(itertools.permutations(range(4)), repeat=2):
        given = np.concatenate([a[list(order)] for a, order in zip(answer, orders, strict=True)])
        true = np.concatenate(truth)
        hits.append((given & true).sum())
        right.append((given == true).mean())
        f1.append(2 * (given & true).sum() / (given.sum() + true.sum()))
    assert found["control_accuracy"] == pytest.approx(np.mean(right))
    assert found["control_f1"] == pytest.approx(np.mean(f1))
    assert found["p_value"] == pytest.approx(np.mean(np.array(hits) >= found["tp"]))


def joint_shares(parts):
    """Return the share of all joint shufflings, over parts of (truth, answer), with at least as many right answers."""
    right = []
    for orders in itertools.product(*(itertools.permutations(range(len(truth))) for truth, _ in parts)):
        moved = ((answer[list(order)], truth) for (truth, answer), order in zip(parts, orders, strict=True))
        right.append(sum(float(((given == true) & ~np.isnan(given)).sum()) for given, true in moved))
    return np.mean(np.array(right) >= right[0])


def rows(truth, answer, first=0, effects="YZ"):
    """Return one row per answer of arrays (samples, answers): two effects, then their replicates."""
    made = [
        {"task": 0, "sample": first + i, "cause": "X", "effect": effects[j % 2], "world": "do1", "replicate": j // 2}
        | {"truth": bool(truth[i, j]), "answer": pd.NA if np.isnan(answer[i, j]) else bool(answer[i, j])}
        for i, j in np.ndindex(truth.shape)
    ]
    return pd.DataFrame(made).astype({"answer": "boolean"})


@pytest.mark.parametrize("seed", range(6))
def test_answers_on_a_sample_move_together_by_brute_force(seed):
    generator = np.random.default_rng(seed)
    parts = []
    # six samples with two questions twice each, and three with the first question only
    for m, k in ((6, 4), (3, 1)):
        truth = np.tile(generator.random((m, 2)) < 0.5, 2)[:, :k].astype(float)
        answer = np.where(generator.random((m, k)) < 0.6, truth, 1 - truth)
        answer[generator.random((m, k)) < 0.1] = np.nan
        parts.append((truth, answer))
    table = pd.concat([rows(*parts[0]), rows(*parts[1], first=6)], ignore_index=True)
    found = answer_scores(table)["p_value"].iloc[0]
    expected = joint_shares(parts)
    assert abs(found - expected) <= 4 * np.sqrt(expected * (1 - expected) / 9_999) + 1e-4
    shuffled = table.sample(frac=1, random_state=seed)
    assert answer_scores(shuffled)["p_value"].iloc[0] == found, "p does not depend on the order of rows"


@pytest.mark.slow
def test_equal_replicates_are_no_further_evidence():
    generator = np.random.default_rng(3)
    sizes = {}
    for n_replicates in (1, 5):
        rejected = []
        for _ in range(60):
            truth = np.tile(generator.random((20, 2)) < 0.5, n_replicates).astype(float)
            answer = np.tile(generator.random((20, 2)) < 0.5, n_replicates).astype(float)
            rejected.append(answer_scores(rows(truth, answer))["p_value"].iloc[0] <= 0.05)
        sizes[n_replicates] = np.mean(rejected)
    # independent answers of replicates were rejected in a quarter of all tables
    assert max(sizes.values()) <= 0.14, sizes


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(10_100, 2), (40, 510)])
def test_the_normal_law_of_many_answers_that_move_together(shape):
    generator = np.random.default_rng(4)
    truth = (generator.random(shape) < 0.5).astype(float)
    answer = np.where(generator.random(shape) < 0.502, truth, 1 - truth)
    moved = [(generator.permutation(answer) == truth).sum() for _ in range(2_000)]
    found = answer_scores(rows(truth, answer)).iloc[0]
    assert found["p_value"] == pytest.approx(np.mean(np.array(moved) >= (answer == truth).sum()), abs=0.05)


def test_p_at_the_floor_of_shufflings_is_marked():
    truth = (np.random.default_rng(6).random((30, 4)) < 0.5).astype(float)
    found = answer_scores(rows(truth, truth)).iloc[0]
    assert (found["p_value"], found["p_at_floor"]) == (1e-4, True)
    assert not answer_scores(rows(truth[:, :1], truth[:, :1])).iloc[0]["p_at_floor"], "the exact law has no floor"


def test_clusters_of_questions_move_together():
    generator = np.random.default_rng(5)
    truth = generator.random((5, 3)) < 0.5
    answer = np.where(generator.random((5, 3)) < 0.8, truth, ~truth)
    made = [
        {
            "question": f"{i} {j}",
            "cluster": i,
            "rung": 1,
            "query": f"q{j}",
            "truth": truth[i, j],
            "answer": answer[i, j],
        }
        for i, j in np.ndindex(truth.shape)
    ]
    found = score_questions(pd.DataFrame(made))["p_value"].iloc[0]
    expected = joint_shares([(truth.astype(float), answer.astype(float))])
    assert abs(found - expected) <= 4 * np.sqrt(expected * (1 - expected) / 9_999) + 1e-4


def test_clusters_of_questions_have_any_name():
    truth = np.arange(12) % 2 == 0
    plain = pd.DataFrame({"question": range(12), "truth": truth, "answer": truth, "story": np.arange(12) // 3})
    how = {"within": [], "shuffle_within": []}
    named = score_questions(plain, cluster="story", **how)
    pd.testing.assert_frame_equal(named, score_questions(plain.rename(columns={"story": "cluster"}), **how))
    assert named["n_clusters"].tolist() == [4]
    alone = score_questions(plain.rename(columns={"story": "cluster"}), cluster=None, **how)
    pd.testing.assert_frame_equal(alone, score_questions(plain, **how))
    assert alone["n_clusters"].tolist() == [12] and alone["p_value"][0] < named["p_value"][0]
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


@pytest.mark.slow
def test_large_tables_take_the_normal_law():
    generator = np.random.default_rng(2)
    truth = generator.random(20_200) < 0.5
    answer = np.where(generator.random(20_200) < 0.015, truth, generator.random(20_200) < 0.5)
    text = ["".join("01"[int(b)] for b in bits) for bits in (truth, answer.astype(bool))]
    found = answer_scores(table(*text)).iloc[0]
    law = stats.hypergeom(20_200, truth.sum(), int(answer.sum()))
    assert found["p_value"] == pytest.approx(law.sf(found["tp"] - 1), rel=0.01)


@pytest.mark.slow
def test_perfect_answers_have_a_positive_p_value():
    for n in (3_000, 200_000):
        found = answer_scores(table("10" * (n // 2), "10" * (n // 2))).iloc[0]
        assert 0 < found["p_value"] < 1e-300 and not found["p_at_floor"]


def test_rare_answers_among_many_keep_the_exact_law():
    # the one yes is right by chance in one of 30,000 shufflings
    rare = answer_scores(table("1" + "0" * 29_999, "1" + "0" * 29_999)).iloc[0]
    assert rare["p_value"] == pytest.approx(1 / 30_000)


def clustered(truth, answer, cluster):
    return pd.DataFrame({"question": range(len(truth)), "truth": truth, "answer": answer}).assign(
        cluster=cluster, rung=1, query="a"
    )


@pytest.mark.parametrize("size", [500, 6_000])
def test_few_clusters_of_many_answers_are_shuffled(size):
    # all right: 2 x 2 of the 24 orders of four clusters, two of them alike
    truth = np.repeat([True, False, True, False], size)
    found = score_questions(clustered(truth, truth, np.repeat(range(4), size))).iloc[0]
    assert found["p_value"] == pytest.approx(4 / 24, abs=0.015)
    # beside many clusters of a question each, whose answers are worth nothing
    more = np.arange(4_000) % 2 == 0
    truth, cluster = np.r_[truth, more], np.r_[np.repeat(range(4), size), np.arange(4, 4_004)]
    answer = np.r_[truth[: 4 * size], np.arange(4_000) % 4 < 2]
    found = score_questions(clustered(truth, answer, cluster)).iloc[0]
    assert found["p_value"] >= 4 / 24 / 2 - 0.015


@pytest.mark.slow
def test_samples_beyond_those_that_are_shuffled_have_nearly_the_same_law(monkeypatch):
    generator = np.random.default_rng(8)
    truth = generator.random((2_100, 2)) < 0.5
    answer = np.where(generator.random((2_100, 2)) < 0.512, truth, ~truth)
    asked = clustered(truth.ravel(), answer.ravel(), np.repeat(range(2_100), 2))
    p = {}
    for name, enough in (("shuffled", np.inf), ("normal", 0)):
        monkeypatch.setattr("causaleval_pd.reasoning.scores.ENOUGH", enough)
        p[name] = score_questions(asked)["p_value"].iloc[0]
    assert p["normal"] == pytest.approx(p["shuffled"], abs=4 * np.sqrt(p["normal"] / 9_999) + 0.002)


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


def two(first, second, truth="1" * 12):
    return pd.concat([table(truth, first, model="a"), table(truth, second, model="b")], ignore_index=True)


def test_refusals():
    with pytest.raises(ValueError, match="within takes"):
        answer_scores(table("1", "1", model="a"), within=["model"])


def test_answers_that_no_shuffling_moves_are_counted():
    several = pd.concat([table("1010", "1110"), table("10", "1?").assign(effect="Z")], ignore_index=True)
    # samples 0 and 1 were asked two questions, samples 2 and 3 one
    assert answer_scores(several).iloc[0]["n_unmoved"] == 0
    several = several[~((several["sample"] == 1) & (several["effect"] == "Z"))]
    found = answer_scores(several).iloc[0]
    assert (found["n"], found["n_clusters"], found["n_unmoved"]) == (5, 4, 2)
    questions = pd.DataFrame({"question": range(4), "rung": 1, "query": [1, 1, 2, 3], "truth": True, "answer": True})
    assert score_questions(questions)["n_unmoved"].tolist() == [2]
    assert score_questions(questions.assign(query=1))["n_unmoved"].tolist() == [0]


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
