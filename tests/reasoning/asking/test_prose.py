"""Prose as models write it."""

from __future__ import annotations

import pytest

from causaleval_pd.reasoning import parse_answers

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
    "Yes or no",
    "Answer: yes, no",
    "The answer is yes no.",
    "Answer: no idea",
    "My answer is no, yes, I cannot tell.",
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
    assert parse_answers([text], how="prose").tolist() == [True]


@pytest.mark.parametrize("text", NO)
def test_no(text):
    assert parse_answers([text], how="prose").tolist() == [False]


@pytest.mark.parametrize("text", MISSING)
def test_what_is_no_answer_stays_missing(text):
    assert parse_answers([text], how="prose").isna().all()
