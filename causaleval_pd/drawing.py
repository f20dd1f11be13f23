"""Parts that all figures share: labels from a metric's spec, captions, legends, colours and a place to draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AIMS = {"minimize": "lower is better", "maximize": "higher is better", "zero": "closest to 0 is best"}
#: width of a letter of labels and of captions, in inches
LETTER, _SMALL = 0.085, 0.068
#: height of a line of a legend, in inches
_LEGEND_LINE = 0.22


def axis_label(long_name: str, direction: str | None) -> str:
    """Return the label of a metric's axis, with the direction that is better.

    Examples
    --------
    >>> axis_label("structural Hamming distance", "minimize")
    'structural Hamming distance (lower is better)'
    """
    aim = _AIMS.get(direction or "none")
    return long_name if aim is None else f"{long_name} ({aim})"


def wrapped(text: str, width: float) -> str:
    """Break a text into lines that fit `width` inches in small print."""
    return "\n".join(textwrap.wrap(text, max(24, int(width / _SMALL))))


def wrapped_label(label: str, width: float) -> str:
    """Break the label of an axis that needs more than `width` inches, first before the direction that is better."""
    if len(label) * LETTER <= width:
        return label
    head, bracket, aim = label.rpartition(" (")
    lines = [head, f"({aim}"] if bracket else [label]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, max(16, int(width / LETTER))))


def tick_names(words: Sequence[str], room: float) -> list[str]:
    """Break the names of levels, at spaces, into lines of at most `room` inches."""
    return [textwrap.fill(word, max(6, int(room / LETTER)), break_long_words=False) for word in words]


def colours(n: int) -> list[Any]:
    """Return `n` colours that colour-blind readers can distinguish."""
    import seaborn as sns

    # the palette has ten colours and would repeat them
    return list(sns.color_palette("colorblind" if n <= 10 else "viridis", n))


def place_to_draw(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this width and height in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained").add_subplot()


def caption(ax: Axes, own: bool, text: str) -> None:
    """Write a caption in small print at the foot of an own figure, else under the label of the x axis.

    `causaleval_pd.contract.figure` describes what a caption states.
    """
    figure = figure_of(ax)
    if own and figure is not None:
        caption_figure(figure, text)
        return
    ax.annotate(
        wrapped(text, max(3.0, inches(ax))),
        xy=(0, 0),
        xycoords=("axes fraction", ax.xaxis.label),
        xytext=(0, -8),
        textcoords="offset points",
        va="top",
        size="small",
        color="0.35",
        gid="caption",
    )


def caption_figure(figure: Figure, text: str) -> None:
    """Write a caption in small print at the foot of a figure, and make the figure higher by its lines."""
    lines = wrapped(text, figure.get_figwidth() - 0.2)
    figure.set_figheight(figure.get_figheight() + 0.1 + 0.16 * len(lines.split("\n")))
    figure.supxlabel(lines, x=0.01, ha="left", size="small", color="0.35", gid="caption")


def legend_room(labels: Sequence[str], title: str, height: float) -> tuple[int, float]:
    """Return the number of columns of a legend of this height in inches, and their width."""
    rows = sum(0.3 + 0.7 * (1 + label.count("\n")) for label in [title, *labels])
    columns = min(len(labels), math.ceil(rows * _LEGEND_LINE / height))
    longest = max(len(line) for label in [title, *labels] for line in label.split("\n"))
    return columns, (0.8 + LETTER * longest) * columns


def name_ticks(ax: Axes, axis: Literal["x", "y"], words: Sequence[str], room: float) -> float:
    """Name the levels along an axis of `room` inches, on several lines or slanted where they need it.

    Returns the height of the names beyond one line, in inches.
    """
    if axis == "y":
        ax.set_yticks(range(len(words)), tick_names(words, 1.6))
        return 0.0
    slot = room / len(words)
    names = tick_names(words, slot)
    widest = max(len(line) for name in names for line in name.split("\n"))
    if widest * LETTER <= slot:
        ax.set_xticks(range(len(words)), names)
        return 0.15 * max(name.count("\n") for name in names)
    ax.set_xticks(range(len(words)), words)
    for label in ax.get_xticklabels():
        label.set(rotation=40, ha="right", rotation_mode="anchor")
    return math.sin(math.radians(40)) * LETTER * max(map(len, words))


def figure_of(ax: Axes) -> Figure | None:
    """Return the figure that holds axes, be it through subfigures; None if they were removed."""
    # a subfigure's figure is the outermost; get_figure(root=True) is newer than the oldest matplotlib supported
    return None if ax.figure is None else ax.figure.figure


def inches(ax: Axes) -> float:
    """Return the width of axes before their layout."""
    figure = figure_of(ax)
    return 4.0 if figure is None else float(ax.get_window_extent().width / figure.dpi)


def colour_map(name: str) -> Any:
    """Return a colour map with grey for missing values."""
    import matplotlib

    return matplotlib.colormaps[name].with_extremes(bad="0.85")


def write_square(ax: Axes, image: Any, row: int, col: int, text: str, value: float) -> None:
    """Write into a square of a heat map, in white where it is dark."""
    red, green, blue, _ = image.cmap(image.norm(value))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    ax.text(col, row, text, ha="center", va="center", size="small", color="white" if dark else "black")


def frame_square(ax: Axes, row: int, col: int) -> None:
    """Draw a frame into a square of a heat map."""
    from matplotlib.patches import Rectangle

    for colour, width in (("white", 3.0), ("black", 1.4)):
        corner = (col - 0.44, row - 0.42)
        ax.add_patch(Rectangle(corner, 0.88, 0.84, fill=False, edgecolor=colour, lw=width, gid="frame"))


def colour_bar(ax: Axes, image: Any, label: str) -> Any:
    """Draw the colour bar of an image, right of it."""
    figure: Any = ax.figure
    return figure.colorbar(image, ax=ax, label=label)
