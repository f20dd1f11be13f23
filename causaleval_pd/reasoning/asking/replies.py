"""Replies of a reasoner, and the outcome of each question: answered, unread, refused, truncated, failed, not asked."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import pandas as pd

__all__ = ["OUTCOMES", "Reply"]

#: what became of a question: a reply with an answer, one without a readable answer, a refusal (by the model, or by the
#: server), a reply that was cut off, no reply, and a question that was never sent
OUTCOMES = ("answered", "unread", "refused", "truncated", "failed", "not_asked")

#: finish reasons, in the words of several providers
_CUT = {"length", "max_tokens", "model_length"}
_FILTERED = {"content_filter", "refusal", "safety"}

#: stands for a lone surrogate
REPLACEMENT = "\ufffd"


@dataclass(frozen=True)
class Reply:
    """One reply of a reasoner, and what its server reports about it.

    Parameters
    ----------
    text : str or None
        The text; None where the reasoner returned none, as with a refusal.
    refusal : str, optional
        Text of a refusal.
    finish_reason : str, optional
        Why the reply ended: "stop", "length", "content_filter".
    model_version : str, optional
        Name of the model that replied, as its server gives it.
    input_tokens, output_tokens : int, optional
        Number of tokens of the prompt and of the reply.
    seconds : float, optional
        Duration of the call; `ask` measures it where it is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import Reply, ask
    >>> questions = pd.DataFrame({"question": ["a", "b"], "prompt": ["Is it?", "Was it?"]})
    >>> def model(prompt):
    ...     if "Was" in prompt:
    ...         return Reply(None, refusal="I would rather not.")
    ...     return Reply("Answer: yes", output_tokens=3)
    >>> ask(questions, model, key=["question"])["outcome"].tolist()
    ['answered', 'refused']
    """

    text: str | None
    refusal: str | None = None
    finish_reason: str | None = None
    model_version: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None


#: fields of a reply that are columns of their own, and their dtypes
DETAILS: dict[str, Any] = {
    "finish_reason": "str",
    "model_version": "str",
    "input_tokens": "Int64",
    "output_tokens": "Int64",
    "seconds": "Float64",
}
_TEXTS = ("text", "refusal", "finish_reason", "model_version")


def check_reply(reply: Any) -> Reply:
    """Return a reply; refuse fields of other types."""
    for name in _TEXTS:
        if not isinstance(value := getattr(reply, name), (str, type(None))):
            raise TypeError(f"{name} of a Reply must be text or None, found {type(value).__name__}")
    for name in ("input_tokens", "output_tokens", "seconds"):
        if isinstance(value := getattr(reply, name), bool) or not isinstance(value, (int, float, type(None))):
            raise TypeError(f"{name} of a Reply must be a number or None, found {type(value).__name__}")
    return reply


def changed(reply: Reply, change: Any) -> Reply:
    """Apply a function to every text of a reply."""
    texts = {name: None if (text := getattr(reply, name)) is None else change(text) for name in _TEXTS}
    return replace(reply, **texts)


def to_json(reply: Reply) -> str:
    """Return all of a reply but its text, as JSON in ASCII."""
    found = {name: value for name, value in asdict(reply).items() if name != "text" and value is not None}
    return json.dumps(found | ({"no_text": True} if reply.text is None else {}))


def from_json(text: str, about: str | None) -> Reply:
    """Return a reply from its text and the JSON of the rest; caches of earlier releases have none."""
    found = json.loads(about) if about else {}
    known = {field.name for field in fields(Reply)} - {"text"}
    return Reply(None if found.get("no_text") else text, **{name: found[name] for name in known & found.keys()})


def ending(reply: Reply) -> str | None:
    """Return "refused" or "truncated" where a reply is not an answer whatever its text, else None."""
    reason = (reply.finish_reason or "").casefold()
    if reply.refusal or reason in _FILTERED:
        return "refused"
    return "truncated" if reason in _CUT else None


def outcome_column(outcomes: list[str]) -> Any:
    """Return outcomes as a column whose counts list every outcome."""
    return pd.Categorical(outcomes, categories=list(OUTCOMES))


def valid_text(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates by U+FFFD, since no column of text can hold them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
