"""Theme: how a causal world is told. One template makes a theme; a subclass may tell samples in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..worlds.world import World
from . import names

#: uniform numbers by label: one row a label, one column a context
Draw = Callable[[Sequence[str]], NDArray[np.float64]]


@dataclass(frozen=True)
class Condition:
    """What a node's own noise stands for.

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
    """Words in which worlds, samples and questions are told.

    Every text is a template over `{node}`; questions and settings also over `{state}` and `{denied}`, clauses that the
    node is true or not; `own` and `seen` also over `{threshold}` and `{value}`. A world's text is
    the intro, one rule a node in topological order, and the closing; a sample's text shows for each node a value from
    which its noise follows. The threshold is drawn apart from the noise rate, so that it does not give the rate away.

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
        Sentences over `{node}` that decide nothing; a sample shows one a node.
    detail : bool
        Whether extraneous details are told.

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
    >>> tasks.questions["text"].str.contains("lit").all()
    np.True_
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
        return names.people(n, rng)

    def condition(self, node: str, rng: np.random.Generator) -> Condition:
        """Draw what the noise of one node stands for."""
        threshold = int(rng.integers(self.thresholds[0], self.thresholds[1] + 1))
        told = [self.seen.format(node=node, value=v) for v in range(self.values[0], self.values[1] + 1)]
        split = threshold - self.values[0]
        return Condition(self.own.format(node=node, threshold=threshold), tuple(told[split:]), tuple(told[:split]))

    def conditions(self, world: World, rng: np.random.Generator) -> tuple[Condition, ...]:
        """Draw what the noise of every node stands for; those past the number of nodes are decoys."""
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
        which = "all of these hold" if world.functions[node] == "and" else "at least one of these holds"
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
            What `conditions` drew for it.
        noise : array
            Booleans, a row a sample, a column a node.
        draw : callable
            Uniform numbers by label, always the same for the same label and sample.

        Returns
        -------
        pyarrow.Array
            Strings.
        """
        told = draw([f"told {node}" for node in world.nodes])
        columns = [pick(own, noise[:, i], told[i]) for i, own in enumerate(conditions)]
        if self.detail and self.details:
            extra = draw([f"detail {node}" for node in world.nodes])
            for i, node in enumerate(world.nodes):
                table = pa.array([text.format(node=node) for text in self.details])
                columns.insert(2 * i + 1, table.take(pa.array(level(extra[i], len(table)))))
        return join(columns, " ")

    def ask_fact(self, effect: str) -> str:
        """Return the question whether the effect is true in fact."""
        return self._fill(self.question, effect)

    def ask_do(self, cause: str, effect: str, value: bool) -> str:
        """Return the question whether the effect is true once the cause is set."""
        setting = self.set_true if value else self.set_false
        return f"{self._fill(setting, cause)} {self._fill(self.then, effect)}"

    def _fill(self, template: str, node: str) -> str:
        return template.format(node=node, state=self.say(node), denied=self.deny(node))


def pick(own: Condition, noise: NDArray[np.bool_], draw: NDArray[np.float64]) -> pa.Array:
    """Show for each sample one of the sentences that its noise allows."""
    codes = np.where(noise, level(draw, len(own.yes)), len(own.yes) + level(draw, len(own.no)))
    return pa.array([*own.yes, *own.no]).take(pa.array(codes))


def level(draw: NDArray[np.float64], n: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn uniform numbers into integers 0 .. n - 1."""
    return (draw * n).astype(np.int64)


def join(columns: Sequence[pa.Array | pa.Scalar], separator: str) -> pa.Array:
    """Join the strings of each row; none may be missing."""
    # one column alone would be taken for a separator
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, separator)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
