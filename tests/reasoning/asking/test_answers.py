"""Replies as models write them, and alignment by key."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.reasoning import example_replies, join_answers, make_tasks, parse_answers, quantities

STRICT = {
    True: [
        "yes",
        "**Yes**",
        "Answer: yes",
        "answer = YES.",
        "**Answer:** Yes",
        "The final answer: yes",
        "No guest sings.\n\nAnswer: yes",
        "Answer: no\nWait.\nAnswer: yes",
        '{"answer": "yes"}',
        '{"answer": true}',
        '```json\n{"answer": "Yes"}\n```',
        'Rules hold {x}.\n{"why": "no rule fails", "answer": "yes"}',
        "<think>no</think>\nAnswer: yes",
        "<answer>yes</answer>",
        "Answer: yes\r\n\n",
    ],
    False: ["no", "Answer: no", '{"final_answer": "No"}', "Yes would be wrong.\nAnswer: **no**.", "Answer \u2013 no"],
}
UNREAD = [
    "",
    "Yes, she sings.",
    "Nope.",
    "Ans: no",
    "Yes and no.",
    "No guest is kept from singing, so yes, Tonu sings.",
    "No toffees matter here. Tonu sings.",
    "Answer: Yes\n(The answer is no if Dremas is kept from singing.)",
    "Answer: No\n\nExplanation: to whether Piri sings the answer is yes.",
    "Answer: yes or no",
    "Close with a line that reads 'Answer: yes' or 'Answer: no'.",
    '{"answer": "yes", "answer": "no"}',
    '{"answer": "maybe"}',
    '{"answer": 1}',
    '{"answer": ["yes"]}',
    '{"other": "yes"}',
    "[" * 100_000,
    "{" * 100_000 + "}",
    "<think>Answer: yes",
    None,
    float("nan"),
    7,
]


@pytest.mark.parametrize(("meaning", "text"), [(m, text) for m, texts in STRICT.items() for text in texts])
def test_the_last_line_or_a_JSON_object_is_the_answer(meaning, text):
    assert parse_answers([text]).tolist() == [meaning]


@pytest.mark.parametrize("text", UNREAD)
def test_nothing_is_guessed(text):
    assert parse_answers([text]).isna().all()


def test_prose_is_read_as_often_wrong_as_stated():
    table = example_replies()
    assert len(table) == 126
    for how, wrong, unread in (("last_line", 0, 64), ("prose", 2, 16)):
        read = parse_answers(table["reply"], how=how)
        agrees = (read == table["meaning"]).fillna(False)
        assert (read.notna() & ~agrees).sum() == wrong
        assert (read.isna() & table["meaning"].notna()).sum() == unread
    text = parse_answers.__doc__
    assert "126 replies" in text
    assert "misreads 2 and leaves 16 unread" in " ".join(text.split())


def test_a_function_of_yours_reads_replies():
    def by_mark(text):
        return {"+": True, "-": False}.get(text[-1:])

    assert parse_answers(["so +", "so -", "so", None, True], how=by_mark).tolist() == [True, False, pd.NA, pd.NA, True]
    with pytest.raises(ValueError, match="row 1.*must return True, False or None, found 'yes'"):
        parse_answers(["a", "b"], how=lambda text: "yes" if text == "b" else None)
    with pytest.raises(ValueError, match="how="):
        parse_answers(["a"], how="pros")


def test_index_and_booleans_are_kept():
    found = parse_answers(pd.Series([True, np.False_, "yes", None], index=list("abcd"), dtype=object))
    assert found.index.tolist() == list("abcd")
    assert found.dtype == "boolean"
    assert found.dropna().to_dict() == {"a": True, "b": False, "c": True}
    assert parse_answers(pd.Series([], dtype=object)).empty


def test_other_languages():
    assert (
        parse_answers(["Oui, bien sûr", "non", "Antwort: nein"], yes=["oui"], no=["non"], how="prose").tolist()[0]
        is True
    )
    assert parse_answers(["Nein."], yes=["ja"], no=["nein"]).tolist() == [False]
    with pytest.raises(ValueError, match="none in both"):
        parse_answers(["x"], yes=["a"], no=["A"])


@given(st.text(max_size=300), st.sampled_from(["last_line", "prose"]))
def test_any_text_is_read_without_fail(text, how):
    assert len(parse_answers([text], how=how)) == 1


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
    parse_answers([text], how="prose")  # reads the last line first
    return time.process_time() - start


@pytest.mark.slow
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
    texts = ["answer " * 200_000 + "\nAnswer: no", "Yes. " + "x " * 200_000]
    assert parse_answers(texts).tolist() == [False, pd.NA]
    assert parse_answers(texts, how="prose").tolist() == [False, True]


def test_words_are_compared_without_case():
    assert parse_answers(["OUI", "ou\u0131"], yes="oui", no="non").isna().tolist() == [False, True]
    assert parse_answers(["GROSS", "groß"], yes=["groß"], no=["klein"]).tolist() == [True, True]
    assert parse_answers(
        ["Answer: por  supuesto!", "de  ninguna manera."], yes=["Por supuesto"], no=["de ninguna manera"]
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
