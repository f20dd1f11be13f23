"""Knowledge: a truth of which only some edges are known."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, permutations, product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..contract.checks import check_type

Arcs = tuple[tuple[str, str], ...]

_KEYS = ("forbidden", "required", "tiers")
#: headings of Tetrad's text of knowledge, with the edges that stand below them
_TEMPORAL, _TETRAD_ARCS = "addtemporal", {"forbiddirect": "forbidden", "requiredirect": "required"}
#: 1*  X Y: a tier, in which edges are forbidden with a star
_TIER = re.compile(r"(\d+)(\*?)(-?)")


@dataclass(frozen=True)
class Knowledge:
    """What is known of a graph: edges that it has, edges that it has not, and an order of groups of nodes.

    It is a cell of the truth's column: metrics of the field "knowledge" score estimates on what is known alone.

    Parameters
    ----------
    required, forbidden : iterable of (str, str)
        Directed edges (source, target), or texts such as "A -> B".
    tiers : iterable of iterables of str
        Groups of nodes, causes before effects: an edge from a later group to an earlier one is forbidden. Within a
        group, and of nodes in none, nothing is known.

    Raises
    ------
    ValueError
        If knowledge contradicts itself: an edge is both required and forbidden, required edges form a cycle, or a node
        is in two tiers.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> known = ce.Knowledge(required=["A -> B"], tiers=[["A", "B"], ["C"]])
    >>> known
    Knowledge(1 required, 2 forbidden: A -> B required; C -> A, C -> B forbidden)
    >>> runs = pd.DataFrame({"truth": [known], "estimate": ["A -> B; C -> B"]})
    >>> runs.ceval.evaluate()[["required_recall", "forbidden_violated"]].to_numpy().tolist()
    [[1.0, 0.5]]
    """

    required: Arcs = ()
    forbidden: Arcs = ()
    tiers: tuple[tuple[str, ...], ...] = ()

    def __init__(self, required: Iterable[Any] = (), forbidden: Iterable[Any] = (), tiers: Iterable[Any] = ()) -> None:
        groups = _read_tiers(tiers)
        object.__setattr__(self, "required", _read_arcs(required, "required"))
        object.__setattr__(self, "forbidden", _read_arcs(forbidden, "forbidden"))
        object.__setattr__(self, "tiers", groups)
        clash = sorted(set(self.required) & set(self.known_absent))
        if clash:
            raise ValueError(f"the edge {_written(clash[0])} is required, and forbidden by an edge or by the tiers")
        left = set(self.required)
        while left:
            # edges into or out of a node without the other are on no cycle
            sources, targets = ({arc[end] for arc in left} for end in (0, 1))
            inner = {(source, target) for source, target in left if source in targets and target in sources}
            if inner == left:
                some = ", ".join(map(_written, sorted(left)[:5]))
                raise ValueError(f"the required edges {some} form a directed cycle, which no DAG has; drop one of them")
            left = inner

    @property
    def known_absent(self) -> Arcs:
        """The forbidden edges, with those that the tiers forbid."""
        backwards = (product(later, earlier) for earlier, later in combinations(self.tiers, 2))
        return tuple(sorted({*chain.from_iterable(backwards), *self.forbidden}))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes of which something is known, in code-point order."""
        return tuple(sorted({*chain(*self.required, *self.forbidden, *self.tiers)}))

    def to_json(self) -> str:
        """Return the knowledge as text, which a column may hold as well; equal knowledge has equal text.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.Knowledge(required=["A -> B"]).to_json()
        '{"forbidden": [], "required": [["A", "B"]], "tiers": []}'
        """
        return json.dumps({name: getattr(self, name) for name in _KEYS})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text of `to_json`.

        Parameters
        ----------
        text : str
            An object with the lists "required", "forbidden" and "tiers", of which any may be left out.

        Returns
        -------
        Knowledge

        Raises
        ------
        ValueError
            If the text is not such an object.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.Knowledge.from_json('{"required": [["A", "B"]]}')
        Knowledge(1 required, 0 forbidden: A -> B required)
        """
        check_type(text, str, "the text that Knowledge.to_json returns", "text")
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(
                "knowledge is the text that Knowledge.to_json returns, or a knowledge file of Tetrad, found "
                f"{text[:60]!r}"
            ) from None
        if not isinstance(fields, dict) or not set(fields) <= set(_KEYS):
            raise ValueError(f"knowledge is an object with the lists {', '.join(_KEYS)}, found {text[:60]!r}")
        return cls(**fields)

    @classmethod
    def from_tetrad(cls, text: str) -> Self:
        """Read the text of a knowledge file of Tetrad.

        Parameters
        ----------
        text : str
            The line ``/knowledge``, and below it ``addtemporal`` with tiers (``1 X Y``; in a tier ``2* Z W`` edges are
            forbidden), ``forbiddirect`` and ``requiredirect`` with an edge per line (``X Y`` is X -> Y).

        Returns
        -------
        Knowledge

        Raises
        ------
        ValueError
            If the text is cut off, or a line is not read; with the number of the line.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.Knowledge.from_tetrad('''/knowledge
        ... addtemporal
        ... 1* A B
        ... 2 C
        ... requiredirect
        ... A C''')
        Knowledge(1 required, 4 forbidden: A -> C required; A -> B, B -> A, C -> A, C -> B forbidden)
        """
        check_type(text, str, "the text of a knowledge file of Tetrad", "text")
        arcs, tiers = defaultdict[str, list[Any]](list), defaultdict[int, list[str]](list)
        section = ""
        for number, line in enumerate(text.splitlines(), 1):
            words = line.replace(",", " ").split()
            if not words:
                continue
            found = f"line {number}: found {line.strip()[:60]!r}, expected"
            is_heading = words[0] in (_TEMPORAL, *_TETRAD_ARCS) if section else words == ["/knowledge"]
            if is_heading:
                section = words[0]
            elif section == _TEMPORAL:
                tier = _TIER.fullmatch(words[0])
                if tier is None:
                    raise ValueError(f"{found} a tier as '1 X Y' or '1* X Y'")
                if tier[3]:
                    raise ValueError(
                        f"line {number}: found the tier {tier[1]}- whose nodes cause the next tier only, which is not "
                        "read; write the edges to later tiers below 'forbiddirect'"
                    )
                tiers[int(tier[1])] += words[1:]
                if tier[2]:
                    arcs["forbidden"] += permutations(words[1:], 2)
            elif section in _TETRAD_ARCS and len(words) == 2:
                arcs[_TETRAD_ARCS[section]].append(words)
            else:
                expected = "'/knowledge'" if not section else f"'{_TEMPORAL}', {', '.join(map(repr, _TETRAD_ARCS))}"
                what = "two names" if section in _TETRAD_ARCS else f"the line {expected}"
                raise ValueError(f"{found} {what}")
        if not section:
            raise ValueError("found no line '/knowledge', with which knowledge files of Tetrad begin")
        return cls(arcs["required"], arcs["forbidden"], [tiers[tier] for tier in sorted(tiers)])

    def __repr__(self) -> str:
        parts = []
        for arcs, what in ((self.required, "required"), (self.known_absent, "forbidden")):
            if arcs:
                more = ", ..." if len(arcs) > 4 else ""
                parts.append(f"{', '.join(map(_written, arcs[:4]))}{more} {what}")
        what = f"{len(self.required)} required, {len(self.known_absent)} forbidden"
        return f"Knowledge({what}{': ' if parts else ''}{'; '.join(parts)})"


def arc_matrices(known: Knowledge, nodes: Sequence[str], *parts: Arcs) -> list[NDArray[np.bool_]]:
    """Return arcs as matrices over nodes, (d, d) each; refuse knowledge of other nodes."""
    unknown = sorted(set(known.nodes) - set(nodes))
    if unknown:
        raise ValueError(f"knowledge names {unknown[0]!r}, which is not a node of the estimate: {list(nodes)[:10]}")
    place = {name: i for i, name in enumerate(nodes)}
    matrices = np.zeros((len(parts), len(nodes), len(nodes)), bool)
    for matrix, arcs in zip(matrices, parts, strict=True):
        for source, target in arcs:
            matrix[place[source], place[target]] = True
    return list(matrices)


def is_tetrad_knowledge(cell: Any) -> bool:
    """Return whether a cell is the text of a knowledge file of Tetrad."""
    return isinstance(cell, str) and cell.lstrip().startswith("/knowledge")


def _written(arc: tuple[str, str]) -> str:
    return f"{arc[0]} -> {arc[1]}"


def _read_arcs(given: Any, what: str) -> Arcs:
    """Return directed edges in order, each once."""
    wrong = f"{what} must hold edges such as ('A', 'B') or 'A -> B'"
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{wrong}, found {given!r}")
    arcs = set()
    for one in given:
        ends = [x.strip() for x in one.split("->")] if isinstance(one, str) else one
        if not isinstance(ends, (list, tuple)) or len(ends) != 2 or any(not isinstance(x, str) or not x for x in ends):
            raise ValueError(f"{wrong}, found {one!r}")
        if ends[0] == ends[1]:
            raise ValueError(f"{what} holds an edge from {ends[0]!r} to itself")
        arcs.add((ends[0], ends[1]))
    return tuple(sorted(arcs))


def _read_tiers(given: Any) -> tuple[tuple[str, ...], ...]:
    """Return groups of names, each in order."""
    wrong = "tiers must hold groups of names, such as [['A', 'B'], ['C']]"
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{wrong}, found {given!r}")
    groups, seen = [], set()
    for one in given:
        if isinstance(one, (str, bytes)) or not isinstance(one, Iterable):
            raise TypeError(f"{wrong}, found {one!r} as a group")
        group = list(one)
        for name in group:
            if not isinstance(name, str) or not name:
                raise TypeError(f"{wrong}, found the name {name!r}")
            if name in seen:
                raise ValueError(f"tiers holds {name!r} twice")
            seen.add(name)
        groups.append(tuple(sorted(group)))
    return tuple(groups)
