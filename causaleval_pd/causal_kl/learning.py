"""Learn graphs from data by algorithms of pgmpy and pyagrum, as a table that keeps what their parameters come from."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from ..contract.checks import check_type, nearest
from ..graphs.column import as_graph, graph_column
from ..graphs.edge_strings import write_names
from ..graphs.graph import Graph
from ..graphs.packing.packed import COLUMN_DTYPE
from .family_fits import Estimator, check_estimator
from .networks.cases import is_continuous, pack_cases
from .networks.column import network_column
from .networks.formats import read_network

__all__ = ["learn"]

#: returns the graph of a data set, in any format of `as_graph`
Learner = Callable[[pd.DataFrame], Any]


def learn(
    data: Any, learner: Any = "pc", *, truth: Any = None, estimator: Estimator | str | None = None
) -> pd.DataFrame:
    """Learn graphs from data sets: a table of runs with the data and the estimator of their parameters.

    The table is scored by ``runs.ceval.with_controls(["ckl3"], context={"data": "data", "estimator": "estimator"})``:
    learned graphs and their controls are then fitted alike, to the data of their row.

    Parameters
    ----------
    data : DataFrame, or mapping of names to DataFrames
        Data sets, one case a row, one column a node.
    learner : str, object, callable, or list or mapping of these
        "pc", "ges" and "hill_climbing" are those of pgmpy with its defaults (extra ``io``), "miic", "tabu" and "greedy"
        those of pyagrum, for discrete data. An object of pgmpy, such as ``PC(significance_level=0.05)``, is fitted. A
        function gets the data and returns a graph in any format of `as_graph`. A mapping names them.
    truth : network, optional
        True network of all data sets, in any format of `as_network`, for the column ``truth``.
    estimator : {"mle", "uniform rows"} or float, optional
        Estimator of parameters, as in `from_data`; default 0.5 for discrete data and "mle" for numbers.

    Returns
    -------
    DataFrame
        One row a data set and learner: ``sample`` (name of the data set), ``learner``, ``truth`` if given, ``estimate``
        (packed graphs), ``data`` (packed data sets), ``estimator``, ``seconds`` (wall time).

    Raises
    ------
    ValueError
        If a learner is unknown, data are not as a learner needs them, or columns and nodes of the truth differ.
    ImportError
        If a learner's package is not installed.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.causal_kl.metastatic()
    >>> cases = ce.causal_kl.sample(truth, 500, rng=1)
    >>> runs = ce.causal_kl.learn(cases, {"chain": lambda data: "M -> S; S -> C; C -> B"}, truth=truth)
    >>> context = {"data": "data", "estimator": "estimator"}
    >>> runs.ceval.with_controls(["ckl3"], context=context, rng=7)[["learner", "ckl3", "ckl3_p"]].round(3)
      learner   ckl3  ckl3_p
    0   chain  0.382    0.75
    """
    sets = dict(data) if isinstance(data, Mapping) else {"data": data}
    for name, cases in sets.items():
        check_type(cases, pd.DataFrame, "a DataFrame with one column a node", f"data {name!r}")
    true = None if truth is None else read_network(truth)
    learners = _named(learner)
    rows: list[dict[str, Any]] = []
    for name, cases in sets.items():
        nodes = tuple(sorted(str(column) for column in cases.columns))
        if true is not None and true.nodes != nodes:
            raise ValueError(f"data {name!r} has the columns {list(nodes)}, the truth the nodes {list(true.nodes)}")
        own = ("mle" if is_continuous(cases) else 0.5) if estimator is None else estimator
        check_estimator(own)
        cell = pack_cases(cases)
        for label, function in learners.items():
            start = time.perf_counter()
            graph = _as_graph(function(cases), nodes, label)
            seconds = time.perf_counter() - start
            rows.append({"sample": name, "learner": label, "estimate": graph, "data": cell, "estimator": own})
            rows[-1]["seconds"] = seconds
    table = pd.DataFrame(rows, columns=["sample", "learner", "estimate", "data", "estimator", "seconds"])
    cells = pa.array(table["data"].tolist(), type=pa.large_binary())
    table["data"] = pd.array(cells, dtype=COLUMN_DTYPE)
    table["estimate"] = graph_column(table["estimate"].tolist())
    if true is not None:
        table.insert(2, "truth", network_column([true] * len(table)))
    return table


def _as_graph(found: Any, nodes: tuple[str, ...], label: str) -> Graph:
    """Read what a learner returned, over the nodes of the data."""
    try:
        graph = as_graph(found, nodes=nodes if isinstance(found, str) else None)
    except (TypeError, ValueError) as error:
        raise type(error)(f"learner {label!r} returned {type(found).__name__}: {error}") from None
    if graph.nodes != nodes:
        raise ValueError(f"learner {label!r} returned a graph over {list(graph.nodes)}, the data have {list(nodes)}")
    return graph


def _named(learner: Any) -> dict[str, Learner]:
    """Return the learners by name."""
    if isinstance(learner, Mapping):
        return {str(name): _learner(one) for name, one in learner.items()}
    many = learner if isinstance(learner, Iterable) and not isinstance(learner, str) else [learner]
    found: dict[str, Learner] = {}
    for one in many:
        name = one if isinstance(one, str) else str(getattr(one, "__name__", type(one).__name__))
        if name in found:
            raise ValueError(f"two learners are called {name!r}; name them by a mapping")
        found[name] = _learner(one)
    return found


def _learner(one: Any) -> Learner:
    if isinstance(one, str):
        if one not in _LEARNERS:
            hint = nearest(one, _LEARNERS)
            raise ValueError(f"unknown learner {one!r}; {hint}known are {', '.join(_LEARNERS)}, objects and functions")
        return _LEARNERS[one]
    if hasattr(one, "fit"):
        return lambda data: one.fit(data).causal_graph_
    if not callable(one):
        raise TypeError(f"a learner is a name, an object of pgmpy or a function, found {type(one).__name__}")
    function: Learner = one
    return function


def _package(name: str, how: str) -> Any:
    """Import a package that is needed by a learner."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"this learner needs {name.partition('.')[0]}: pip install {how}") from None


def _by_pgmpy(name: str, **options: Any) -> Learner:
    def learner(data: pd.DataFrame) -> Any:
        algorithms = _package("pgmpy.causal_discovery", "'causaleval_pd[io]'")
        return getattr(algorithms, name)(**options).fit(data).causal_graph_

    return learner


def _by_pyagrum(method: str, *, mixed: bool = False) -> Learner:
    def learner(data: pd.DataFrame) -> str:
        if is_continuous(data):
            raise ValueError("learners of pyagrum take discrete data, found columns of floats")
        found = _package("pyagrum", "pyagrum").BNLearner(data.astype(str))
        getattr(found, method)()
        graph = found.learnPDAG() if mixed else found.learnDAG()
        label = write_names([str(name) for name in found.names()])
        edges = [f"{label[a]} -> {label[b]}" for a, b in graph.arcs()]
        edges += [f"{label[a]} -- {label[b]}" for a, b in (graph.edges() if mixed else ())]
        return "; ".join([*edges, *label])

    return learner


_LEARNERS: dict[str, Learner] = {
    "pc": _by_pgmpy("PC", variant="stable", show_progress=False),
    "ges": _by_pgmpy("GES"),
    "hill_climbing": _by_pgmpy("HillClimbSearch", show_progress=False),
    "miic": _by_pyagrum("useMIIC", mixed=True),
    "tabu": _by_pyagrum("useLocalSearchWithTabuList"),
    "greedy": _by_pyagrum("useGreedyHillClimbing"),
}
