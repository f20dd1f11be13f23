"""Replies as models write them, and alignment by key."""

from __future__ import annotations

import time

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


STARTS = ["", "yes", "answer", "answer to", "final", "x\nso", "```", "<think", "\\boxed", "\\boxed{", '{"answer":']
REPEATED = [
    *" \t\n\r\u00a0:;=-,.!?|/\\\"'`*_#>~$()[]{}<a1é\u0301\u2013\ud800",
    *("is", " is", "to ", "for ", "so ", "no", "yes or ", "yes or no ", "final ", "answer", "answer ", "answer to "),
    *("the answer is ", "answer:", "```", "```json\n", "<think>", "</think>", "<answer>", "<a", "\\boxed{", "\\text{"),
    *(
        "\\boxed {\\text ",
        "{}",
        '{"answer": 1}',
        '{"answer":',
        '"answer": "',
        ". ",
        ".\n",
        ": ",
        "= ",
        "\n\n",
        "İ",
        "ß",
    ),
]


def cpu_seconds(text):
    start = time.process_time()
    parse_answers([text])
    return time.process_time() - start


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("end", [pytest.param("", marks=pytest.mark.slow), "x"])
def test_the_time_of_a_reply_grows_with_its_length(start, end):
    """Twice as long a text takes about twice the time: four times over two steps, and 16 if time were quadratic."""
    for token in REPEATED:
        seconds = {}
        n = 100
        while n <= 12_800:
            text = start + token * (n // len(token)) + end
            seconds[n] = cpu_seconds(text)
            if seconds[n] > 0.02:  # shorter times are too noisy for a ratio
                now, before = (min(cpu_seconds(t) for _ in range(3)) for t in (text, text[: n // 4]))
                assert now < 9 * max(before, 0.002), f"{start!r} + {token!r} * n + {end!r}: {now / before} times"
            n *= 2


def test_only_both_ends_of_a_long_text_are_read():
    assert parse_answers(["answer " * 200_000 + "\nAnswer: no", "Yes. " + "x " * 200_000]).tolist() == [False, True]


def test_words_are_compared_without_case():
    # an i without a dot equals an I, but not in lower case
    assert parse_answers(["ou\u0130", "OUI", "ou\u0131"], yes="oui", no="non").isna().tolist() == [False, False, True]
    assert parse_answers(["GROSS", "groß"], yes=["groß"], no=["klein"]).tolist() == [True, True]
    assert parse_answers(
        ["Answer: por  supuesto!", "de  ninguna manera"], yes=["Por supuesto"], no=["de ninguna manera"]
    ).tolist() == [True, False]


@pytest.mark.parametrize("words", [[""], ["  "], []])
def test_empty_words_are_refused(words):
    with pytest.raises(ValueError, match="yes"):
        parse_answers(["x"], yes=words, no=["no"])


@pytest.mark.parametrize("words", [[1], [None], [b"yes"]])
def test_words_must_be_text(words):
    with pytest.raises(TypeError, match="no must be words"):
        parse_answers(["x"], yes=["yes"], no=words)


@pytest.mark.parametrize("replies", ["yes", b"yes", {"yes": 1}, pd.DataFrame({"reply": ["yes"]})])
def test_what_is_no_column_is_refused(replies):
    with pytest.raises(TypeError, match="a column or a list of texts"):
        parse_answers(replies)


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
