"""Sortability against CausalDisco and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.baselines.data_matrix import correlations, read_data
from causaleval_pd.baselines.sortability import MEASURES, explained_by_parents, explained_share, order_alignment


def arcs_of(pairs, names):
    found = np.zeros((len(names), len(names)), bool)
    for source, target in pairs:
        found[names.index(source), names.index(target)] = True
    return found


def test_sortabilities_are_those_of_causaldisco(published):
    compared = 0
    for one in published.values():
        data = read_data(one["data"])
        matrix = correlations(data)
        for known in one["graphs"].values():
            arcs = arcs_of(known["arcs"], data.names)
            scores = {"var": data.values.var(axis=0), "r2": explained_share(matrix)}
            scores["snr"] = explained_by_parents(matrix, arcs)
            for name, score in scores.items():
                for measure in MEASURES:
                    found = order_alignment(arcs, score, measure=measure)
                    assert found == pytest.approx(known[f"{name}_sortability_{measure}"], abs=1e-12)
                    compared += 1
    assert compared == 10 * 3 * 6


def test_pairs_count_once_a_length_of_their_paths():
    diamond = arcs_of(["AB", "AC", "BD", "CD"], "ABCD")
    scores = np.array([0.0, 1.0, 2.0, -1.0])
    assert order_alignment(diamond, scores) == 2 / 5  # two edges of four up, and A to D, joined by two paths, down
    assert order_alignment(diamond, scores, measure="adjacent_pairs") == 2 / 4


def test_ties_count_one_half():
    edge = arcs_of(["AB"], "AB")
    assert order_alignment(edge, np.array([1.0, 1.0])) == 0.5
    assert order_alignment(edge, np.array([0.0, 0.5]), tolerance=0.5) == 0.5
    assert order_alignment(edge, np.array([0.0, 0.5]), tolerance=0.49) == 1
    assert np.isnan(order_alignment(np.zeros((2, 2), bool), np.array([0.0, 1.0])))


def test_shares_of_linear_functions_are_one(chain):
    data = read_data(chain.assign(v=chain["x"] + chain["w"]))
    share = explained_share(correlations(data))
    np.testing.assert_allclose(share[[data.names.index(x) for x in "vxw"]], 1, atol=1e-9)
    assert share[data.names.index("y")] < 0.99
