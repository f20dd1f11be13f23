"""Evaluate causal estimates against matched negative controls.

Each row of a table holds a truth, an estimate and settings. The package adds metrics, matched negative controls and
p-values to the rows, builds an xarray cube over strata, and tests and draws it. Importing the package registers the
accessors `df.ceval`, `ds.ceval`, `series.graph` and `series.score`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

# metrics and null models are listed in the order in which fields are imported
from . import configurational as configurational
from . import structure as structure

# isort: split
from . import accessors as accessors
from . import against_data as against_data
from . import baselines as baselines
from . import causal_kl as causal_kl
from . import datasets as datasets
from . import edge_scores as edge_scores
from . import knowledge as knowledge
from . import plot as plot
from . import reasoning as reasoning
from . import time_series as time_series

# isort: split
# every public metric is a name of the package: adding one touches its own file
from .against_data.metrics import *
from .baselines.sortability_metrics import *
from .causal_kl.divergences.divergence import *
from .causal_kl.divergences.edit_distances import *
from .configurational.metrics import *
from .configurational.models.submodel import submodels as submodels
from .edge_scores.candidate_counts import *
from .edge_scores.cuts import *
from .edge_scores.forecasts import brier as brier
from .edge_scores.forecasts import calibration_error as calibration_error
from .edge_scores.forecasts import log_loss as log_loss
from .edge_scores.ranking import *
from .edge_scores.weights import mean_squared_weight_error as mean_squared_weight_error
from .edge_scores.weights import relative_frobenius as relative_frobenius
from .edge_scores.weights import sign_accuracy as sign_accuracy
from .edge_scores.weights import weight_cosine as weight_cosine
from .interventions.effect_metrics import *
from .interventions.essential_graphs import *
from .interventions.perturbation_metrics import *
from .knowledge.metrics import *
from .reasoning.metrics import *
from .structure.adjacency import *
from .structure.ancestral import *
from .structure.directions import *
from .structure.hamming import *
from .structure.intervention import *
from .structure.marks import *
from .structure.orientation import *
from .structure.separation import *
from .structure.sizes import *
from .structure.v_structures import *
from .time_series.metrics import *

# isort: split
# cells
from .causal_kl.networks.column import as_network as as_network
from .causal_kl.networks.column import network_column as network_column
from .causal_kl.networks.network import DiscreteNetwork as DiscreteNetwork
from .causal_kl.networks.network import GaussianNetwork as GaussianNetwork
from .edge_scores.cells.column import score_column as score_column
from .graphs.column import as_graph as as_graph
from .graphs.column import graph_column as graph_column
from .graphs.files import read_graphs as read_graphs
from .graphs.graph import Graph as Graph
from .knowledge.knowledge import Knowledge as Knowledge
from .time_series.cells.lagged_graph import LaggedGraph as LaggedGraph
from .time_series.column import as_lagged as as_lagged
from .time_series.column import lagged_column as lagged_column
from .time_series.scores import lagged_scores as lagged_scores

# isort: split
# verbs
from .against_data.self_compatibility import self_compatibility as self_compatibility
from .baselines.with_baselines import with_baselines as with_baselines
from .cubes.concat import concat as concat
from .cubes.cube import cube as cube
from .cubes.summary import summary as summary
from .inference.compare import compare as compare
from .inference.control_tests import test_controls as test_controls
from .inference.mixed_model import model as model
from .inference.ranking import rank_test as rank_test
from .published.from_published import from_published as from_published
from .reports.report import report as report
from .reports.style import style as style
from .structure.nulls.expectation import expected_metric as expected_metric
from .structure.nulls.expectation import skeleton_test as skeleton_test
from .tables.controls import with_controls as with_controls
from .tables.evaluate import evaluate as evaluate
from .tables.placebo import placebo as placebo
from .tables.pool import pool as pool
from .tables.published import control_distribution as control_distribution
from .tables.warm_up import warm_up as warm_up

# isort: split
# what is registered: metrics, null models, closed forms, fields, statistical tests, encodings, figures
from .contract.closed_form import ClosedFormRule as ClosedFormRule
from .contract.closed_form import list_closed_forms as list_closed_forms
from .contract.closed_form import register_closed_form as register_closed_form
from .contract.encoding import AmbiguousEncodingError as AmbiguousEncodingError
from .contract.encoding import list_encodings as list_encodings
from .contract.encoding import register_encoding as register_encoding
from .contract.field import Field as Field
from .contract.field import list_fields as list_fields
from .contract.field import register_field as register_field
from .contract.figure import figure as figure
from .contract.figure import list_figures as list_figures
from .contract.metric import Metric as Metric
from .contract.metric import get_metric as get_metric
from .contract.metric import list_metrics as list_metrics
from .contract.metric import metric as metric
from .contract.metric_sets import metric_set as metric_set
from .contract.metric_sets import tweak as tweak
from .contract.null import ChosenNull as ChosenNull
from .contract.null import Null as Null
from .contract.null import WorstOf as WorstOf
from .contract.null import list_nulls as list_nulls
from .contract.null import null_model as null_model
from .contract.null import register_null as register_null
from .contract.null import worst_of as worst_of
from .contract.statistical_test import list_tests as list_tests
from .contract.statistical_test import register_test as register_test
from .versions import __version__ as __version__
from .versions import show_versions as show_versions

if "dask.dataframe" in sys.modules:
    # dask's tables get their verbs where dask is in use; importing it for nothing would cost a second
    from . import dask as dask

# type checkers follow the imports above
if not TYPE_CHECKING:
    #: rooms and names that are not part of the public interface
    _PRIVATE = {
        "contract",
        "interventions",
        "knowledge",
        "cubes",
        "dask",
        "drawing",
        "execution",
        "graphs",
        "inference",
        "published",
        "reports",
        "statistics",
        "tables",
        "versions",
    }
    _PRIVATE |= {"versions", "TYPE_CHECKING", "annotations", "sys"}
    __all__ = ["__version__", *sorted(x for x in globals() if not x.startswith("_") and x not in _PRIVATE)]

    def __dir__() -> list[str]:
        """List the public names only."""
        return list(__all__)
