"""Controls from published numbers take the options of their null model."""

from __future__ import annotations

import pytest

import causaleval_pd as ce

TRUTH = "A -> B; B -> C; C -> D; D -> E; E -> F; F -> G; G -> H"


@pytest.mark.parametrize("rewiring", [0.0, 1.0])
def test_options_are_prepared(rewiring):
    null = ce.null_model("small_world", rewiring=rewiring)
    found = ce.control_distribution(
        TRUTH, n_edges=8, kind="dag", metrics=["adjacency_tp"], null=null, n_draws=4000, method="simulate", rng=1
    )
    # each pair of nodes is adjacent with probability 8 / 28
    assert found["mean"][0] == pytest.approx(7 * 8 / 28, abs=4 * found["sd"][0] / 4000**0.5)
    with pytest.raises(ValueError, match=r"rewiring must lie in \[0, 1\], found 2"):
        ce.control_distribution(
            TRUTH, n_edges=8, kind="dag", metrics=["shd"], null=ce.null_model("small_world", rewiring=2), rng=1
        )


def test_a_fixed_order_is_that_of_the_given_nodes():
    nodes = list("HGFEDCBA")
    settings = {"kind": "dag", "metrics": ["directed_tp"], "n_draws": 500, "rng": 1, "permute": False}
    against = ce.control_distribution(TRUTH, n_edges=28, nodes=nodes, **settings)
    along = ce.control_distribution(TRUTH, n_edges=28, nodes=nodes[::-1], **settings)
    assert (against["mean"][0], along["mean"][0]) == (0.0, 7.0)
