"""What figures of reasoners share: rows of the PNS, colours and markers, legends, notes on missing reasoners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...contract.checks import check_known
from ...drawing import broken, colours, figure_of, legend_room
from ..measures.validity import check_quantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX*<>"


def pns_rows(quantities: pd.DataFrame, by: str | None) -> pd.DataFrame:
    """Check a table of quantities, and return its rows of the PNS with an estimate."""
    check_quantities(quantities)
    if by is not None:
        check_known(by, quantities.columns, "column")
    rows = quantities[(quantities["quantity"] == "pns") & quantities["estimate"].notna()]
    if not len(rows):
        raise ValueError("the table has no estimated PNS; call quantities with 'pns', and check the parsed replies")
    return rows


def styles(names: Sequence[Any]) -> Iterator[tuple[Any, str, str]]:
    """Yield each reasoner with its colour and marker."""
    markers = [_MARKERS[i % len(_MARKERS)] for i in range(len(names))]
    yield from zip(names, colours(len(names)), markers, strict=True)


def not_shown(quantities: pd.DataFrame, by: str, names: Sequence[Any]) -> str:
    """Return a note on the reasoners without an estimate, which have no points."""
    absent = [str(name) for name in dict.fromkeys(quantities[by]) if name not in names]
    return f"; without an estimate: {', '.join(absent)}" if absent else ""


def draw_legend(ax: Axes, title: str, own: bool) -> None:
    """Draw the legend right of the axes; with `own`, widen the figure to make room for it."""
    handles, names = ax.get_legend_handles_labels()
    labels = [broken(name, 26) for name in names]
    figure = figure_of(ax)
    height = 4.0 if figure is None else figure.get_figheight()
    columns, width, needed = legend_room(labels, title, height - 0.3)
    if own and figure is not None:
        figure.set_size_inches(figure.get_figwidth() + width, max(height, needed + 0.3))
    ax.legend(
        handles, labels, title=title, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, frameon=False,
        ncols=columns,
    )  # fmt: skip
