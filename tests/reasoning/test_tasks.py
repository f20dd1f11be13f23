"""Tasks and themes: keys fit, truths are the world's, and a reader of the prompts alone gives the true answers."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import reader

from causaleval_pd.fields.reasoning.tasks import INSTRUCTIONS
from causaleval_pd.fields.reasoning.themes import THEMES, get_theme
from causaleval_pd.reasoning import Theme, World, example_world, make_tasks

HASH = """
import hashlib
from causaleval_pd.reasoning import make_tasks
from causaleval_pd.fields.reasoning.themes import THEMES
tasks = make_tasks(list(THEMES), [[3, 3]], "mixed", n_samples=7, replicates=2, rng=5)
text = "".join(tasks.prompts()) + tasks.questionnaire().to_csv() + tasks.nodes.to_csv() + tasks.quantities.to_csv()
print(hashlib.sha256(text.encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def tasks():
    return make_tasks(["candy_party", "clinical_notes"], [[4, 3], [3, 3, 3]], n_samples=40, replicates=3, rng=8)


@pytest.mark.slow
def test_tables_have_their_rows_and_keys(tasks):
    assert len(tasks.worlds) == 4
    assert len(tasks.contexts) == 4 * 40 * 3
    assert not tasks.contexts.duplicated(["task", "sample", "replicate"]).any()
    assert tasks.questions["question"].is_unique
    # two cut nodes apart from the root give 2 + 2 * 3 questions, three give 3 + 2 * 6
    assert tasks.questions.groupby("task").size().tolist() == [8, 15, 8, 15]
    assert tasks.questions["cause"].isna().equals(tasks.questions["world"] == "fact")
    assert len(tasks.truths) == 40 * 46
    assert tasks.nodes.groupby("task").size().tolist() == tasks.worlds["n_nodes"].tolist()
    assert tasks.edges.groupby("task").size().tolist() == tasks.worlds["n_edges"].tolist()
    assert tasks.nodes["function"].isin(["and", "or"]).all()


@pytest.mark.slow
def test_truths_are_those_of_the_world(tasks):
    rows = tasks.questionnaire()
    assert rows.columns.tolist() == ["task", "sample", "replicate", "cause", "effect", "world", "truth", "question"]
    assert rows["truth"].dtype == "boolean"
    noise = tasks.contexts.set_index(["task", "sample", "replicate"])["noise"]
    for (task, cause, effect, world), part in rows.groupby(["task", "cause", "effect", "world"], dropna=False):
        model = tasks.world(task)
        bits = np.array(
            [[c == "1" for c in noise[task, s, r]] for s, r in zip(part["sample"], part["replicate"], strict=True)]
        )
        do = {} if world == "fact" else {cause: world == "do1"}
        np.testing.assert_array_equal(part["truth"], model.values(bits, do)[effect])


def test_replicates_share_noise_and_truth_but_not_words(tasks):
    contexts = tasks.contexts
    assert (contexts.groupby(["task", "sample"])["noise"].nunique() == 1).all()
    assert contexts["text"].nunique() == len(contexts)


@pytest.mark.slow
def test_quantities_are_exact_and_answers_approach_them():
    tasks = make_tasks("flower_garden", [[3, 3]], n_samples=40_000, rng=3)
    rows = tasks.questionnaire().dropna(subset=["cause"])
    wide = rows.pivot(index=["cause", "effect", "sample"], columns="world", values="truth").astype(bool)
    pns = (wide["do1"] & ~wide["do0"]).groupby(["cause", "effect"]).mean()
    exact = tasks.quantities.set_index(["cause", "effect"])["pns"]
    assert len(exact) == 3
    for pair, p in exact.items():
        assert abs(pns[pair] - p) < 5 * np.sqrt(p * (1 - p) / 40_000)


@pytest.mark.slow
def test_one_seed_gives_the_same_bytes_in_every_process():
    runs = [
        subprocess.run(
            [sys.executable, "-c", HASH],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].strip()) == 64


def test_a_table_that_is_changed_is_not_that_of_the_tasks(tasks):
    changed = tasks.worlds
    changed["text"] = ""
    assert tasks.worlds["text"].str.len().min() > 100


def test_more_samples_keep_the_first_ones():
    few, many = (make_tasks("candy_party", [[3, 3]], n_samples=n, rng=4) for n in (10, 30))
    pd.testing.assert_frame_equal(few.contexts, many.contexts.head(10))
    assert not few.contexts["text"].equals(make_tasks("candy_party", [[3, 3]], n_samples=10, rng=5).contexts["text"])


@pytest.mark.slow
def test_prompts_are_aligned_by_key(tasks):
    rows = tasks.questionnaire()
    whole = tasks.prompts(rows, "json")
    assert whole.str.endswith(INSTRUCTIONS["json"]).all()
    some = rows.sample(50, random_state=1)
    pd.testing.assert_series_equal(tasks.prompts(some, "json"), whole[some.index])
    row = rows.iloc[100]
    context = tasks.contexts.set_index(["task", "sample", "replicate"])["text"][
        row["task"], row["sample"], row["replicate"]
    ]
    asked = tasks.questions.set_index("question")["text"][row["question"]]
    world = tasks.worlds["text"][row["task"]]
    assert tasks.prompts(rows.iloc[[100]], None).iloc[0] == f"{world}\n\n{context}\n\n{asked}"
    assert tasks.prompts(rows.iloc[[100]], "Just answer.").iloc[0] == f"{world}\n\n{context}\n\n{asked} Just answer."


def test_worlds_of_your_own():
    tasks = make_tasks("cell_biology", worlds=[example_world()], n_samples=5, rng=0)
    assert tasks.world(0) == example_world()
    assert len(tasks.questions) == 3 + 12
    assert tasks.questions["question"].iloc[[0, 3]].tolist() == ["0/C/fact", "0/X>C/do1"]


def test_wrong_requests_are_refused(tasks):
    with pytest.raises(ValueError, match="either sizes"):
        make_tasks("candy_party")
    for theme, sizes in (([], [[3, 3]]), ("candy_party", [])):
        with pytest.raises(ValueError, match="no task to make; give at least one theme, and one graph's sizes"):
            make_tasks(theme, sizes)
    with pytest.raises(ValueError, match=r"give \[\[4, 4\]\]"):
        make_tasks("candy_party", [4, 4])
    with pytest.raises(ValueError, match="n_samples must be a positive integer, found 0"):
        make_tasks("candy_party", [[3]], n_samples=0)
    with pytest.raises(ValueError, match="at least 2 nodes"):
        make_tasks("candy_party", [[3, 1]], rng=0)
    with pytest.raises(ValueError, match=r"unknown instruction .*'jsn'"):
        tasks.prompts(instruction="jsn")
    rows = tasks.questionnaire().head(3)
    with pytest.raises(ValueError, match="row 1 asks .*'sample': 40"):
        tasks.prompts(rows.assign(sample=[0, 40, 0]))
    with pytest.raises(ValueError, match="unknown task 9"):
        tasks.world(9)


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
    clinical = make_tasks("clinical_notes", [[4, 3]], n_samples=1, rng=0).world(0)
    assert (clinical.nodes[0], clinical.nodes[-1]) == ("pain", "surgery")


def test_a_threshold_does_not_give_the_rate_away():
    tasks = make_tasks("candy_party", [[6, 6]], n_tasks=60, n_samples=1, rng=3)
    threshold = tasks.nodes["condition"].str.extract(r"at least (\d+)")[0].astype(int)
    assert abs(threshold.corr(tasks.nodes["noise"])) < 0.12


def test_flu_symptoms_that_do_not_count_say_nothing():
    tasks = make_tasks("flu_vaccine", [[2]], n_samples=4000, noise=0.5, rng=1)
    contexts = tasks.contexts
    symptoms = ("fever", "chills", "a cough", "a sore throat", "headaches", "sneezing")
    counted = [i for i, symptom in enumerate(symptoms) if f"had {symptom} for" in tasks.nodes["condition"][0]]
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
