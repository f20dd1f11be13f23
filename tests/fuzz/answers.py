"""Replies and files of published tasks, damaged and random: parsing a reply never raises, readers name row or file."""

import gzip
import io
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from run import damaged, pick

from causaleval_pd.fields.reasoning.published import parse_matrix, parse_printed
from causaleval_pd.reasoning import parse_answers, read_published

# raw samples are named by their context; single cells have no row: messages name the cell, or what a matrix should be
NAMES = r"\brows?\b|\bfiles?\b|\bcontext\b|\bcells?\b|\bmatrix\b"

WORDS = [
    *("yes", "no", "Yes.", "**No**", "true", "FALSE", "answer", "Final answer:", "the answer to", "is", "so", "or"),
    *("\\boxed{", "\\text{", "{", "}", '{"answer": "yes"}', '{"answer":', "```", "```json\n", "<think>", "</think>"),
    *("<answer>", "</answer>", "<", ">", "[", "]", "(", ")", ":", "=", "-", "\u2013", ",", ".", "!", "?", "/", "|"),
    *(" ", "\t", "\n", "\r\n", "\u00a0", "\u2028", "\x00", "\x1b", '"', "'", "\\", "`", "*", "_", "#", "$", "1", "a"),
    *("\ud800", "\udfff", "\u0130", "\u0131", "\u00df", "\u017f", "\ufffd", "\u202e", "\u0301", "\U0001f600", "1e999"),
    *("not", "one", "doubt", "null", "NaN", "Infinity", "-", "9" * 5000, "[" * 2000, '{"a":' * 500),
]
CELLS: list[object] = [None, float("nan"), 1, 0.0, True, np.bool_(False)]  # other objects are refused

FACTUAL = (
    "Context ID,Sample ID,Effect,Context,Question,True\n0,0,Y,X is on.,Is Y on?,True\n0,1,Y,X is off.,Is Y on?,0\n"
)
PAIRED = (
    "Context ID,Sample ID,Cause,Effect,Context,Question (cause = True),True (cause = True),"
    "Question (cause = False),True (cause = False)\n0,0,X,Y,X is on.,Is Y on?,1,Is Y on then?,0\n"
)
RAW = (
    "Context ID,Sample ID,DAG adjacency matrix,DAG nodes,CCT nodes,Bernoulli parameters,Causal context,Sample context\n"
    "0,0,\"[[0 1]\n [0 0]]\",\"['X', 'Y']\",\"['X', 'Y']\",\"[np.float64(0.5), 0.25]\",Y if X.,X is on.\n"
)
PRINTED = [
    "{('X', 'Y'): np.float64(0.25), 'n': [1 2]}", "[[0. 1.]\n [0. 0.]]", "[('a', 'b'), [True, None, nan, -inf, 1e-3]]",
    "{'a': {'b': (1,)}}", "array([[0, 1], [0, 0]])",
]  # fmt: skip
PIECES = [
    *"[](){},:'\"\\.-+e \n0123", "np.", "np.float64(", "array(", "True", "None", "nan", "inf", "...", "'a'", "1" * 5000,
]  # fmt: skip


def reply(rng: np.random.Generator) -> str:
    words = [pick(rng, WORDS) for _ in range(rng.integers(1, 30))]
    if rng.random() < 0.3:
        words[rng.integers(len(words))] *= int(10 ** rng.uniform(0, 4.5))
    return pick(rng, ["", " ", "\n"]).join(words)[:500_000]


def parse_replies(cells: list[object]) -> None:
    """Parse replies; any exception is a fault, since one reply must not end a study."""
    try:
        found = parse_answers(cells)
    except Exception as error:
        raise RuntimeError(f"parse_answers raised {type(error).__name__}: {error}") from error
    if len(found) != len(cells):
        raise RuntimeError(f"{len(cells)} replies have {len(found)} answers")


def read_file(read: Callable[[Path], object], content: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"file{ending}"
        file.write_bytes(content)
        read(file)


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], object]]]:
    tables = [FACTUAL, PAIRED, RAW]
    pieces = [*PIECES, ",", "\n", '"', "True", "1e400", "\x00", "\u00e9", "-1", "nan", "Context ID", "0,0,Y,c,q,1\n"]
    while True:
        texts = [reply(rng) for _ in range(3)]
        cells = [*texts, pick(rng, CELLS)]
        yield f"parse_answers({[text[:200] for text in texts]!r})", partial(parse_replies, cells)
        text = damaged(pick(rng, tables), pieces, rng)
        yield f"read_published({text!r})", partial(read_published, io.StringIO(text))
        content = text.encode("utf-16" if rng.random() < 0.2 else "utf-8", "surrogatepass")
        ending = pick(rng, [".csv", ".csv.gz"])
        if ending == ".csv.gz":
            content = gzip.compress(content)
        if rng.random() < 0.5:
            content = content[: rng.integers(len(content) + 1)]
        yield f"read_published({content!r}, {ending})", partial(read_file, read_published, content, ending)
        text = damaged(pick(rng, PRINTED), PIECES, rng)
        yield f"parse_printed({text!r})", partial(parse_printed, text)
        yield f"parse_matrix({text!r})", partial(parse_matrix, text)
