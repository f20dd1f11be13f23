"""Rates of rejection in tables of the documentation, and directions that are tossed."""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

DOCS = Path(__file__).parents[2] / "docs"


def shown(rate: float, level: float, n: int) -> str:
    """Write a rate, in bold where it exceeds the level by three Monte Carlo errors and more."""
    word = f"{rate:.3f}".lstrip("0")
    return f"**{word}**" if rate > level + 3 * np.sqrt(level * (1 - level) / n) else word


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table_head(columns: Sequence[str]) -> list[str]:
    return [line(columns), line(["---"] * len(columns))]


def write(page: str, mark: str, note: str, table: str) -> None:
    """Put a note and a table between the marks of a page."""
    path = DOCS / page
    marked = re.compile(f"(?<=<!-- {mark}: begin -->\n).*?(?=<!-- {mark}: end -->)", re.DOTALL)
    wrapped = "\n".join(textwrap.wrap(note, 124))
    path.write_text(marked.sub(lambda _: f"{wrapped}\n\n{table}\n", path.read_text("utf-8")), "utf-8")


def tossed(rng: np.random.Generator, pairs: Callable[[], list[tuple[Any, Any]]]) -> list[tuple[Any, Any]]:
    """Ask for pairs and toss a coin for the direction of each, until there is no cycle."""
    while True:
        found = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs()]
        if nx.is_directed_acyclic_graph(nx.DiGraph(found)):
            return found
