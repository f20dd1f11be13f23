"""What graphs imply: brute force over small graphs, and values that depend on the class alone."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.fields.against_data.implied import Implications
from causaleval_pd.graphs.kernels.planes import matrices_from_planes
from causaleval_pd.graphs.orientations import all_dags
from causaleval_pd.graphs.packing import unpack_column
from causaleval_pd.graphs.pairs import GraphBatch

from .conftest import linear

INVARIANT = ["n_implied", "separation_share", "mean_abs_partial", "deviance", "deviance_p", "rmsea", "bic"]
INVARIANT += ["log_likelihood", "cv_log_likelihood", "correlation_f1", "correlation_mcc", "p_floor"]
OF_A_DAG = ["n_lmc", "lmc_violations", "lmc_share", "lmc_distinct_share", "fisher_c_p", "fisher_c_rmsea"]
OF_A_DAG += ["pvalue_ks", "pvalue_ad", "fraction_dependent_h1"]
OF_A_DAG += ["faithfulness_violations", "minimality_violations"]


DATA = linear(200, ["AB", "BC", "AD", "CD"], 0)


def every_dag(d=4):
    names = "ABCD"[:d]
    marks = np.concatenate([matrices_from_planes(all_dags(d, m), d) for m in range(d * (d - 1) // 2 + 1)])
    texts = ["; ".join([*names, *(f"{names[i]} -> {names[j]}" for i, j in np.argwhere(one))]) for one in marks]
    return ce.graph_column(texts)


@pytest.mark.slow
def test_values_of_classes_are_the_same_for_all_their_dags():
    dags = every_dag()
    table = pd.DataFrame({"estimate": dags, "class": dags.graph.cpdag().to_numpy()})
    found = ce.evaluate(table, INVARIANT, truth=None, context={"data": DATA})
    spread = found.groupby("class")[INVARIANT].agg(lambda x: x.max() - x.min() if x.notna().all() else 0)
    assert len(spread) == 185 and (spread < 1e-8).all().all()
    # and the class itself has them
    classes = ce.evaluate(pd.DataFrame({"estimate": dags.graph.cpdag()}), INVARIANT, truth=None, context={"data": DATA})
    np.testing.assert_allclose(classes[INVARIANT], found[INVARIANT], atol=1e-8)
    # numbers of local Markov statements differ within 94 classes
    counts = ce.evaluate(table, ["n_lmc"], truth=None).groupby("class")["n_lmc"].nunique()
    assert (counts > 1).sum() == 94


@pytest.mark.parametrize("name", OF_A_DAG)
def test_classes_are_refused_where_their_dags_differ(name):
    table = pd.DataFrame({"estimate": ["A -- B; B -- C; D", "A -> B; B -> C; D"]})
    given = {"data": DATA}
    with pytest.raises(ValueError, match=f"{name} applies to dag .*extension='first'.*the first DAG of the class"):
        ce.evaluate(table, [name], truth=None, context=given)
    with pytest.raises(ValueError, match="extension must be None or 'first'"):
        ce.evaluate(table, [ce.tweak(name, extension="last")], truth=None, context=given)
    first = ce.evaluate(table, [ce.tweak(name, extension="first", name="x")], truth=None, context=given)["x"]
    assert first.notna().all()


def test_a_graph_without_a_dag_in_its_class_is_undefined():
    table = pd.DataFrame({"estimate": ["A -- B; B -- C; C -- D; D -- A", "A -- B; C; D"]})
    found = ce.evaluate(table, ["separation_share", "bic", "deviance", "p_floor"], truth=None, context={"data": DATA})
    assert found.iloc[0, 1:].isna().all() and found.iloc[1, 1:].notna().all()


def implications(texts, kind=None):
    [block] = unpack_column(ce.graph_column(texts, kind=kind)).blocks
    return Implications(GraphBatch(block.n_nodes, block.planes, block.kinds))


def smallest(connected, x, y, d):
    others = [v for v in range(d) if v not in (x, y)]
    sets = (z for size in range(d - 1) for z in itertools.combinations(others, size))
    return next(z for z in sets if not connected(x, y, set(z)))


@pytest.mark.slow
def test_separators_are_the_first_smallest_of_all_sets():
    rng = np.random.default_rng(3)
    for _ in range(40):
        d = int(rng.integers(3, 8))
        marks = np.triu(rng.random((d, d)) < rng.uniform(0.1, 0.7), 1)
        marks = marks[np.ix_(*[rng.permutation(d)] * 2)]
        arcs = np.argwhere(marks).tolist()
        graph = nx.DiGraph(arcs)
        graph.add_nodes_from(range(d))
        text = "; ".join([*map(str, range(d)), *(f"{i} -> {j}" for i, j in arcs)])
        found = implications([text]).separations
        assert len(found.x) == d * (d - 1) / 2 - len(arcs)

        def connected(x, y, z, graph=graph):
            return not nx.is_d_separator(graph, {x}, {y}, z)

        for x, y, given in zip(found.x.tolist(), found.y.tolist(), found.given, strict=True):
            assert tuple(np.flatnonzero(given)) == smallest(connected, x, y, d)


@pytest.mark.slow
def test_mixed_graphs_are_tested_by_their_m_separations():
    # A and B are confounded, C is a collider: A and D are separated by nothing and not given C
    graphs = ["A <-> B; B -> C; D -> C", "A o-o B; C; D", "A -> B; B <-> C; C -> D; A <-> D"]
    for text, kind, wanted in [
        (graphs[0], "mag", {"AC": "B", "AD": "", "BD": ""}),
        (graphs[1], "pag", {"AC": "", "AD": "", "BC": "", "BD": "", "CD": ""}),
        ("A -> B; A <-> B; B -> C; D", "admg", {"AC": "B", "AD": "", "BD": "", "CD": ""}),
    ]:
        found = implications([text], [kind]).separations
        names = "ABCD"
        seen = {
            names[x] + names[y]: "".join(names[v] for v in np.flatnonzero(given))
            for x, y, given in zip(found.x.tolist(), found.y.tolist(), found.given, strict=True)
        }
        assert seen == wanted
    table, how = pd.DataFrame({"estimate": ce.graph_column([graphs[0]], kind=["mag"])}), {"context": {"data": DATA}}
    found = ce.evaluate(table, ["separation_share", "mean_abs_partial"], truth=None, **how)
    assert found.notna().all(axis=None)
    message = "deviance applies to dag or cpdag or pdag as estimate, without a truth.*a mag"
    with pytest.raises(ValueError, match=message):
        ce.evaluate(table, ["deviance"], truth=None, **how)


@pytest.mark.slow
def test_equivalent_graphs_of_different_kinds_have_the_same_value():
    dag = ce.graph_column(["A -> B; B -> C; D -> C"])
    table = pd.DataFrame({"estimate": [dag[0], dag.graph.cpdag()[0], dag.graph.pag()[0], dag.graph.mag()[0]]})
    found = ce.evaluate(table, ["separation_share", "mean_abs_partial"], truth=None, context={"data": DATA})
    assert found["separation_share"].nunique() == found["mean_abs_partial"].nunique() == 1


@pytest.mark.slow
def test_the_smallest_p_value_by_relabelling_counts_automorphisms():
    dags = every_dag(4).sample(60, random_state=1)
    cpdags = matrices_from_planes(unpack_column(dags.graph.cpdag()).blocks[0].planes, 4)
    orders = [np.array(order) for order in itertools.permutations(range(4))]
    wanted = [np.mean([np.array_equal(one, one[np.ix_(order, order)]) for order in orders]) for one in cpdags]
    found = ce.evaluate(pd.DataFrame({"estimate": dags}), ["p_floor"], truth=None)["p_floor"]
    np.testing.assert_allclose(found, wanted)
    # many nodes without edges: 1 however many relabellings there are
    assert ce.p_floor(None, "; ".join(f"X{i}" for i in range(40))) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "graph",
    [
        *("A <-> B; B <-> C; D", "A -> B; B <-> C; C <- D", "A o-> B; C o-> B; D"),
        *("A o-o B; B o-o C; C o-o D", "A <-> B; A -> B; C; D"),
    ],
)
def test_the_floor_of_mixed_graphs_is_that_of_their_relabellings(graph):
    """The relabellings whose PAG is that of the graph, among all."""
    nodes = "ABCD"

    def pag(text):
        column = ce.graph_column([text], nodes=list(nodes))
        return (column if column.graph.kind[0] in ("pag", "mixed") else column.graph.pag()).graph.to_strings()[0]

    alike = 0
    for order in itertools.permutations(nodes):
        names = dict(zip(nodes, order, strict=True))
        alike += pag("".join(names.get(letter, letter) for letter in graph)) == pag(graph)
    assert ce.p_floor(None, graph) == pytest.approx(alike / 24)
