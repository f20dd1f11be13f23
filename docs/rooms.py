"""Draw the rooms of the package and their imports: `python docs/rooms.py` writes docs/_static/rooms.svg.

Rows are those of ORDER in tests/test_house.py. An arrow is an import; arrows that follow from others are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/_static/rooms.svg"
ROW, BOX_WIDTH, BOX_HEIGHT, GAP = 92, 112, 34, 12

sys.path.insert(0, str(ROOT / "tests"))
import test_house as house  # noqa: E402


def imports() -> nx.DiGraph:
    """Return which room imports which, without what follows from other imports."""
    graph = nx.DiGraph()
    for module, others in house.imports().items():
        rooms = ((house.room(module), house.room(x)) for x in others)
        graph.add_edges_from((a, b) for a, b in rooms if a not in (b, "__init__"))
    return nx.transitive_reduction(graph)


def picture() -> str:
    """Return the picture as SVG: a row of boxes for each line of the order, the lowest rooms at the bottom."""
    rows = [[x.strip() for x in line.split(",") if x.strip()] for line in house.ORDER.strip().splitlines()][::-1]
    rows = [[room for room in row if room != "fields"] for row in rows]
    width = max(map(len, rows)) * (BOX_WIDTH + GAP) + GAP
    corners = {}
    for y, row in enumerate(rows):
        left = (width - len(row) * (BOX_WIDTH + GAP) + GAP) / 2
        corners |= {room: (left + x * (BOX_WIDTH + GAP), 30 + y * ROW) for x, room in enumerate(row)}
    arrows = [arrow(corners[a], corners[b]) for a, b in sorted(imports().edges)]
    boxes = [box(room, *corner) for room, corner in corners.items()]
    height = 30 + len(rows) * ROW - ROW + BOX_HEIGHT + 20
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
            "<title>Rooms of the package; arrows are imports</title>",
            f'<defs>{head}<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>',
            *arrows,
            *boxes,
            "</svg>\n",
        ]
    )


def box(room: str, x: float, y: float) -> str:
    """Draw a room."""
    middle = f'x="{x + BOX_WIDTH / 2:g}" y="{y + BOX_HEIGHT / 2 + 4:g}"'
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" fill="#e8f1f4" stroke="#0a7d91"/>'
        f'<text {middle} font-size="13" text-anchor="middle" fill="#222">{room}</text>'
    )


def arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Draw an import: down from row to row, as an arc above within a row."""
    (x, y), (u, v) = start, end
    x, u = x + BOX_WIDTH / 2, u + BOX_WIDTH / 2
    if y == v:
        line = f"M{x:g} {y:g}C{x:g} {y - 32:g} {u:g} {v - 32:g} {u:g} {v:g}"
    else:
        line = f"M{x:g} {y + BOX_HEIGHT:g}C{x:g} {y + ROW:g} {u:g} {v - ROW / 2:g} {u:g} {v:g}"
    return f'<path d="{line}" fill="none" stroke="#555" stroke-opacity=".7" marker-end="url(#head)"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
