"""Controls of estimates whose truths have latent nodes are compared with the target that the estimates are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

DAGS = ["L -> A; L -> B; A -> C; B -> D; M -> C; M -> E", "A -> B; L -> B; L -> C; C -> D; D -> E; M -> E; M -> A"]
LATENTS = ["L", "M"]
ESTIMATES = ["A o-o B; B o-o C; D; E", "A o-> B; C o-> B; B -> D; E"]


@pytest.mark.parametrize("null", ["edges", "orientation", "permutation", "oracle_skeleton"])
def test_context_gives_what_projected_truths_give(null):
    dags = ce.graph_column(DAGS)
    table = pd.DataFrame({"truth": dags, "estimate": ce.graph_column(ESTIMATES)})
    named = ce.with_controls(
        table, ["shd", "arrowhead_tp"], null=null, n_draws=50, rng=1, context={"latents": LATENTS}, columns="full"
    )
    projected = table.assign(truth=dags.graph.pag(latents=LATENTS))
    found = ce.with_controls(projected, ["shd", "arrowhead_tp"], null=null, n_draws=50, rng=1, columns="full")
    cells = ["truth", "estimate"]
    pd.testing.assert_frame_equal(named.drop(columns=cells), found.drop(columns=cells))
    assert np.isfinite(found["shd_control_mean"]).all() and (found["control_kind"] == "pag").all()
