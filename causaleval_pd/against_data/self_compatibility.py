"""Self-compatibility: whether what a learner finds in some columns agrees with what it finds in all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..contract.checks import check_choice, check_number, check_type, check_whole
from ..execution.random_streams import RNGLike, resolve_seed
from ..graphs.classes import extensions, to_cpdags
from ..graphs.column import as_graph, graph_column
from ..graphs.graph import Graph
from ..graphs.kernels.planes import CPDAG, DAG, DIGRAPH, KINDS, PAG, PDAG

__all__ = ["self_compatibility"]

#: subsets up to which all are listed, of which some are drawn
_MOST_LISTED = 10_000


def self_compatibility(
    learner: Callable[[pd.DataFrame], Any],
    data: pd.DataFrame,
    *,
    n_subsets: int = 40,
    share: float = 0.5,
    target: Literal["pag", "mag", "admg"] = "pag",
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Apply a learner to subsets of the columns, and return runs that compare its graphs with the graph of all columns.

    No truth is needed: the graph that the learner finds in all columns, projected onto those of a subset, is the truth
    of the run on the subset [1]_. The runs are scored and compared with controls as any others. A learner that never
    finds an edge agrees with itself perfectly, and so do its controls.

    Parameters
    ----------
    learner : callable
        `learner(frame)` returns a graph over the columns of a frame, in any format of `as_graph`, or None if it fails.
    data : DataFrame
        One row a case, one column a node.
    n_subsets : int
        Number of different subsets, at most all of the size.
    share : float
        Share of the columns that a subset has, in (0, 1); their number is rounded down and at least 2.
    target : {"pag", "mag", "admg"}
        Class of both graphs of a run. "pag" compares Markov equivalence classes and suits every learner; "mag" suits
        learners of DAGs or MAGs, "admg" those of DAGs or ADMGs.
    rng : None, int or Generator
        Seed of the subsets.

    Returns
    -------
    DataFrame
        One run a subset: `subset` (number), `nodes` (its columns, separated by semicolons), `n_nodes`, `learned` (class
        of the graph that the learner returned), `truth` and `estimate`. The estimate is missing where the learner
        returned None, or a graph that has no DAG in its class, as contradictory tests can make.

    Raises
    ------
    TypeError
        If the learner is not a function, or the data are not a DataFrame.
    ValueError
        If there are fewer than three columns, the learner returns a graph over other nodes, or the graph of all columns
        has no DAG in its class.

    References
    ----------
    .. [1] Faller, P. M., Vankadara, L. C., Mastakouri, A. A., Locatello, F., Janzing, D. (2024). Self-compatibility:
       evaluating causal discovery without ground truth. AISTATS. doi:10.48550/arXiv.2307.09552

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> def strong(frame):
    ...     r = frame.corr().abs()
    ...     names = list(frame.columns)
    ...     pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    ...     return "; ".join([*names, *(f"{a} -> {b}" for a, b in pairs if r.loc[a, b] > 0.3)])
    >>> runs = ce.against_data.self_compatibility(strong, ce.datasets.sachs().head(853), n_subsets=5, rng=1)
    >>> runs.ceval.evaluate(["adjacency_f1"]).loc[:1, ["nodes", "adjacency_f1"]].round(2)
                          nodes  adjacency_f1
    0  erk; jnk; p38; pip2; plc           NaN
    1  akt; erk; jnk; pip2; plc           1.0
    """
    if not callable(learner):
        raise TypeError(f"learner must be a function of a DataFrame that returns a graph, found {learner!r}")
    check_type(data, pd.DataFrame, "a DataFrame with one column a node", "data")
    check_choice(target, ("pag", "mag", "admg"), "target")
    wanted, part = check_whole(n_subsets, "n_subsets", 1), check_number(share, "share", "(0, 1)")
    names = sorted(map(str, data.columns))
    if len(names) < 3 or len(set(names)) < len(names):
        raise ValueError(f"data needs at least three columns of different names, found {list(data.columns)[:10]}")
    whole = _learned(learner, data.set_axis(data.columns.map(str), axis=1), names)
    if whole is None:
        raise ValueError("the learner returned None for all columns; there is nothing to compare its other graphs with")
    origin = _representative(whole)
    if origin is None:
        raise ValueError(
            f"the learner's graph of all columns is a {whole.kind} that no DAG has as its class: {whole!r}; other "
            "settings of the learner, such as its alpha, may give one"
        )
    frame = data.set_axis(data.columns.map(str), axis=1)
    subsets = _subsets(len(names), max(2, math.floor(part * len(names))), wanted, resolve_seed(rng))
    rows = []
    for number, chosen in enumerate(subsets):
        mine = [names[i] for i in chosen]
        graph = _learned(learner, frame[[name for name in frame.columns if name in mine]], mine)
        origin_of = None if graph is None else _representative(graph)
        rows.append(
            {
                "subset": number,
                "nodes": "; ".join(mine),
                "n_nodes": len(mine),
                "learned": None if graph is None else graph.kind,
                "latents": [name for name in names if name not in mine],
                "estimate": origin_of,
            }
        )
    table = pd.DataFrame(rows)
    table["learned"] = table["learned"].astype("str")
    truths = getattr(graph_column([origin] * len(table)).graph, target)(latents=table["latents"])
    estimates = getattr(graph_column(table["estimate"]).graph, target)()
    return table.drop(columns=["latents", "estimate"]).assign(truth=truths.array, estimate=estimates.array)


def _learned(learner: Callable[[pd.DataFrame], Any], frame: pd.DataFrame, names: list[str]) -> Graph | None:
    """Return what a learner finds in a frame of its own."""
    found = learner(frame.copy())
    if found is None:
        return None
    graph = as_graph(found)
    if list(graph.nodes) != names:
        raise ValueError(
            f"the learner returned a graph over {list(graph.nodes)[:10]} for the columns {names[:10]}; return a graph "
            "over the columns that it is given, isolated ones as bare names"
        )
    return graph


def _representative(graph: Graph) -> Graph | None:
    """Return a graph of a class that is projected: a DAG of a CPDAG or PDAG, or None if it has no DAG."""
    kind = KINDS.index(graph.kind)
    if kind == PAG:
        found: Graph = as_graph(graph_column([graph]).graph.mag().iloc[0])
        return found
    if kind not in (CPDAG, PDAG, DIGRAPH):
        return graph
    planes, none = to_cpdags(graph.planes[None], graph.n_nodes, np.array([kind], np.uint8))
    if none[0]:
        return None
    dags, _ = extensions(planes, graph.n_nodes, np.array([CPDAG], np.uint8))
    return Graph(graph.nodes, KINDS[DAG], dags[0])


def _subsets(n: int, size: int, wanted: int, seed: int) -> list[tuple[int, ...]]:
    """Draw different subsets of n columns."""
    rng = np.random.default_rng(seed)
    if math.comb(n, size) <= _MOST_LISTED:
        every = list(itertools.combinations(range(n), size))
        chosen = rng.choice(len(every), min(wanted, len(every)), replace=False)
        return [every[i] for i in chosen.tolist()]
    found: dict[tuple[int, ...], None] = {}
    while len(found) < min(wanted, math.comb(n, size)):
        found[tuple(sorted(rng.choice(n, size, replace=False).tolist()))] = None
    return list(found)
