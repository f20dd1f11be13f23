"""Questions put to functions, replies as models write them, and alignment by key."""

import json
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.fields.reasoning.yes_counts import as_bits
from causaleval_pd.reasoning import Reply, ask, join_answers, make_tasks, parse_answers, quantities

# most tests read what has no answer
pytestmark = pytest.mark.filterwarnings("ignore:.* have no answer that could be read:UserWarning")

STRICT = {
    True: ["yes", "**Yes**", "Answer: yes", "answer = YES.", "**Answer:** Yes", "The final answer: yes",
        "No guest sings.\n\nAnswer: yes", "Answer: no\nWait.\nAnswer: yes", '{"answer": "yes"}', '{"answer": true}',
        '```json\n{"answer": "Yes"}\n```', 'Rules hold {x}.\n{"why": "no rule fails", "answer": "yes"}',
        "<think>no</think>\nAnswer: yes", "<answer>yes</answer>", "Answer: yes\r\n\n"],
    False: ["no", "Answer: no", '{"final_answer": "No"}', "Yes would be wrong.\nAnswer: **no**.", "Answer \u2013 no"],
}  # fmt: skip
UNREAD = [
    "", "Yes, she sings.", "Nope.", "Ans: no", "Yes and no.", "No guest is kept from singing, so yes, Tonu sings.",
    "No toffees matter here. Tonu sings.",
    "Answer: Yes\n(The answer is no if Dremas is kept from singing.)",
    "Answer: No\n\nExplanation: to whether Piri sings the answer is yes.",
    "Answer: yes or no",
    "Close with a line that reads 'Answer: yes' or 'Answer: no'.",
    '{"answer": "yes", "answer": "no"}', '{"answer": "maybe"}', '{"answer": 1}', '{"answer": ["yes"]}',
    '{"other": "yes"}', "[" * 100_000, "{" * 100_000 + "}", "<think>Answer: yes", None, float("nan"),
    "~yes", "Answer: ~no", "~~yes~~", "Answer: ~~yes~~", "**~~no~~**", "!yes", "Answer: !no", '{"answer": "~yes"}',
]  # fmt: skip


@pytest.mark.parametrize(("meaning", "text"), [(m, text) for m, texts in STRICT.items() for text in texts])
def test_the_last_line_or_a_JSON_object_is_the_answer(meaning, text):
    assert parse_answers([text]).tolist() == [meaning]


@pytest.mark.parametrize("text", UNREAD)
def test_nothing_is_guessed(text):
    assert parse_answers([text]).isna().all()


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


OF_NUMBERS = [pd.Series([1, 0, None], dtype=dtype) for dtype in (object, "Int64", "Float64", "boolean", "float64")]
OF_OBJECTS = [pd.Series(cells, dtype=object) for cells in ([np.True_, 0.0, pd.NaT], [np.int8(1), False, pd.NA])]


@pytest.mark.parametrize("column", [*OF_NUMBERS, *OF_OBJECTS])
def test_cells_that_are_no_texts_are_read_as_in_a_column_of_answers(column):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = parse_answers(column)
    assert found.tolist() == [True, False, pd.NA]
    assert parse_answers(column, how=lambda text: not text).tolist() == [True, False, pd.NA]
    np.testing.assert_array_equal(found.to_numpy(float, na_value=np.nan), as_bits(column, "answer"))


@pytest.mark.parametrize("cell", [2, 0.5, -1, b"yes", {"answer": "yes"}, ["yes"], np.array(["yes"]), object(), ...])
def test_other_objects_are_refused_by_row(cell):
    cells = pd.Series(["yes", None, cell], index=list("abc"), dtype=object)
    with pytest.raises(ValueError, match=r"^row 2 \(index 'c'\): a reply is a text, found"):
        parse_answers(cells)


def test_other_languages_are_read_by_a_function():
    found = parse_answers(["Oui.", "Antwort: non"], how=lambda text: {"oui": True}.get(text.casefold().strip(".")))
    assert found.tolist() == [True, pd.NA]


@given(st.text(max_size=300))
def test_any_text_is_read_without_fail(text):
    assert len(parse_answers([text])) == 1


STARTS = ["", "yes", "answer", "answer to", "final", "x\nso", "```", "<think", "\\boxed", "\\boxed{", '{"answer":']
REPEATED = [
    *" \t\n\r\u00a0:;=-,.!?|/\\\"'`*_#>~$()[]{}<a1é\u0301\u2013\ud800",
    *("is", " is", "to ", "for ", "so ", "no", "yes or ", "yes or no ", "final ", "answer", "answer ", "answer to "),
    *("the answer is ", "answer:", "```", "```json\n", "<think>", "</think>", "<answer>", "<a", "\\boxed{", "\\text{"),
    *(
        "\\boxed {\\text ", "{}", '{"answer": 1}', '{"answer":', '"answer": "', ". ", ".\n", ": ", "= ", "\n\n", "İ",
        "ß",
    ),
]  # fmt: skip


@pytest.mark.parametrize("start", STARTS)
def test_the_work_on_a_reply_grows_with_its_length(start, count_lines):
    for token in REPEATED:
        for end in ("", "x"):
            once, twice = (
                count_lines(lambda n, t=token, e=end: parse_answers([start + t * n + e]), n) for n in (50, 100)
            )
            assert twice < 2 * once + 100, f"{start!r} + {token!r} * n + {end!r}"


def test_only_both_ends_of_a_long_text_are_read():
    texts = ["answer " * 200_000 + "\nAnswer: no", "Yes. " + "x " * 200_000]
    assert parse_answers(texts).tolist() == [False, pd.NA]


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


def test_the_columns_of_ask_are_no_settings_when_answers_are_joined():
    """Outcome, tokens and seconds belong to a reply, so each question of each model stands once."""
    tasks = make_tasks("candy_party", [[2, 2]], n_samples=3, rng=1)
    questions = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    asked = [
        ask(questions, lambda prompt, n=n: Reply("Answer: yes" if len(prompt) % n else "well", model_version=f"{n}"))
        for n in (2, 3)
    ]
    both = pd.concat([part.assign(model=name) for part, name in zip(asked, "ab", strict=True)])
    joined = join_answers(questions, both)
    assert len(joined) == 2 * len(questions)
    for part, name in zip(asked, "ab", strict=True):
        own = joined[joined["model"] == name].drop(columns="model").reset_index(drop=True)
        pd.testing.assert_frame_equal(own[part.columns], part, check_dtype=False, check_categorical=False)


def test_faulty_joins_are_refused():
    questions = pd.DataFrame({"question": ["a", "b"], "truth": [True, False]})
    replies = pd.DataFrame({"question": ["a"], "reply": ["yes"]})
    with pytest.raises(ValueError, match="belong to no question"):
        join_answers(questions, replies.assign(question="c"), on=["question"])
    with pytest.raises(ValueError, match="two answers have the key"):
        join_answers(questions, pd.concat([replies, replies]), on=["question"])
    with pytest.raises(ValueError, match="no column 'sample'"):
        join_answers(questions, replies, on=["question", "sample"])
    with pytest.raises(ValueError, match="'answer' .* or 'reply'"):
        join_answers(questions, replies.drop(columns="reply"), on=["question"])


def questions(n=6):
    return pd.DataFrame({"question": range(n), "prompt": [f"prompt {i}" for i in range(n)]})


def quick(table, reasoner, **options):
    return ask(table, reasoner, key=["question"], **options)


def test_an_error_of_the_function_is_the_outcome_of_its_question():
    def moody(prompt):
        if prompt.endswith("2"):
            raise TimeoutError("slow")
        return "yes"

    found = quick(questions(), moody)
    assert found["answer"].isna().tolist() == [i == 2 for i in range(6)]
    assert found["outcome"].tolist() == ["failed" if i == 2 else "answered" for i in range(6)]
    assert found["error"].dropna().to_dict() == {2: "TimeoutError: slow"}
    assert found["seconds"].notna().tolist() == [i != 2 for i in range(6)]
    assert "returns text, a Reply, True or False, found int" in quick(questions(1), lambda _: 1)["error"][0]
    assert "found NoneType" in quick(questions(1), lambda _: None)["error"][0]
    assert (
        "input_tokens of a Reply must be a number"
        in quick(questions(1), lambda _: Reply("no", input_tokens="3"))["error"][0]
    )


def test_a_function_that_always_fails_is_given_up():
    def broken(prompt):
        raise KeyError("oops")

    with pytest.warns(UserWarning, match="3 questions in a row failed: KeyError: 'oops'. The questions left were not"):
        found = quick(questions(100), broken, give_up_after=3, workers=2)
    counts = found["outcome"].value_counts()
    assert counts["failed"] >= 3
    assert counts["not_asked"] > 50
    assert counts["failed"] + counts["not_asked"] == 100


def test_replies_have_outcomes_and_details():
    replies = {
        "prompt 0": Reply("Answer: yes", finish_reason="stop", model_version="m-1", input_tokens=9, output_tokens=3),
        "prompt 1": Reply(None, refusal="I would rather not."),
        "prompt 2": Reply("Answer: yes", finish_reason="content_filter"),
        "prompt 3": Reply("So far:\nAnswer: yes", finish_reason="length"),
        "prompt 4": Reply("Perhaps.", seconds=1.5),
        "prompt 5": True,
    }
    found = quick(questions(), replies.__getitem__)
    assert found["outcome"].tolist() == ["answered", "refused", "refused", "truncated", "unread", "answered"]
    assert found["answer"].tolist() == [True, *[pd.NA] * 4, True]
    assert found["error"].dropna().to_dict() == {1: "I would rather not."}
    row = found.loc[0, ["finish_reason", "model_version", "input_tokens", "output_tokens"]]
    assert row.tolist() == ["stop", "m-1", 9, 3]
    assert found.loc[4, "seconds"] == 1.5


def test_a_way_of_reading_that_fails_is_noted():
    found = quick(questions(1), lambda _: "yes", how=lambda text: 1 / 0)
    assert found["outcome"].tolist() == ["unread"]
    assert found["error"].tolist() == ["the function how= failed: ZeroDivisionError: division by zero"]


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("\ud800\nyes", "\ufffd\nyes"), ("no \udc00\ud800", "no \ufffd\ufffd"), ("yes \ud83d\ude00", "yes \U0001f600"),
        ("no \x00 nul", "no \x00 nul"), ("", ""),
    ],
)  # fmt: skip
def test_replies_are_valid_text(reply, shown, tmp_path):
    found = quick(questions(1), lambda _: reply)
    assert found["reply"].tolist() == [shown]
    found.to_parquet(tmp_path / "found.parquet")


def test_lone_surrogates_in_errors():
    def refuse(prompt):
        raise ValueError("never \ud800 " + "x" * 10_000)

    error = quick(questions(1), refuse)["error"][0]
    assert error.startswith("ValueError: never \ufffd xxx")
    assert len(error) == 1000


def test_calls_are_made_at_once_and_rows_keep_their_order():
    together = threading.Barrier(4, timeout=60)

    def reasoner(prompt):
        together.wait()
        return prompt.endswith(("0", "2"))

    assert quick(questions(4), reasoner, workers=4)["answer"].tolist() == [True, False, True, False]
    assert quick(questions(0), reasoner).empty


def test_an_interrupt_ends_the_call():
    def interrupted(prompt):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(questions(50), interrupted)


def test_a_questionnaire_end_to_end(capsys):
    tasks = make_tasks("flu_vaccine", [[2, 2]], n_samples=3, rng=1)
    table = tasks.questionnaire()
    table["prompt"] = tasks.prompts(table, "json")
    truth = dict(zip(table["prompt"], table["truth"], strict=True))
    with ce.set_options(progress=True):
        answered = ask(table, lambda prompt: json.dumps({"answer": "yes" if truth[prompt] else "no"}))
    assert (answered["answer"] == answered["truth"]).all()
    assert f"{len(table)}/{len(table)}" in capsys.readouterr().err


def test_tables_are_checked():
    with pytest.raises(ValueError, match="no column 'prompt'"):
        quick(questions().drop(columns="prompt"), lambda _: "yes")
    with pytest.raises(ValueError, match="two questions have the key"):
        quick(questions().assign(question=1), lambda _: "yes")
    with pytest.raises(ValueError, match="row 0 has no prompt"):
        quick(questions(1).assign(prompt=None), lambda _: "yes")
    with pytest.raises(ValueError, match="workers must be"):
        quick(questions(), lambda _: "yes", workers=0)
    with pytest.raises(ValueError, match="key names no column"):
        ask(questions(), lambda _: "yes", key=[])


def test_many_unread_replies_are_warned_of():
    replies = ["Answer: yes"] * 19 + ["Let me think. Answer: yes"]
    with pytest.warns(
        UserWarning, match=r"1 of 20 replies \(5%\) have no answer that could be read, the first 'Let me"
    ):
        assert parse_answers(replies).isna().sum() == 1
    table = questions(20)
    with pytest.warns(UserWarning, match="1 of 20 replies"):
        found = quick(table, lambda prompt: "Perhaps." if prompt.endswith(" 7") else True)
    assert found["outcome"].value_counts()["unread"] == 1
    with pytest.warns(UserWarning, match=r"1 of 20 replies .*'Perhaps\.'; .*how="):
        join_answers(table.assign(truth=True), found[["question", "reply"]], on=["question"])
    # fewer, and what is no reply, are not
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_answers([*replies, "no", None, None]).isna().sum() == 3
        assert parse_answers([None, True]).isna().sum() == 1
