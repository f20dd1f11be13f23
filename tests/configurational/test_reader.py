"""Readers of models take linear time, on models and on junk."""

from __future__ import annotations

import pytest

from causaleval_pd.configurational import parse, reader
from causaleval_pd.configurational.reader import parse_set


def long_model(n: int, salt: int) -> str:
    return "+".join(f"A{salt}X{i}*b" for i in range(n // 8)) + "<->E"


TEXTS = {
    "model": lambda n, salt: long_model(n, salt),
    "set": lambda n, salt: "; ".join(f"A{salt}X{i}<->E" for i in range(n // 10)),
    "spaces": lambda n, salt: f"A{salt}" + " " * n + "<->E",
    "nothing": lambda n, salt: ";" * (n + salt),
    "blanks": lambda n, salt: f"A{salt}" + " " * n + "?",
    "opened": lambda n, salt: "(" * (n + salt),
    "stars": lambda n, salt: "A*" * (n // 2 + salt),
    "negated": lambda n, salt: "~" * (n + salt),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("read", [parse, parse_set])
def test_reading_takes_linear_time(read, name, count_lines):
    # texts are read once and kept, so that each has a salt of its own
    once, twice = (count_lines(read, TEXTS[name](n, salt)) for n, salt in ((1000, 3), (2000, 4)))
    assert twice < 2 * once + 100


@pytest.mark.parametrize("read", [parse, parse_set])
def test_a_million_blanks_are_read_once(read, monkeypatch):
    """A pattern that reads the rest of the blanks at each of them would take longer than a test may."""
    monkeypatch.setattr(reader, "MAX_TEXT", 2_000_000)
    assert read(TEXTS["spaces"](1_000_000, 5)) == read("A5<->E")
    with pytest.raises(ValueError, match=r"unexpected '\?' at position 1000002"):
        read(TEXTS["blanks"](1_000_000, 5))
