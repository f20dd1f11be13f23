"""Prose as a reply: yes or no from JSON, labels, statements, first words and conclusions; wrong now and then."""

from __future__ import annotations

import json
import re
from typing import Any

# A reply may be hostile, so each pattern takes linear time: no two neighbouring repeats match the same characters, and
# repeats that are followed by anything else are possessive.
_FENCE = re.compile(r"```[a-z]*+\n?+(.*?)```", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]{0,2000}\}")
_KEYS = re.compile(r"^(final|short|the)?[ _-]*(answer|response|result|verdict|conclusion)$", re.IGNORECASE)
_QUOTES = re.compile(r"[*_`#>~\"'\u2018\u2019\u201c\u201d«»()\[\]\\$]+")
_TAG = re.compile(r"</?(\w+)>")
_SPACE = re.compile(r"\s+")
_BOXED = re.compile(r"\\boxed\s*+\{\s*+(?:\\text\s*+\{)?([^{}]*+)\}")
_NOUN = r"(?:answer|ans|response|verdict|conclusion)"
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_AFTER_NOUN = r"(?:,? ?(?:then|therefore|thus|hence|also|to [^.:\n]{0,80}|for [^.:\n]{0,80}),?)?"
_PRONOUN = r"(?:she|he|it|they|this|that|there|because|since|as|we|i)\b"
_THEREFORE = r"(?:so|thus|hence|therefore|then|finally|in conclusion|conclusion)"


class ProseReader:
    """Reader of replies in prose, with the patterns for one pair of word lists; they match texts in lower case."""

    def __init__(self, words: dict[str, bool]) -> None:
        self.words = words
        either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        copula = rf"(?>(?:(?!(?:{either})(?!\w))(?:is|[:=\-\u2013])[ :]?)+)"
        other = rf"(?!,? ?(?:{either})(?!\w))"
        condition = rf"(?! ?(?:if|or|and|unless|when|with|had|idea|clue|opinion|/|\|)){other}"
        # for texts whose runs of white space are one character each
        self.label = re.compile(
            rf"(?:(?:final|my|the|short) )*{_NOUN} ?{copula} ?({either})(?!\w){other}(?= ?(?:[.,;!]|$))"
        )
        particle = r"(?:therefore |then |a )?"
        self.stated = re.compile(rf"\b{_NOUN}{_AFTER_NOUN} ?{copula} ?{particle}({either})(?!\w){condition}")
        self.first = re.compile(rf"({either})(?!\w)(?= ?(?:[.,;:!\-\u2013\u2014]|$|{_PRONOUN}))")
        self.closing = re.compile(rf"(?:{_THEREFORE} ?[,:]? ?)?({either})\W*+")
        self.therefore = re.compile(rf"\b{_THEREFORE} ?[,:]? ({either})(?!\w)(?= ?(?:[.,;!]|$))")
        self.echo = re.compile(rf"({either})\s*+(?:or|/|\|)\s*+({either})(?!\w)")

    def read(self, text: str) -> bool | None:
        """Return the answer in a text without hidden reasoning, or None."""
        found = self._json(text)
        if found is None:
            found = self._boxed(text)
        return self._sentences(text) if found is None else found

    def _json(self, text: str) -> bool | None:
        """Parse the last JSON object that holds an answer."""
        for candidate in reversed([text, *_FENCE.findall(text), *_OBJECT.findall(text)]):
            if "{" not in candidate:
                continue
            try:
                value = json.loads(candidate)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                for key in reversed(list(value)):
                    if isinstance(key, str) and _KEYS.match(key.strip()):
                        return self._value(value[key])
        return None

    def _value(self, value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        return self._sentences(value) if isinstance(value, str) else None

    def _boxed(self, text: str) -> bool | None:
        found = [_SPACE.sub(" ", inner).strip().casefold() for inner in _BOXED.findall(text)]
        return next((self.words[word] for word in reversed(found) if word in self.words), None)

    def _sentences(self, text: str) -> bool | None:
        """Read labelled lines first, then statements of the answer, then first words and conclusions."""
        plain = _QUOTES.sub(" ", _TAG.sub(r"\n\1: ", text.casefold()))
        plain = _SPACE.sub(_one_space, self.echo.sub(" ", _SPACE.sub(_one_space, plain)))
        lines = [line for part in plain.split("\n") if (line := part.strip(" :,.;!-"))]
        if not lines:
            return None
        labels = [self.words[match[1]] for line in lines if (match := self.label.match(line))]
        if labels:
            return labels[-1]
        if stated := self.stated.findall(plain):
            return self.words[stated[-1]]
        first = self.first.match(lines[0])
        opening = self.words[first[1]] if first else None
        concluded = self.therefore.findall(lines[-1])
        if concluded:
            return self.words[concluded[-1]]
        last = self.closing.fullmatch(_SENTENCE.split(lines[-1])[-1])
        closing = self.words[last[1]] if last else None
        if opening is not None and closing is not None and opening != closing:
            return None
        return opening if opening is not None else closing


def _one_space(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "
