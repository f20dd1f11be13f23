"""Evaluate causal estimates against matched negative controls.

Each row of a table holds a truth, an estimate and settings. The package adds metrics, matched negative controls and
p-values to the rows, builds an xarray cube over strata, and tests and draws it. Importing the package registers the
accessors `df.ceval`, `ds.ceval`, `series.graph` and `series.score`.

Every metric is in `ce.metrics`, and a function of the package too, as `ce.shd(truth, estimate)`.
"""

from __future__ import annotations

import sys
from typing import Any

# fields are listed in the order in which they are imported, graphs first
from .fields import structure

# isort: split
from . import accessors as accessors
from . import datasets, metrics, plot
from .contract.encoding import AmbiguousEncodingError, list_encodings, register_encoding
from .contract.field import Field, list_fields, register_field
from .contract.figure import figure, list_figures
from .contract.law import ClosedFormRule, list_closed_forms, register_closed_form
from .contract.metric import METRICS as _METRICS
from .contract.metric import Metric, get_metric, list_metrics, metric, metric_set, tweak
from .contract.null import Null, list_nulls, register_null
from .cubes.concat import concat
from .cubes.cube import cube
from .cubes.summary import summary
from .execution.options import get_options, set_options
from .fields import (
    against_data,
    baselines,
    causal_kl,
    configurational,
    edge_scores,
    reasoning,
    time_series,
)
from .fields import interventions as interventions
from .fields import knowledge as knowledge
from .fields.causal_kl.cells import DiscreteNetwork, GaussianNetwork
from .fields.causal_kl.pairs import as_network, network_column
from .fields.configurational.submodel import submodels as submodels
from .fields.edge_scores.cells import score_column
from .fields.structure.nulls.laws import expected_metric, skeleton_test
from .fields.time_series.cells import LaggedGraph
from .fields.time_series.column import as_lagged, lagged_column, lagged_scores
from .graphs.column import as_graph, graph_column
from .graphs.files import read_graphs
from .graphs.graph import Graph
from .graphs.knowledge import Knowledge
from .inference.compare import compare
from .inference.linear_model import model
from .inference.ranking import rank_test
from .inference.statistical_test import list_tests, register_test
from .published.from_published import from_published
from .reports.report import report
from .reports.style import style
from .reports.wide import wide
from .tables.controls import with_controls
from .tables.evaluate import evaluate
from .tables.placebo import placebo
from .tables.pool import pool
from .tables.published import control_distribution
from .tables.settings import ChosenNull as ChosenNull
from .tables.settings import null_model
from .tables.warm_up import warm_up
from .tables.with_baselines import with_baselines
from .versions import __version__ as __version__
from .versions import show_versions

if "dask.dataframe" in sys.modules:
    # dask's tables get their verbs where dask is in use; importing it for nothing would cost a second
    from . import dask as dask

# a field is a module of the package by its name too: `from causaleval_pd.reasoning import quantities`
sys.modules |= {
    key.replace(".fields.", "."): module
    for key, module in sys.modules.items()
    if key.startswith(f"{__name__}.fields.") and key.count(".") == 2
}

__all__ = [
    "AmbiguousEncodingError",
    "ClosedFormRule",
    "DiscreteNetwork",
    "Field",
    "GaussianNetwork",
    "Graph",
    "Knowledge",
    "LaggedGraph",
    "Metric",
    "Null",
    "against_data",
    "as_graph",
    "as_lagged",
    "as_network",
    "baselines",
    "causal_kl",
    "compare",
    "concat",
    "configurational",
    "control_distribution",
    "cube",
    "datasets",
    "edge_scores",
    "evaluate",
    "expected_metric",
    "figure",
    "from_published",
    "get_metric",
    "get_options",
    "graph_column",
    "lagged_column",
    "lagged_scores",
    "list_closed_forms",
    "list_encodings",
    "list_fields",
    "list_figures",
    "list_metrics",
    "list_nulls",
    "list_tests",
    "metric",
    "metric_set",
    "metrics",
    "model",
    "network_column",
    "null_model",
    "placebo",
    "plot",
    "pool",
    "rank_test",
    "read_graphs",
    "reasoning",
    "register_closed_form",
    "register_encoding",
    "register_field",
    "register_null",
    "register_test",
    "report",
    "score_column",
    "set_options",
    "show_versions",
    "skeleton_test",
    "structure",
    "style",
    "summary",
    "time_series",
    "tweak",
    "warm_up",
    "wide",
    "with_baselines",
    "with_controls",
]


def __getattr__(name: str) -> Any:
    """Return a metric of this name, which completion does not show."""
    if name in _METRICS:
        return _METRICS[name]
    hint = "" if name.startswith("_") else _METRICS.suggest(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint}dir({__name__}) shows its names")


def __dir__() -> list[str]:
    """List the public names, metrics apart."""
    return list(__all__)
