"""Figure of one lagged graph, or of an estimate beside its truth: variables in rows, times in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...contract.figure import figure
from ...drawing import caption as write_caption
from ...drawing import colours, place_to_draw, tone
from .cells import CODE_OF_SIGN, TURNED, links_of
from .column import as_lagged
from .field import different_nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["lagged_graph"]

#: heads of arrows by the sign of a link
_STYLES = {"->": "-|>", "<->": "<|-|>", "--": "-", "o->": "-|>", "o-o": "-", "o--": "-", "<-o": "<|-"}
_HALF = 0.16


@figure(
    "links of a lagged graph over variables and times, beside its truth",
    of="cells",
    field="lagged",
    concludes="which links at which lags are right, wrong or missing",
)
def lagged_graph(graph: Any, truth: Any = None, *, ax: Axes | None = None, caption: bool = True) -> Axes:
    """Draw the links of a lagged graph that end at t: one row per variable, one column per time.

    Parameters
    ----------
    graph : lagged graph
        A cell in any form that `lagged_column` takes without options.
    truth : lagged graph, optional
        Over the same variables: links are then right, extra or missing.

    Returns
    -------
    Axes
        Arrows are links. With a truth, solid ones are in both graphs with the same marks, dashed ones in the estimate
        only, and dotted ones in the truth only. Circles at ends are drawn as such.

    Raises
    ------
    ValueError
        If a graph cannot be read, or their variables differ.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.lagged_graph("X@-1 -> X; X@-1 -> Y; X -> Y", "X@-1 -> X; X@-2 -> Y; X -> Y")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['in both (2)', 'extra (1)', 'missing (1)']
    """
    shown = as_lagged(graph)
    estimated = set(links_of(shown.codes))
    groups = [("", estimated)]
    nodes, last = shown.nodes, shown.max_lag
    if truth is not None:
        true = as_lagged(truth)
        if true.nodes != nodes:
            raise ValueError(different_nodes(true.nodes, nodes))
        last = max(last, true.max_lag)
        wanted = set(links_of(true.codes))
        groups = [("in both", estimated & wanted), ("extra", estimated - wanted), ("missing", wanted - estimated)]

    new_figure = ax is None
    ax = place_to_draw(ax, 2.2 + 1.3 * (last + 1), 1.4 + 0.62 * max(len(nodes), 1))
    styles = ["-", (0, (4, 2)), (0, (1, 2))]
    for (word, links), colour, style in zip(groups, colours(3), styles, strict=False):
        for link in sorted(links):
            # a missing link bends away from an extra one in its place
            aside = 0.15 * (word == "missing" and any(other[:3] == link[:3] for other in groups[1][1]))
            _draw_link(ax, link, colour if truth is not None else tone(0.8, ax), style, aside)
        if word:
            ax.plot([], [], color=colour, linestyle=style, label=f"{word} ({len(links)})")
    for lag in range(last + 1):
        places = [-lag] * len(nodes), range(len(nodes))
        ax.scatter(*places, s=60, color=tone(0.0, ax), edgecolors=tone(0.7, ax), zorder=3)
    ax.set(xlim=(-last - 0.6, 0.6), ylim=(len(nodes) - 0.4, -0.6), xlabel="time", ylabel="variable")
    ax.set_xticks(range(-last, 1), [f"t - {lag}" if lag else "t" for lag in range(last, -1, -1)])
    ax.set_yticks(range(len(nodes)), nodes)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if truth is not None:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    if caption:
        lines = "solid, dashed and dotted lines: in both graphs with the same marks, extra, missing; "
        searched = f"lags {shown.min_lag} to {shown.max_lag} were searched"
        marks = "" if truth is None else lines
        write_caption(ax, new_figure, f"Links that end at t; {marks}{searched}; no random guessing is shown.")
    return ax


def _draw_link(ax: Axes, link: tuple[int, int, int, str], colour: Any, style: Any, aside: float) -> None:
    """Draw one link; those at lag 0, and of a variable on itself across other times, bend."""
    from matplotlib.patches import FancyArrowPatch

    lag, source, target, sign = link
    # links from further back bend around the variables between
    bend = aside + (0.35 if lag == 0 else 0.28 if source == target and lag > 1 else 0.12 * (lag > 1))
    line: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": 1.5}
    tips: dict[str, Any] = {"arrowstyle": _STYLES[sign], "shrinkA": 6, "shrinkB": 6, "mutation_scale": 11}
    curve = f"arc3,rad={bend}"
    ax.add_patch(FancyArrowPatch((-lag, source), (0, target), connectionstyle=curve, **line, **tips))
    number = CODE_OF_SIGN[sign]
    for at_source, code in ((True, number), (False, int(TURNED[number]))):
        if code & 3 == 3:
            start, end = np.array([-lag, source], float), np.array([0, target], float)
            towards = (end - start) if at_source else (start - end)
            place = (start if at_source else end) + _HALF * towards / max(np.hypot(*towards), 1e-9)
            ax.scatter(place[0], place[1], s=22, color=tone(0.0, ax), edgecolors=[colour], zorder=4)
