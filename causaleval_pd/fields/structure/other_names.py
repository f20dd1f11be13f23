"""Names that other tools and papers use for the metrics and null models of graphs; messages suggest what they mean.

The tools are causal-learn, gCastle and NOTEARS, cdt, pcalg, bnlearn, Tetrad and scikit-learn. Where their name leaves
open what is counted (adjacencies or directed edges), it means both.
"""

from __future__ import annotations

from ...contract.metric import METRICS
from .field import GRAPHS

_PRECISION_RECALL, _ROC = ("auprc", "aupr", "auc_pr", "pr_auc", "ap"), ("auc", "roc_auc", "auc_roc", "auroc")


def _of_edges(*names: str) -> list[str]:
    """Return names with and without a word before them for what is ranked."""
    return [prefix + name for name in names for prefix in ("", "directed_", "edge_", "skeleton_", "adjacency_")]


METRICS.other_names(
    {
        # Hamming distances
        "hamming": ["skeleton_hd", "shd"],
        "hamming_distance": ["skeleton_hd", "shd"],
        "structural_hamming_distance": ["shd"],
        "get_shd": ["shd"],
        "shd_skeleton": ["skeleton_hd"],
        "skeleton_shd": ["skeleton_hd"],
        "shd_pattern": ["shd_cpdag"],
        "cpdag_shd": ["shd_cpdag"],
        "shd_c": ["shd_cpdag"],
        "shdc": ["shd_cpdag"],
        "shd_double": ["shd"],
        "edit_distance_graph": ["shd"],
        # interventional distances
        "structural_intervention_distance": ["sid", "sid_lower", "sid_upper"],
        "sid_cpdag": ["sid_lower", "sid_upper"],
        "sid_bounds": ["sid_lower", "sid_upper", "sid_bounds_exact"],
        "gadjid": ["parent_aid", "ancestor_aid", "oset_aid"],
        "aid": ["parent_aid", "ancestor_aid", "oset_aid"],
        # rates
        "f1": ["adjacency_f1", "directed_f1"],
        "f1_score": ["adjacency_f1", "directed_f1"],
        "f_score": ["adjacency_f1", "directed_f1"],
        "f_measure": ["adjacency_f1", "directed_f1"],
        "precision": ["adjacency_precision", "directed_precision", "orientation_precision"],
        "ppv": ["adjacency_precision", "directed_precision"],
        "tdr": ["adjacency_precision", "directed_precision"],
        "true_discovery_rate": ["adjacency_precision", "directed_precision"],
        "recall": ["adjacency_recall", "directed_recall", "orientation_recall"],
        "tpr": ["adjacency_recall", "directed_recall"],
        "true_positive_rate": ["adjacency_recall", "directed_recall"],
        "sensitivity": ["adjacency_recall", "directed_recall"],
        "power": ["adjacency_recall", "directed_recall"],
        "fdr": ["adjacency_fdr", "orientation_fdr"],
        "false_discovery_rate": ["adjacency_fdr", "orientation_fdr"],
        "for": ["adjacency_for", "orientation_for"],
        "tnr": ["adjacency_specificity", "orientation_specificity"],
        "specificity": ["adjacency_specificity", "orientation_specificity"],
        "npv": ["adjacency_npv", "orientation_npv"],
        "accuracy": ["adjacency_accuracy", "adjacency_balanced_accuracy", "answer_accuracy"],
        "mcc": ["adjacency_mcc"],
        "dice": ["adjacency_f1"],
        "jaccard": ["adjacency_jaccard"],
        "iou": ["adjacency_jaccard"],
        "g1": ["adjacency_g1", "orientation_g1"],
        "tp": ["adjacency_tp", "directed_tp", "orientation_tp"],
        "fp": ["adjacency_fp", "directed_fp", "orientation_fp"],
        "fn": ["adjacency_fn", "directed_fn", "orientation_fn"],
        "tn": ["adjacency_tn", "orientation_tn"],
        "reverse": ["orientation_fp"],
        "nnz": ["estimated_edges"],
        "n_edges": ["estimated_edges", "true_edges"],
        "density": ["estimated_density", "true_density"],
        # causal-learn's confusion tables
        "adj_precision": ["adjacency_precision"],
        "get_adj_precision": ["adjacency_precision"],
        "adj_recall": ["adjacency_recall"],
        "get_adj_recall": ["adjacency_recall"],
        "arrow_precision": ["arrowhead_precision", "arrow_claim_precision"],
        "get_arrows_precision": ["arrowhead_precision"],
        "arrow_recall": ["arrowhead_recall"],
        "get_arrows_recall": ["arrowhead_recall"],
        "get_arrows_precision_ce": ["orientation_precision"],
        "get_arrows_recall_ce": ["orientation_recall"],
        # Tetrad's statistics
        "ap": ["adjacency_precision"],
        "ar": ["adjacency_recall"],
        "ahp": ["arrowhead_precision"],
        "ahr": ["arrowhead_recall"],
        "ahpc": ["orientation_precision"],
        "ahrc": ["orientation_recall"],
        "f1_adj": ["adjacency_f1"],
        "f1_arrow": ["arrowhead_f1"],
        "f1_tail": ["tail_f1"],
        "f1_circle": ["circle_f1"],
        "mathews_corr_arrow": ["arrowhead_mcc"],
        "true_dag_precision_arrow": ["arrow_claim_precision"],
        "true_dag_precision_tails": ["tail_claim_precision"],
        "bidirected_latent_precision": ["latent_precision"],
        "shd_pag": ["shd"],
        "pag_shd": ["shd"],
        "unshielded_colliders": ["v_structure_precision", "v_structure_recall", "v_structure_f1"],
        "edge_type_confusion": ["edge_confusion"],
        "mcc_adj": ["adjacency_mcc"],
        "mathews_corr_adj": ["adjacency_mcc"],
        "skeleton_precision": ["adjacency_precision"],
        "skeleton_recall": ["adjacency_recall"],
        "skeleton_f1": ["adjacency_f1"],
        "collider_f1": ["v_structure_f1"],
        "v_structures": ["v_structure_precision", "v_structure_recall", "v_structure_f1"],
        "immoralities": ["v_structure_precision", "v_structure_recall", "v_structure_f1"],
        "order_divergence": ["top_order_divergence"],
        "d_top": ["top_order_divergence"],
        "topological_order_divergence": ["top_order_divergence"],
    }
)
METRICS.other_names(
    {"fpr": ["adjacency_specificity"], "false_positive_rate": ["adjacency_specificity"]}, "1 - false positive rate is"
)
METRICS.other_names(
    {"fnr": ["adjacency_recall", "directed_recall"], "false_negative_rate": ["adjacency_recall", "directed_recall"]},
    "1 - false negative rate is",
)
METRICS.other_names(
    {name: ["average_precision", "adjacency_f1"] for name in _of_edges("auprc", "aupr", "auc_pr", "pr_auc", "ap")}
    | {name: ["auroc", "adjacency_balanced_accuracy"] for name in _of_edges("auc", "roc_auc", "auc_roc", "auroc")},
    "scores of edges and graphs have",
)
METRICS.other_names(
    {name: ["shd"] for name in ("normalized_shd", "normalised_shd", "shd_normalized", "nshd", "relative_shd")},
    "ce.tweak('shd', normalised=True) divides by the number of pairs of nodes:",
)

GRAPHS.nulls.other_names(
    {
        "random": ["edges"],
        "random_graph": ["edges"],
        "random_dag": ["edges"],
        "uniform": ["edges"],
        "er": ["edges"],
        "erdos_renyi": ["edges"],
        "gnm": ["edges"],
        "n_edges": ["edges"],
        "negative_control": ["edges"],
        "permute": ["permutation"],
        "permute_nodes": ["permutation"],
        "shuffle": ["permutation"],
        "relabel": ["permutation"],
        "relabelling": ["permutation"],
        "qap": ["permutation"],
        "orient": ["orientation"],
        "random_orientation": ["orientation"],
        "skeleton": ["orientation", "oracle_skeleton"],
        "oracle": ["oracle_skeleton"],
        "configuration_model": ["degree"],
        "degree_sequence": ["degree"],
        "tiers": ["knowledge"],
        "background_knowledge": ["knowledge"],
        "full": ["complete"],
        "none": ["empty"],
    }
)
