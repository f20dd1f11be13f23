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


def test_effects_of_textbook_graphs() -> None:
    instrument = "I -> T; T -> Y; L -> T; L -> Y"
    admg = ce.graph_column([instrument]).graph.admg(latents=["L"]).iloc[0]
    assert ce.adjustment_distance(admg, admg) == 0
    # the effect of T is claimed to be identified; of I it is
    assert ce.adjustment_distance(admg, "I -> T; T -> Y") == 1
    assert ce.adjustment_distance(admg, "I -> T; T -> Y; I -> Y", normalised=True) == 1 / 6
    m_bias = ce.as_graph("X -> A; X <-> Z; Z <-> Y", kind="admg")
    # Z has no effect on X, A and Y, and no set shows that
    assert ce.adjustment_distance(m_bias, "X -> A; Z -> X; Z -> Y") == 3
    assert np.isnan(ce.adjustment_distance("A", "A", normalised=True))


def test_adjustment_refuses_truths_without_effects() -> None:
    table = columns(["A <-> B", "A o-o B"], ["A <-> B", "A o-o B"])
    with pytest.raises(ValueError, match=r"row 0.*stands for many models; pass its DAG with context"):
        ce.evaluate(table, ["adjustment_distance"])
    with pytest.raises(ValueError, match=r"adjustment_distance applies to .* cpdag; use 'parent_aid'"):
        ce.adjustment_distance("A -> B", "A -- B")
    with pytest.raises(ValueError, match=r"parent_aid applies to .* use 'adjustment_distance'"):
        ce.parent_aid("A -> B; C", ce.as_graph("A -> B; A <-> B; C"))
