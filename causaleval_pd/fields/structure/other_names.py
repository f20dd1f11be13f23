"""Names that other tools and papers use for the metrics and null models of graphs; messages suggest what they mean.

The tools are causal-learn, gCastle and NOTEARS, cdt, pcalg, bnlearn, Tetrad and scikit-learn. Where their name leaves
open what is counted (adjacencies or directed edges), it means both.
"""

from __future__ import annotations

from ...contract.metric import METRICS
from .field import GRAPHS

#: names elsewhere by the metrics that they may mean
_METRICS = {
    "skeleton_hd shd": "hamming hamming_distance",
    "shd": "structural_hamming_distance get_shd shd_double edit_distance_graph shd_pag pag_shd",
    "skeleton_hd": "shd_skeleton skeleton_shd",
    "shd_cpdag": "shd_pattern cpdag_shd shd_c shdc",
    "sid sid_lower sid_upper": "structural_intervention_distance",
    "sid_lower sid_upper": "sid_cpdag",
    "sid_lower sid_upper sid_bounds_exact": "sid_bounds",
    "parent_aid ancestor_aid oset_aid": "gadjid aid",
    "adjacency_f1 directed_f1": "f1 f1_score f_score f_measure",
    "adjacency_precision directed_precision orientation_precision": "precision",
    "adjacency_precision directed_precision": "ppv tdr true_discovery_rate",
    "adjacency_recall directed_recall orientation_recall": "recall",
    "adjacency_recall directed_recall": "tpr true_positive_rate sensitivity power",
    "adjacency_fdr orientation_fdr": "fdr false_discovery_rate",
    "adjacency_for orientation_for": "for",
    "adjacency_specificity orientation_specificity": "tnr specificity",
    "adjacency_npv orientation_npv": "npv",
    "adjacency_accuracy adjacency_balanced_accuracy answer_accuracy": "accuracy",
    "adjacency_mcc": "mcc mcc_adj mathews_corr_adj",
    "adjacency_f1": "dice f1_adj skeleton_f1",
    "adjacency_jaccard": "jaccard iou",
    "adjacency_g1 orientation_g1": "g1",
    "adjacency_tp directed_tp orientation_tp": "tp",
    "adjacency_fp directed_fp orientation_fp": "fp",
    "adjacency_fn directed_fn orientation_fn": "fn",
    "adjacency_tn orientation_tn": "tn",
    "orientation_fp": "reverse",
    "estimated_edges": "nnz",
    "estimated_edges true_edges": "n_edges",
    "estimated_density true_density": "density",
    "adjacency_precision": "adj_precision get_adj_precision ap skeleton_precision",
    "adjacency_recall": "adj_recall get_adj_recall ar skeleton_recall",
    "arrowhead_precision arrow_claim_precision": "arrow_precision",
    "arrowhead_precision": "get_arrows_precision ahp",
    "arrowhead_recall": "arrow_recall get_arrows_recall ahr",
    "orientation_precision": "get_arrows_precision_ce ahpc",
    "orientation_recall": "get_arrows_recall_ce ahrc",
    "arrowhead_f1": "f1_arrow",
    "tail_f1": "f1_tail",
    "circle_f1": "f1_circle",
    "arrowhead_mcc": "mathews_corr_arrow",
    "arrow_claim_precision": "true_dag_precision_arrow",
    "tail_claim_precision": "true_dag_precision_tails",
    "latent_precision": "bidirected_latent_precision",
    "v_structure_precision v_structure_recall v_structure_f1": "unshielded_colliders v_structures immoralities",
    "edge_confusion": "edge_type_confusion",
    "v_structure_f1": "collider_f1",
    "top_order_divergence": "order_divergence d_top topological_order_divergence",
}
#: the same of null models
_NULLS = {
    "edges": "random random_graph random_dag uniform er erdos_renyi gnm n_edges negative_control",
    "permutation": "permute permute_nodes shuffle relabel relabelling qap",
    "orientation": "orient random_orientation",
    "orientation oracle_skeleton": "skeleton",
    "oracle_skeleton": "oracle",
    "degree": "configuration_model degree_sequence",
    "knowledge": "tiers background_knowledge",
    "complete": "full",
    "empty": "none",
}


def _of_each(table: dict[str, str]) -> dict[str, list[str]]:
    """Return what each name elsewhere may mean."""
    return {name: meant.split() for meant, names in table.items() for name in names.split()}


def _of_edges(*names: str) -> list[str]:
    """Return names with and without a word before them for what is ranked."""
    return [prefix + name for name in names for prefix in ("", "directed_", "edge_", "skeleton_", "adjacency_")]


METRICS.other_names(_of_each(_METRICS))
METRICS.other_names(_of_each({"adjacency_specificity": "fpr false_positive_rate"}), "1 - false positive rate is")
METRICS.other_names(
    _of_each({"adjacency_recall directed_recall": "fnr false_negative_rate"}), "1 - false negative rate is"
)
METRICS.other_names(
    {name: ["average_precision", "adjacency_f1"] for name in _of_edges("auprc", "aupr", "auc_pr", "pr_auc", "ap")}
    | {name: ["auroc", "adjacency_balanced_accuracy"] for name in _of_edges("auc", "roc_auc", "auc_roc", "auroc")},
    "scores of edges and graphs have",
)
METRICS.other_names(
    _of_each({"shd": "normalized_shd normalised_shd shd_normalized nshd relative_shd"}),
    "ce.tweak('shd', normalised=True) divides by the number of pairs of nodes:",
)
GRAPHS.nulls.other_names(_of_each(_NULLS))
