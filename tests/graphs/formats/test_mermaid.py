"""Flowcharts of Mermaid: edges, groups, labels, what is only drawn, and what is refused."""

from __future__ import annotations

import time

import pytest

import causaleval_pd as ce

#: as caugi's documentation shows its four kinds of edges
CAUGI = "flowchart TD\n  A --> B\n  B --- C\n  C <--> D\n  D o--> E\n  E --o F\n  F o--o G"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CAUGI, "A -> B; B -- C; C <-> D; D o-> E; E --o F; F o-o G"),
        ("graph LR; A-->B; B-->C", "A -> B; B -> C"),
        ("%% made by hand\nflowchart LR\nA & B --> C & D", "A -> C; A -> D; B -> C; B -> D"),
        ('flowchart TD\n a["blood -- pressure"] -->|by 5| b((x))\n b -- maybe --> c', "a -> b; b -> c"),
        ("flowchart TD\n A -.-> B ==> C ---- D", "A -> B; B -> C; C -- D"),
        ('flowchart TD\n "a b" --> "say \\"x\\"" %% end', '"a b" -> "say ""x"""'),
        ("flowchart TD\n subgraph one\n A --> B\n end\n C\n style A fill:#fff\n classDef x fill:red", "A -> B; C"),
        ("flowchart TD\n end --> style", "end -> style"),
    ],
)
def test_flowcharts(text, expected):
    assert ce.as_graph(text) == ce.as_graph(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flowchart TD\n A --> B\n A x--x B", "line 3: found 'x--x B', expected an edge"),
        ("flowchart TD\n A -- B", "line 2: found '-- B', expected an edge"),
        ("flowchart TD\n A[x --> B", "line 2: found .* expected a title that ']' closes"),
        ("flowchart TD\n A -->", "line 2: found '', expected the name of a node"),
        ("flowchart TD\n A --> B\n B --> A", "line 3: found the edges"),
        ("flowchart TD\n A --> A", "line 2: found an edge from 'A' to itself"),
    ],
)
def test_what_is_no_graph_names_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        ce.as_graph(text)


@pytest.mark.slow
def test_long_flowcharts_take_linear_time():
    def seconds(n):
        for fill in ("A --> B & ", "A -- x ", "A[", '"a'):
            with pytest.raises(ValueError, match="line 2"):
                ce.as_graph("flowchart TD\n" + fill * n)

    start = time.process_time()
    seconds(20_000)
    first = time.process_time() - start
    seconds(40_000)
    assert time.process_time() - start - first < 6 * first + 1
