"""Cut the text of a network file into words, quoted texts and marks, one at a time."""

from __future__ import annotations

import re

from ...contract.checks import nearest, shown
from .declarations import read_number

#: what stands for the end of a text
END = "the end of the file"


class Tokens:
    """The tokens of a text: the current one, and whether it is a word or quoted.

    Parameters
    ----------
    text : str
        The text.
    marks : str
        Characters that are tokens of their own, and no part of a word.
    line_comment : str
        Pattern of what begins a comment up to the end of the line; `/* */` encloses one too.
    """

    def __init__(self, text: str, marks: str, line_comment: str) -> None:
        self.text = text
        own, opening = re.escape(marks), rf"{line_comment}|/\*"
        # possessive, so that no text is looked at twice
        blank = rf"(?:\s++|(?:{line_comment})[^\n]*+|/\*(?s:.*?)\*/)*+"
        self._pattern = re.compile(
            rf'{blank}(?:(?P<mark>[{own}])|"(?P<quoted>[^"]*+)"|(?P<word>(?:(?!{opening})[^\s"{own}])++))'
        )
        self._blank = re.compile(blank)
        self._start = self._stop = self._before = 0
        self.token, self.kind = "", ""
        self.advance()

    def advance(self) -> str:
        """Move to the next token, and return the one that was current."""
        left, self._before = self.token, self._start
        match = self._pattern.match(self.text, self._stop)
        if match is None:
            blank = self._blank.match(self.text, self._stop)
            self._start = blank.end() if blank else self._stop
            if self._start < len(self.text):
                found = self.text[self._start : self._start + 20]
                raise self.fault(f"found {found!r}, a quoted text or a comment that is not closed")
            self.token, self.kind, self._stop = END, "end", self._start
            return left
        self.kind = str(match.lastgroup)
        self.token, self._start, self._stop = match[self.kind], match.start(self.kind), match.end()
        return left

    def fault(self, message: str) -> ValueError:
        """Return the error of a message at the current token."""
        return self._fault_at(self._start, message)

    def fault_before(self, message: str) -> ValueError:
        """Return the error of a message at the token before the current one: of what has just been read."""
        return self._fault_at(self._before, message)

    def _fault_at(self, place: int, message: str) -> ValueError:
        return ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: {message}")

    def expected(self, what: str) -> ValueError:
        """Return the error of another token than the expected one."""
        return self.fault(f"expected {what}, found {self.token if self.kind == 'end' else shown(self.token)}")

    def at(self, token: str) -> bool:
        """Check whether the current token is a mark or an unquoted word."""
        return self.token == token and self.kind in ("mark", "word")

    def accept(self, token: str) -> bool:
        """Move on if the current token is this mark or word."""
        if self.at(token):
            self.advance()
            return True
        return False

    def expect(self, *tokens: str) -> str:
        """Move on over one of these marks or words, and return it; refuse anything else."""
        if not any(self.at(token) for token in tokens):
            wrong = self.expected(" or ".join(map(repr, tokens)))
            hint = nearest(self.token, tokens) if self.kind == "word" else ""
            raise ValueError(f"{wrong}; {hint}".removesuffix("; ").strip())
        return self.advance()

    def name(self, what: str) -> str:
        """Read words or one quoted text as a name; words that follow each other are joined by a space."""
        if self.kind == "quoted":
            return self.advance().strip()
        found = []
        while self.kind == "word":
            found.append(self.advance())
        if not found:
            raise self.expected(what)
        return " ".join(found)

    def number(self) -> float:
        """Read a number."""
        found = read_number(self.token) if self.kind == "word" else None
        if found is None:
            raise self.expected("a number")
        self.advance()
        return found

    def skip_past(self, mark: str) -> None:
        """Move on past the next such character, whatever stands before it."""
        stop = self.text.find(mark, self._start)
        if stop < 0:
            raise self.expected(f"{mark!r} after it")
        self._stop = stop + 1
        self.advance()
