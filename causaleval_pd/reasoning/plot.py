"""Figures of reasoners: validity against consistency, the cut tree, error against complexity, reliability by level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ..contract.checks import check_known
from ..contract.figure import figure
from ..drawing import caption, caption_figure, colour_bar, colours, legend_room, place_to_draw, wrapped
from .measures.counts import LEVELS
from .measures.luck import error_quantiles
from .measures.validity import check_quantities, judge, relative_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vPX*<>"
_LINES = {"valid": "-", "undecided": "--", "invalid": ":"}


@figure(
    "validity against consistency of reasoners",
    of="table",
    field="quantity",
    concludes="which reasoners are valid, and which are consistent",
)
def quadrant(
    quantities: pd.DataFrame, *, by: str = "model", delta: float = 0.1, floor: float = 0.01, ax: Axes | None = None
) -> Axes:
    """Draw where reasoners stand between valid and invalid, consistent and inconsistent.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`, with compositions.
    by : str
        Column that tells reasoners apart.
    delta : float
        Relative error that parts the quadrants.
    floor : float
        Smallest denominator of a relative error.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        A small point a task, a large one a reasoner (medians); errors below a hundredth of `delta` stand at the edge.

    Raises
    ------
    ValueError
        If a column is lacking or there are no compositions.

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
    rows = _pns(quantities, by)
    if not (rows["relation"] == "internal").any():
        raise ValueError(
            "the table has no compositions, so nothing can be consistent or not; pass worlds= to quantities"
        )
    scale = np.maximum(rows["truth"].abs(), floor)
    rows = rows.assign(error=(rows["estimate"] - rows["truth"]).abs() / scale)
    least = delta / 100
    points = rows.groupby([by, "task", "relation"], sort=False)["error"].median().unstack("relation").clip(lower=least)
    own = ax is None
    ax = place_to_draw(ax, 5.4, 4.8)
    names = list(dict.fromkeys(rows[by]))
    middles = _apart(points.groupby(level=0, sort=False).median().loc[names])
    for name, colour, marker in zip(names, colours(len(names)), _cycle(len(names)), strict=True):
        mine = points.loc[name]
        ax.scatter(mine["external"], mine["internal"], s=14, color=colour, alpha=0.4, linewidths=0)
        middle = middles.loc[name]
        ax.scatter(
            [middle["external"]], [middle["internal"]], s=90, color=colour, marker=marker, edgecolors="black",
            linewidths=0.8, zorder=3, label=str(name),
        )  # fmt: skip
    ax.set(xscale="log", yscale="log")
    top = 2 * max(10 * delta, float(np.nanmax(points.to_numpy())))
    ax.set(xlim=(least / 1.5, top), ylim=(least / 4, top))
    ax.axvline(delta, color="0.3", lw=1, ls="--")
    ax.axhline(delta, color="0.3", lw=1, ls="--")
    corners = {"VC": (0.02, 0.02), "VI": (0.02, 0.98), "IC": (0.98, 0.02), "II": (0.98, 0.98)}
    words = {
        "VC": "valid, consistent",
        "VI": "valid, inconsistent",
        "IC": "invalid, consistent",
        "II": "invalid, inconsistent",
    }
    for key, (x, y) in corners.items():
        ax.text(
            x, y, words[key], transform=ax.transAxes, ha="left" if x < 0.5 else "right",
            va="bottom" if y < 0.5 else "top", color="0.35", size="small", zorder=4,
        )  # fmt: skip
    ax.set_xlabel("relative error against the truth (lower is better)")
    ax.set_ylabel("relative error of own products\nagainst own whole (lower is better)")
    _legend(ax, by, own)
    points_are = "PNS; large: median over tasks (moved apart where they coincide), small: median of a task"
    floors = f"errors below {least:g} stand there; truths below {floor:g} count as {floor:g}"
    caption(ax, own, f"{points_are}; lines: {delta:g}; {floors}{_not_shown(quantities, by, names)}.")
    return ax


def _apart(points: pd.DataFrame) -> pd.DataFrame:
    """Move points that coincide a little apart along the x axis, so that each can be seen."""
    same = points.round(9).groupby(["external", "internal"], sort=False, dropna=False)
    place = same.cumcount() - (same["external"].transform("size") - 1) / 2
    return points.assign(external=points["external"] * 1.35**place)


@figure(
    "cut tree of one task with estimates and errors",
    of="table",
    field="quantity",
    concludes="which pairs of a task a reasoner gets right",
)
def cut_tree(quantities: pd.DataFrame, *, delta: float = 0.1, floor: float = 0.01, ax: Axes | None = None) -> Axes:
    """Draw the cut tree of one task with a reasoner's PNS on its edges, coloured by error.

    Parameters
    ----------
    quantities : DataFrame
        Rows of one task and one reasoner of a table made by `quantities`.
    delta, floor : float
        As in `judge`, which decides how an edge is drawn.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Nodes from root to leaf, an arc a pair: colour tells estimate - truth, the line whether it is shown to be valid.

    Raises
    ------
    ValueError
        If the rows are of several tasks or reasoners.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from causaleval_pd.reasoning import make_tasks, plot, quantities, reasoners
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=200, rng=1)
    >>> answers = tasks.questionnaire().assign(answer=lambda q: reasoners.random(q, rng=1))
    >>> len(plot.cut_tree(quantities(answers, worlds=tasks)).patches)
    3
    """
    rows = _pns(quantities, None)
    rows = rows[(rows["kind"] != "composition")]
    if not len(rows) or rows.duplicated(["cause", "effect"]).any() or rows["task"].nunique() != 1:
        raise ValueError("a cut tree shows one task and one reasoner; select their rows first")
    rows = judge(rows, delta=delta, floor=floor)
    order = rows["cause"].value_counts().index.tolist()  # the root is the cause of all, the next of one less
    order += [effect for effect in rows["effect"] if effect not in order][:1]
    place = {node: i for i, node in enumerate(order)}
    own = ax is None
    ax = place_to_draw(ax, 1.6 * max(3, len(order)) + 1.4, max(2.6, 1.5 + 1.6 * _arc_height(len(order) - 1)))
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import FancyArrowPatch

    error = (rows["estimate"] - rows["truth"]).to_numpy()
    reach = max(0.05, float(np.nanmax(np.abs(error), initial=0.0)))
    colouring = ScalarMappable(Normalize(-reach, reach), colormaps["coolwarm"])
    for row, wrong in zip(rows.itertuples(), error, strict=True):
        a, b = place[row.cause], place[row.effect]
        height = _arc_height(b - a)
        # a bent arrow reaches half as high as its control point
        ax.add_patch(
            FancyArrowPatch(
                (a, 0), (b, 0), connectionstyle=f"arc3,rad={-2 * height / (b - a):g}", arrowstyle="-|>",
                mutation_scale=14, shrinkA=13, shrinkB=13, lw=2.4, color=colouring.to_rgba(wrong),
                linestyle=_LINES.get(str(row.decision), "--"),
            )
        )  # fmt: skip
        ax.text(
            (a + b) / 2, height, f"{row.estimate:.3f}\n({row.truth:.3f})", ha="center", va="center", size="small",
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.9},
        )  # fmt: skip
    ax.scatter(range(len(order)), [0] * len(order), s=620, color="0.92", edgecolors="0.3", zorder=3)
    for node, i in place.items():
        ax.text(i, -0.17, node, ha="center", va="top", zorder=4)
    ax.set(xlim=(-0.5, len(order) - 0.5), ylim=(-0.45, _arc_height(len(order) - 1) + 0.25), aspect="equal")
    ax.axis("off")
    colour_bar(ax, colouring, "estimate - truth of the PNS")
    lines = "solid: shown to be valid, dashed: undecided, dotted: shown to be invalid"
    caption(ax, own, f"Estimated PNS (true value in brackets); {lines}, at a relative error of {delta:g}.")
    return ax


def _arc_height(steps: int) -> float:
    return 0.0 if steps == 1 else 0.42 * steps - 0.3


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
) -> Axes:
    """Draw errors of the PNS over the number of mediators, or of components spanned, with what chance alone gives.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities` with worlds.
    by : str
        Column that tells reasoners apart.
    x : {"mediators", "distance"}
        What makes a pair complex.
    error : {"relative", "absolute"}
        Error on the axis.
    floor : float
        Smallest denominator of a relative error.
    level : float
        Probability of the bands.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        Lines are means over tasks and pairs; bands are what a perfect and a random reasoner score in so many samples.

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
    rows = _pns(quantities, by)
    rows = rows[(rows["kind"] != "composition") & rows[x].notna() & rows["truth_exact"].notna() & (rows["n"] > 0)]
    if not len(rows):
        raise ValueError(f"the table has no {x}; make it by quantities(..., worlds=...)")
    scale = np.maximum(rows["truth_exact"], floor) if error == "relative" else 1.0
    rows = rows.assign(_error=(rows["estimate"] - rows["truth_exact"]).abs() / scale)
    own = ax is None
    ax = place_to_draw(ax, 5.0, 4.2)
    at = np.sort(rows[x].unique()).astype(float)
    # one place alone has a band of some width
    ends = at if len(at) > 1 else at + np.array([-0.3, 0.3])
    divisor = np.broadcast_to(np.asarray(scale, np.float64), len(rows))
    for share, colour, label in (
        (np.full(len(rows), 0.25), "0.6", "random"),
        (rows["truth_exact"].to_numpy(), "0.82", "perfect"),
    ):
        low, high = error_quantiles(rows["truth_exact"].to_numpy(), share, rows["n"].to_numpy(), level)
        below, above = (pd.Series(e / divisor).groupby(rows[x].to_numpy()).mean().to_numpy() for e in (low, high))
        below, above = (np.broadcast_to(limit, ends.shape) for limit in (below, above))
        ax.fill_between(ends, below, above, color=colour, alpha=0.55, linewidth=0, label=f"{label}, by chance")
    names = list(dict.fromkeys(rows[by]))
    for name, colour, marker in zip(names, colours(len(names)), _cycle(len(names)), strict=True):
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
    _legend(ax, by, own)
    foot = f"; truths below {floor:g} count as {floor:g}" if error == "relative" else ""
    foot += _not_shown(quantities, by, names)
    caption(ax, own, f"Means over tasks and pairs; bands: {100 * level:.4g} % of chance, at the samples asked{foot}.")
    return ax


@figure(
    "estimates against truths by level of causation",
    of="table",
    field="quantity",
    concludes="at which level estimates are close to the truth",
)
def reliability(quantities: pd.DataFrame, *, by: str = "model", delta: float = 0.1) -> Figure:
    """Draw estimates against truths, a panel a level: association, intervention, counterfactual.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`.
    by : str
        Column that tells reasoners apart.
    delta : float
        Relative error shaded around the diagonal.

    Returns
    -------
    Figure
        Points are pairs of nodes; on the diagonal the estimate is the truth.

    Raises
    ------
    ValueError
        If a column is lacking.

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

    shown = {"association": ("p_given1", "p_given0"), "intervention": ("p_do1", "p_do0"), "counterfactual": ("pns",)}
    rows = quantities[(quantities["relation"] == "external") & (quantities["kind"] != "composition")]
    rows = rows[rows["estimate"].notna()]
    levels = [level for level in LEVELS if rows["quantity"].isin(shown[level]).any()]
    if not levels:
        raise ValueError("the table has none of p(y | x), p(y | do x), PNS; ask quantities for these")
    figure, axes = plt.subplots(
        1, len(levels), figsize=(2.9 * len(levels), 3.5), sharey=True, layout="constrained", squeeze=False
    )
    names = list(dict.fromkeys(rows[by]))
    labels = {"association": "p(y | x)", "intervention": "p(y | do(x))", "counterfactual": "PNS"}
    for ax, level in zip(axes[0], levels, strict=True):
        part = rows[rows["quantity"].isin(shown[level])]
        ax.fill_between([0, 1], [0, 1 - delta], [0, 1 + delta], color="0.88", linewidth=0)
        ax.plot([0, 1], [0, 1], color="0.4", lw=1)
        for name, colour, marker in zip(names, colours(len(names)), _cycle(len(names)), strict=True):
            mine = part[part[by] == name]
            ax.scatter(
                mine["truth"],
                mine["estimate"],
                s=26,
                color=colour,
                marker=marker,
                alpha=0.65,
                linewidths=0,
                label=str(name),
            )
        ax.set(title=level, xlabel=f"true {labels[level]}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    axes[0, 0].set_ylabel("estimate from answers")
    _legend(axes[0, -1], by, own=True)
    worst = relative_error(rows["truth"], rows["estimate"])
    share = float(np.mean(worst[np.isfinite(worst)] <= delta)) if np.isfinite(worst).any() else float("nan")
    shaded = f"shaded: relative error of at most {delta:g}, where {100 * share:.0f} % of the points lie"
    caption_figure(figure, f"Pairs of nodes; {shaded}{_not_shown(quantities, by, names)}.")
    return figure


def _pns(quantities: pd.DataFrame, by: str | None) -> pd.DataFrame:
    check_quantities(quantities)
    if by is not None:
        check_known(by, quantities.columns, "column")
    rows = quantities[(quantities["quantity"] == "pns") & quantities["estimate"].notna()]
    if not len(rows):
        raise ValueError("the table has no estimated PNS; ask quantities for 'pns', and see whether replies were read")
    return rows


def _cycle(n: int) -> Sequence[str]:
    return [_MARKERS[i % len(_MARKERS)] for i in range(n)]


def _not_shown(quantities: pd.DataFrame, by: str, names: Sequence[Any]) -> str:
    """Name the reasoners without an estimate, which no point stands for."""
    absent = [str(name) for name in dict.fromkeys(quantities[by]) if name not in names]
    return f"; without an estimate: {', '.join(absent)}" if absent else ""


def _legend(ax: Axes, title: str, own: bool) -> None:
    """Write the legend right of the axes; an own figure grows by its width."""
    handles, names = ax.get_legend_handles_labels()
    labels = [wrapped(name, 1.8) for name in names]
    figure = ax.get_figure(root=True)
    height = 4.0 if figure is None else figure.get_figheight()
    columns, width = legend_room(labels, title, height - 0.3)
    if own and figure is not None:
        figure.set_figwidth(figure.get_figwidth() + width)
    ax.legend(
        handles, labels, title=title, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, frameon=False,
        ncols=columns,
    )  # fmt: skip
