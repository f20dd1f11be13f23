"""Metrics on pairs of graphs, and their null models."""

from __future__ import annotations

# metrics name these rules when they are registered
from .nulls import rules as _rules  # noqa: F401

# isort: split
# figures register themselves
from . import plot as _plot  # noqa: F401

# isort: split
from .adjacency import (
    adjacency_accuracy,
    adjacency_balanced_accuracy,
    adjacency_f1,
    adjacency_f_beta,
    adjacency_fdr,
    adjacency_fn,
    adjacency_for,
    adjacency_fp,
    adjacency_g1,
    adjacency_jaccard,
    adjacency_mcc,
    adjacency_npv,
    adjacency_precision,
    adjacency_recall,
    adjacency_specificity,
    adjacency_tn,
    adjacency_tp,
    skeleton_p,
)
from .ancestral import (
    ancestor_f1,
    ancestor_precision,
    ancestor_recall,
    markov_blanket_f1,
    markov_blanket_precision,
    markov_blanket_recall,
    top_order_divergence,
)
from .directions import (
    arrowhead_f1,
    arrowhead_fn,
    arrowhead_fp,
    arrowhead_precision,
    arrowhead_recall,
    arrowhead_tn,
    arrowhead_tp,
    directed_f1,
    directed_fn,
    directed_fp,
    directed_precision,
    directed_recall,
    directed_tp,
)
from .field import GRAPHS
from .hamming import shd, shd_cpdag, skeleton_hd
from .intervention import ancestor_aid, oset_aid, parent_aid, sid, sid_bounds_exact, sid_lower, sid_upper
from .nulls.expectation import expected_metric, skeleton_test
from .nulls.random_ranking import auroc_moments, expected_average_precision, tie_sum
from .orientation import (
    orientation_f1,
    orientation_fdr,
    orientation_fn,
    orientation_for,
    orientation_fp,
    orientation_g1,
    orientation_npv,
    orientation_precision,
    orientation_recall,
    orientation_specificity,
    orientation_tn,
    orientation_tp,
)
from .separation import separation_ancestor, separation_parent, separation_zl
from .sizes import (
    estimated_density,
    estimated_edges,
    estimated_undirected,
    n_nodes,
    true_density,
    true_edges,
    true_undirected,
)
from .v_structures import (
    v_structure_f1,
    v_structure_fn,
    v_structure_fp,
    v_structure_precision,
    v_structure_recall,
    v_structure_tp,
)

# isort: split
# null models register themselves
from .nulls import models as _models  # noqa: F401

__all__ = [
    "GRAPHS",
    "adjacency_accuracy",
    "adjacency_balanced_accuracy",
    "adjacency_f1",
    "adjacency_f_beta",
    "adjacency_fdr",
    "adjacency_fn",
    "adjacency_for",
    "adjacency_fp",
    "adjacency_g1",
    "adjacency_jaccard",
    "adjacency_mcc",
    "adjacency_npv",
    "adjacency_precision",
    "adjacency_recall",
    "adjacency_specificity",
    "adjacency_tn",
    "adjacency_tp",
    "ancestor_aid",
    "ancestor_f1",
    "ancestor_precision",
    "ancestor_recall",
    "arrowhead_f1",
    "arrowhead_fn",
    "arrowhead_fp",
    "arrowhead_precision",
    "arrowhead_recall",
    "arrowhead_tn",
    "arrowhead_tp",
    "auroc_moments",
    "directed_f1",
    "directed_fn",
    "directed_fp",
    "directed_precision",
    "directed_recall",
    "directed_tp",
    "estimated_density",
    "estimated_edges",
    "estimated_undirected",
    "expected_average_precision",
    "expected_metric",
    "markov_blanket_f1",
    "markov_blanket_precision",
    "markov_blanket_recall",
    "n_nodes",
    "orientation_f1",
    "orientation_fdr",
    "orientation_fn",
    "orientation_for",
    "orientation_fp",
    "orientation_g1",
    "orientation_npv",
    "orientation_precision",
    "orientation_recall",
    "orientation_specificity",
    "orientation_tn",
    "orientation_tp",
    "oset_aid",
    "parent_aid",
    "separation_ancestor",
    "separation_parent",
    "separation_zl",
    "shd",
    "shd_cpdag",
    "sid",
    "sid_bounds_exact",
    "sid_lower",
    "sid_upper",
    "skeleton_hd",
    "skeleton_p",
    "skeleton_test",
    "tie_sum",
    "top_order_divergence",
    "true_density",
    "true_edges",
    "true_undirected",
    "v_structure_f1",
    "v_structure_fn",
    "v_structure_fp",
    "v_structure_precision",
    "v_structure_recall",
    "v_structure_tp",
]
