"""Errors of reasoners: against the complexity of a pair, and estimates against truths by level of reasoning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from ...contract.checks import check_known
from ...contract.figure import figure
from ...drawing import caption, caption_figure, place_to_draw
from ..measures.chance import error_quantiles
from ..measures.validity import check_quantities, relative_error
from ..measures.yes_counts import LEVELS, Floats
from .marks import draw_legend, not_shown, pns_rows, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["complexity", "reliability"]

#: quantities of each panel, and their label
_SHOWN = {"association": ("p_given1", "p_given0"), "intervention": ("p_do1", "p_do0"), "counterfactual": ("pns",)}
_LABELS = {"association": "p(y | x)", "intervention": "p(y | do(x))", "counterfactual": "PNS"}


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
    ax : Axes, optional
        Axes to draw on; default a new figure.

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
    rows = pns_rows(quantities, by)
    rows = rows[(rows["kind"] != "composition") & rows[x].notna() & rows["truth_exact"].notna() & (rows["n"] > 0)]
    if not len(rows):
        raise ValueError(f"the table has no {x}; make it by quantities(..., worlds=...)")
    scale = np.maximum(rows["truth_exact"], floor) if error == "relative" else 1.0
    rows = rows.assign(_error=(rows["estimate"] - rows["truth_exact"]).abs() / scale)
    own = ax is None
    ax = place_to_draw(ax, 5.0, 4.2)
    at = np.sort(rows[x].unique()).astype(float)
    _draw_bands(ax, rows, x, np.broadcast_to(np.asarray(scale, np.float64), len(rows)), level)
    names = list(dict.fromkeys(rows[by]))
    for name, colour, marker in styles(names):
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
    draw_legend(ax, by, own)
    foot = f"; truths below {floor:g} count as {floor:g}" if error == "relative" else ""
    foot += not_shown(quantities, by, names)
    caption(ax, own, f"Means over tasks and pairs; bands: {100 * level:.4g} % of chance, at the samples asked{foot}.")
    return ax


def _draw_bands(ax: Axes, rows: pd.DataFrame, x: str, scale: Floats, level: float) -> None:
    """Draw the bands of errors that a random and a perfect reasoner make by chance, along column `x`.

    `scale` is the denominator of each row's error, `level` the probability of the bands.
    """
    at = np.sort(rows[x].unique()).astype(float)
    # a single place gets a band of some width
    ends = at if len(at) > 1 else at + np.array([-0.3, 0.3])
    truth = rows["truth_exact"].to_numpy()
    for share, colour, label in ((np.full(len(rows), 0.25), "0.6", "random"), (truth, "0.82", "perfect")):
        limits = error_quantiles(truth, share, rows["n"].to_numpy(), level)
        means = (pd.Series(limit / scale).groupby(rows[x].to_numpy()).mean().to_numpy() for limit in limits)
        below, above = (np.broadcast_to(mean, ends.shape) for mean in means)
        ax.fill_between(ends, below, above, color=colour, alpha=0.55, linewidth=0, label=f"{label}, by chance")


@figure(
    "estimates against truths by level of causation",
    of="table",
    field="quantity",
    concludes="at which level estimates are close to the truth",
)
def reliability(quantities: pd.DataFrame, *, by: str = "model", delta: float = 0.1) -> Figure:
    """Plot estimates against truths, a panel a level: association, intervention, counterfactual.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`.
    by : str
        Column of reasoners.
    delta : float
        Relative error of the shaded area around the diagonal.

    Returns
    -------
    Figure
        Points are pairs of nodes; on the diagonal the estimate is the truth.

    Raises
    ------
    ValueError
        If a column is missing.

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
        1, len(levels), figsize=(2.9 * len(levels), 3.5), sharey=True, layout="constrained", squeeze=False
    )
    names = list(dict.fromkeys(rows[by]))
    for ax, level in zip(axes[0], levels, strict=True):
        part = rows[rows["quantity"].isin(_SHOWN[level])]
        ax.fill_between([0, 1], [0, 1 - delta], [0, 1 + delta], color="0.88", linewidth=0)
        ax.plot([0, 1], [0, 1], color="0.4", lw=1)
        for name, colour, marker in styles(names):
            mine = part[part[by] == name]
            ax.scatter(
                mine["truth"], mine["estimate"], s=26, color=colour, marker=marker, alpha=0.65, linewidths=0,
                label=str(name),
            )  # fmt: skip
        ax.set(title=level, xlabel=f"true {_LABELS[level]}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    axes[0, 0].set_ylabel("estimate from answers")
    draw_legend(axes[0, -1], by, own=True)
    worst = relative_error(rows["truth"], rows["estimate"])
    share = float(np.mean(worst[np.isfinite(worst)] <= delta)) if np.isfinite(worst).any() else float("nan")
    shaded = f"shaded: relative error of at most {delta:g}, where {100 * share:.0f} % of the points lie"
    caption_figure(figure, f"Pairs of nodes; {shaded}{not_shown(quantities, by, names)}.")
    return figure
