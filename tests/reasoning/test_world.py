"""Worlds: exact quantities against enumeration, sampled answers against exact ones; random worlds as published."""

from itertools import combinations, islice, pairwise, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causaleval_pd.fields.reasoning.worlds import EXACT_QUANTITIES, component_edges, compositions, n_compositions
from causaleval_pd.reasoning import World, example_world, sample_world, worlds

COLUMNS = {
    "pns": "exact_pns", "ate": "exact_ate", "pn": "exact_pn", "ps": "exact_ps", "p_do1": "exact_p_y_do1",
    "p_do0": "exact_p_y_do0", "p_given1": "exact_p_y_given_x1", "p_given0": "exact_p_y_given_x0",
}  # fmt: skip


def brute_force(world, cause, effect):
    """All quantities by going through every noise vector, each node by Python's own all and any."""

    def run(noise, do):
        values = {}
        for node in world.nodes:
            join = {"and": all, "or": any, "xor": lambda bits: sum(bits) % 2 == 1}[world.functions.get(node, "or")]
            values[node] = do.get(node, join([noise[node], *(values[p] for p in world.parents[node])]))
        return values

    weights = {}
    for bits in product([False, True], repeat=len(world.nodes)):
        noise = dict(zip(world.nodes, bits, strict=True))
        weight = np.prod([world.noise[node] if bit else 1 - world.noise[node] for node, bit in noise.items()])
        fact = run(noise, {})
        key = (fact[cause], fact[effect], run(noise, {cause: True})[effect], run(noise, {cause: False})[effect])
        weights[key] = weights.get(key, 0.0) + weight

    def p(event):
        return sum(weight for key, weight in weights.items() if event(*key))

    def given_(event, condition):
        below = p(condition)
        return p(lambda *key: event(*key) and condition(*key)) / below if below > 0 else np.nan

    do1, do0 = p(lambda x, y, y1, y0: y1), p(lambda x, y, y1, y0: y0)
    return {
        "p_cause": p(lambda x, y, y1, y0: x),
        "pns": p(lambda x, y, y1, y0: y1 and not y0),
        "ate": do1 - do0,
        "pn": given_(lambda x, y, y1, y0: not y0, lambda x, y, y1, y0: x and y),
        "ps": given_(lambda x, y, y1, y0: y1, lambda x, y, y1, y0: not x and not y),
        "p_do1": do1,
        "p_do0": do0,
        "p_given1": given_(lambda x, y, y1, y0: y, lambda x, y, y1, y0: x),
        "p_given0": given_(lambda x, y, y1, y0: y, lambda x, y, y1, y0: not x),
    }


@pytest.mark.slow
def test_exact_quantities_of_known_tasks(known, known_worlds):
    table = known("pairs")
    ours = pd.concat([world.truths("cut").assign(task=task) for task, world in known_worlds.items()])
    both = ours.merge(table, on=["task", "cause", "effect"], validate="1:1")
    assert len(both) == len(table) == len(ours) == 135
    # the reference divides by 1 - p(x), which loses digits where p(x) is nearly 1
    lost = 1e-16 / (1 - both["exact_p_x"])
    for name, column in COLUMNS.items():
        tolerance = 1e-12 + lost if name in ("p_given0", "ps") else 1e-12
        assert ((both[name] - both[column]).abs() <= tolerance).all(), name
        assert both[name].notna().all()


@pytest.mark.slow
def test_compositions_of_known_tasks(known, known_worlds):
    table = known("compositions")
    for task, rows in table.groupby("task"):
        world = known_worlds[task]
        assert [">".join(path) for path in world.compositions()] == rows["path"].tolist()
        pns = world.truths("cut").set_index(["cause", "effect"])["pns"]
        for path, expected, whole in rows[["path", "exact_product", "exact_global"]].itertuples(index=False):
            stops = path.split(">")
            ours = np.prod([pns[pair] for pair in pairwise(stops)])
            assert ours == pytest.approx(expected, abs=1e-12)
            assert pns[stops[0], stops[-1]] == pytest.approx(whole, abs=1e-12)


def test_cut_nodes(known, known_worlds):
    for task, cutpoints in known("tasks").fillna("")[["task", "cutpoints"]].itertuples(index=False):
        world = known_worlds[task]
        assert world.cut_nodes == (world.nodes[0], *cutpoints.split(), world.nodes[-1])


def test_the_paper_s_example():
    world = example_world(0.4)
    pns = world.truths("cut").set_index(["cause", "effect"])["pns"]
    expected = {"XC": 0.216, "CD": 0.6, "DY": 0.216, "XD": 0.1296, "CY": 0.1296, "XY": 0.216 * 0.6 * 0.216}
    for pair, value in expected.items():
        assert pns[tuple(pair)] == pytest.approx(value, abs=1e-15)


@st.composite
def any_world(draw, known=("and", "or")):
    n = draw(st.integers(2, 6))
    nodes = [f"n{i}" for i in range(n)]
    edges = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :] if draw(st.booleans())]
    rate = st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0])
    functions = {node: draw(st.sampled_from(known)) for node in nodes}
    noise = {node: draw(rate) for node in draw(st.permutations(nodes))}
    return World(edges, functions, noise)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["sum", "enumerate"])
@settings(max_examples=25, deadline=None)
@given(st.one_of(any_world(), any_world(("and", "or", "xor"))))
def test_any_dag_against_brute_force(way, world):
    with pytest.MonkeyPatch.context() as patch:
        if way == "sum":
            patch.setattr(worlds, "MAX_ENUMERATED", -1)
        else:
            patch.setattr(worlds, "narrow_order", lambda *_: ([], np.inf))
            patch.setattr(worlds, "NOISE_BITS_AT_ONCE", 3)
        check_against_brute_force(world)


def check_against_brute_force(world):
    pairs = [(a, b) for a in world.nodes for b in world.nodes if a != b]
    table = world.truths(pairs).set_index(["cause", "effect"])
    for pair in pairs:
        expected = brute_force(world, *pair)
        for name in EXACT_QUANTITIES:
            np.testing.assert_allclose(table.loc[pair, name], expected[name], atol=1e-12, err_msg=f"{name} {pair}")


def test_with_xor_the_pns_is_not_the_ate_and_does_not_multiply():
    world = World([("X", "M"), ("M", "Y")], {"M": "xor", "Y": "xor"}, {"X": 0.5, "M": 0.2, "Y": 0.3})
    # M follows X where U_M is 0, and turns it round where U_M is 1
    assert world.pns("X", "M") == pytest.approx(0.8)
    assert world.pns("X", "Y") == pytest.approx(0.8 * 0.7 + 0.2 * 0.3)
    assert world.truths([("X", "M"), ("X", "Y")])["ate"].tolist() == pytest.approx([0.6, 0.6 * 0.4])
    assert not world.is_monotone
    with pytest.raises(ValueError, match="this world has XOR"):
        world.compositions()
    mixed = sample_world([4, 4], "wheel", "mixed", rng=2)
    assert {mixed.functions[n] for n in mixed.nodes} == {"and", "or", "xor"}
    assert sample_world([3], functions="xor", rng=1).functions == dict.fromkeys(["V00", "V01", "V02"], "xor")


def test_one_quantity_at_a_time():
    world = sample_world([4, 3], "wheel", rng=3)
    cause, effect = world.nodes[0], world.nodes[-1]
    assert world.pns(cause, effect) == world.truths([(cause, effect)])["pns"][0]


def test_all_pairs_are_ancestor_pairs():
    world = World([("A", "B"), ("C", "B"), ("B", "D")], {"B": "or", "D": "and"}, dict.fromkeys("ABCD", 0.5))
    assert world.pairs("all") == [("A", "B"), ("A", "D"), ("C", "B"), ("C", "D"), ("B", "D")]
    assert world.truths()[["cause", "effect"]].agg("".join, axis=1).tolist() == ["AB", "AD", "CB", "CD", "BD"]
    with pytest.raises(ValueError, match=r"roots \['A', 'C'\]"):
        _ = world.cut_nodes


@pytest.mark.slow
def test_sampled_answers_approach_exact_quantities():
    world = sample_world([4, 4, 3], "cycle", rng=11)
    n = 200_000
    noise = world.sample(n, rng=5)
    fact, do1, do0 = np.moveaxis(world.answers(noise, "all"), 2, 0)
    truth = world.truths("all")
    values = world.values(noise)
    assert not (do0 & ~do1).any()
    for i, row in truth.iterrows():
        cause = values[row["cause"]].to_numpy()
        for found, expected, count in [
            ((do1 & ~do0)[:, i], row["pns"], n),
            (do1[:, i], row["p_do1"], n),
            (do0[:, i], row["p_do0"], n),
            (fact[cause, i], row["p_given1"], cause.sum()),
            (fact[~cause, i], row["p_given0"], (~cause).sum()),
            (~do0[cause & fact[:, i], i], row["pn"], (cause & fact[:, i]).sum()),
            (do1[~cause & ~fact[:, i], i], row["ps"], (~cause & ~fact[:, i]).sum()),
        ]:
            if count > 100:
                assert abs(found.mean() - expected) <= 5 * np.sqrt(expected * (1 - expected) / count) + 1e-12


def test_answers_are_values_under_interventions():
    world = sample_world([5, 4], "wheel", rng=2)
    noise = world.sample(9000, rng=1)  # more than one piece
    pairs = world.pairs("all")
    bits = world.answers(noise, pairs)
    assert bits.shape == (9000, len(pairs), 3)
    for i, (cause, effect) in enumerate(pairs):
        for j, do in enumerate([{}, {cause: True}, {cause: False}]):
            np.testing.assert_array_equal(bits[:, i, j], world.values(noise, do)[effect])
    shuffled = noise[list(reversed(world.nodes))]
    np.testing.assert_array_equal(world.answers(shuffled, pairs), bits)
    np.testing.assert_array_equal(world.answers(noise.to_numpy().astype(int), pairs), bits)


def test_noise_of_a_longer_sample_begins_with_that_of_a_shorter_one():
    world = sample_world([4, 4], rng=1)
    whole = world.sample(10_000, rng=9)
    for n in (0, 17, 6000):
        pd.testing.assert_frame_equal(world.sample(n, rng=9), whole.head(n))
    assert not whole.equals(world.sample(10_000, rng=10))
    renamed = World(reversed(world.edges), world.functions, dict(reversed(world.noise.items())))
    pd.testing.assert_frame_equal(renamed.sample(10_000, rng=9)[list(world.nodes)], whole)


@pytest.mark.slow
def test_a_world_of_many_components_is_exact_and_quick():
    world = sample_world([4] * 40, "wheel", "or", noise=0.1, rng=0)
    pns = world.truths("cut").set_index(["cause", "effect"])["pns"]
    cut = world.cut_nodes
    steps = np.prod([pns[pair] for pair in pairwise(cut)])
    assert steps == pytest.approx(pns[cut[0], cut[-1]], rel=1e-12)
    assert pns[cut[0], cut[-1]] == pytest.approx(0.9**120, rel=1e-12)


def test_a_node_may_have_many_parents():
    nodes = [f"n{i:02d}" for i in range(60)]
    edges = [(node, "Y") for node in nodes]
    world = World([*edges, ("Y", "Z"), ("n00", "Z")], {"Y": "or", "Z": "and"}, dict.fromkeys([*nodes, "Y", "Z"], 0.1))
    assert world.pns("n00", "Y") == pytest.approx(0.9**60, rel=1e-12)
    assert world.pns("n00", "Z") == pytest.approx(0.1, rel=1e-12)


@pytest.mark.slow
def test_a_dense_graph_is_enumerated():
    nodes = [f"n{i:02d}" for i in range(16)]
    edges = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
    world = World(edges, dict.fromkeys(nodes, "or"), dict.fromkeys(nodes, 0.05))
    assert world.pns("n00", "n15") == pytest.approx(0.95**15, rel=1e-12)
    assert world.pns("n10", "n15") == pytest.approx(0.95**15, rel=1e-12)


@pytest.mark.slow
def test_a_graph_too_dense_is_refused_before_it_takes_memory():
    graph = nx.complete_graph(40)
    nodes = [f"n{i}" for i in range(40)]
    world = World([(nodes[i], nodes[j]) for i, j in graph.edges], dict.fromkeys(nodes, "or"), dict.fromkeys(nodes, 0.5))
    with pytest.raises(ValueError, match="too densely linked"):
        world.truths("cut")


def test_graphs_are_those_of_the_published_generator(known):
    edges = known("edges").groupby("task")
    for task, sizes, kinds, n_nodes, n_edges, _ in known("tasks").itertuples(index=False):
        world = sample_world([int(size) for size in sizes.split("+")], kinds.split("+"), rng=0)
        expected = set(edges.get_group(task)[["parent", "child"]].itertuples(index=False, name=None))
        assert (len(world.nodes), len(world.edges)) == (n_nodes, n_edges)
        assert set(world.edges) == expected


@pytest.mark.parametrize("kind", ["cycle", "wheel"])
def test_small_components_are_the_same_for_both_kinds(kind):
    assert component_edges(2, kind) == [(0, 1)]
    assert set(component_edges(3, kind)) == {(0, 1), (0, 2), (1, 2)}
    for size in range(2, 9):
        sources, sinks = zip(*component_edges(size, kind), strict=True)
        assert set(range(size)) - set(sinks) == {0}
        assert set(range(size)) - set(sources) == {size - 1}


def test_functions_and_noise():
    world = sample_world([6, 6], functions="random", rng=1)
    assert sum(f == "and" for f in world.functions.values()) == 5  # of 11 nodes
    assert set(sample_world([6, 6], functions="or", rng=1).functions.values()) == {"or"}
    rates = np.array([p for seed in range(200) for p in sample_world([6, 6], rng=seed).noise.values()])
    values, counts = np.unique(rates, return_counts=True)
    assert values.tolist() == [0.4, 0.5, 0.6, 0.7, 0.8]
    np.testing.assert_allclose(counts / len(rates), [0.125, 0.25, 0.25, 0.25, 0.125], atol=0.04)
    assert set(sample_world([3, 3], noise=0.25, rng=0).noise.values()) == {0.25}


def test_one_seed_one_world():
    make = lambda seed: sample_world([4, 5, 3], "mixed", rng=seed)  # noqa: E731
    assert make(3) == make(3)
    assert len({make(seed) for seed in range(20)}) == 20
    assert {len(make(seed).edges) for seed in range(20)} > {len(make(0).edges)}, "kinds are drawn"


@pytest.mark.slow
def test_worlds_of_a_wanted_difficulty():
    for seed in range(5):
        world = sample_world([4, 4], "cycle", min_pns=0.1, rng=seed)
        assert world.pns(world.nodes[0], world.nodes[-1]) >= 0.1
        assert (world.roots, world.leaves) == (world.nodes[:1], world.nodes[-1:])
    with pytest.raises(ValueError, match="the best had"):
        sample_world([6, 6, 6], min_pns=0.5, rng=0)


@pytest.mark.parametrize("n", range(2, 9))
def test_every_path_once(n):
    nodes = [f"c{i}" for i in range(n)]
    found = list(compositions(nodes))
    expected = {(nodes[0], *mid, nodes[-1]) for size in range(1, n - 1) for mid in combinations(nodes[1:-1], size)}
    assert len(found) == len(set(found)) == n_compositions(n)
    assert set(found) == expected
    assert found == sorted(found)


def test_a_long_chain_is_enumerated_lazily():
    nodes = [f"c{i:03d}" for i in range(200)]
    first = list(islice(compositions(nodes), 3))
    assert first[0] == tuple(nodes)
    assert first[1] == (*nodes[:198], nodes[199])
    assert sum(1 for _ in compositions(nodes[:16])) == n_compositions(16) == 2**14 - 1


AB, OR, HALF = [("A", "B")], {"B": "or"}, {"A": 0.5, "B": 0.5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: World([], {}, {}), "needs nodes"),
        (lambda: World(AB, OR, {"A": 0.5}), r"edge \('A', 'B'\) names \['B'\]"),
        (lambda: World(AB, {}, HALF), "'B' has parents but no function"),
        (lambda: World(AB, {"B": "nor"}, HALF), "unknown function of node 'B': 'nor'"),
        (lambda: World(AB, OR | {"C": "or"}, HALF), r"functions name \['C'\]"),
        (lambda: World(AB, OR, HALF | {"B": 1.5}), "noise of node 'B'.*found 1.5"),
        (lambda: World(AB, OR, HALF | {"B": float("nan")}), "noise of node 'B'.*found nan"),
        (lambda: World([*AB, ("B", "A")], OR | {"A": "or"}, HALF), "A -> B -> A"),
        (lambda: World(AB * 2, OR, HALF), "found more often"),
        (lambda: example_world().pns("X", "Z"), "unknown node 'Z'"),
        (lambda: example_world().pns("X", "X"), "found 'X' twice"),
        (lambda: example_world().values(example_world().sample(3, rng=0).drop(columns="X")), r"for nodes \['X'\]"),
        (lambda: example_world().answers(np.full((2, 8), 0.5), "cut"), "other or missing"),
        (lambda: example_world().answers(np.zeros((2, 7), bool), "cut"), "8 columns"),
        (lambda: sample_world(4), r"sizes must hold the numbers of nodes of the components, as \[3, 3\], found 4"),
        (lambda: sample_world([]), "at least one component"),
        (lambda: sample_world([4, 1]), r"at least 2 nodes, found sizes \[4, 1\]"),
        (lambda: sample_world([10**9]), "at most 10000 nodes"),
        (lambda: sample_world([4], "star"), "unknown kind of component 'star'"),
        (lambda: sample_world([4, 4], ["cycle"]), "2 sizes, 1 kinds"),
        (lambda: sample_world([4], functions="nor"), "unknown choice of functions"),
        (lambda: sample_world([4], noise=(0.8, 0.4)), r"noise must lie in \[0.8, 1\], found 0.4"),
        (lambda: sample_world([4], noise="0.5"), r"noise must be a range \(low, high\) in \[0, 1\], found '0.5'"),
        (lambda: sample_world([4], nodes=["a", "b", "c", "c"]), "4 different names"),
        (lambda: sample_world([4], min_pns=1.0), "min_pns"),
        (lambda: list(compositions(["X"])), "root and leaf included. must be an integer from 2, found"),
    ],
)
def test_what_is_no_world_or_question_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
