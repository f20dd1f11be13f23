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
    """Equivalent graphs have the distance 0, and one to other graphs; an ADMG stands for its MAG."""
    members = ["A <-> B; B <-> C; B -> D", "A -> B; C <-> B; B -> D", "A <-> B; C -> B; B -> D"]
    mags = ce.graph_column(members, kind="mag")
    assert {ce.separation_ancestor(true, one) for true in mags for one in mags} == {0.0}
    # A and D, C and D are not separated by no node, B and C not by A and D
    assert ce.separation_ancestor(mags.graph.pag().iloc[0], "A o-> B; D o-> B; C") == 3
    admg = ce.graph_column(["A -> B; A <-> B; B -> C; B <-> D; C <-> D"], kind="admg")
    table = pd.DataFrame({"truth": admg.graph.mag(), "estimate": admg})
    names = ["separation_ancestor", "separation_zl"]
    symmetric = [ce.tweak(name, part="symmetric", name=f"{name}_both") for name in names]
    assert (ce.evaluate(table, [*names, *symmetric]).iloc[:, 2:] == 0).all(axis=None)


def test_parts_and_shares() -> None:
    truth, estimate = "A <-> B; B <-> C", "A <-> B; C"
    parts = [ce.separation_ancestor(truth, estimate, part=part) for part in ("markov", "faithfulness", "symmetric")]
    assert parts == [1, 0, 0.5]
    assert ce.separation_zl(truth, estimate, normalised=True) == 1 / 3


def test_refusals_name_the_row_and_the_way_out() -> None:
    with pytest.raises(ValueError, match="separation_parent applies to dag and cpdag.*use 'separation_ancestor'"):
        ce.separation_parent("A <-> B", "A <-> B")
    with pytest.raises(
        ValueError, match="separation_zl applies to dag, cpdag, mag and admg.*use 'separation_ancestor'"
    ):
        ce.separation_zl("A o-o B", "A o-o B")
    mixed = columns(["A o-o B; C"] * 2, ["A --o B; C", "A o-o B; C"])
    for name in ("separation_ancestor", "adjustment_distance"):
        with pytest.raises(ValueError, match=r"row 0.*estimate a mixed"):
            ce.evaluate(mixed, [name])
    found = ce.evaluate(mixed, ["separation_ancestor"], invalid="nan")
    np.testing.assert_array_equal(found["separation_ancestor"], [np.nan, 0])


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


def test_suggestions_for_graphs_with_and_without_latent_confounders() -> None:
    with pytest.raises(ValueError, match=r"adjustment_distance applies to .* cpdag; use 'parent_aid'"):
        ce.adjustment_distance("A -> B", "A -- B")
    with pytest.raises(ValueError, match=r"parent_aid applies to .* use 'adjustment_distance'"):
        ce.parent_aid("A -> B; C", ce.as_graph("A -> B; A <-> B; C"))


def test_truths_with_latent_nodes() -> None:
    """Estimates are compared with the true model, whatever class they have; the perfect one of each class has 0."""
    dags = ce.graph_column(["I -> T; T -> Y; L -> T; L -> Y", "A -> B; B -> C; D -> B; D -> C; L -> C"] * 3)
    latents = [["L"], ["D", "L"]] * 3
    methods = [getattr(dags[:2].graph, kind) for kind in ("mag", "pag", "admg")]
    perfect = [method(latents=latents[:2]) for method in methods]
    table = pd.DataFrame(
        {"truth": dags, "estimate": pd.concat(perfect, ignore_index=True), "hidden": ["L", "D; L"] * 3}
    )
    names = ["separation_ancestor", "adjustment_distance"]
    found = ce.evaluate(table, names, context={"latents": "hidden"})
    assert (found[names] == 0).all(axis=None)
    # no set separates I and Y, and both I and T have effects on Y
    one = pd.DataFrame({"truth": dags[:1], "estimate": ce.graph_column(["Y <-> T; I -> T"], kind="mag")})
    wrong = ce.evaluate(one, names, context={"latents": ["L"]})
    assert wrong["separation_ancestor"].item() == 1
    assert wrong["adjustment_distance"].item() == 2


def test_large_graphs_are_refused_where_paths_are_followed() -> None:
    n_nodes = 2001
    edges = [f"X{i} {'->' if i % 3 else '<->'} X{i + 1}" for i in range(n_nodes - 1)]
    large = ce.graph_column(["; ".join(edges)], kind="admg")
    table = pd.DataFrame({"truth": large, "estimate": large})
    for name in ("separation_ancestor", "separation_zl", "adjustment_distance"):
        with pytest.raises(ValueError, match=r"2001 nodes .* at most 2000 nodes"):
            ce.evaluate(table, [name])
    assert ce.evaluate(table, ["adjacency_recall"])["adjacency_recall"].item() == 1
