"""Baseline reasoners do what they say, and are scored as the specification foresees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import answer_scores, make_tasks, quantities, reasoners, taxonomy

NAMES = {
    *("perfect", "noisy", "random", "always_yes", "always_no", "ignores_do", "parrots_do", "majority"),
    *("adjacent_only", "wrong_world"),
}


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("candy_party", [[3, 3, 3], [2, 4, 2]], n_samples=600, rng=4)


@pytest.fixture(scope="module")
def answers(tasks):
    return reasoners.baselines(tasks.questionnaire(), tasks, rng=1)


@pytest.fixture(scope="module")
def table(answers, tasks):
    return quantities(answers, by="model", worlds=tasks)


def of(table, model, quantity):
    rows = table[(table["model"] == model) & (table["quantity"] == quantity) & (table["relation"] == "external")]
    return rows[rows["kind"] != "composition"]


@pytest.mark.slow
def test_all_are_there_once(answers, tasks):
    assert set(answers["model"]) == NAMES
    assert (answers.groupby("model").size() == len(tasks.questionnaire())).all()
    assert answers["answer"].notna().all()


@pytest.mark.slow
def test_what_each_does_to_the_pns(table):
    perfect = of(table, "perfect", "pns")
    np.testing.assert_allclose(perfect["estimate"], perfect["truth_sample"])
    for model in ("always_yes", "always_no", "ignores_do"):
        assert (of(table, model, "pns")["estimate"] == 0).all()
    assert (of(table, "parrots_do", "pns")["estimate"] == 1).all()
    assert of(table, "random", "pns")["estimate"].mean() == pytest.approx(0.25, abs=0.02)
    assert of(table, "random", "monotonicity_violation")["estimate"].mean() == pytest.approx(0.25, abs=0.02)
    assert of(table, "random", "ate")["estimate"].mean() == pytest.approx(0, abs=0.03)
    # right for neighbours, 1/4 beyond
    near = of(table, "adjacent_only", "pns")
    np.testing.assert_allclose(near[near["distance"] == 1]["estimate"], near[near["distance"] == 1]["truth_sample"])
    assert near[near["distance"] > 1]["estimate"].sub(0.25).abs().max() < 0.08


@pytest.mark.slow
def test_the_classes_that_they_stand_for(table):
    published = taxonomy(table, by="model", convention="paper", multiplier=None)
    classes = published.groupby("model")["class"].agg(lambda c: set(c.dropna()))
    assert classes["parrots_do"] == {"IC"}
    assert classes["random"] == classes["always_no"] == classes["ignores_do"] == {"II"}
    careful = taxonomy(table, by="model").set_index("model")
    assert (careful.loc["random", "class"] == "II").all()
    assert (careful.loc["perfect", ["valid", "consistent"]] != "no").all().all()
    # consistent by construction, whatever the other world
    assert (careful.loc["wrong_world", "consistent"] != "no").all()


@pytest.mark.slow
def test_wrong_world_is_right_about_the_other_world(tasks, answers):
    task = tasks.drawn[0]
    own = answers[(answers["model"] == "wrong_world") & (answers["task"] == 0)]
    noise = task.world.sample(600, task.seed)
    swapped = {n: {"and": "or", "or": "and"}[f] for n, f in task.world.functions.items()}
    from causaleval_pd.reasoning import World

    other = World(task.world.edges, swapped, task.world.noise)
    pairs = list(task.pairs)
    bits = other.answers(noise, pairs)
    for arm, world in ((1, "do1"), (2, "do0")):
        rows = own[own["world"] == world].sort_values("sample")
        for i, (cause, effect) in enumerate(pairs):
            found = rows[(rows["cause"] == cause) & (rows["effect"] == effect)]["answer"].to_numpy(bool)
            np.testing.assert_array_equal(found, bits[:, i, arm])
    assert (own["answer"] != own["truth"]).any()


def answers_of(questions, name, **options):
    found = reasoners.baselines(questions, names=[name], **options)
    return found["answer"].set_axis(questions.index)


@pytest.mark.parametrize("name", ["random", "noisy"])
def test_randomness_goes_by_question_not_by_row(tasks, name):
    questions = tasks.questionnaire()
    shuffled = questions.sample(frac=1, random_state=3)
    pd.testing.assert_series_equal(answers_of(questions, name, rng=5), answers_of(shuffled, name, rng=5).sort_index())
    assert (answers_of(questions, name, rng=5) != answers_of(questions, name, rng=6)).any()


def test_noise_and_majority(tasks):
    questions = tasks.questionnaire()
    wrong = answers_of(questions, "noisy", error=0.2, rng=1) != questions["truth"]
    assert wrong.mean() == pytest.approx(0.2, abs=0.01)
    given = answers_of(questions, "majority")
    by = ["task", "cause", "effect", "world"]
    assert (given.astype(float).groupby([questions[k] for k in by], dropna=False).nunique() == 1).all()
    assert (given == questions["truth"]).mean() >= 0.5


@pytest.mark.slow
def test_what_is_lacking_is_said(tasks):
    questions = tasks.questionnaire()
    with pytest.raises(ValueError, match="ask each effect in fact too"):
        reasoners.baselines(questions[questions["world"] != "fact"], names=["ignores_do"])
    with pytest.raises(ValueError, match="needs worlds="):
        reasoners.baselines(questions, names=["wrong_world"])
    with pytest.raises(ValueError, match="unknown baseline 'perfct'; did you mean 'perfect'"):
        reasoners.baselines(questions, names=["perfct"])
    assert set(reasoners.baselines(questions, rng=1)["model"]) == NAMES - {"adjacent_only", "wrong_world"}
    with pytest.raises(ValueError, match=r"error must lie in \[0, 1\], found 2"):
        reasoners.baselines(questions, error=2)


@pytest.mark.slow
def test_factual_accuracy_is_no_guard(answers, table):
    scores = answer_scores(answers[answers["model"] == "ignores_do"], by="model").set_index(["model", "world"])
    assert scores.loc[("ignores_do", "fact"), "accuracy"] == 1
    assert scores.loc[("ignores_do", "do1"), "accuracy"] > 0.6
    assert (of(table, "ignores_do", "pns")["estimate"] == 0).all()


def test_texts_as_truths_are_refused(tasks):
    questions = tasks.questionnaire().head(20)
    texts = questions.assign(truth=questions["truth"].map({True: "yes", False: "no"}))
    with pytest.raises(
        ValueError,
        match="column 'truth' must hold True, False or missing, .*read replies of yes and no by",
    ):
        reasoners.baselines(texts, names=["perfect"])
    with pytest.raises(ValueError, match="column 'truth', row 3 .*is missing"):
        reasoners.baselines(questions.assign(truth=questions["truth"].mask(np.arange(20) == 3)), names=["noisy"])
