"""Separation and adjustment distances of graphs with latent confounders, through metrics and verbs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

KNOWN = Path(__file__).parent.parent / "known_answers"


def columns(truths: list[str], estimates: list[str], kind: str | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        {"truth": ce.graph_column(truths, kind=kind), "estimate": ce.graph_column(estimates, kind=kind)}
    )


def test_minimal_separators_of_another_program() -> None:
    table = pd.read_csv(KNOWN / "separation_mags.csv.gz")
    cells = columns(table["truth"].tolist(), table["estimate"].tolist(), "mag")
    found = ce.evaluate(cells, ["separation_zl", "separation_ancestor"])
    np.testing.assert_array_equal(2 * found["separation_zl"], table["minimal"])
    assert (found["separation_zl"] != found["separation_ancestor"]).mean() > 0.2


def test_a_class_has_one_distance() -> None:
    """The distance to a PAG is that of its PAG, whichever graph of the class is true; an ADMG stands for its MAG."""
    members = ["A <-> B; B <-> C; B -> D", "A -> B; C <-> B; B -> D", "A -> B; C -> B; B -> D"]
    estimate = "A o-> B; D o-> B; C"
    found = {ce.separation_ancestor(member, estimate) for member in members}
    assert found == {3.0}  # A and D, C and D by no node; B and C by A and D
    assert {ce.separation_ancestor(member, ce.as_graph(members[0]).to_string()) for member in members} == {0.0}
    admg = ce.graph_column(["A -> B; A <-> B; B -> C; B <-> D; C <-> D"], kind="admg")
    table = pd.DataFrame({"truth": admg, "estimate": admg.graph.mag()})
    names = ["separation_ancestor", "separation_zl"]
    assert (ce.evaluate(table, names)[names] == 0).all(axis=None)
    assert (ce.evaluate(table, names, truth="estimate", estimate="truth")[names] == 0).all(axis=None)


def test_parts_and_shares() -> None:
    truth, estimate = "A <-> B; B <-> C", "A <-> B; C"
    parts = [ce.separation_ancestor(truth, estimate, part=part) for part in ("markov", "faithfulness", "symmetric")]
    assert parts == [1, 0, 0.5]
    assert ce.separation_zl(truth, estimate, normalised=True) == 1 / 3


def test_refusals_name_the_row_and_the_way_out() -> None:
    table = columns(["A <-> B; C", "A -- B; C"], ["A <-> B; C", "A <-> B; C"])
    with pytest.raises(ValueError, match=r"row 1.*cpdag beside a mixed graph.*take its PAG"):
        ce.evaluate(table, ["separation_ancestor"])
    np.testing.assert_array_equal(ce.evaluate(table, ["separation_ancestor"], invalid="nan").iloc[:, -1], [0, np.nan])
    with pytest.raises(ValueError, match="separation_parent applies to dag and cpdag.*use 'separation_ancestor'"):
        ce.separation_parent("A <-> B", "A <-> B")
    mixed = columns(["A <-> B; C"] * 2, ["A --o B; C", "A o-o B; C"])
    with pytest.raises(ValueError, match=r"row 0.*estimate a mixed"):
        ce.evaluate(mixed, ["separation_ancestor"])
    np.testing.assert_array_equal(ce.evaluate(mixed, ["separation_ancestor"], invalid="nan").iloc[:, -1], [np.nan, 0])
