"""Figures of reasoners: validity against consistency, errors against complexity, reliability by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ...contract.checks import check_known
from ...contract.figure import figure
from ...drawing import broken, caption_figure, colours, figure_of, legend_room, place_to_draw, tone
from ...drawing import caption as write_caption
from .validity import FLOOR, Convention, check_quantities, error_law, judged_by, relative_error, taxonomy
from .yes_counts import LEVELS, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["complexity", "quadrant", "reliability"]

#: quantities of each panel, and their label
_SHOWN = {"association": ("p_given1", "p_given0"), "intervention": ("p_do1", "p_do0"), "counterfactual": ("pns",)}
_LABELS = {"association": "p(y | x)", "intervention": "p(y | do(x))", "counterfactual": "PNS"}

#: areas of the large points that coincide, in points squared: each smaller one is drawn upon the one before
_AREAS = (90, 230, 420, 660)

_MARKERS = "osD^vPX*<>"


@figure(
    "validity against consistency of reasoners",
    of="table",
    field="quantity",
    concludes="which reasoners are valid, and which are consistent",
)
def quadrant(
    quantities: pd.DataFrame,
    *,
    by: str = "model",
    convention: Convention = None,
    delta: float = 0.1,
    floor: float = FLOOR,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Plot validity against consistency of reasoners.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`, with compositions.
    by : str
        Column of reasoners.
    convention : {"paper"}, optional
        Rule of the classes, as in `taxonomy`.
    delta, floor : float
        Tolerance, as in `taxonomy`.

    Returns
    -------
    Axes
        One small point per task: its worst PNS and its worst composition, as multiples of what is tolerated, so that
        the quadrant of a point is the class that `taxonomy` gives; hollow where that is undecided. A large point a
        reasoner: medians over tasks. Large points that coincide have several sizes, and stand where they are.

    Raises
    ------
    ValueError
        If a column is missing or the table has no compositions.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=200, rng=1)
    >>> answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["perfect", "random"], rng=1)
    >>> ax = plot.quadrant(quantities(answers, by="model", worlds=tasks))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['perfect', 'random']
    """
    check_known(convention, (None, "paper"), "convention")
    rows = _pns_rows(quantities, by)
    if not (rows["relation"] == "internal").any():
        raise ValueError("the table has no compositions, so consistency is undefined; pass worlds= to quantities")
    judged = judged_by(convention, rows, delta=delta, floor=floor)
    judged["excess"] = judged["excess"].fillna(np.inf)
    points = judged.groupby([by, "task", "relation"], sort=False)["excess"].max().unstack("relation")
    classes = taxonomy(rows, by=by, convention=convention, delta=delta, floor=floor).set_index([by, "task"])["class"]
    decided = classes.notna().reindex(points.index, fill_value=False)
    new_figure = ax is None
    ax = place_to_draw(ax, 5.6, 5.0)
    names = list(dict.fromkeys(rows[by]))
    is_far = np.isinf(points.to_numpy())
    top = 3 * max(10.0, float(np.nanmax(points.to_numpy()[~is_far], initial=1.0)))
    shown = points.clip(upper=top)
    _draw_borders(ax, top)
    middles = shown.groupby(level=0, sort=False).median().loc[names]
    # of points that coincide, the first is the largest, so that all can be seen
    same = middles.round(9).groupby(["external", "internal"], sort=False, dropna=False)
    rank = same.cumcount(ascending=False).tolist()
    areas = {name: _AREAS[min(i, len(_AREAS) - 1)] for name, i in zip(names, rank, strict=True)}
    for name, colour, marker in _styles(names):
        mine, known = shown.loc[name], decided.loc[name]
        for part, face in ((mine[known], colour), (mine[~known], "none")):
            ax.scatter(
                part["external"], part["internal"], s=18, facecolors=face, edgecolors=colour, alpha=0.55,
                linewidths=0.9, clip_on=False,
            )  # fmt: skip
        middle = middles.loc[name]
        ax.scatter(
            [middle["external"]], [middle["internal"]], s=areas[name], color=colour, marker=marker,
            edgecolors=tone(1.0, ax), linewidths=0.8, zorder=3 - areas[name] / 10_000, label=str(name), clip_on=False,
        )  # fmt: skip
    ax.set_xlabel("worst error against the truth, in tolerances (lower is better)")
    ax.set_ylabel("worst error of own products against own whole,\nin tolerances (lower is better)")
    _draw_legend(ax, by, new_figure)
    for handle in ax.get_legend().legend_handles:  # type: ignore[union-attr]
        handle.set_sizes([60])  # type: ignore[union-attr]
    if caption:
        rule = f"A tolerance is {delta:g} x max(|truth|, {floor:g})"
        if convention is not None:
            rule = f"The paper's rule: relative errors of at most {delta:g}, and of its threshold of consistency"
        small = "small points: tasks, hollow where errors of sampling reach across a border"
        large = "large points: medians of tasks, in several sizes where they coincide"
        edge = "; at the edge: infinite or undefined" if is_far.any() else ""
        note = f"Probabilities of necessity and sufficiency (PNS); {small}; {large}{edge}"
        write_caption(ax, new_figure, f"{rule}. {note}{_not_shown(quantities, by, names)}.")
    return ax


def _draw_borders(ax: Axes, top: float) -> None:
    """Draw the borders of the quadrants on axes that show 0, and name each quadrant in its corner."""
    for set_scale in (ax.set_xscale, ax.set_yscale):
        set_scale("symlog", linthresh=1.0, linscale=0.8)
    ax.set(xlim=(-0.08, top), ylim=(-0.08, top))
    ax.axvline(1, color=tone(0.7, ax), lw=1, ls="--")
    ax.axhline(1, color=tone(0.7, ax), lw=1, ls="--")
    for x, valid, ha in ((0.02, "valid", "left"), (0.98, "invalid", "right")):
        for y, consistent, va in ((0.04, "consistent", "bottom"), (0.98, "inconsistent", "top")):
            style: dict[str, Any] = {"ha": ha, "va": va, "color": tone(0.65, ax), "size": "small", "zorder": 4}
            ax.text(x, y, f"{valid}, {consistent}", transform=ax.transAxes, **style)


@figure(
    "error of reasoners by complexity, beside chance",
    of="table",
    field="quantity",
    concludes="whether errors grow with complexity, and exceed those of chance",
)
def complexity(
    quantities: pd.DataFrame,
    *,
    by: str = "model",
    x: Literal["mediators", "distance"] = "mediators",
    error: Literal["relative", "absolute"] = "relative",
    floor: float = 0.01,
    level: float = 0.95,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Plot errors of the PNS against the number of mediators, or of components spanned, with bands of chance.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities` with worlds.
    by : str
        Column of reasoners.
    x : {"mediators", "distance"}
        Measure of the complexity of a pair.
    error : {"relative", "absolute"}
        Error on the axis.
    floor : float
        Smallest denominator of a relative error.
    level : float
        Probability of the bands.

    Returns
    -------
    Axes
        Lines are means over tasks and pairs; bands are errors of a perfect and a random reasoner at these sample sizes.

    Raises
    ------
    ValueError
        If the table was made without worlds.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=200, rng=1)
    >>> answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["noisy"], rng=1)
    >>> plot.complexity(quantities(answers, by="model", worlds=tasks)).get_xlabel()
    'mediators between cause and effect'
    """
    check_known(x, ("mediators", "distance"), "x")
    check_known(error, ("relative", "absolute"), "error")
    rows = _pns_rows(quantities, by)
    rows = rows[(rows["kind"] != "composition") & rows[x].notna() & rows["truth_exact"].notna() & (rows["n"] > 0)]
    if not len(rows):
        raise ValueError(f"the table has no {x}; make it by quantities(..., worlds=...)")
    scale = np.maximum(rows["truth_exact"], floor) if error == "relative" else 1.0
    rows = rows.assign(_error=(rows["estimate"] - rows["truth_exact"]).abs() / scale)
    new_figure = ax is None
    ax = place_to_draw(ax, 5.0, 4.2)
    at = np.sort(rows[x].unique()).astype(float)
    _draw_bands(ax, rows, x, np.broadcast_to(np.asarray(scale, np.float64), len(rows)), level)
    names = list(dict.fromkeys(rows[by]))
    for name, colour, marker in _styles(names):
        mean = rows[rows[by] == name].groupby(x)["_error"].mean()
        ax.plot(mean.index.astype(float), mean, color=colour, marker=marker, label=str(name))
    least = float(rows.groupby([by, x])["_error"].mean().replace(0, np.nan).min())
    if np.isfinite(least):
        ax.set_yscale("symlog", linthresh=max(least / 2, 1e-4))
    ax.set_ylim(bottom=0)
    ax.set_xticks(at)
    if len(at) == 1:
        ax.set_xlim(at[0] - 1, at[0] + 1)
    ax.set_xlabel("mediators between cause and effect" if x == "mediators" else "components between cause and effect")
    ax.set_ylabel(f"{error} error of the PNS (lower is better)")
    _draw_legend(ax, by, new_figure)
    if caption:
        bands = f"bands: {100 * level:.4g} % of the errors by chance, with as many samples"
        foot = f"; truths below {floor:g} count as {floor:g}" if error == "relative" else ""
        foot += _not_shown(quantities, by, names)
        write_caption(ax, new_figure, f"Means over tasks and pairs of nodes; {bands}{foot}.")
    return ax


def _draw_bands(ax: Axes, rows: pd.DataFrame, x: str, scale: Floats, level: float) -> None:
    """Draw the bands of errors that a random and a perfect reasoner make by chance, along column `x`."""
    at = np.sort(rows[x].unique()).astype(float)
    # a single place gets a band of some width
    ends = at if len(at) > 1 else at + np.array([-0.3, 0.3])
    truth = rows["truth_exact"].to_numpy()
    for share, ink, label in ((np.full(len(rows), 0.25), 0.4, "random"), (truth, 0.18, "perfect")):
        law = error_law(truth, share, rows["n"].to_numpy(), scale)
        limits = (pd.Series(law.quantile(q)) for q in ((1 - level) / 2, (1 + level) / 2))
        means = (limit.groupby(rows[x].to_numpy()).mean().to_numpy() for limit in limits)
        below, above = (np.broadcast_to(mean, ends.shape) for mean in means)
        ax.fill_between(ends, below, above, color=tone(ink, ax), alpha=0.55, linewidth=0, label=f"{label}, by chance")


@figure(
    "estimates against truths by level of causation",
    of="table",
    field="quantity",
    concludes="at which level estimates are close to the truth",
)
def reliability(
    quantities: pd.DataFrame, *, by: str = "model", delta: float = 0.1, height: float = 3.5, caption: bool = True
) -> Figure:
    """Plot estimates against truths, one panel per level: association, intervention, counterfactual.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`.
    by : str
        Column of reasoners.
    delta : float
        Relative error of the shaded area around the diagonal.
    height : float
        Height of the panels in inches; their width is 0.83 of it.

    Returns
    -------
    Figure
        Points are pairs of nodes; on the diagonal the estimate is the truth.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=200, rng=1)
    >>> answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["perfect", "random"], rng=1)
    >>> figure = plot.reliability(quantities(answers, by="model", worlds=tasks))
    >>> [ax.get_title() for ax in figure.axes]
    ['association', 'intervention', 'counterfactual']
    """
    check_quantities(quantities)
    check_known(by, quantities.columns, "column")
    import matplotlib.pyplot as plt

    rows = quantities[(quantities["relation"] == "external") & (quantities["kind"] != "composition")]
    rows = rows[rows["estimate"].notna()]
    levels = [level for level in LEVELS if rows["quantity"].isin(_SHOWN[level]).any()]
    if not levels:
        raise ValueError("the table has none of p(y | x), p(y | do x), PNS; ask quantities for these")
    figure, axes = plt.subplots(
        1, len(levels), figsize=(0.83 * height * len(levels), height), sharey=True, layout="constrained", squeeze=False
    )
    names = list(dict.fromkeys(rows[by]))
    for ax, level in zip(axes[0], levels, strict=True):
        part = rows[rows["quantity"].isin(_SHOWN[level])]
        ax.fill_between([0, 1], [0, 1 - delta], [0, 1 + delta], color=tone(0.12, ax), linewidth=0)
        ax.plot([0, 1], [0, 1], color=tone(0.6, ax), lw=1)
        for name, colour, marker in _styles(names):
            mine = part[part[by] == name]
            ax.scatter(
                mine["truth"], mine["estimate"], s=26, color=colour, marker=marker, alpha=0.65, linewidths=0,
                label=str(name),
            )  # fmt: skip
        ax.set(title=level, xlabel=f"true {_LABELS[level]}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    axes[0, 0].set_ylabel("estimate from answers")
    _draw_legend(axes[0, -1], by, own=True)
    worst = relative_error(rows["truth"], rows["estimate"])
    share = float((pd.Series(worst[np.isfinite(worst)]) <= delta).mean())
    shaded = f"shaded: relative error of at most {delta:g}, where {100 * share:.0f} % of the points lie"
    if caption:
        caption_figure(figure, f"Points: pairs of nodes; {shaded}{_not_shown(quantities, by, names)}.")
    return figure


def _pns_rows(quantities: pd.DataFrame, by: str) -> pd.DataFrame:
    """Check a table of quantities, and return its rows of the PNS with an estimate."""
    check_quantities(quantities)
    check_known(by, quantities.columns, "column")
    rows = quantities[(quantities["quantity"] == "pns") & quantities["estimate"].notna()]
    if not len(rows):
        raise ValueError("the table has no estimated PNS; call quantities with 'pns', and check the parsed replies")
    return rows


def _styles(names: Sequence[Any]) -> Iterator[tuple[Any, str, str]]:
    """Return each reasoner with its colour and marker."""
    return zip(names, colours(len(names)), cycle(_MARKERS))


def _not_shown(quantities: pd.DataFrame, by: str, names: Sequence[Any]) -> str:
    """Return a note on the reasoners without an estimate, which have no points."""
    absent = [str(name) for name in dict.fromkeys(quantities[by]) if name not in names]
    return f"; without an estimate: {', '.join(absent)}" if absent else ""


def _draw_legend(ax: Axes, title: str, own: bool) -> None:
    """Draw the legend right of the axes; with `own`, widen the figure to make room for it."""
    handles, names = ax.get_legend_handles_labels()
    labels = [broken(name, 26) for name in names]
    figure: Any = figure_of(ax)
    columns, width, needed = legend_room(labels, title, figure.get_figheight() - 0.3)
    if own:
        figure.set_size_inches(figure.get_figwidth() + width, max(figure.get_figheight(), needed + 0.3))
    ax.legend(
        handles, labels, title=title, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, frameon=False,
        ncols=columns,
    )  # fmt: skip
