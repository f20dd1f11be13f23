"""The fixed benchmark: its hash, and an independent reader of its text."""

from __future__ import annotations

import hashlib
import importlib.util
import pathlib

import pytest

from causaleval_pd.reasoning import BENCHMARKS, THEMES, benchmark, quantities, reasoners

SPEC = importlib.util.spec_from_file_location("reader", pathlib.Path(__file__).parent / "reader.py")
reader = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reader)


@pytest.fixture(scope="module")
def found():
    return benchmark("v1")


@pytest.mark.slow
def test_the_questions_never_change(found):
    rows = found.questions[["task", "sample", "question", "prompt", "truth"]].itertuples(index=False, name=None)
    text = "".join("\x1f".join(map(str, row)) + "\n" for row in rows)
    assert hashlib.sha256(text.encode()).hexdigest() == BENCHMARKS["v1"] == HASH


HASH = "6ce5ab6f15d0f131ec45e70bbb525dcdc7d173a5bc5653ebb47f762e642a2406"


@pytest.mark.slow
def test_all_themes_and_rungs_are_asked(found):
    counts = found.questions["world"].value_counts()
    assert set(counts.index) == {"fact", "do1", "do0", "pn", "ps"}
    assert counts.min() > 200
    assert set(found.tasks.worlds["theme"]) == set(THEMES)
    assert not found.questions.duplicated(["task", "sample", "replicate", "question"]).any()
    with pytest.raises(ValueError, match="unknown version of the benchmark"):
        benchmark("v0")


@pytest.mark.slow
def test_an_independent_reader_answers_every_question(found):
    last = " Close with a line that reads 'Answer: yes' or 'Answer: no'."
    table = found.questions
    assert table["prompt"].str.endswith(last).all()
    read = {True: reader.answer_hidden, False: reader.answer}
    # every seventh sampled question, and every hidden one about a small world
    hidden = table["world"].isin(["pn", "ps"])
    small = hidden & (table["prompt"].str.count("if, and only if") <= 5)
    some = table[(~hidden & (table.index % 7 == 0)) | small]
    for prompt, truth, is_hidden in zip(some["prompt"], some["truth"], hidden[some.index], strict=True):
        assert read[is_hidden](prompt.removesuffix(last)) == truth, prompt


@pytest.mark.slow
def test_answers_become_quantities(found):
    answers = reasoners.baselines(found.questions, found.tasks, names=["perfect"], rng=1)
    table = quantities(answers, by="model", worlds=found.tasks, which=["pns"])
    assert (table["estimate"] - table["truth"]).abs()[table["relation"] == "external"].max() == 0
