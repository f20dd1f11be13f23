"""Controls from published numbers."""

from __future__ import annotations

import causaleval_pd as ce

TRUTH = "A -> B; B -> C; C -> D; D -> E; E -> F; F -> G; G -> H"


def test_a_fixed_order_is_that_of_the_given_nodes():
    nodes = list("HGFEDCBA")
    settings = {"kind": "dag", "metrics": ["directed_tp"], "n_draws": 500, "rng": 1, "permute": False}
    against = ce.control_distribution(TRUTH, n_edges=28, nodes=nodes, **settings)
    along = ce.control_distribution(TRUTH, n_edges=28, nodes=nodes[::-1], **settings)
    assert (against["mean"][0], along["mean"][0]) == (0.0, 7.0)
