"""Scores of answers of two labels and of more: definitions, peers, brute force, and the verbs."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd import reasoning as cr
from causaleval_pd.statistics.coincidences import coincidence_law


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
    found = cr.answer_scores(table(*text)).iloc[0]
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
    scores = cr.answer_scores(known_answers, by="model", within=["task", "cause", "effect", "world"])
    found = scores.pivot_table(index=["model", "task", "cause", "effect"], columns="world", values="accuracy")
    expected = known("estimates").set_index(["reasoner", "task", "cause", "effect"]).loc[found.index]
    for ours, theirs in {"fact": "acc_fact", "do1": "acc_do1", "do0": "acc_do0"}.items():
        np.testing.assert_allclose(found[ours], expected[theirs], atol=1e-12)


def test_shuffled_answers_by_brute_force_over_two_questions():
    # samples with one answer each: those of two questions are shuffled apart
    parts = [table("1100", "1010"), table("1110", "1100").assign(effect="Z", sample=range(4, 8))]
    both = pd.concat(parts, ignore_index=True)
    found = cr.answer_scores(both).iloc[0]
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
    named = cr.score_questions(plain, cluster="story", **how)
    pd.testing.assert_frame_equal(named, cr.score_questions(plain.rename(columns={"story": "cluster"}), **how))
    assert named["n_clusters"].tolist() == [4]
    alone = cr.score_questions(plain.rename(columns={"story": "cluster"}), cluster=None, **how)
    pd.testing.assert_frame_equal(alone, cr.score_questions(plain, **how))
    assert alone["n_clusters"].tolist() == [12] and alone["ci_low"][0] > named["ci_low"][0]
    with pytest.raises(ValueError, match=r"unknown column \(cluster\) 'stories'; did you mean 'story'"):
        cr.score_questions(plain, cluster="stories", **how)
    # questions without a cluster would be one
    for name in ("story", "question"):
        lost = plain.assign(**{name: plain[name].where(plain.index != 4)})
        with pytest.raises(ValueError, match=rf"{name}.*row 4 .*missing"):
            cr.score_questions(lost, cluster="story" if name == "story" else None, **how)


def test_answers_without_a_sample_are_refused():
    answers = table("1010", "1110")
    answers["sample"] = answers["sample"].where(answers["sample"] != 2)
    with pytest.raises(ValueError, match=r"sample.*row 2 .*missing"):
        cr.answer_scores(answers)


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
        found = cr.score_questions(clustered(np.ones(len(cluster), bool), right, cluster)).iloc[0]
        covered.append(found["ci_low"] <= 0.8 <= found["ci_high"])
    # .95 less three standard errors; the normal quantile and the number of answers covered .5 to .8
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_missing_answers_bound_the_accuracy():
    found = cr.answer_scores(table("1100", "1?0?")).iloc[0]
    assert (found["n"], found["n_failed"], found["accuracy"]) == (2, 2, 1.0)
    assert (found["accuracy_low"], found["accuracy_high"]) == (0.5, 1.0)
    empty = cr.answer_scores(table("11", "??")).iloc[0]
    assert np.isnan(empty["accuracy"])
    assert (empty["accuracy_low"], empty["accuracy_high"]) == (0.0, 1.0)


def test_intervals_know_clusters():
    once = table("1100110010" * 4, "1101110000" * 4)
    copies = pd.concat([once.assign(replicate=i) for i in range(9)])
    one, nine = (cr.answer_scores(t).iloc[0] for t in (once, copies))
    assert nine["n"] == 9 * one["n"]
    assert (nine["ci_low"], nine["ci_high"]) == pytest.approx((one["ci_low"], one["ci_high"]))


def test_sample_truth_and_answer_are_enough():
    rng = np.random.default_rng(3)
    truth = rng.random(60) < 0.5
    table = pd.DataFrame({"sample": range(60), "truth": truth, "answer": truth ^ (rng.random(60) < 0.1), "model": "m"})
    plain = cr.answer_scores(table, by="model")
    assert len(plain) == 1
    whole = cr.answer_scores(table.assign(task=0, cause=None, effect="Y", world="fact"), by="model").drop(
        columns="world"
    )
    pd.testing.assert_frame_equal(plain, whole)
    # a column of questions tells them apart
    twice = pd.concat([table.assign(question="a"), table.assign(question="b")], ignore_index=True)
    assert cr.answer_scores(twice, by="model")["n_clusters"].tolist() == [60]
    with pytest.raises(ValueError, match="answered more than once"):
        cr.answer_scores(twice.drop(columns="question"), by="model")
    with pytest.raises(ValueError, match="no column 'sample'"):
        cr.answer_scores(table.drop(columns="sample"))
    with pytest.raises(ValueError, match="within takes"):
        cr.answer_scores(table, within=["model"])
    with pytest.raises(ValueError, match="unknown column 'world'"):
        cr.answer_scores(table, within="world")


def test_questions_need_no_rungs_or_kinds():
    table = pd.DataFrame({"question": range(40), "truth": [True, False] * 20, "answer": [True, False, True, True] * 10})
    plain = cr.score_questions(table)
    assert len(plain) == 1
    pd.testing.assert_frame_equal(plain, cr.score_questions(table, within=[], shuffle_within=[]))


def test_texts_as_truths_are_refused_and_the_advice_reads_them():
    """Yes and no in words are read by `parse_answers`, in tables and verbs; other labels have their metric."""
    words = pd.DataFrame({"sample": range(3), "truth": ["yes", "no", "yes"], "answer": ["Yes", "yes", "yes."]})
    for call in (lambda: cr.answer_scores(words), lambda: words.ceval.evaluate(["answer_accuracy"], estimate="answer")):
        with pytest.raises(ValueError, match=r"truth.* found 'yes'.*ce.reasoning.parse_answers.*label_"):
            call()
    read = words.assign(**{name: cr.parse_answers(words[name]) for name in ("truth", "answer")})
    assert cr.answer_scores(read)["accuracy"].item() == pytest.approx(2 / 3)
    assert read.ceval.evaluate(["answer_accuracy"], estimate="answer")["answer_accuracy"].tolist() == [1, 0, 1]
    labels = words.assign(answer=["yes", "maybe", "yes"])
    assert labels.ceval.evaluate(["label_accuracy"], estimate="answer")["label_accuracy"].tolist() == [1, 0, 1]
    assert cr.label_scores(labels)["accuracy"].item() == pytest.approx(2 / 3)


def labelled(truth, answer, **more):
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
    found = cr.label_scores(labelled(truth, answer)).iloc[0]
    right = sum(map(str.__eq__, truth, answer))
    assert found["p_value"] == pytest.approx((every >= right).mean())
    assert found["control_accuracy"] == pytest.approx(every.mean() / len(truth))


def test_scores_of_labels_agree_with_their_definitions():
    """Accuracy, F1 of each label and confusion from counts by hand, with a label that no truth has."""
    answers = labelled("aaabbccc", "aabbxcc?", model="m")
    found = cr.label_scores(answers, by="model").iloc[0]
    assert (found["n"], found["n_failed"], found["n_samples"], found["n_labels"]) == (7, 1, 7, 3)
    assert found["accuracy"] == pytest.approx(5 / 7)
    assert found["macro_f1"] == pytest.approx(np.mean([4 / 5, 2 / 4, 4 / 4, 0 / 1]))
    assert (found["accuracy_low"], found["accuracy_high"]) == (5 / 8, 6 / 8)
    assert found["majority_accuracy"] == 3 / 8
    counts = cr.confusion(answers)
    assert counts.columns.tolist() == ["a", "b", "c", "x", "(missing)"]
    assert counts.to_numpy().tolist() == [[2, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 2, 0, 1]]


def test_notes_name_labels_that_no_truth_has_and_why_there_is_no_p():
    answers = labelled("aaabbccc", "aabbxcc?", model="m")
    plain = answers.assign(answer=answers["answer"].where(answers["answer"] != "x"))
    assert cr.label_scores(answers)["note"].tolist() == [
        "no truth has 'x': wrong, and an F1 of 0 each in macro_f1; make refusals missing, as pd.NA"
    ]
    found = cr.label_scores(plain)
    assert "note" not in found and (found["n"].item(), found["n_failed"].item()) == (6, 2)
    assert found["macro_f1"].item() == pytest.approx(np.mean([4 / 5, 2 / 3, 4 / 4]))
    pooled = pd.concat([plain, plain.assign(model="k")], ignore_index=True)
    [note], p = cr.label_scores(pooled)["note"], cr.label_scores(pooled)["p_value"].item()
    assert note == "no p: samples have several answers; name models in by=, or make a cube with cluster='sample'"
    assert np.isnan(p) and "note" not in cr.label_scores(pooled, by="model")
    cube = pooled.ceval.cube(["label_accuracy"], by=[], estimate="answer", cluster="sample", n_draws=99, rng=1)
    assert (
        cube.ceval.summary()["p_value"].notna().all() and cr.label_scores(pooled, by="model")["p_value"].notna().all()
    )


def test_control_macro_f1_is_the_mean_over_all_orders():
    """At fixed margins F1 of a label is linear in its right answers."""
    truth, answer = "aabbcc", "abbbca"

    def macro(order):
        both = [(t, g) for t, g in zip(truth, order, strict=True)]
        labels = sorted({*truth, *order})
        return np.mean([2 * sum(t == g == k for t, g in both) / (truth.count(k) + order.count(k)) for k in labels])

    found = cr.label_scores(labelled(truth, answer)).iloc[0]
    assert found["macro_f1"] == pytest.approx(macro(tuple(answer)))
    expected = np.mean([macro(order) for order in itertools.permutations(answer)])
    assert found["control_macro_f1"] == pytest.approx(expected)


def test_answers_are_shuffled_within_tasks():
    """A reasoner that gives each task its label is no better than its shuffled answers."""
    answers = labelled("aaabbb", "aaabbb", task=[0, 0, 0, 1, 1, 1])
    assert cr.label_scores(answers)["p_value"].item() == 1
    assert cr.label_scores(answers, within=[])["p_value"].item() == pytest.approx(1 / 20)


@pytest.mark.parametrize(("truth", "answer"), CASES[:3])
def test_the_cube_tests_labels_by_shuffling(truth, answer):
    """P of a stratum is the share of all orders that do as well; rows have the share of their label."""
    every = shuffled_hits(truth, answer)
    right = sum(map(str.__eq__, truth, answer))
    cube = labelled(truth, answer).ceval.cube(["label_accuracy"], by=[], estimate="answer", n_draws=4000, rng=1)
    found, p = cube.ceval.summary(columns="full").iloc[0], (every >= right).mean()
    assert found["mean"] == pytest.approx(right / len(truth))
    assert found["control_mean"] == pytest.approx(every.mean() / len(truth))
    if 0 < p < 1:
        assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000)


def test_draws_of_labels_are_shufflings():
    """Every draw has the answers' own labels, in all orders alike."""
    answers = labelled("aabbc", "abbca", run=range(5))
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
    repeated = pd.concat([labelled(truth, answer, replicate=i) for i in range(3)], ignore_index=True)
    how = {"by": [], "estimate": "answer", "rng": 1}
    cube = repeated.ceval.cube(["label_accuracy"], cluster="sample", n_draws=4000, **how)
    found, p = cube.ceval.summary(columns="full").iloc[0], (every >= 3).mean()
    assert found["n_clusters"] == 5
    assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000))
    for n_draws in (99, None):
        with pytest.warns(UserWarning, match=r"share a value of column 'sample'.*pass cluster='sample'"):
            repeated.ceval.cube(["label_accuracy"], n_draws=n_draws, **how)
    assert np.isnan(cr.label_scores(repeated)["p_value"].item()), "several answers on a sample depend on each other"


def test_models_are_compared_on_the_same_samples():
    """`compare` pairs samples, as for yes/no answers."""
    rng = np.random.default_rng(2)
    truth = rng.choice(list("abc"), 60)
    parts = [
        labelled(truth, np.where(rng.random(60) < share, truth, rng.choice(list("abc"), 60)), model=name)
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
        (["no collider", "x"], ["x", "No-collider."], "'No-collider.', where truths have 'no collider'"),
        ([True, False], ["Yes", "no"], "'Yes', where truths have 'True'"),
        ([1, 0], [False, True], r"'False', where truths have '0'; .*as by .astype\('str'\).replace\({'False': '0'}\)"),
        (["a", "b"], ["a ", "b"], r"row 0 .*with blanks around it; remove them by .str.strip\(\)"),
        (["a", "b"], ["a", ""], "row 1 .*a missing answer is pd.NA"),
        (["a", "b"], ["a", 0.5], "row 1 .*a label is a text, a whole number, True or False, found 0.5"),
        (["a", "b"], [pd.NA, ["a"]], r"column 'answer', row 1 .*True or False, found \['a'\]"),
        ([None, {"a": 1}], ["a", "b"], r"column 'truth', row 1 .*True or False, found {'a': 1}"),
        (["a", "b"], [([1],), {"a"}], r"column 'answer', row 0 .*True or False, found \(\[1\],\)"),
        ([str(i) for i in range(200)], ["1"] * 200, r"column 'truth' has 200 different labels.*parse_labels"),
    ],
)
def test_cells_that_are_no_labels_are_named(truth, answer, message):
    """Refusals name row and column, under the verbs and in the tables."""
    answers = pd.DataFrame({"sample": range(len(truth)), "truth": truth, "answer": answer})
    for call in (
        lambda: cr.label_scores(answers),
        lambda: cr.confusion(answers),
        lambda: answers.ceval.evaluate(["label_accuracy"], estimate="answer"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_advice_on_case_is_followed():
    """The replacement that the message names gives the right accuracy."""
    answers = labelled(["yes", "no", "maybe"], ["Yes", "no", "maybe"])
    with pytest.raises(ValueError, match=r"\.replace\(\{'Yes': 'yes'\}\)"):
        cr.label_scores(answers)
    mended = answers.assign(answer=answers["answer"].replace({"Yes": "yes"}))
    assert cr.label_scores(mended)["accuracy"].item() == 1


def test_replies_are_read_as_labels():
    """The last line alone counts; what is unread is missing, and warned of from 5 % on."""
    labels = ["direct cause", "not_causal", "Collider"]
    replies = ["Answer: **direct cause**.", "x\nfinal answer: not_causal", '{"answer": "collider"}', "I guess so", None]
    with pytest.warns(UserWarning, match=r"1 of 4 replies \(25%\).*'I guess so'.*'Answer: direct cause'"):
        found = cr.parse_labels(replies, labels)
    assert found.tolist()[:3] == labels and found.isna().tolist() == [False] * 3 + [True] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cr.parse_labels(["Answer: collider"] * 30 + ["none"], labels)
    assert cr.parse_labels(["X"], ["x", "y"], how=str.lower).tolist() == ["x"]
    with pytest.raises(
        ValueError, match=r"row 0 .*how= failed: .*it must return one of \['x', 'y'\] or None, found 'X'"
    ):
        cr.parse_labels(["X"], ["x", "y"], how=str)
    with pytest.raises(ValueError, match="different texts"):
        cr.parse_labels(["x"], ["x", "X"])


def test_labels_are_read_in_cells_that_are_no_texts():
    assert cr.parse_labels([1, 2.0, "Answer: 1", None], ["1", "2"]).tolist() == ["1", "2", "1", np.nan]
    assert cr.parse_labels([True, np.False_], ["false", "true"]).tolist() == ["true", "false"]
    with pytest.warns(UserWarning, match=r"1 of 2 replies .*the first '3'"):
        assert cr.parse_labels([1, 3], ["1", "2"]).isna().tolist() == [False, True]
    assert cr.parse_labels(["Answer: ~A", "A"], ["~A", "A"]).tolist() == ["~A", "A"]
    for cell in (0.5, b"1", {"label": 1}, ["1"]):
        with pytest.raises(ValueError, match=r"^row 1 .*a reply is a text, found"):
            cr.parse_labels(["1", cell], ["1", "2"])


def test_one_label_for_every_sample_is_no_evidence():
    """Nothing can be shuffled: every order of the answers is the same."""
    answers = labelled("abcab", "ccccc")
    for null in ("permute_answers", None):
        cube = answers.ceval.cube(["label_accuracy"], by=[], estimate="answer", null=null, n_draws=99, rng=1)
        found = cube.ceval.summary(columns="full").iloc[0]
        assert found["mean"] == found["control_mean"] == pytest.approx(1 / 5)
        assert np.isnan(found["p_value"]) or found["p_value"] == 1
    assert cr.label_scores(answers)["p_value"].item() == 1


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


def test_weights_are_refused_where_they_would_be_ignored():
    """By counts of answers; the advice gives the weighted accuracy."""
    answers = table("1100", "1110", weight=[1, 2, 3, 4], question=range(4))
    labels = labelled("abca", "abba", weight=[1, 2, 3, 4])
    for call in (
        lambda: cr.answer_scores(answers),
        lambda: cr.score_questions(answers, within=[]),
        lambda: cr.quantities(answers),
        lambda: cr.label_scores(labels),
        lambda: cr.confusion(labels),
    ):
        with pytest.raises(
            ValueError, match=r"column 'weight'.*every answer counts alike here.*estimate='answer'\).*by="
        ):
            call()
    found = answers.ceval.cube(["answer_accuracy"], by=[], estimate="answer")
    assert found.ceval.summary()["mean"].item() == pytest.approx(0.7)
    assert cr.answer_scores(answers, by="weight")["n"].tolist() == [1, 1, 1, 1]
    assert cr.score_questions(answers, by="weight", within=[])["n"].tolist() == [1, 1, 1, 1]
    assert cr.label_scores(labels, by="weight")["n"].tolist() == [1, 1, 1, 1]


def test_unread_replies_are_counted_without_outcomes():
    """Of replies that were joined, those without an answer are unread; a missing reply is none."""
    questions = table("1100", "????").drop(columns="answer")
    replies = pd.DataFrame({"sample": range(3), "reply": ["Answer: yes", "well", "Answer: no"]})
    with pytest.warns(UserWarning, match=r"1 of 3 replies \(33%\)"):
        joined = cr.join_answers(questions, replies, on=["sample"])
    found = cr.answer_scores(joined).iloc[0]
    assert (found["n"], found["n_failed"], found["n_unread"]) == (2, 2, 1)
    assert np.isnan(found["n_refused"]) and np.isnan(cr.answer_scores(joined.drop(columns="reply"))["n_unread"].item())


@pytest.mark.parametrize("labels", [("A->B", "A<-B"), ("A -> B", "A <- B"), ("1", "-1"), ("+", "-"), ("1.0", "10")])
def test_labels_of_two_directions_or_signs_are_two_labels(labels):
    """They are not taken for one label that is written in two ways, also where truths have one of them."""
    answers = labelled([*labels, *labels], [*labels, *labels[::-1]])
    assert cr.label_scores(answers)["accuracy"].tolist() == [0.5]
    assert cr.label_scores(answers.assign(truth=labels[0]))["accuracy"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("truth", "answer", "reader"),
    [
        (["chain", "fork", "collider"] * 2, ["It is a chain.", "Answer: fork"] * 3, "parse_labels"),
        (["chain", "fork", "collider"] * 2, ["chain", "a fork", "a collider", "x", "fork", "y"], "parse_labels"),
        (["yes", "no"] * 3, ["Answer: yes", "I would say no."] * 3, "parse_answers"),
    ],
)
def test_answers_most_of_which_no_truth_has_are_named_with_their_reader(truth, answer, reader):
    """Replies are not scored as labels without a warning; a few answers without a true label are wrong."""
    answers = labelled(truth, answer)
    for call in (
        lambda: cr.label_scores(answers),
        lambda: cr.confusion(answers),
        lambda: answers.ceval.evaluate(["label_accuracy"], estimate="answer"),
        lambda: answers.ceval.cube(["label_accuracy"], by=[], estimate="answer", n_draws=19, rng=1),
    ):
        with pytest.warns(UserWarning, match=f"of 6 answers in column 'answer' have labels that no truth.*{reader}"):
            call()


def test_a_label_that_no_truth_has_is_wrong_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cr.label_scores(labelled("aabbcc", ["refused"] * 3 + list("bcc")))["accuracy"].item() == 0.5
        assert ce.evaluate(labelled("a", "b"), ["label_accuracy"], estimate="answer")["label_accuracy"].item() == 0


def test_labels_that_truths_write_in_two_ways_are_two_labels():
    """Case tells labels apart where it tells truths apart."""
    assert cr.label_scores(labelled(["x", "X"], ["x", "x"]))["accuracy"].tolist() == [0.5]
