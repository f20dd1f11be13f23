"""What null models compute without drawing: they are asked for the closed forms of each metric on example pairs.

Nothing is simulated. A pair of ten nodes has too many controls to list, so that what is found there holds at any size.
Smaller ones show up to how many nodes all controls are listed, which gives the law of every metric.
"""

from __future__ import annotations

import itertools
import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.contract.context import resolve_context
from causaleval_pd.contract.field import FIELDS
from causaleval_pd.contract.law import ClosedForm
from causaleval_pd.contract.null import Controls, Matching, Null

EXACT = "exact law"
SPREAD = "exact mean and variance"
MEAN = "exact mean"
SIMULATED = "simulated"
#: nodes of pairs whose controls are too many to list
_TEN = 10
#: nodes up to which lists are looked for
_MOST = 8


class Example(NamedTuple):
    """A truth and an estimate, and the class of estimates that they stand for."""

    of: str
    truth: Any
    estimate: Any
    #: inputs beside both
    context: dict[str, Any] | None = None


@cache
def examples(field: str, d: int = _TEN) -> list[Example]:
    """Return pairs of a field over d nodes, one for each class of estimates that metrics tell apart."""
    truth, estimate = _dag(d, 3), _dag(d, 2)
    cpdag = ce.graph_column([estimate]).graph.cpdag().graph.to_strings().iloc[0]
    latent = "; ".join(
        [*(f"X{i} o-> X{i + 1}; X{i + 2} o-> X{i + 1}" for i in range(0, d - 2, 3)), *(f"X{i}" for i in range(d))]
    )
    hidden = "; ".join([truth, *(f"L -> X{i}" for i in (0, d - 1))])
    weights = np.random.default_rng(0).uniform(0.01, 0.99, (2, d, d)).round(3) * (1 - np.eye(d))
    nodes = [f"X{i}" for i in range(d)]
    one, other = (ce.score_column([x], nodes=nodes, encoding="row->column")[0] for x in weights)
    links = ["; ".join(f"X{i}@-{1 + (i + k) % 2} -> X{(i + k) % d}" for i in range(d)) for k in (1, 2)]
    known = ce.Knowledge(required=["X0 -> X1", "X4 -> X5"], forbidden=["X3 -> X2"]) if d > 5 else None
    networks = _network(d, 1), _network(d, 2)
    found = {
        "graph": [
            Example("DAGs", truth, estimate),
            Example("CPDAGs", truth, cpdag),
            Example("PAGs", hidden, latent, {"latents": ["L"]}),
        ],
        "scores": [Example("scores", truth, other)],
        "edge_weights": [Example("scores", one, other)],
        "lagged": [Example("lagged graphs", *(f"lags 0..2: {x}" for x in links))],
        "network": [Example("networks", *networks, {"estimator": "joint"})],
        "fitted_graph": [Example("graphs", networks[0], estimate)],
        "formula": [Example("models", "A*B + C <-> E", "A*b + c <-> E")],
        "knowledge": [Example("DAGs", known, estimate)],
        "answer": [Example("answers", True, False)],
    }
    return found.get(field, [])


def _dag(d: int, step: int) -> str:
    """Return a connected DAG over d nodes: a path with a few more edges."""
    pairs = [*((i, i + 1) for i in range(d - 1)), *((i, i + 2) for i in range(0, d - 2, step))]
    return "; ".join(f"X{a} -> X{b}" for a, b in pairs)


def _network(d: int, seed: int) -> ce.DiscreteNetwork:
    """Return a network of binary nodes, each with the two before it as parents."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(d)]
    parents = {x: names[max(i - 2, 0) : i] for i, x in enumerate(names)}
    return ce.DiscreteNetwork(parents, {x: rng.dirichlet((1, 1), (2,) * len(p)) for x, p in parents.items()})


@cache
def controls(field: str, null: str, place: int, d: int) -> Controls | None:
    """Return the controls of an example, None where the model needs options."""
    own = FIELDS[field]
    model: Null = own.nulls[null]
    example = examples(field, d)[place]
    truth, estimate = (
        side.coerce(pd.Series([cell], dtype=object), name)
        for side, cell, name in ((own.of_truth, example.truth, "truth"), (own, example.estimate, "estimate"))
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = resolve_context(pd.DataFrame(index=[0]), example.context, {field: own.context})
            return _matched(own, model, truth, estimate, inputs)
    except ValueError:
        return None


def _matched(own: Any, model: Null, truth: pd.Series, estimate: pd.Series, inputs: Any) -> Controls:
    [batch] = own.batches(truth, estimate, inputs)
    matching = Matching(truth, estimate, None, None, dict(model.options), inputs)
    return model.match(matching)(batch.rows, batch.pairs, np.ones(1, np.uint64))


@cache
def law(metric: ce.Metric, null: str, place: int, d: int = _TEN) -> str | None:
    """Return what is computed without drawing, None where the metric is not defined or nothing can be asked."""
    found = controls(metric.field, null, place, d)
    if found is None or metric.refused(found.pairs).any():
        return None
    if metric.closed_form is None and d == _TEN:
        return SIMULATED
    try:
        return _word(found.closed_form(metric))
    except ValueError:
        return None


def _word(closed: ClosedForm | None) -> str:
    if closed is None or np.isnan(closed.mean).all():
        return SIMULATED
    if closed.distribution is not None or (closed.tails is not None and bool(np.all(closed.tailed))):
        return EXACT
    if closed.variance is None or np.isnan(closed.variance).all():
        return MEAN
    return SPREAD


@cache
def listed(field: str, null: str) -> int:
    """Return up to how many nodes all controls of the example are listed, 0 where they never are."""
    own = [ce.get_metric(name) for name in ce.list_metrics(field).index] if examples(field) else []
    # the law of a metric that has none at ten nodes is that of a list
    own = [m for m in own if m.direction is not None and not m.dims]
    found = next((m for m in own if law(m, null, 0, 4) == EXACT and law(m, null, 0) != EXACT), None)
    if found is None:
        return 0
    return max(itertools.takewhile(lambda d: law(found, null, 0, d) == EXACT, range(4, _MOST + 1)))


def words_of(metric: ce.Metric) -> tuple[list[str], list[list[str]]]:
    """Return the classes of estimates that a metric is defined for, and one row per null model: name, laws, lists."""
    nulls = [null.name for null in FIELDS[metric.field].nulls.every()]
    found = [[law(metric, null, i) for null in nulls] for i in range(len(examples(metric.field)))]
    kept = [i for i, words in enumerate(found) if any(words)]
    rows = [
        [null, *(found[i][j] or "\u2013" for i in kept), sizes(metric.field, null)]
        for j, null in enumerate(nulls)
        if any(found[i][j] for i in kept)
    ]
    return [examples(metric.field)[i].of for i in kept], rows


def sizes(field: str, null: str) -> str:
    """Return up to how many nodes all controls are listed, in words."""
    most = listed(field, null)
    return "" if not most else f"up to {most} nodes" if most < _MOST else f"{_MOST} nodes and more, while they are few"


def by_form(field: str, null: str) -> tuple[list[str], list[list[str]]]:
    """Return the classes of estimates, and one row per closed form: its key and what it gives under a null model."""
    metrics = [ce.get_metric(name) for name in ce.list_metrics(field).index]
    keys = list(dict.fromkeys(m.closed_form for m in metrics if m.direction is not None and not m.dims))
    rows = []
    for key in sorted((x for x in keys if x is not None), key=str):
        words = [
            dict.fromkeys(law(m, null, i) for m in metrics if m.closed_form == key and m.direction and not m.dims)
            for i in range(len(examples(field)))
        ]
        rows.append([key, *(", or ".join(x for x in found if x) or "\u2013" for found in words)])
    kept = [i for i in range(len(examples(field))) if any(row[i + 1] != "\u2013" for row in rows)]
    return [examples(field)[i].of for i in kept], [[row[0], *(row[i + 1] for i in kept)] for row in rows]
