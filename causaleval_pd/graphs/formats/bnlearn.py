"""Model strings of bnlearn as cells, ``"[A][B|A][C|A:B]"``, and the graphs of networks in BIF, NET, DSC and XMLBIF."""

from __future__ import annotations

import re
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from ...contract.encoding import AmbiguousEncodingError, Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, TAIL
from ..edge_strings import write_graph, write_name
from .graph_files import parse_xml

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
    arcs = [(position[p], position[name]) for name, listed in parents.items() for p in listed]
    if _ARROW.search(text):
        model = write_graph([_quoted(name) for name in parents], arcs)
        raise AmbiguousEncodingError(
            f"found {text[:60]!r}, which is a model string or an edge string; quote names that hold arrows or brackets "
            f'in an edge string: the model string is {model[:200]!r}, and an edge is as in \'"[A" -> "B]"\''
        )
    return Edges(tuple(parents), arcs)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if _ARROW.search(name) else write_name(name)


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

# ---- networks ------------------------------------------------------------------------------------------------------

_NETWORK = re.compile(
    r"(?:\s|//[^\n]*\n|/\*.*?\*/|%[^\n]*\n)*+(?:(?:network|net)\b[^{};\n<>-]*+\s*+\{"
    r"|belief\s+network\b[^{};\n<>-]*+\s*+(?:\{|node\s)"
    r"|<\?xml[^>]*>\s*+(?:(?:<!--.*?-->|<!DOCTYPE[^>\[]*+(?:\[[^\]]*+\]\s*+)?>)\s*+)*+<BIF\b|<BIF\b)",
    re.S,
)
_VARIABLE = re.compile(r"(?:^|(?<=[{};]))[ \t]*+(?:variable|node)\s++(\"[^\"\n]*\"|[^\s{]++)", re.M)
_FAMILY = re.compile(r"(?:^|(?<=[{};]))[ \t]*+(?:probability|potential)\s*+\(([^)]*)\)", re.M)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|%[^\n]*", re.S)


def read_network(text: str) -> Edges:
    """Read the graph of a Bayesian network; its probabilities are left out (`network_column` reads them)."""
    if text.lstrip()[:1] == "<":
        return _read_xmlbif(text)
    text = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
    position: dict[str, int] = {}
    for variable in _VARIABLE.finditer(text):
        name = variable.group(1).strip('"')
        if name in position:
            raise ValueError(f"line {_line(text, variable.start())}: found the variable {name!r} twice")
        position[name] = len(position)
    parents: dict[str, list[str]] = {}
    for family in _FAMILY.finditer(text):
        child, *rest = re.split(r"\|", family.group(1))
        listed = re.findall(r'"[^"]*"|[^\s,"]+', " ".join(rest))
        try:
            _add_family(parents, child.strip().strip('"'), listed, position)
        except ValueError as fault:
            raise ValueError(f"line {_line(text, family.start())}: {fault}") from None
    return _of_families(parents, position)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _add_family(parents: dict[str, list[str]], child: str, listed: list[str], known: dict[str, int]) -> None:
    names = [name.strip('"') for name in listed]
    unknown = next((name for name in (child, *names) if name not in known), None)
    if unknown is not None:
        raise ValueError(f"found {unknown[:60]!r} in the probabilities of {child[:60]!r}, which is not a variable")
    if child in parents:
        raise ValueError(f"found the probabilities of {child!r} twice")
    if len({*names}) < len(names):
        raise ValueError(f"found a parent of {child!r} twice")
    parents[child] = names


def _of_families(parents: dict[str, list[str]], position: dict[str, int]) -> Edges:
    if not position:
        raise ValueError("found a network without variables")
    absent = next((name for name in position if name not in parents), None)
    if absent is not None:
        raise ValueError(f"found no probabilities of {absent!r}; the text is cut off")
    arcs = [(position[p], position[name]) for name, listed in parents.items() for p in listed]
    return Edges(tuple(position), arcs)


def _read_xmlbif(text: str) -> Edges:
    root, lines = parse_xml(text, "XMLBIF")
    position: dict[str, int] = {}
    for variable in root.iterfind(".//VARIABLE/NAME"):
        name = (variable.text or "").strip()
        if name in position:
            raise ValueError(f"line {lines[variable]}: found the variable {name!r} twice")
        position[name] = len(position)
    parents: dict[str, list[str]] = {}
    for family in root.iterfind(".//DEFINITION"):
        given = [(x.text or "").strip() for x in family.iterfind("GIVEN")]
        try:
            _add_family(parents, (family.findtext("FOR") or "").strip(), given, position)
        except ValueError as fault:
            raise ValueError(f"line {lines[family]}: {fault}") from None
    return _of_families(parents, position)


NETWORK = register_encoding(
    Encoding(
        name="BIF",
        tool="bnlearn, pgmpy, Hugin, GeNIe",
        cells="BIF, NET, DSC or XMLBIF",
        meaning="the graph of a Bayesian network: probability ( C | A, B ) the node C with the parents A and B",
        mark="an edge i -> j is the i behind the bar of j",
        example="'network n {} variable A {} variable B {} probability ( A ) {} probability ( B | A ) {}' in lines",
        read=read_network,
        types=(str,),
        recognise=lambda text: bool(_NETWORK.match(text)),
        # a column of such texts is one of networks
        is_likely=lambda text: False,
    )
)
