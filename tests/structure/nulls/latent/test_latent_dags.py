"""The null model of random DAGs with latent nodes against projections of all such DAGs."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from drawn_controls import codes_of, controls_of
from scipy.stats import chisquare

import causaleval_pd as ce

TEXTS = {
    "mag": "A -> B; B <-> C; D",
    "pag": "A o-> B; C o-> B; B -> D",
    "admg": "A -> B; A <-> B; C; D",
    "skeleton": "A -- B; B -- C; D",
}


def projected(n, n_edges, kind):
    """Count the projections of all skeletons and orders of n nodes onto the first three."""
    cells = []
    for skeleton in itertools.combinations(itertools.combinations("ABCL", 2), n_edges):
        for order in itertools.permutations("ABCL"[:n]):
            edges = [(a, b) if order.index(a) < order.index(b) else (b, a) for a, b in skeleton]
            cells.append("; ".join([f"{a} -> {b}" for a, b in edges] + list("ABCL"[:n])))
    column = ce.graph_column(cells, kind="dag")
    made = column.graph.pag(latents=["L"]) if kind == "pag" else column.graph.mag(latents=["L"])
    return Counter(made.graph.to_strings())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mag", "pag"])
def test_law_of_projections(kind):
    null = ce.null_model("latent_dag", n_latents=1, density=0.5)
    controls = controls_of(null, ("A -> B; B -> C" if kind == "mag" else "A o-o B; B o-o C", kind))
    pairs = controls.draw(0, 4000)
    graphs = [ce.graphs.Graph(("A", "B", "C"), kind, planes) for planes in pairs.estimate.planes]
    seen = Counter(ce.graph_column(graphs).graph.to_strings())
    law = projected(4, 3, kind)
    assert set(seen) <= set(law)
    expected = np.array(list(law.values())) * 4000 / sum(law.values())
    assert chisquare([seen[text] for text in law], expected).pvalue > 1e-3


@pytest.mark.parametrize("kind", TEXTS)
def test_edges_are_those_of_the_estimate_in_the_mean(kind):
    controls = controls_of(ce.null_model("latent_dag", n_latents=2), (TEXTS[kind], kind))
    assert controls.kind.tolist() == [kind]
    drawn = codes_of(controls, 3000)
    wanted = 3 if kind == "pag" else 2
    n_edges = np.array([ce.graph_column([TEXTS[kind]], kind=kind).graph.n_edges.iloc[0]])
    assert n_edges == [wanted]
    near = (drawn != 0) | (drawn.transpose(0, 2, 1) != 0)
    double = (drawn != 0) ^ (drawn.transpose(0, 2, 1) != 0)
    assert (near.sum(axis=(1, 2)) / 2 + double.sum(axis=(1, 2)) / 2).mean() == pytest.approx(wanted, abs=0.6)
    parts = [controls.draw(first, n).estimate.planes for first, n in ((0, 13), (13, 27))]
    np.testing.assert_array_equal(np.concatenate(parts), controls.draw(0, 40).estimate.planes)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, "mag", "null='latent_dag' needs the number of latent nodes"),
        ({"n_latents": -1}, "mag", "n_latents"),
        ({"n_latents": 1, "density": 2}, "mag", "density"),
        ({"n_latents": 1}, "dag", "row 0: the estimate is a dag, and null='latent_dag' draws mag, pag, admg"),
        ({"n_latents": 3000}, "mag", "at most 2000 nodes"),
    ],
)
def test_refusals(options, kind, message):
    with pytest.raises(ValueError, match=message):
        controls_of(ce.null_model("latent_dag", **options), (TEXTS.get(kind, "A -> B"), kind))
