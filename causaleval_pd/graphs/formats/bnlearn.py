"""Model strings of bnlearn as cells, ``"[A][B|A][C|A:B]"``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from ...contract.encoding import AmbiguousEncodingError, Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, TAIL
from ..edge_strings import write_graph, write_names

_STRING = re.compile(r"\s*(?:\[[^\[\]]*\]){2,}\s*$")
_NAME = re.compile(r"""[^\s|,'"](?:[^|,'"]*[^\s|,'"])?$""")
_NODE = re.compile(r"\[([^\[\]]*)\]")
_ARROW = re.compile(r"<-|->|--|\so-o\s")


def read_model_string(text: str) -> Edges:
    """Read a model string: each node in brackets, its parents after a bar and joined by colons."""
    if not _STRING.match(text):
        raise ValueError(f"found {text[:60]!r}, expected a model string as '[A][B|A][C|A:B]'")
    parents: dict[str, list[str]] = {}
    for entry in _NODE.findall(text):
        name, bar, given = entry.partition("|")
        listed = given.split(":") if bar else []
        if ":" in name or any(not _NAME.match(one) for one in (name, *listed)):
            raise ValueError(f"cannot read [{entry}] in a model string; a node with two parents is [C|A:B]")
        if name in parents:
            raise ValueError(f"found the node {name!r} twice in a model string; write it once, with all its parents")
        if len(set(listed)) < len(listed):
            raise ValueError(f"found a parent twice in [{entry}]")
        parents[name] = listed
    position = {name: i for i, name in enumerate(parents)}
    for name, listed in parents.items():
        for parent in listed:
            if parent not in position:
                raise ValueError(f"found the parent {parent!r} of {name!r}, which has no entry [{parent}] of its own")
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as fault:
        cycle = " -> ".join(fault.args[1])
        raise ValueError(f"found the directed cycle {cycle} in a model string, which describes a DAG") from None
    ends = [(position[p], position[name], TAIL, ARROW) for name, listed in parents.items() for p in listed]
    if _ARROW.search(text):
        model = write_graph(write_names(parents), ends)
        raise AmbiguousEncodingError(
            f"found {text[:60]!r}, which is a model string or an edge string; quote names that hold arrows or brackets "
            f'in an edge string: the model string is {model[:200]!r}, and an edge is as in \'"[A" -> "B]"\''
        )
    return Edges(tuple(parents), ends)


def write_model_string(names: Sequence[str], ends: Ends) -> str:
    """Write a DAG as a model string."""
    if len(names) < 2:
        raise ValueError("a model string cannot hold a graph of fewer than two nodes here; write an edge string")
    parents: list[list[str]] = [[] for _ in names]
    for i, j, *marks in ends:
        if sorted(marks) != [TAIL, ARROW]:
            raise ValueError("a model string holds directed edges only; write an edge string, by to_strings()")
        source, target = (i, j) if marks[0] == TAIL else (j, i)
        parents[target].append(names[source])
    odd = next((name for name in names if re.search(r"[\[\]|:,'\"]", name) or not _NAME.match(name)), None)
    if odd is not None:
        raise ValueError(f"a model string cannot hold the node name {odd!r}; rename the node")
    entries = zip(names, parents, strict=True)
    text = "".join(f"[{name}|{':'.join(listed)}]" if listed else f"[{name}]" for name, listed in entries)
    read_model_string(text)
    return text


MODEL_STRING = register_encoding(
    Encoding(
        name="model string",
        tool="bnlearn",
        cells="model string",
        meaning="[C|A:B] the node C with the parents A and B",
        mark="an edge i -> j is the i behind the bar of j",
        example="'[A][B|A][C|A:B]'",
        read=read_model_string,
        types=(str,),
        recognise=lambda text: bool(_STRING.match(text)),
        write_text=write_model_string,
    )
)
