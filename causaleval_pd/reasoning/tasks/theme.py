"""Theme: how a world is described in words, from templates or by a subclass's own text; made-up names of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..worlds.world import World

__all__ = ["Condition", "Theme"]

#: what a rule asks of its clauses
_WHICH = {
    "and": "all of these hold",
    "or": "at least one of these holds",
    "xor": "an odd number of these hold (1, 3, 5 ...)",
}

#: `draw(labels)`: uniform numbers, a row a label, a column a context
Draw = Callable[[Sequence[str]], NDArray[np.float64]]

# syllables of made-up names, so that no answer is known from elsewhere
_ONSETS = ("B", "D", "F", "G", "H", "J", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Z", "Dr", "Kl", "Pr", "St")
_MIDDLES = ("al", "em", "ir", "on", "ud", "ael", "in", "or", "et", "um")
_ENDINGS = ("a", "o", "i", "as", "en", "is", "u", "ek")

# without letters and digits that look alike
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_DIGITS = "23456789"


@dataclass(frozen=True)
class Condition:
    """Meaning of a node's own noise in words.

    Parameters
    ----------
    text : str
        Clause that is true exactly if the noise is: "Nuda was handed at least 4 toffees".
    yes, no : tuple of str
        Sentences one of which a sample shows when the noise is true, or false.
    group : str
        Heading under which a theme may collect conditions.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> [task] = make_tasks("candy_party", [[2, 2]], n_samples=1, rng=1).tasks
    >>> task.conditions[0].text, task.conditions[0].no
    ('Piri was handed at least 3 toffees', ('Piri was handed 2 toffees.',))
    """

    text: str
    yes: tuple[str, ...]
    no: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True)
class Theme:
    """Words that describe worlds, samples and questions.

    Every text is a template over `{node}`; questions and settings also over `{state}` and `{denied}`, clauses that the
    node is true or false; `own` and `seen` also over `{threshold}` and `{value}`. The text of a world is the intro, one
    rule a node in topological order, and the closing; the text of a sample shows for each node a value from which its
    noise follows. The threshold is drawn independently of the noise rate, so that it does not reveal the rate.

    Parameters
    ----------
    name : str
        Name in tables.
    intro, closing : str
        Sentences before and after the rules.
    state : str
        Clause that is true exactly if the node is: "{node} sings".
    question : str
        Question whether the node is true.
    set_true, set_false : str
        Sentence that sets the node, whatever its rule says.
    then : str
        Question whether the node is true after another was set.
    own : str
        Clause over `{node}` and `{threshold}` that is true exactly if the node's noise is.
    seen : str
        Sentence over `{node}` and `{value}` that a sample shows; the noise is true if value >= threshold.
    thresholds, values : (int, int)
        Least and greatest threshold and value, both included; there are values below and at every threshold.
    details : tuple of str
        Irrelevant sentences over `{node}`; a sample shows one a node.
    detail : bool
        Whether texts include irrelevant details.

    Examples
    --------
    >>> from causaleval_pd.reasoning import Theme, make_tasks
    >>> lamps = Theme(
    ...     name="lamps", intro="Lamps hang in a row.", closing="Nothing else matters.", state="lamp {node} is lit",
    ...     question="Is lamp {node} lit?", set_true="Suppose somebody lights lamp {node}.",
    ...     set_false="Suppose somebody puts out lamp {node}.", then="Is lamp {node} lit then?",
    ...     own="lamp {node} holds at least {threshold} drops of oil", seen="Lamp {node} holds {value} drops of oil.",
    ... )
    >>> tasks = make_tasks(lamps, [[2]], n_samples=1, rng=3)
    >>> bool(tasks.questions["text"].str.contains("lit").all())
    True
    """

    name: str
    intro: str
    closing: str
    state: str
    question: str
    set_true: str
    set_false: str
    then: str
    own: str = ""
    seen: str = ""
    thresholds: tuple[int, int] = (3, 7)
    values: tuple[int, int] = (0, 10)
    details: tuple[str, ...] = ()
    detail: bool = True

    def names(self, n: int, rng: np.random.Generator) -> list[str]:
        """Draw the names of n nodes, root first and leaf last."""
        return people_names(n, rng)

    def condition(self, node: str, rng: np.random.Generator) -> Condition:
        """Draw the condition of one node."""
        threshold = int(rng.integers(self.thresholds[0], self.thresholds[1] + 1))
        told = [self.seen.format(node=node, value=v) for v in range(self.values[0], self.values[1] + 1)]
        split = threshold - self.values[0]
        return Condition(self.own.format(node=node, threshold=threshold), tuple(told[split:]), tuple(told[:split]))

    def conditions(self, world: World, rng: np.random.Generator) -> tuple[Condition, ...]:
        """Draw the conditions of all nodes; those beyond the number of nodes are decoys."""
        return tuple(self.condition(node, rng) for node in world.nodes)

    def say(self, node: str) -> str:
        """Return the clause that the node is true."""
        return self.state.format(node=node)

    def deny(self, node: str) -> str:
        """Return the clause that the node is false."""
        return f"it is not so that {self.say(node)}"

    def tell_world(self, world: World, conditions: Sequence[Condition]) -> str:
        """Return the text of a world: intro, a rule a node, closing."""
        rules = [self._rule(world, node, own.text) for node, own in zip(world.nodes, conditions, strict=False)]
        return " ".join([self.intro, *rules, self.closing])

    def _rule(self, world: World, node: str, own: str) -> str:
        head = f"{_capital(self.say(node))} if, and only if,"
        parents = [self.say(parent) for parent in world.parents[node]]
        if not parents:
            return f"{head} {own}."
        which = _WHICH[world.functions[node]]
        return f"{head} {which}: {'; '.join([own, *parents])}."

    def tell_samples(
        self, world: World, conditions: Sequence[Condition], noise: NDArray[np.bool_], draw: Draw
    ) -> pa.Array:
        """Return the text of each sample.

        Parameters
        ----------
        world : World
            The world.
        conditions : sequence of Condition
            Conditions drawn for it.
        noise : array
            Booleans, a row a sample, a column a node.
        draw : callable
            Uniform numbers by label, reproducible by label and sample.

        Returns
        -------
        pyarrow.Array
            Strings.
        """
        told = draw([f"told {node}" for node in world.nodes])
        columns = [pick_sentences(own, noise[:, i], told[i]) for i, own in enumerate(conditions)]
        if self.detail and self.details:
            extra = draw([f"detail {node}" for node in world.nodes])
            for i, node in enumerate(world.nodes):
                table = pa.array([text.format(node=node) for text in self.details])
                columns.insert(2 * i + 1, table.take(pa.array(integers_below(extra[i], len(table)))))
        return join_texts(columns, " ")

    def ask_fact(self, effect: str) -> str:
        """Return the question whether the effect is true in fact."""
        return self._fill(self.question, effect)

    def ask_do(self, cause: str, effect: str, value: bool) -> str:
        """Return the question whether the effect is true once the cause is set."""
        return f"{self.setting(cause, value)} {self._fill(self.then, effect)}"

    def setting(self, cause: str, value: bool) -> str:
        """Return the sentence that sets the cause, whatever its rule says."""
        return self._fill(self.set_true if value else self.set_false, cause)

    def _fill(self, template: str, node: str) -> str:
        return template.format(node=node, state=self.say(node), denied=self.deny(node))


def pick_sentences(own: Condition, noise: NDArray[np.bool_], draw: NDArray[np.float64]) -> pa.Array:
    """Return for each sample one of the sentences that its noise allows."""
    codes = np.where(noise, integers_below(draw, len(own.yes)), len(own.yes) + integers_below(draw, len(own.no)))
    return pa.array([*own.yes, *own.no]).take(pa.array(codes))


def integers_below(draw: NDArray[np.float64], n: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """Map uniform numbers to integers 0 .. n - 1."""
    return (draw * n).astype(np.int64)


def join_texts(columns: Sequence[pa.Array | pa.Scalar], separator: str) -> pa.Array:
    """Join the strings of each row; none may be missing."""
    # pyarrow would take a single column for the separator
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, separator)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def people_names(n: int, rng: np.random.Generator) -> list[str]:
    """Draw n different made-up names of people, such as Dralek or Nuda; numbered where syllables run out."""
    return _drawn(["".join(parts) for parts in product(_ONSETS, _MIDDLES, _ENDINGS)], n, rng)


def gene_symbols(n: int, rng: np.random.Generator) -> list[str]:
    """Draw n different made-up gene symbols, such as Vor7 or Kin2."""
    return _drawn([f"{a}{b}{digit}" for a, b, digit in product(_ONSETS, _MIDDLES, _DIGITS)], n, rng)


def random_codes(n: int, rng: np.random.Generator) -> list[str]:
    """Draw n different codes of letter, digit, letter, digit, such as K3T8."""
    return _drawn(["".join(parts) for parts in product(_LETTERS, _DIGITS, _LETTERS, _DIGITS)], n, rng)


def _drawn(pool: list[str], n: int, rng: np.random.Generator) -> list[str]:
    rounds = -(-n // len(pool))
    names = pool + [f"{name} {i}" for i in range(2, rounds + 1) for name in pool]
    return [names[i] for i in rng.choice(len(names), n, replace=False)]
