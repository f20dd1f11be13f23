"""Figure of graphs: expected metrics of random guessing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...contract.checks import check_type, check_whole
from ...contract.figure import figure
from ...contract.metric import Metric, get_metric
from ...drawing import axis_label, colours, opacity, place_to_draw, wrapped_label
from ...drawing import caption as write_caption
from .nulls.expectation import expected_metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: numbers of edges at which a curve is computed; graphs with fewer pairs of nodes are drawn at every number
_POINTS = 201


@figure(
    "expected metric of random guessing by number of estimated edges",
    of="numbers",
    field="graph",
    concludes="which value random graphs reach by chance",
)
def expected_curves(
    metric: str | Metric,
    *,
    n_nodes: int,
    true_edges: int | Iterable[int],
    estimated_edges: Iterable[int] | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw the expected metric of random guessing over the number of estimated edges.

    Parameters
    ----------
    metric : str or Metric
        A metric with a closed form, see `expected_metric`.
    n_nodes : int
        Number of nodes.
    true_edges : int or iterable of int
        Numbers of true edges; one curve each.
    estimated_edges : iterable of int, optional
        Numbers of estimated edges along the axis; default all, or 201 of them where there are more.
    level : float
        Probability of the bands.

    Returns
    -------
    Axes
        Lines are expected values, bands the exact null intervals; a metric without known interval has no band.

    Raises
    ------
    ValueError
        If the metric is unknown or has no closed form, or numbers of edges do not fit the number of nodes.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.expected_curves("adjacency_precision", n_nodes=5, true_edges=[2, 5, 8])
    >>> ax.get_ylabel()
    'adjacency precision (higher is better)'
    """
    chosen = get_metric(metric)
    edges = [true_edges] if isinstance(true_edges, (int, np.integer)) else true_edges
    check_type(edges, Iterable, "a number, or numbers, of true edges", "true_edges")
    edges = [check_whole(number, "true_edges") for number in edges]
    if not edges:
        raise ValueError("true_edges is empty; give one number of true edges for each curve")
    pairs = check_whole(n_nodes, "n_nodes") * (n_nodes - 1) // 2
    if estimated_edges is None:
        at = np.unique(np.linspace(0, pairs, min(pairs + 1, _POINTS)).round().astype(np.int64))
    else:
        check_type(estimated_edges, Iterable, "the numbers along the axis", "estimated_edges")
        at = np.unique(np.fromiter(estimated_edges, np.float64))
        if not len(at):
            raise ValueError("estimated_edges is empty; give the numbers along the axis")
    tables = [expected_metric(chosen, n_nodes=n_nodes, true_edges=m, estimated_edges=at, level=level) for m in edges]

    own_figure = ax is None
    ax = place_to_draw(ax, 6.4, 4.2)
    banded = any(bool(table["low"].notna().any()) for table in tables)
    for number, table, colour in zip(edges, tables, colours(len(edges)), strict=True):
        ax.fill_between(at, table["low"], table["high"], color=colour, alpha=opacity(0.15), linewidth=0)
        # a line needs two values
        marker = "o" if table["mean"].notna().sum() < 2 else None
        ax.plot(at, table["mean"], color=colour, marker=marker, label=str(number))
    ax.set_xlabel("number of estimated edges")
    ax.set_ylabel(wrapped_label(axis_label(chosen.long_name, chosen.direction), 3.4))
    ax.legend(title="true edges", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    band = f"bands: {100 * level:.4g} % of the graphs" if banded else "no bands, whose limits have no closed form"
    if caption:
        write_caption(
            ax, own_figure, f"Random graphs over {n_nodes} nodes with that many edges; exact values, no draws; {band}."
        )
    return ax
