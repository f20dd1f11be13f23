"""Task: one world described by a theme, with its questions, contexts and true answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...execution.random_streams import row_keys, uniforms
from ..worlds.world import World
from .theme import Condition, Theme

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """One world in the words of a theme.

    Parameters
    ----------
    number : int
        Number within its tasks.
    world : World
        The world; its nodes have the names used in the text.
    theme : Theme
        The theme.
    conditions : tuple of Condition
        Meaning of each node's noise.
    seed : int
        Seed of noise and texts.
    pairs : tuple of (str, str)
        Pairs (cause, effect) of the questions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> [task] = make_tasks("candy_party", [[2, 2]], n_samples=1, rng=1).tasks
    >>> task.pairs
    (('Piri', 'Nuden'), ('Piri', 'Zema'), ('Nuden', 'Zema'))
    >>> task.questions["text"].iloc[0]
    'Does Nuden sing?'
    """

    number: int
    world: World
    theme: Theme
    conditions: tuple[Condition, ...]
    seed: int
    pairs: tuple[tuple[str, str], ...]

    @cached_property
    def questions(self) -> pd.DataFrame:
        """Return the questions: each effect in fact, then each pair under do(cause=1) and do(cause=0)."""
        effects = dict.fromkeys(effect for _, effect in self.pairs)
        rows: list[tuple[Any, ...]] = [(None, effect, "fact", self.theme.ask_fact(effect)) for effect in effects]
        for cause, effect in self.pairs:
            rows += [(cause, effect, f"do{v:d}", self.theme.ask_do(cause, effect, v)) for v in (True, False)]
        table = pd.DataFrame(rows, columns=["cause", "effect", "world", "text"]).astype("str")
        key = str(self.number) + "/" + (table["cause"] + ">").fillna("") + table["effect"] + "/" + table["world"]
        table.insert(0, "question", key)
        table.insert(0, "task", self.number)
        return table

    def truth_bits(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Compute the true answers of samples start .. stop - 1 to all questions, a column a question."""
        noise = self.world.sample(stop - start, self.seed, start=start)
        bits = self.world.answers(noise, self.pairs)
        first = {effect: i for i, (_, effect) in reversed(list(enumerate(self.pairs)))}
        effects = dict.fromkeys(effect for _, effect in self.pairs)
        fact = bits[:, [first[effect] for effect in effects], 0]
        return np.concatenate([fact, bits[:, :, 1:].reshape(stop - start, -1)], axis=1)

    def truths(self, start: int, stop: int) -> pa.Table:
        """Return the true answers of samples start .. stop - 1 as a table, a row a sample and question."""
        bits = self.truth_bits(start, stop)
        keys = pa.array(self.questions["question"].tolist())
        return pa.table(
            {
                "task": pa.array(np.full(bits.size, self.number)),
                "sample": pa.array(np.repeat(np.arange(start, stop), len(keys))),
                "question": keys.take(pa.array(np.tile(np.arange(len(keys)), stop - start))),
                "truth": pa.array(bits.ravel()),
            }
        )

    def contexts(self, start: int, stop: int, replicates: int) -> pa.Table:
        """Return rows start .. stop - 1 of the contexts, a row a replicate of a sample; replicates vary fastest."""
        rows = np.arange(start, stop)
        sample, replicate = np.divmod(rows, replicates)
        first = start // replicates
        noise = self.world.sample(int(sample[-1]) + 1 - first if len(rows) else 0, self.seed, start=first)
        bits = noise.to_numpy()[sample - first]

        # the noise uses `seed` with streams named by nodes, so texts use another seed
        def draw(labels: Sequence[str]) -> NDArray[np.float64]:
            keys = row_keys(pd.DataFrame({"label": pd.Series(list(labels), dtype="str")}), "label", self.seed + 1)
            return uniforms(keys, start, stop - start)

        return pa.table(
            {
                "task": pa.array(np.full(len(rows), self.number)),
                "sample": pa.array(sample),
                "replicate": pa.array(replicate),
                "noise": _bit_strings(bits),
                "text": self.theme.tell_samples(self.world, self.conditions, bits, draw),
            }
        )


def _bit_strings(bits: NDArray[np.bool_]) -> pa.Array:
    """Return each row of booleans as a string of 0 and 1."""
    n, width = bits.shape
    offsets = np.arange(n + 1, dtype=np.int32) * width
    letters = np.ascontiguousarray(bits.astype(np.uint8) + ord("0"))
    return pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(letters))
