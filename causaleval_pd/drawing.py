"""Parts that all figures share: labels from a metric's spec, captions, legends, colours and a place to draw."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AIMS = {"minimize": "lower is better", "maximize": "higher is better", "zero": "closest to 0 is best"}
#: width of a letter of labels and of captions, in inches, in fonts of 10 points
LETTER, _SMALL = 0.085, 0.068
#: smallest size of names of rows, in points, and number of rows from which on they are in small print
_SMALLEST, _MANY_ROWS = 5.0, 12
#: width of axes, in inches, from which on legends stand right of them
_WIDE = 4.0
#: width of a page, in inches
_PAGE = 7.0
#: width of the lines of a caption, at most, in inches
_LONGEST = 14.0
#: height of names along x up to which they are slanted, and upright, and width of a level from which on they may be
#: upright, in inches
_SLANTED, _TALLEST, _UPRIGHT = 1.1, 1.4, 0.11
#: largest and smallest size of texts in squares, in points
_SQUARE, _SMALLEST_SQUARE = 8.3, 4.0
#: height of a line of a legend, in inches
_LEGEND_LINE = 0.22
#: on dark paper: share of the colour of text in all others, and power of shares of ink, of which it shows less
_LIGHTER, _DENSER = 0.3, 0.7


def axis_label(long_name: str, direction: str | None) -> str:
    """Return the label of a metric's axis, with the direction that is better."""
    aim = _AIMS.get(direction or "none")
    return long_name if aim is None else f"{long_name} ({aim})"


def _enlarged(setting: Literal["font.size", "axes.labelsize", "legend.fontsize"] = "font.size") -> float:
    """Return how large a font of matplotlib's settings is, as a multiple of 10 points."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=rcParams[setting]).get_size_in_points()) / 10


def wrapped(text: str, width: float) -> str:
    """Break a text into lines that fit `width` inches in small print."""
    return "\n".join(textwrap.wrap(text, max(24, int(width / _SMALL / _enlarged()))))


def wrapped_label(label: str, width: float) -> str:
    """Break the label of an axis that needs more than `width` inches, first before the direction that is better."""
    letter = LETTER * _enlarged("axes.labelsize")
    if len(label) * letter <= width:
        return label
    head, bracket, aim = label.rpartition(" (")
    lines = [head, f"({aim}"] if bracket else [label]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, max(16, int(width / letter))))


def tick_names(words: Sequence[str], room: float) -> list[str]:
    """Break the names of levels, between their words, into lines of at most `room` inches if possible."""
    return [broken(word, max(6, int(room / LETTER)), within=False) for word in words]


def colours(n: int) -> list[Any]:
    """Return `n` colours that colour-blind readers can distinguish, lighter ones on dark paper."""
    import seaborn as sns
    from matplotlib import rcParams

    # the palette has ten colours and would repeat them
    palette = sns.color_palette("colorblind" if n <= 10 else "viridis", n)
    if is_dark(_paper()):
        return [_mixed(rcParams["text.color"], colour, _LIGHTER) for colour in palette]
    return list(palette)


def is_dark(colour: Any) -> bool:
    """Return whether white letters are easier to read on a colour than black ones."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


def opacity(share: float, ax: Axes | None = None) -> float:
    """Return the share of ink that is seen on the paper as this share is on white paper."""
    return share**_DENSER if is_dark(_paper(ax)) else share


def _paper(ax: Axes | None = None) -> Any:
    """Return the colour of axes, or of new ones; the opposite of the text's where they are transparent."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    colour = rcParams["axes.facecolor"] if ax is None else ax.get_facecolor()
    return colour if to_rgba(colour)[3] else letters_on(rcParams["text.color"])


def _mixed(first: Any, second: Any, share: float) -> tuple[float, float, float]:
    """Return a colour with this share of the first colour, the rest of the second."""
    from matplotlib.colors import to_rgb

    red, green, blue = (share * x + (1 - share) * y for x, y in zip(to_rgb(first), to_rgb(second), strict=True))
    return red, green, blue


def tone(share: float, ax: Axes | None = None) -> tuple[float, float, float]:
    """Return the colour of text, or a paler one: this share of it on the colour of the axes, light or dark."""
    from matplotlib import rcParams

    return _mixed(rcParams["text.color"], _paper(ax), opacity(share, ax))


def legend_of(ax: Axes, handles: Sequence[Any], title: str, *, own: bool) -> None:
    """Write a legend right of the axes if it fits there, else above them; a figure of its own gets room for it."""
    figure, words = figure_of(ax), [str(handle.get_label()) for handle in handles]
    if not handles or figure is None:
        return
    style: dict[str, Any] = {"handles": list(handles), "title": title or None, "frameon": False, "borderaxespad": 0}
    large = _enlarged()
    beside = [broken(word, int(1.9 / _SMALL)) for word in words]
    rows = sum(0.3 + 0.7 * (1 + label.count("\n")) for label in [title, *beside])
    if (own or inches(ax) >= _WIDE) and rows * _LEGEND_LINE * large <= inches(ax, "height") + 0.4:
        _label(handles, beside)
        if own:
            longest = max(len(line) for label in [title, *beside] for line in label.split("\n"))
            figure.set_figwidth(figure.get_figwidth() + (0.7 + _SMALL * longest) * large)
        ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), fontsize="small", alignment="left", **style)
        return
    # in small print too where it would take half the height of given axes
    many = len(words) > _MANY_ROWS or (not own and rows * _LEGEND_LINE * large > 0.5 * inches(ax, "height"))
    letter, line = (0.057 * large, 0.15 * large) if many else (_SMALL * large, 0.19 * large)
    if own and many:
        figure.set_figwidth(max(_PAGE, figure.get_figwidth()))
    # axes are measured without their labels, above which the legend goes on
    width = figure.get_figwidth() - 0.2 if own else 1.2 * inches(ax)
    above = [broken(word, max(6, int((width - 0.6) / letter))) for word in words]
    longest = max(len(part) for label in above for part in label.split("\n"))
    columns = min(len(words), max(1, int(width / (0.6 + letter * longest))))
    _label(handles, above)
    if own:
        lines = math.ceil(sum(1 + label.count("\n") for label in above) / columns) + bool(title)
        figure.set_figheight(figure.get_figheight() + 0.2 + line * lines)
    size = "x-small" if many else "small"
    style |= {"columnspacing": 1.0, "handlelength": 1.6, "labelspacing": 0.25, "alignment": "left"}
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1.02), ncols=columns, fontsize=size, **style)


def _label(handles: Sequence[Any], words: Sequence[str]) -> None:
    """Give the entries of a legend their labels."""
    for handle, word in zip(handles, words, strict=True):
        handle.set_label(word)


def place_to_draw(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this width and height in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained").add_subplot()


def caption(ax: Axes, own: bool, text: str) -> None:
    """Write a caption (see `contract.figure`) at the foot of an own figure, else under the label of the x axis."""
    figure = figure_of(ax)
    if own and figure is not None:
        caption_figure(figure, text)
        return
    _show_dollars(ax)
    # axes are measured without their labels, below which the caption goes on
    width = max(2.8, 1.1 * inches(ax))
    narrow = width < _WIDE
    # names beside axes that are switched off need room
    tight = None if ax.axison else ax.get_tightbbox()
    beside = 0.0 if tight is None or figure is None else max(0.0, ax.bbox.x0 - tight.x0) / figure.dpi
    ax.annotate(
        wrapped(text, width / 0.83 if narrow else width),
        xy=(0, 0),
        # names of rows stand left of axes that are on, and leave room for the caption there
        xycoords=(ax.yaxis.label, ax.xaxis.label) if ax.axison else "axes fraction",
        xytext=(3 - 72 * beside, -8),
        textcoords="offset points",
        va="top",
        size="x-small" if narrow else "small",
        color=tone(0.65),
        gid="caption",
        parse_math=False,
    )


def caption_figure(figure: Figure, text: str) -> None:
    """Write a caption at the foot of a figure, made higher by its lines, which are broken anew at every layout."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    class Captioned(ConstrainedLayoutEngine):
        def execute(self, fig: Figure) -> Any:
            note.set_text(wrapped(text, min(_LONGEST, fig.get_figwidth() - 0.2)))
            return super().execute(fig)

    lines = wrapped(text, min(_LONGEST, figure.get_figwidth() - 0.2))
    figure.set_figheight(figure.get_figheight() + 0.1 + 0.16 * _enlarged() * len(lines.split("\n")))
    note = figure.supxlabel(lines, x=0.01, ha="left", size="small", color=tone(0.65), gid="caption")
    figure.set_layout_engine(Captioned())
    _show_dollars(figure)


def _show_dollars(drawn: Axes | Figure) -> None:
    """Show dollar signs in names as they are: lines are broken and measured by letters, and names may be no formula."""
    from matplotlib.text import Text

    for text in drawn.findobj(Text):
        # matplotlib writes the powers of a log axis as formulas of its own
        if isinstance(text, Text) and "$" in text.get_text() and "\\mathdefault" not in text.get_text():
            text.set_parse_math(False)


def legend_room(labels: Sequence[str], title: str, height: float) -> tuple[int, float, float]:
    """Return the number of columns of a legend, one or two, and its size; `height` inches are there."""
    large = _enlarged("legend.fontsize")
    rows = [0.3 + 0.7 * (1 + label.count("\n")) for label in labels]
    for columns in (1, 2):
        # matplotlib puts as many entries into each column
        first = math.ceil(len(rows) / columns)
        tall = 1.1 * _LEGEND_LINE * large * (1 + bool(title) + max(sum(rows[:first]), sum(rows[first:])))
        if tall <= height:
            break
    longest = max(len(line) for label in [title, *labels] for line in label.split("\n"))
    return columns, (0.8 + LETTER * longest) * large * columns, tall


def squares_width(columns: int, least: float, names: float) -> float:
    """Return the width of squares side by side: that of their names up to a page, at least `least` inches each."""
    return max(columns * least, min(columns * names, _PAGE))


def name_ticks(ax: Axes, axis: Literal["x", "y"], words: Sequence[str], room: float) -> float:
    """Name the levels along an axis of `room` inches, slanted if need be; return the names' height beyond one line."""
    if axis == "y":
        ax.set_yticks(range(len(words)), tick_names(words, 1.6))
        return 0.0
    slot = room / len(words)
    names = tick_names(words, slot)
    widest = max(len(line) for name in names for line in name.split("\n"))
    if widest * LETTER <= slot:
        ax.set_xticks(range(len(words)), names)
        return 0.15 * max(name.count("\n") for name in names)
    slanted = math.sin(math.radians(40)) * LETTER * max(map(len, words))
    if (slanted > _SLANTED and slot >= _UPRIGHT) or slot < LETTER:
        return _name_upright(ax, words, slot)
    ax.set_xticks(range(len(words)), words)
    for label in ax.get_xticklabels():
        label.set(rotation=40, ha="right", rotation_mode="anchor")
    return slanted


def _name_upright(ax: Axes, words: Sequence[str], slot: float) -> float:
    """Name the levels along x from bottom to top, on as many lines as fit `slot` inches; return the names' height."""
    longest = max(map(len, words))
    for size in (10.0, 9.0, 8.0, 7.0, 6.0, _SMALLEST):
        # half a line stays free between neighbours
        most, letter = max(1, int(slot / (1.25 * size / 72) - 0.5)), LETTER * size / 10
        for letters in range(min(longest, max(6, longest // most)), longest + 1):
            names = [broken(word, letters) for word in words]
            if max(name.count("\n") for name in names) < most:
                break
        if letters * letter <= _TALLEST and 1.25 * size / 72 <= slot:
            break
    ax.set_xticks(range(len(words)), names, fontsize=size)
    for label in ax.get_xticklabels():
        label.set(rotation=90, ha="center", va="top", ma="right")
    return letters * letter


def name_rows(ax: Axes, words: Sequence[str], room: float, height: float) -> None:
    """Name the rows of axes of `height` inches, broken to `room` inches, in smaller print where the rows are low."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points()
    slot = height / max(len(words), 1)
    while True:
        letters = max(6, int(room / (LETTER * size / 10)))
        names = [broken(word, letters) for word in words]
        lines = max((1 + name.count("\n") for name in names), default=1)
        if size <= _SMALLEST or 1.25 * lines * size / 72 <= slot:
            break
        size -= 0.5
    ax.set_yticks(range(len(words)), names, fontsize=size)


def broken(word: str, letters: int, *, within: bool = True) -> str:
    """Break a name into lines of at most this number of letters: after spaces, underscores and hyphens if possible.

    A longer part without these is broken too, unless `within` is False.
    """
    lines = [""]
    # a sign before a number is not a hyphen
    for piece in re.split(r"(?<=[\s_/])|(?<=\w-)", word):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
        while within and len(lines[-1].rstrip()) > letters:
            lines[-1:] = [lines[-1][:letters], lines[-1][letters:]]
    return "\n".join(line.strip() for line in lines)


def shortened(names: Sequence[str], letters: int) -> list[str]:
    """Shorten long names to this number of letters, inside, where they still differ; else number them."""
    short_names: list[str] = []
    # names of one kind differ at their ends, or else before them
    for tail in range(10, letters - 4):
        head = letters - 3 - tail
        short_names = [name if len(name) <= letters else f"{name[:head]}...{name[-tail:]}" for name in names]
        if len(set(short_names)) == len(set(names)):
            return short_names
    return [
        x if x == name else f"{x[: letters - 4]} ({k})"
        for k, (name, x) in enumerate(zip(names, short_names, strict=True), 1)
    ]


def rows_height(words: Sequence[str], room: float) -> float:
    """Return the height, in inches, of rows with these names beside them, broken to `room` inches."""
    size = 10 if len(words) <= _MANY_ROWS else 8
    lines = max(math.ceil(len(word) * LETTER * size / 10 / room) for word in words)
    return len(words) * max(0.3 if len(words) <= _MANY_ROWS else 0.2, 0.06 + lines * size * 1.25 / 72)


def figure_of(ax: Axes) -> Figure | None:
    """Return the figure that holds axes, be it through subfigures; None if they were removed."""
    # a subfigure's figure is the outermost; get_figure(root=True) is newer than the oldest matplotlib supported
    return None if ax.figure is None else ax.figure.figure


def inches(ax: Axes, side: Literal["width", "height"] = "width") -> float:
    """Return the width or height of axes before their layout."""
    figure = figure_of(ax)
    return 4.0 if figure is None else float(getattr(ax.get_window_extent(), side) / figure.dpi)


def inner_width(ax: Axes, beside: float) -> float:
    """Return the width of given axes in inches, once a layout leaves `beside` inches for names and a colour bar."""
    # before its layout a single panel takes four fifths of its figure
    return max(0.3 * inches(ax), 1.25 * inches(ax) - beside)


def make_higher(ax: Axes, inches: float) -> None:
    """Make the figure of axes higher by these inches, if they are more than none."""
    figure = figure_of(ax)
    if figure is not None and inches > 0:
        figure.set_figheight(figure.get_figheight() + inches)


def colour_map(name: str) -> Any:
    """Return a colour map with pale ink for missing values."""
    import matplotlib

    return matplotlib.colormaps[name].with_extremes(bad=tone(0.15))


def square_size(texts: Sequence[str], width: float, height: float) -> float | None:
    """Return the size in points in which texts fit into squares of width and height in inches; None if too small."""
    lines = [text.split("\n") for text in texts]
    letters, most = max((len(x) for part in lines for x in part), default=1), max(map(len, lines), default=1)
    size = min(_SQUARE, 72 * width / (0.68 * letters), 72 * height / (1.4 * most))
    return size if size >= _SMALLEST_SQUARE else None


def write_square(
    ax: Axes, image: Any, row: int, col: int, text: str, value: float, size: float | str = "small"
) -> None:
    """Write into a square of a heat map."""
    ax.text(col, row, text, ha="center", va="center", size=size, color=letters_on(image.cmap(image.norm(value))))


def letters_on(colour: Any) -> str:
    """Return the colour of letters on a coloured area."""
    return "white" if is_dark(colour) else "black"


def frame_square(ax: Axes, row: int, col: int) -> None:
    """Draw a frame into a square of a heat map."""
    from matplotlib.patches import Rectangle

    for colour, width in (("white", 3.0), ("black", 1.4)):
        corner = (col - 0.44, row - 0.42)
        ax.add_patch(Rectangle(corner, 0.88, 0.84, fill=False, edgecolor=colour, lw=width, gid="frame"))


def mark_on_bar(bar: Any, value: float, *, is_dark: bool) -> None:
    """Mark a value on a colour bar, which may be dark there."""
    if is_dark:
        bar.ax.axhline(value, color="white", lw=2.5)
    bar.ax.axhline(value, color="black", lw=1)


def colour_bar(ax: Axes, image: Any, label: str) -> Any:
    """Draw the colour bar of an image, right of it."""
    figure: Any = ax.figure
    return figure.colorbar(image, ax=ax, label=label)
