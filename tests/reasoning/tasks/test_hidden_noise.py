"""Questions that need abduction: an independent reader of the text recovers every truth."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

from causaleval_pd.reasoning import THEMES, World, answer_scores, hidden_noise_questions, make_tasks, quantities

SPEC = importlib.util.spec_from_file_location("reader", pathlib.Path(__file__).parent / "reader.py")
reader = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reader)


@pytest.mark.parametrize("functions", [pytest.param("random", marks=pytest.mark.slow), "mixed"])
@pytest.mark.parametrize("theme", THEMES)
def test_a_reader_of_the_text_recovers_every_truth(theme, functions):
    tasks = make_tasks(theme, [[2, 3], [3, 2]], functions=functions, n_samples=1, rng=5)
    asked = hidden_noise_questions(tasks, instruction=None, rng=1)
    assert set(asked["world"]) == {"pn", "ps"}
    found = [reader.answer_hidden(prompt) for prompt in asked["prompt"]]
    assert found == asked["truth"].tolist()
    # it is neither always yes nor always no
    assert 0.2 < asked["truth"].mean() < 0.8


@pytest.mark.parametrize("theme", THEMES)
def test_a_reader_of_the_text_recovers_the_truths_of_told_noise_with_xor(theme):
    tasks = make_tasks(theme, [[3, 3]], functions="mixed", n_samples=12, rng=6)
    rows = tasks.questionnaire()
    found = [reader.answer(prompt) for prompt in tasks.prompts(rows, None)]
    assert found == rows["truth"].tolist()


def test_probabilities_are_those_of_necessity_and_sufficiency():
    world = World([("X", "Y")], {"Y": "or"}, {"X": 0.5, "Y": 0.4})
    tasks = make_tasks("candy_party", worlds=[world], n_samples=1, rng=0)
    asked = hidden_noise_questions(tasks, rng=0).drop_duplicates("world").set_index("world")
    # Y is true because of X alone in .6 of the cases, whether or not X was true; without Y, its noise is known to be 0
    assert asked.loc["pn", "probability"] == pytest.approx(0.4)
    assert asked.loc["ps", "probability"] == pytest.approx(1.0)


@pytest.mark.slow
def test_ignoring_the_evidence_is_often_wrong():
    tasks = make_tasks(list(THEMES), [[3, 3]], functions="mixed", n_tasks=4, n_samples=1, rng=2)
    asked = hidden_noise_questions(tasks, rng=2)
    ignoring = asked.assign(answer=asked["without_evidence"])
    scores = answer_scores(ignoring)
    assert (scores["accuracy"] < 0.75).all()
    assert (asked["threshold"] - 100 * asked["probability"]).abs().min() >= 2.5
    assert not asked["question"].duplicated().any()
    again = hidden_noise_questions(tasks, rng=2)
    assert again.equals(asked)
    assert not hidden_noise_questions(tasks, rng=3)["threshold"].equals(asked["threshold"])


@pytest.mark.slow
def test_worlds_with_xor_have_no_compositions_and_a_pns_beside_the_ate():
    tasks = make_tasks("cell_biology", [[2, 2]], functions="xor", n_samples=4000, rng=4)
    answers = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    table = quantities(answers, worlds=tasks)
    assert set(table["kind"]) == {"local", "global"}
    wide = table.pivot(index=["cause", "effect"], columns="quantity", values="truth_exact")
    np.testing.assert_allclose(wide["pns"] - wide["ate"], wide["monotonicity_violation"], atol=1e-12)
    assert (wide["monotonicity_violation"] > 0.05).any()
    np.testing.assert_allclose(table["estimate"], table["truth_exact"], atol=0.04)
