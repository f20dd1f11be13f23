"""Themes: how worlds are described in words, from templates or by a subclass's own text; made-up names of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...contract.checks import check_known
from .worlds import World

__all__ = ["Theme"]

#: what a rule asks of its clauses
_WHICH = {
    "and": "all of these hold",
    "or": "at least one of these holds",
    "xor": "an odd number of these hold (1, 3, 5 ...)",
}

#: `draw(labels)`: uniform numbers, one row per label, one column per context
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
    """Meaning of a node's own noise in words."""

    #: clause that is true exactly if the noise is: "Nuda was handed at least 4 toffees"
    text: str
    #: sentences one of which a sample shows when the noise is true, or false
    yes: tuple[str, ...]
    no: tuple[str, ...]
    #: heading under which a theme may collect conditions
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
        Irrelevant sentences over `{node}`; a sample shows one per node.
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
        """Draw the names of n nodes, root first and leaf last: made-up names of people, such as Dralek or Nuda."""
        return _drawn(["".join(parts) for parts in product(_ONSETS, _MIDDLES, _ENDINGS)], n, rng)

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
        """Return the text of a world: intro, one rule per node, closing."""
        rules = []
        for node, condition in zip(world.nodes, conditions, strict=False):
            clause, parents = self.say(node), [self.say(parent) for parent in world.parents[node]]
            which = f" {_WHICH[world.functions[node]]}:" if parents else ""
            clauses = "; ".join([condition.text, *parents])
            rules.append(f"{clause[:1].upper()}{clause[1:]} if, and only if,{which} {clauses}.")
        return " ".join([self.intro, *rules, self.closing])

    def tell_samples(
        self, world: World, conditions: Sequence[Condition], noise: NDArray[np.bool_], draw: Draw
    ) -> pa.Array:
        """Return the text of each sample, which is a row of noise by node."""
        told = draw([f"told {node}" for node in world.nodes])
        columns = [pick_sentences(condition, noise[:, i], told[i]) for i, condition in enumerate(conditions)]
        if self.detail and self.details:
            extra = draw([f"detail {node}" for node in world.nodes])
            for i, node in enumerate(world.nodes):
                texts = [text.format(node=node) for text in self.details]
                columns.insert(2 * i + 1, pick(texts, integers_below(extra[i], len(texts))))
        return join_texts(columns, " ")

    def ask_fact(self, effect: str) -> str:
        """Return the question whether the effect is true in fact."""
        return self._fill(self.question, effect)

    def ask_do(self, cause: str, effect: str, value: bool) -> str:
        """Return the question whether the effect is true once the cause is set, whatever its rule says."""
        return f"{self._fill(self.set_true if value else self.set_false, cause)} {self._fill(self.then, effect)}"

    def _fill(self, template: str, node: str) -> str:
        return template.format(node=node, state=self.say(node), denied=self.deny(node))


def pick_sentences(own: Condition, noise: NDArray[np.bool_], draw: NDArray[np.float64]) -> pa.Array:
    """Return for each sample one of the sentences that its noise allows."""
    codes = np.where(noise, integers_below(draw, len(own.yes)), len(own.yes) + integers_below(draw, len(own.no)))
    return pick([*own.yes, *own.no], codes)


def pick(texts: Sequence[str], codes: NDArray[np.int64]) -> pa.Array:
    """Return the text of each code."""
    return pa.array(texts).take(pa.array(codes))


def integers_below(draw: NDArray[np.float64], n: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """Map uniform numbers to integers 0 .. n - 1."""
    return (draw * n).astype(np.int64)


def join_texts(columns: Sequence[pa.Array | pa.Scalar], separator: str) -> pa.Array:
    """Join the strings of each row; none may be missing."""
    # pyarrow would take a single column for the separator
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, separator)


def random_codes(n: int, rng: np.random.Generator) -> list[str]:
    """Draw n different codes of letter, digit, letter, digit, such as K3T8."""
    return _drawn(["".join(parts) for parts in product(_LETTERS, _DIGITS, _LETTERS, _DIGITS)], n, rng)


def _drawn(pool: list[str], n: int, rng: np.random.Generator) -> list[str]:
    """Draw n different names, numbered where the pool runs out."""
    rounds = -(-n // len(pool))
    names = pool + [f"{name} {i}" for i in range(2, rounds + 1) for name in pool]
    return [names[i] for i in rng.choice(len(names), n, replace=False)]


CANDY_PARTY = Theme(
    name="candy_party",
    intro="At a street party the host hands out toffees, and afterwards some guests strike up a song.",
    closing="Nothing else makes a guest sing or keep silent.",
    state="{node} sings",
    question="Does {node} sing?",
    set_true="Suppose that {node} does sing, whatever the toffees and the other guests would have led to.",
    set_false="Suppose that {node} does not sing, whatever the toffees and the other guests would have led to.",
    then="Does {node} sing then?",
    own="{node} was handed at least {threshold} toffees",
    seen="{node} was handed {value} toffees.",
    values=(2, 10),
    details=(
        "{node} came in a striped coat.",
        "{node} stood close to the fountain.",
        "{node} had walked over from the tram stop.",
        "{node} carried a paper lantern.",
        "{node} shared a bench with two cousins.",
        "{node} asked twice for lemonade.",
        "{node} left a bicycle at the gate.",
        "{node} wore odd socks.",
    ),
)


@dataclass(frozen=True)
class CellTheme(Theme):
    """Theme whose nodes are named by made-up gene symbols."""

    def names(self, n: int, rng: np.random.Generator) -> list[str]:
        """Draw made-up gene symbols, such as Vor7 or Kin2."""
        return _drawn([f"{a}{b}{digit}" for a, b, digit in product(_ONSETS, _MIDDLES, _DIGITS)], n, rng)


CELL_BIOLOGY = CellTheme(
    name="cell_biology",
    intro="A laboratory watches which genes of a yeast strain are active after a night in fresh medium.",
    closing="Whether a gene is active depends on nothing else.",
    state="gene {node} is active",
    question="Is gene {node} active?",
    set_true="Suppose that gene {node} is active, whatever its sites and other genes would have led to.",
    set_false="Suppose that gene {node} is not active, whatever its sites and other genes would have led to.",
    then="Is gene {node} active then?",
    own="at least {threshold} of the 12 docking sites of {node} are free",
    seen="Free docking sites of {node}: {value} of 12.",
    thresholds=(4, 9),
    values=(1, 12),
    details=(
        "{node} was sequenced in both directions.",
        "{node} has one short intron.",
        "{node} lies near the end of its chromosome.",
        "{node} was first described in a wild strain.",
        "{node} is copied early in the cycle.",
        "{node} has a close relative in mould.",
    ),
)

SHADES = {
    "red": ("brick", "coral", "garnet", "poppy"),
    "blue": ("cobalt", "ink", "navy", "sky"),
    "yellow": ("amber", "lemon", "mustard", "straw"),
    "purple": ("grape", "lilac", "plum", "violet"),
}


@dataclass(frozen=True)
class GardenTheme(Theme):
    """Theme in which noise is whether a shade belongs to one family of colours."""

    def condition(self, node: str, rng: np.random.Generator) -> Condition:
        """Draw the deciding family of colours."""
        family = list(SHADES)[int(rng.integers(len(SHADES)))]
        told = {f: [self.seen.format(node=node, value=shade) for shade in SHADES[f]] for f in SHADES}
        others = [text for f, texts in told.items() if f != family for text in texts]
        return Condition(self.own.format(node=node, threshold=family), tuple(told[family]), tuple(others))


FLOWER_GARDEN = GardenTheme(
    name="flower_garden",
    intro="Members of an allotment draw one seed packet each and then decide whether to dig a new bed. Every shade "
    "belongs to one family of colours: "
    + "; ".join(f"{family} has {', '.join(shades[:-1])} and {shades[-1]}" for family, shades in SHADES.items())
    + ".",
    closing="Nothing else leads a member to dig a bed or to refrain from it.",
    state="{node} digs a bed",
    question="Does {node} dig a bed?",
    set_true="Suppose that {node} does dig a bed, whatever the packet and other members would have led to.",
    set_false="Suppose that {node} does not dig a bed, whatever the packet and other members would have led to.",
    then="Does {node} dig a bed then?",
    own="the packet of {node} has a shade of {threshold}",
    seen="The packet of {node} is {value}.",
    details=(
        "{node} brought a tin watering can.",
        "{node} has the plot beside the hedge.",
        "{node} joined two summers ago.",
        "{node} prefers to work before breakfast.",
        "{node} borrowed a rake.",
        "{node} lost a glove near the shed.",
        "{node} keeps a hive behind the compost.",
        "{node} is waiting for rain.",
    ),
)

_SYMPTOMS = ("fever", "chills", "a cough", "a sore throat", "headaches", "sneezing")
_MOST_DAYS = 9


@dataclass(frozen=True)
class FluTheme(Theme):
    """Theme in which noise is whether one of two symptoms lasted long; texts may list other symptoms, in any order."""

    def condition(self, node: str, rng: np.random.Generator) -> Condition:
        """Draw the two deciding symptoms and how long they must last."""
        first, second = (int(i) for i in rng.choice(len(_SYMPTOMS), 2, replace=False))
        threshold = int(rng.integers(self.thresholds[0], self.thresholds[1] + 1))
        lasted = (f"had {_SYMPTOMS[i]} for at least {threshold} days" for i in (first, second))
        text = f"{node} {' or '.join(lasted)}"
        return Condition(text, (), (), f"{first} {second} {threshold}")

    def tell_samples(
        self, world: World, conditions: Sequence[Condition], noise: NDArray[np.bool_], draw: Draw
    ) -> pa.Array:
        """Return texts of how long each symptom of each person lasted."""
        n_symptoms = len(_SYMPTOMS)
        phrases = pa.array([f"{s} for {d} day{'s' * (d != 1)}" for s in _SYMPTOMS for d in range(_MOST_DAYS + 1)])
        columns: list[pa.Array | pa.Scalar] = []
        for i, node in enumerate(world.nodes):
            first, second, threshold = (int(part) for part in conditions[i].group.split())
            *length, which = draw([*(f"days {k} {node}" for k in range(n_symptoms)), f"which {node}"])
            days = 1 + integers_below(np.array(length), _MOST_DAYS)
            # one of the deciding symptoms lasted long, or both, where the noise is true
            spread, long = days[[first, second]] - 1, noise[:, i] & np.array([which < 2 / 3, which >= 1 / 3])
            days[[first, second]] = np.where(long, threshold + spread % 3, 1 + spread % (threshold - 1))
            told = list(range(n_symptoms)) if self.detail else [first, second]
            order = np.array(told)[np.argsort(draw([f"order {k} {node}" for k in told]), axis=0)]
            codes = order * (_MOST_DAYS + 1) + np.take_along_axis(days, order, axis=0)
            lasted = join_texts([phrases.take(pa.array(row)) for row in codes], ", ")
            columns += [pa.scalar(f"{' ' * (i > 0)}Last winter {node} had "), lasted, pa.scalar(".")]
        return join_texts(columns, "")


FLU_VACCINE = FluTheme(
    name="flu_vaccine",
    intro="A company offers its staff a jab against influenza. Who accepts depends on what ailed them last winter and "
    "on who else accepts.",
    closing="Nothing else makes anybody accept or decline the jab.",
    state="{node} accepts the jab",
    question="Does {node} accept the jab?",
    set_true="Suppose that {node} does accept the jab, whatever last winter and the colleagues would have led to.",
    set_false="Suppose that {node} does not accept the jab, whatever last winter and the colleagues would have led to.",
    then="Does {node} accept the jab then?",
    thresholds=(3, 6),
)

_HEADINGS = {
    "variant": ("the patient carries gene variant {code}", "Gene variants found"),
    "family": ("illness {code} runs in the family", "Illnesses in the family"),
    "operation": ("the patient once had operation {code}", "Earlier operations"),
}
_PAIN, _SURGERY = "pain", "surgery"


@dataclass(frozen=True)
class ClinicalTheme(Theme):
    """Theme of notes with headings; noise is whether a heading lists a code, or whether the pain score is high."""

    decoys: int = 2

    def names(self, n: int, rng: np.random.Generator) -> list[str]:
        """Name the root pain, the leaf surgery, and nodes between after laboratory values and vital signs."""
        between = [f"{rng.choice(['lab value', 'vital sign'])} {code}" for code in random_codes(max(0, n - 2), rng)]
        return [_PAIN, *between, _SURGERY][:n]

    def say(self, node: str) -> str:
        """Return the clause that the node is true."""
        return {_PAIN: "the pain is severe", _SURGERY: "surgery is advised"}.get(node, f"{node} is raised")

    def deny(self, node: str) -> str:
        """Return the clause that the node is false."""
        return {_PAIN: "the pain is not severe", _SURGERY: "surgery is not advised"}.get(node, f"{node} is not raised")

    def condition(self, node: str, rng: np.random.Generator) -> Condition:
        """Draw the deciding pain score, or the deciding heading and code."""
        if node == _PAIN:
            threshold = int(rng.integers(self.thresholds[0], self.thresholds[1] + 1))
            told = [f"Pain score: {value} of 10." for value in range(11)]
            text = f"the pain score is at least {threshold} of 10"
            return Condition(text, tuple(told[threshold:]), tuple(told[2:threshold]), "score")
        heading = list(_HEADINGS)[int(rng.integers(len(_HEADINGS)))]
        return self._coded(heading, random_codes(1, rng)[0])

    def _coded(self, heading: str, code: str) -> Condition:
        return Condition(_HEADINGS[heading][0].format(code=code), (code,), (), heading)

    def conditions(self, world: World, rng: np.random.Generator) -> tuple[Condition, ...]:
        """Draw conditions of different codes, and decoys under each heading."""
        decoys = [heading for heading in _HEADINGS for _ in range(2 * self.decoys)]
        fresh = iter(random_codes(len(world.nodes) + len(decoys), rng))
        drawn = [self.condition(node, rng) for node in world.nodes]
        coded = (one if one.group == "score" else self._coded(one.group, next(fresh)) for one in drawn)
        return (*coded, *(self._coded(heading, next(fresh)) for heading in decoys))

    def tell_samples(
        self, world: World, conditions: Sequence[Condition], noise: NDArray[np.bool_], draw: Draw
    ) -> pa.Array:
        """Return each sample as a note: person, pain score, codes by heading, medication."""
        n, n_nodes = noise.shape
        shown = draw([f"decoy {i}" for i in range(n_nodes, len(conditions))] or ["none"]) < 0.5
        sentences = self._details(draw) if self.detail else []
        told = draw([f"told {node}" for node in world.nodes])
        findings = list(enumerate(conditions if self.detail else conditions[:n_nodes]))
        scores = [pick_sentences(finding, noise[:, i], told[i]) for i, finding in findings if finding.group == "score"]
        for heading, (_, title) in _HEADINGS.items():
            listed = sorted((finding.yes[0], i) for i, finding in findings if finding.group == heading)
            columns = [
                pick(["", f"{code}, "], (noise[:, i] if i < n_nodes else shown[i - n_nodes]) * 1) for code, i in listed
            ]
            codes = pc.utf8_rtrim(join_texts([pa.array([""] * n), *columns], ""), characters=", ")
            codes = pc.if_else(pc.equal(codes, ""), "none", codes)
            sentences.append(join_texts([pa.scalar(f"{title}: "), codes, pa.scalar(".")], ""))
        return join_texts([*scores, *sentences], " ")

    def _details(self, draw: Draw) -> list[pa.Array]:
        """Return irrelevant sentences: age, hours since admission, a drug."""
        age, hours, drug, dose = draw(["age", "hours", "drug", "dose"])
        drugs = ("velorin", "tasmidol", "ocrabine", "peluzan", "dormixil")
        doses = [f"Takes {name} {10 * step} mg daily." for name in drugs for step in range(1, 9)]
        return [
            pick([f"Patient of {years} years." for years in range(20, 91)], integers_below(age, 71)),
            pick([f"Admitted {h} hours ago." for h in range(2, 49)], integers_below(hours, 47)),
            pick(doses, integers_below(drug, len(drugs)) * 8 + integers_below(dose, 8)),
        ]


CLINICAL_NOTES = ClinicalTheme(
    name="clinical_notes",
    intro="A clinic reads its patients' notes by fixed rules.",
    closing="No other finding counts, and what a note does not list is absent.",
    state="{node} is raised",
    question="Is it the case that {state}?",
    set_true="Suppose a treatment has the effect that {state}, whatever the note and the rules would have led to.",
    set_false="Suppose a treatment has the effect that {denied}, whatever the note and the rules would have led to.",
    then="Is it then the case that {state}?",
    thresholds=(6, 9),
)

THEMES: dict[str, Theme] = {
    theme.name: theme for theme in (CANDY_PARTY, FLOWER_GARDEN, FLU_VACCINE, CLINICAL_NOTES, CELL_BIOLOGY)
}


def get_theme(theme: str | Theme) -> Theme:
    """Return a theme by its name, or the theme itself."""
    if isinstance(theme, Theme):
        return theme
    check_known(theme, THEMES, "theme")
    return THEMES[theme]
