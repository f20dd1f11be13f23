"""Question sets of others, in small files of our own in their layouts."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import ask, read_cladder, read_corr2cause, score_questions

GRAPHS = ("chain", "fork")
MODELS = [{"model_id": i, "background": f"Lamp {i} lights lamp {i + 1}."} for i in range(4)]


def cladder(n=48):
    """Questions of three rungs over two graphs and four models; the answer alternates within each."""
    return [
        {
            "question_id": 100 + i,
            "given_info": f"Lamp 1 is lit in {i} % of cases." if i % 2 else "",
            "question": "Is lamp 2 lit more often?",
            "answer": "yes" if i // 12 % 2 else "no",
            "meta": {
                "rung": 1 + i % 3,
                "query_type": ("marginal", "ate", "ett")[i % 3],
                "graph_id": GRAPHS[i // 3 % 2],
                "model_id": i % 4,
                "story_id": "lamps",
            },
        }
        for i in range(n)
    ]


def write(path, content, *, lines=False):
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_cladder_with_backgrounds(tmp_path):
    models = write(tmp_path / "models.json", MODELS)
    found = read_cladder(write(tmp_path / "questions.json", cladder()), models, instruction=None)
    assert len(found) == 48
    assert found["prompt"][1] == "Lamp 1 lights lamp 2. Lamp 1 is lit in 1 % of cases. Is lamp 2 lit more often?"
    assert found["prompt"][0] == "Lamp 0 lights lamp 1. Is lamp 2 lit more often?"
    row = found.iloc[5]
    assert (row["question"], row["rung"], row["query"], row["graph"], row["cluster"]) == ("105", 3, "ett", "fork", "1")
    assert found["truth"].tolist() == [i // 12 % 2 == 1 for i in range(48)]
    lines = read_cladder(write(tmp_path / "questions.jsonl", cladder(), lines=True), models, instruction=None)
    pd.testing.assert_frame_equal(lines, found)
    with pytest.raises(ValueError, match=r"record 0: the background of model 0 is missing; pass models="):
        read_cladder(tmp_path / "questions.json")
    assert read_cladder(tmp_path / "questions.json", background=False)["prompt"].str.endswith("'Answer: no'.").all()


def test_the_flat_table_of_cladder(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text(
        "id,prompt,label,reasoning,graph_id,story_id,rung,query_type\n"
        '3,"Imagine a lamp, lit.\nIs it lit?",yes,,fork,lamps,1,marginal\n',
        encoding="utf-8",
    )
    [row] = read_cladder(path, instruction=None).to_dict("records")
    assert row["prompt"] == "Imagine a lamp, lit.\nIs it lit?"
    assert (row["question"], row["rung"], row["truth"]) == ("3", 1, True)


def test_corr2cause(tmp_path):
    path = tmp_path / "test.csv"
    text = "Premise: Suppose there is a closed system of 3 variables, A, B and C.\nHypothesis: A directly causes B."
    pd.DataFrame({"input": [text, text.replace("3", "4")], "label": [1, 0]}).to_csv(path, index=False)
    found = read_corr2cause(path, instruction=None)
    assert found["truth"].tolist() == [True, False]
    assert found["graph"].tolist() == ["3 variables", "4 variables"]
    assert found["rung"].isna().all()
    assert found["prompt"][0] == f"{text}\n\nDoes the hypothesis follow from the premise?"
    relations = ["entailment", "neutral", "contradiction"]
    parts = [{"premise": "Of 2 variables.", "hypothesis": f"H{i}.", "relation": r} for i, r in enumerate(relations)]
    three = read_corr2cause(write(tmp_path / "test.json", parts))
    assert three["truth"].tolist() == [True, False, False]
    assert three["cluster"].nunique() == 1


OTHER_LAYOUTS = {
    "rung": (lambda r: r | {"meta": r["meta"] | {"rung": 2.7}}, "its rung must be 1, 2 or 3, found 2.7"),
    "meta": (lambda r: r | {"meta": None}, "its field 'meta' must be an object, found None"),
    "number": (lambda r: r | {"given_info": 5}, "its field 'given_info' must be text, found 5"),
    "blank": (lambda r: r | {"question": " "}, "its field 'question' must be text"),
    "list": (lambda r: r | {"given_info": ["a"]}, "its field 'given_info' must be text"),
    "bool": (lambda r: r | {"answer": True}, "the answer must be yes or no, found True"),
    "relation": (lambda r: r | {"answer": "entailment"}, "the answer must be yes or no"),
    "words": (lambda r: r | {"answer": "Yes, because"}, "the answer must be yes or no"),
    "key": (lambda r: r | {"question_id": {"a": 1}}, "its key must be text or a whole number"),
    "perhaps": (lambda r: r | {"answer": "perhaps"}, "the answer must be yes or no, found 'perhaps'"),
    "no answer": (lambda r: {k: v for k, v in r.items() if k != "answer"}, "it has no field 'answer'"),
    "text": (lambda r: r | {"meta": r["meta"] | {"rung": "two"}}, "its rung must be 1, 2 or 3, found 'two'"),
    "repeated": (lambda r: r | {"question_id": 100}, "the key '100' is repeated"),
    "no object": (lambda r: 7, "expected an object with fields, found 7"),
}


@pytest.mark.parametrize("kind", OTHER_LAYOUTS)
def test_another_layout_and_damage_are_refused_and_never_guessed(kind, tmp_path):
    change, message = OTHER_LAYOUTS[kind]
    records = cladder(3)
    records[1] = change(records[1])
    with pytest.raises(ValueError, match=f"record 1: {message}"):
        read_cladder(write(tmp_path / "q.json", records), background=False)


def test_the_layout_of_another_set_is_refused(tmp_path):
    sets = {
        read_cladder: cladder(3),
        read_corr2cause: [{"input": "Premise: P. Hypothesis: H.", "label": 1}],
    }
    for read in sets:
        for other, records in sets.items():
            if other is not read:
                with pytest.raises(ValueError, match="record 0: "):
                    read(write(tmp_path / "q.json", records), **({"background": True} if read is read_cladder else {}))
    for records, message in (
        ([{"input": "Premise: P.", "label": 1}], "has no 'Hypothesis:'"),
        ([{"input": "Premise: P. Hypothesis: H.", "label": "yes"}], "the answer must be 1 or 0"),
        ([{"input": 7, "label": 1}], "its field 'input' must be text, found 7"),
    ):
        with pytest.raises(ValueError, match=f"record 0: .*{message}"):
            read_corr2cause(write(tmp_path / "q.json", records))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.json", '[{"answer": "yes", "answer": "no"}]', "a record has two fields 'answer'"),
        ("q.json", '[{"question": NaN}]', "found NaN, which is not JSON"),
        ("q.csv", "question,answer,answer\na,yes,no\n", "a record has two fields 'answer'"),
        ("q.csv", "question,answer\na,yes\nb,no,yes\n", "line 3 has 3 cells, the first line 2"),
        ("q.csv", "question,answer\na\n", "line 2 has 1 cells, the first line 2"),
    ],
)
def test_tables_that_would_lose_a_value_are_refused(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_corr2cause(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"[1", b"{", b"\xff\xfe", b"[" * 100_000, b'"text"'])
def test_files_that_hold_no_questions_are_refused(content, tmp_path):
    path = tmp_path / "q.json"
    path.write_bytes(content)
    for read in (read_cladder, read_corr2cause):
        with pytest.raises(ValueError, match=r"q\.json"):
            read(path)


@pytest.mark.slow
def test_answers_are_scored_beside_shuffled_ones(tmp_path):
    questions = read_cladder(write(tmp_path / "q.json", cladder(240)), background=False)
    truth = dict(zip(questions["question"], questions["truth"], strict=True))
    answers = []
    for model, right in (("perfect", 1.0), ("kind", None)):
        generator = np.random.default_rng(1)

        def reply(prompt, model=model, generator=generator):
            return "Answer: yes"

        asked = ask(questions, reply, key=["question"]).assign(model=model)
        if right:
            asked["answer"] = asked["question"].map(truth).astype("boolean")
        else:  # the usual answer of each kind of question
            asked["answer"] = (asked["query"] == "ate").astype("boolean")
        answers.append(asked)
    table = pd.concat(answers, ignore_index=True)
    for within in ("rung", "graph", ["rung", "graph"]):
        worlds = score_questions(table, by="model", within=within).set_index("model")
        assert (worlds["n_clusters"] <= 4).all()
        found = score_questions(table.drop(columns="cluster"), by="model", within=within).set_index("model")
        assert (found.loc["perfect", "accuracy"] == 1).all()
        np.testing.assert_allclose(found.loc["kind", "accuracy"], found.loc["kind", "control_accuracy"])
        assert (found["n"] > 0).all()
    with pytest.raises(ValueError, match="question '100' is answered more than once.*'replicate'"):
        score_questions(table)
    with pytest.raises(ValueError, match="unknown column 'rungs'; did you mean 'rung'"):
        score_questions(table, by="model", within="rungs")
