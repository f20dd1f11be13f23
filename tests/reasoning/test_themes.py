"""Themes: a reader who knows nothing but the prompt answers every question as the world does."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest

from causaleval_pd.reasoning import Theme, World, make_tasks
from causaleval_pd.reasoning.themes import THEMES, get_theme

SPEC = importlib.util.spec_from_file_location("reader", pathlib.Path(__file__).parent / "reader.py")
reader = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reader)


@pytest.mark.slow
@pytest.mark.parametrize("detail", [True, False])
@pytest.mark.parametrize("name", THEMES)
def test_a_reader_of_the_words_gives_the_true_answers(name, detail):
    tasks = make_tasks(name, [[4, 3], [3, 2, 4]], "mixed", n_tasks=2, n_samples=12, replicates=2, detail=detail, rng=6)
    rows = tasks.questionnaire()
    for prompt, truth in zip(tasks.prompts(rows, None), rows["truth"], strict=True):
        assert reader.answer(prompt) == truth, prompt


@pytest.mark.parametrize("name", THEMES)
def test_noise_has_its_rate_and_details_add_words(name):
    short, long = (make_tasks(name, [[4, 4]], n_samples=300, detail=d, rng=2).contexts for d in (False, True))
    assert (short["noise"] == long["noise"]).all()
    assert (short["text"].str.len() < long["text"].str.len()).all()
    assert long["text"].nunique() == 300


@pytest.mark.slow
def test_names_are_different_and_made_up():
    for theme in THEMES.values():
        tasks = make_tasks(theme, [[30] * 20], n_samples=1, rng=0)
        assert tasks.nodes["node"].is_unique
        assert len(tasks.nodes) == 581
    clinical = make_tasks("clinical_notes", [[4, 3]], n_samples=1, rng=0).drawn[0].world
    assert (clinical.nodes[0], clinical.nodes[-1]) == ("pain", "surgery")


def test_a_threshold_does_not_give_the_rate_away():
    tasks = make_tasks("candy_party", [[6, 6]], n_tasks=60, n_samples=1, rng=3)
    threshold = tasks.nodes["condition"].str.extract(r"at least (\d+)")[0].astype(int)
    assert abs(threshold.corr(tasks.nodes["noise"])) < 0.12


def test_flu_symptoms_that_do_not_count_say_nothing():
    tasks = make_tasks("flu_vaccine", [[2]], n_samples=4000, noise=0.5, rng=1)
    contexts = tasks.contexts
    first = tasks.drawn[0].conditions[0]
    counted = [int(part) for part in first.group.split()[:2]]
    symptoms = ("fever", "chills", "a cough", "a sore throat", "headaches", "sneezing")
    told = contexts["text"].str.split("Last winter").str[1]
    for i, symptom in enumerate(symptoms):
        days = told.str.extract(rf"{symptom} for (\d) day")[0].astype(int)
        related = abs(days.corr(contexts["noise"].str[0].astype(int)))
        assert related > 0.3 if i in counted else related < 0.08
    assert told.str.match(r" \w+ had fever").mean() == pytest.approx(1 / 6, abs=0.03), "any order"


def test_a_theme_of_your_own():
    lamps = Theme(
        name="lamps",
        intro="Lamps hang in a row.",
        closing="Nothing else matters.",
        state="lamp {node} is lit",
        question="Is lamp {node} lit?",
        set_true="Suppose that lamp {node} is lit, whatever its oil would have led to.",
        set_false="Suppose that lamp {node} is not lit, whatever its oil would have led to.",
        then="Is lamp {node} lit then?",
        own="{node} was handed at least {threshold} toffees",
        seen="{node} was handed {value} toffees.",
        thresholds=(1, 9),
        values=(0, 9),
    )
    world = World([("a", "b"), ("c", "b")], {"b": "and"}, {"a": 0.5, "b": 0.9, "c": 0.5})
    with pytest.raises(ValueError, match="needs one root"):
        make_tasks(lamps, worlds=[world])
    tasks = make_tasks(lamps, worlds=[world], pairs="all", n_samples=50, rng=0)
    rows = tasks.questionnaire()
    for prompt, truth in zip(tasks.prompts(rows, None), rows["truth"], strict=True):
        assert reader.answer(prompt) == truth


def test_a_subclass_tells_samples_its_own_way():
    class Loud(Theme):
        def say(self, node):
            return super().say(node).upper()

    theme = get_theme("candy_party")
    loud = Loud(**{name: getattr(theme, name) for name in theme.__dataclass_fields__})
    assert "SINGS IF" not in make_tasks(loud, [[2]], n_samples=1, rng=0).worlds["text"][0]
    assert "SINGS if, and only if" in make_tasks(loud, [[2]], n_samples=1, rng=0).worlds["text"][0]


def test_unknown_themes_are_refused():
    with pytest.raises(ValueError, match="did you mean 'candy_party'"):
        get_theme("candy")


@pytest.mark.slow
def test_clinical_decoys_are_details():
    code = r"\b[A-Z]\d[A-Z]\d\b"
    for detail in (False, True):
        tasks = make_tasks("clinical_notes", [[5, 5]], n_samples=200, detail=detail, rng=4)
        ruled = set(tasks.worlds["text"].str.findall(code).explode())
        told = set(tasks.contexts["text"].str.findall(code).explode().dropna())
        decoys = told - ruled
        assert len(decoys) == (12 if detail else 0)
        assert len(told & ruled) == 8, "the code of every node but the root"
