"""Layout of a model's figure: positions of factors and joint causes, causes left of effects, few crossings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .formulas.formula import Conjunction, Literal
from .formulas.vocabulary import FormulaTooLargeError

#: disjuncts that a figure can show
MAX_CLAIMS = 100
#: sweeps over the layers that order them anew by their neighbours
_SWEEPS = 12
#: smallest vertical distances of factors, and of points at which causes join
_ROW, _JOIN = 1.0, 0.42
#: how far before its effect, in layers, a joint cause joins
_BEFORE = 0.45

Point = tuple[float, float]


class Claim(NamedTuple):
    """One disjunct of an atom, and the looks in which its arrow and the lines of its literals are drawn."""

    disjunct: Conjunction
    outcome: Literal
    look: str
    #: look of single literals, where it is another
    literals: tuple[tuple[Literal, str], ...] = ()

    def look_of(self, literal: Literal) -> str:
        """Return the look of the line of a literal."""
        return dict(self.literals).get(literal, self.look)


class Place(NamedTuple):
    """Something that takes a row of a layer: a factor, or a literal whose line passes by."""

    layer: int
    name: str
    value: int | None


@dataclass(frozen=True)
class Layout:
    """Positions of factors, of the lines that pass by others, and of joints."""

    #: position of each factor
    factors: dict[str, Point]
    #: points that the line of a literal passes on its way to a claim, by the claim's number and the literal
    ways: dict[tuple[int, Literal], list[Point]]
    #: where the causes of a claim join, by the claim's number; single causes pass there too, so that lines keep apart
    joints: dict[int, Point]


def layers_of(claims: Sequence[Claim]) -> dict[str, int]:
    """Return the layer of each factor: an effect is right of its causes, a root just left of its first effect.

    In a cycle an arrow may point back.

    Examples
    --------
    >>> layers_of([Claim(frozenset({("A", 1)}), ("B", 1), ""), Claim(frozenset({("B", 0)}), ("C", 1), "")])
    {'A': 0, 'B': 1, 'C': 2}
    """
    causes: dict[str, set[str]] = {}
    for claim in claims:
        causes.setdefault(claim.outcome[0], set()).update(name for name, _ in claim.disjunct)
    found: dict[str, int] = {}

    def layer(name: str, above: frozenset[str]) -> int:
        if name not in found:
            rest = causes.get(name, set()) - above
            found[name] = 1 + max((layer(cause, above | {name}) for cause in sorted(rest)), default=-1)
        return found[name]

    for name in sorted(causes):
        layer(name, frozenset({name}))
    for name in sorted({name for names in causes.values() for name in names} - causes.keys()):
        found[name] = max(0, min(found[effect] for effect, names in causes.items() if name in names) - 1)
    return dict(sorted(found.items()))


def lay_out(claims: Sequence[Claim]) -> Layout:
    """Place factors in layers and rows, and the joints of claims between them."""
    if len(claims) > MAX_CLAIMS:
        raise FormulaTooLargeError(f"{len(claims)} disjuncts are too many to draw; the limit is {MAX_CLAIMS}")
    layer = layers_of(claims)
    links: list[tuple[Place, Place]] = []
    routes: dict[tuple[int, Literal], list[Place]] = {}
    for number, claim in enumerate(claims):
        effect = claim.outcome[0]
        for literal in sorted(claim.disjunct):
            start = layer[literal[0]]
            route = [Place(start, literal[0], None)]
            route += [Place(at, *literal) for at in range(start + 1, layer[effect])]
            routes[number, literal] = route
            links += list(zip(route, [*route[1:], Place(layer[effect], effect, None)], strict=True))
    rows = _order({Place(at, name, None) for name, at in layer.items()}, sorted(set(links)))
    position = {
        place: (float(place.layer), _ROW * ((len(row) - 1) / 2 - i)) for row in rows for i, place in enumerate(row)
    }
    factors = {name: position[Place(at, name, None)] for name, at in layer.items()}
    ways = {key: [position[place] for place in route[1:]] for key, route in routes.items()}
    return Layout(factors, ways, _joints(claims, factors, ways))


def _order(factors: Iterable[Place], links: Sequence[tuple[Place, Place]]) -> list[list[Place]]:
    """Order the places of every layer so that few links cross (repeated barycentres)."""
    places = sorted({*factors, *(place for link in links for place in link)}, key=_name)
    rows = [[p for p in places if p.layer == at] for at in range(max((p.layer for p in places), default=-1) + 1)]
    before: dict[Place, list[Place]] = {place: [] for place in places}
    after: dict[Place, list[Place]] = {place: [] for place in places}
    for left, right in links:
        after[left].append(right)
        before[right].append(left)
    best, fewest = [list(row) for row in rows], _crossings(rows, links)
    for sweep in range(_SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for row in rows if sweep % 2 == 0 else reversed(rows):
            height = {p: i - (len(r) - 1) / 2 for r in rows for i, p in enumerate(r)}

            def centre(place: Place, height: dict[Place, float] = height) -> float:
                near = neighbours[place]  # noqa: B023
                return sum(height[p] for p in near) / len(near) if near else height[place]

            row.sort(key=centre)
        crossings = _crossings(rows, links)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _name(place: Place) -> tuple[str, int]:
    return place.name, -1 if place.value is None else place.value


def _crossings(rows: Sequence[Sequence[Place]], links: Sequence[tuple[Place, Place]]) -> int:
    """Count the pairs of links between two layers that cross."""
    height = {place: i for row in rows for i, place in enumerate(row)}
    found = 0
    for i, (a, b) in enumerate(links):
        for c, d in links[i + 1 :]:
            if a.layer == c.layer and b.layer == d.layer:
                found += (height[a] - height[c]) * (height[b] - height[d]) < 0
    return found


def _joints(
    claims: Sequence[Claim], factors: dict[str, Point], ways: dict[tuple[int, Literal], list[Point]]
) -> dict[int, Point]:
    """Place the joints of claims between causes and effect, apart from one another."""
    together = {claim.outcome[0] for claim in claims if len(claim.disjunct) > 1}
    wanted: dict[float, list[tuple[float, int]]] = {}
    for number, claim in enumerate(claims):
        if claim.outcome[0] in together:
            x, y = factors[claim.outcome[0]]
            near = [(ways[number, one] or [factors[one[0]]])[-1][1] for one in sorted(claim.disjunct)]
            wanted.setdefault(x - _BEFORE, []).append((0.5 * y + 0.5 * sum(near) / len(near), number))
    found: dict[int, Point] = {}
    for x, joints in wanted.items():
        joints.sort()
        heights = [height for height, _ in joints]
        for i in range(1, len(heights)):
            heights[i] = max(heights[i], heights[i - 1] + _JOIN)
        shift = sum(h for h, _ in joints) / len(joints) - sum(heights) / len(heights)
        found |= {number: (x, height + shift) for (_, number), height in zip(joints, heights, strict=True)}
    return found
