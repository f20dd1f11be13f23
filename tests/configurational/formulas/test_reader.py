"""Readers of models take linear time, on models and on junk."""

from __future__ import annotations

import time

import pytest

from causaleval_pd.configurational import parse, parse_set


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
def test_reading_takes_linear_time(read, name):
    times = []
    for n in (2_000, 16_000):
        spent = []
        for salt in range(3):  # texts are read once and kept
            text = TEXTS[name](n, salt)
            start = time.process_time()
            try:
                read(text)
            except ValueError as error:
                assert "position" in str(error) or "too" in str(error)
            spent.append(time.process_time() - start)
        times.append(min(spent))
    assert times[1] < 24 * times[0] + 0.05
