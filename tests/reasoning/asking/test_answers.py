"""Replies as models write them, and alignment by key."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.reasoning import join_answers, make_tasks, parse_answers, quantities

YES = [
    "yes",
    "YES",
    " Yes. ",
    "**Yes**",
    "Yes, Ada is happy.",
    "yes she is",
    "# Yes",
    "> *Yes!*",
    '"Yes"',
    "True",
    "Answer: yes",
    "**Answer:** Yes",
    "**Final Answer: Yes**",
    "The answer is: **yes**.",
    "Therefore, the answer to the question is yes.",
    "No noise is missing here.\n\nFinal answer: Yes",
    "No... let me think again. 3 >= 2, so the condition holds.\nAnswer: yes",
    '{"answer": "yes"}',
    '{"answer": true}',
    '{"reasoning": "no one is, but", "answer": "Yes"}',
    '```json\n{"answer": "yes"}\n```',
    'Let me see. {"x": 1} It holds.\n{"answer": "yes"}',
    "{'answer': 'yes'}\nAnswer: yes",
    '{"Final Answer": "YES"}',
    "<think>No, wait. No!</think>\nYes",
    "<answer>yes</answer>",
    r"So we get \boxed{yes}",
    r"\boxed{\text{Yes}}",
    "The threshold is 4 and she has 5.\nSo, yes.",
    "She has more than 3 sweets. Therefore: yes",
    "Yes or no: yes",
    "Conclusion: yes",
    '{"answer": ["yes"]}',
]
NO = [
    "no",
    "No.",
    "NO!",
    "No, because Ada has 2.",
    "No she does not.",
    "_No_",
    "Answer = No",
    "Yes would need 3 of them.\nThe final answer is **No**",
    '{"answer": "no", "confidence": 0.9}',
    '{"answer": false}',
    "Reasoning: all rules fail.\n\n**Answer: no**",
    "False",
    "Thus, no.",
    "answer - no",
    "Yes/No: No",
]
MISSING = [
    "",
    "   ",
    "Perhaps.",
    "I cannot tell.",
    "No doubt about it.",
    "No one is happy here.",
    "Nobody knows",
    "yesterday",
    "Nothing",
    "Yes.\nHmm, on reflection I was wrong.\nNo.",
    "Yes or no",
    '{"answer": "maybe"}',
    '{"answer": 1}',
    "<think>yes",
    "42",
    None,
    float("nan"),
    7,
]


@pytest.mark.parametrize("text", YES)
def test_yes(text):
    assert parse_answers([text]).tolist() == [True]


@pytest.mark.parametrize("text", NO)
def test_no(text):
    assert parse_answers([text]).tolist() == [False]


@pytest.mark.parametrize("text", MISSING)
def test_what_is_no_answer_stays_missing(text):
    assert parse_answers([text]).isna().all()


def test_index_and_booleans_are_kept():
    found = parse_answers(pd.Series([True, np.False_, "yes", None], index=list("abcd"), dtype=object))
    assert found.index.tolist() == list("abcd")
    assert found.dtype == "boolean"
    assert found.dropna().to_dict() == {"a": True, "b": False, "c": True}
    assert parse_answers(pd.Series([], dtype=object)).empty


def test_other_languages():
    assert (
        parse_answers(["Oui, bien sûr", "Réponse : non", "Antwort: nein"], yes=["oui"], no=["non"]).tolist()[0] is True
    )
    assert parse_answers(["Nein."], yes=["ja"], no=["nein"]).tolist() == [False]
    with pytest.raises(ValueError, match="none in both"):
        parse_answers(["x"], yes=["a"], no=["A"])


@given(st.text(max_size=300))
def test_any_text_is_read_without_fail(text):
    assert len(parse_answers([text])) == 1


def test_long_and_hostile_texts_take_bounded_time():
    texts = [
        "answer " * 200_000 + "\nAnswer: no",
        "{" * 200_000,
        "<think>" * 50_000,
        "yes or " * 100_000,
        "\\boxed{" * 50_000,
    ]
    assert parse_answers(texts).tolist()[0] is False


def test_answers_are_joined_by_key():
    tasks = make_tasks("candy_party", [[2, 2]], n_samples=20, rng=1)
    questions = tasks.questionnaire()
    replies = questions[["task", "sample", "replicate", "question"]].copy()
    replies["reply"] = np.where(questions["truth"], "Yes.", "No.")
    replies["model"] = "a"
    both = pd.concat([replies, replies.assign(model="b", reply="?")]).sample(frac=1, random_state=1)
    joined = join_answers(questions, both.iloc[1:])
    assert len(joined) == 2 * len(questions)
    a = joined[joined["model"] == "a"]
    assert (a["answer"] == a["truth"]).sum() + a["answer"].isna().sum() == len(questions)
    lost = both.iloc[0]["model"]
    assert joined.groupby("model")["reply"].apply(lambda x: x.isna().sum())[lost] == 1
    table = quantities(joined, by="model", worlds=tasks, which=["pns"])
    pairs = table[(table["model"] == "b") & (table["kind"] != "composition")]
    assert pairs["estimate"].isna().all()
    # nobody knows what b would have said
    assert (pairs["missing_low"] == 0).all()
    assert (pairs["missing_high"] == 1).all()


def test_faulty_joins_are_refused():
    questions = pd.DataFrame({"question": ["a", "b"], "truth": [True, False]})
    replies = pd.DataFrame({"question": ["a"], "reply": ["yes"]})
    with pytest.raises(ValueError, match="belong to no question"):
        join_answers(questions, replies.assign(question="c"), on=["question"])
    with pytest.raises(ValueError, match="two answers share the key"):
        join_answers(questions, pd.concat([replies, replies]), on=["question"])
    with pytest.raises(ValueError, match="no column 'sample'"):
        join_answers(questions, replies, on=["question", "sample"])
    with pytest.raises(ValueError, match="'answer' .* or 'reply'"):
        join_answers(questions, replies.drop(columns="reply"), on=["question"])
