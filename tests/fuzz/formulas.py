"""Readers of configurational models: damaged texts and odd cells."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from run import damaged, pick

import causaleval_pd as ce
from causaleval_pd.configurational import parse
from causaleval_pd.fields.configurational.reader import parse_set

#: errors of texts name the position, those of columns the row
NAMES = r"\bposition \d+\b|\brow \d+\b|^at most|^expected a model as text"

TEXTS = [
    "A*b+C<->E", "(D + E <-> G) * (B*F + A <-> D)", "A=2*B=0+C=1<->E=3", "A<->C; b<->C", "{}", "~A*~b => C",
    "É*x <-> Y", "M1: A{1}*B{0} + (C[2]) -> Y{1}\nM2: A <= B", "{A<->B, (C<->D)}",
]  # fmt: skip
PIECES = [
    "A", "b", "Ab", "=", "=2", "=100", "=99999999999", "<->", "->", "=>", "<=>", "*", "+", "(", ")", ",", ";", "~",
    "}", "{1}", "[2]", "[", "]", "M1:", "M2 :", "<-", "<=", ":",
    "{}", "{", " ", "\n", "\x00", "\ud800", "ß", "ǅ", "中", "٣", "_", ".", "1", "-", "<", "(" * 200, ";" * 500,
    " " * 5000, "A+" * 3000, "A*" * 9000,
]  # fmt: skip
ODD: list[Any] = [
    None, 1, 1.5, b"A<->B", [], [None], ["A<->B", 3], ("A<->B",), {"A<->B"}, {}, float("nan"), True, [[]], object,
]  # fmt: skip


def read_again(read: Callable[[str], Any], text: str) -> None:
    """Read a text; what it was read as is read back from its canonical text."""
    found = read(text)
    written = str(found) if read is parse else "; ".join(map(str, found)) or "{}"
    assert read(written) == found


def evaluate(cell: Any) -> None:
    table = pd.DataFrame({"truth": ["A*b+C<->E", "A<->B"], "estimate": pd.Series(["A<->B", cell], dtype=object)})
    ce.evaluate(table, ["submodel_completeness"], invalid="nan")


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    for text in TEXTS:
        for stop in range(len(text)):
            yield f"cut: {text[:stop]!r}", partial(read_again, parse_set, text[:stop])
    while True:
        text = damaged(pick(rng, TEXTS), PIECES, rng)
        yield f"model: {text!r}", partial(read_again, parse, text)
        yield f"set: {text!r}", partial(read_again, parse_set, text)
        if rng.random() < 0.1:
            cell = pick(rng, ODD)
            yield f"cell: {cell!r}", partial(evaluate, cell)
