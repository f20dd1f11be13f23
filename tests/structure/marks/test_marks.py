"""Metrics of marks against their definitions on dictionaries of marks, and exact moments against all relabellings."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.fields.structure.nulls.additive import additive_moments
from causaleval_pd.graphs.mixed.marks import planes_from_marks
from causaleval_pd.graphs.pairs import GraphBatch, GraphPairs

SYMBOLS = {1: "-", 2: ">", 3: "o"}
EDGES = [(a, b) for a in SYMBOLS for b in SYMBOLS]
DOUBLE = [(0, 2), (2, 0)]


def drawn(n, d, *, doubles, seed, edges=EDGES):
    """Matrices (n, d, d) of codes of random graphs, the mark at j in cell (i, j)."""
    rng = np.random.default_rng(seed)
    options = [(0, 0)] * 5 + edges + (DOUBLE * 2 if doubles else [])
    marks = np.zeros((n, d, d), np.uint8)
    for row, (i, j) in itertools.product(range(n), itertools.combinations(range(d), 2)):
        marks[row, j, i], marks[row, i, j] = options[rng.integers(len(options))]
    return marks


def paired(truth, estimate):
    d = truth.shape[1]
    sides = [GraphBatch(d, planes_from_marks(x), np.full(len(x), 8, np.uint8)) for x in (truth, estimate)]
    return GraphPairs(*sides, *[np.arange(len(truth))] * 2)


def ends(marks):
    """The marks at v of each u - v as sets: the end of -> beside <-> has two."""
    d = len(marks)
    found = {}
    for u, v in itertools.permutations(range(d), 2):
        here, there = int(marks[v, u]), int(marks[u, v])
        found[u, v] = {1, 2} if (there, here) == (0, 2) else {there} - {0}
    return found


def reference(truth, estimate):
    """Counts by definition, over sets of marks."""
    t, e = ends(truth), ends(estimate)
    near, claimed = ({x for x in side if side[x]} for side in (t, e))
    found = {"tp": len(near & claimed) / 2, "fp": len(claimed - near) / 2, "fn": len(near - claimed) / 2}
    for name, mark in (("tail", 1), ("arrowhead", 2), ("circle", 3)):
        true, guess = ({x for x in side if mark in side[x]} for side in (t, e))
        found |= {f"{name}_tp": len(true & guess), f"{name}_fp": len(guess - true), f"{name}_fn": len(true - guess)}
        found[f"{name}_tn"] = len(t) - len(true | guess)
        shared = near & claimed
        found[f"{name}_shared_fp"] = len((guess - true) & shared)
        found[f"{name}_shared_tn"] = len(shared - true - guess)
        if mark != 3:
            circles = {x for x in t if 3 in t[x]}
            found[f"{name}_unknown_fp"] = len(guess - true - circles)
            found[f"{name}_unknown_tn"] = len(set(t) - true - guess - circles)
            half = {x for x in t if (mark in t[x] and 3 in e[x]) or (mark in e[x] and 3 in t[x])}
            found[f"{name}_half_tp"] = len(true & guess) + len(half) / 2
    pairs = list(itertools.combinations(range(len(truth)), 2))

    def both(side, pair):
        return side[pair], side[pair[::-1]]

    differ = [sum(x != y for x, y in zip(both(t, p), both(e, p), strict=True)) for p in pairs]
    absent = [(not t[p]) != (not e[p]) for p in pairs]
    circled = [all(3 in x[0] | x[1] for x in (both(t, p), both(e, p))) for p in pairs]
    kept = [k for k, gone in zip(differ, absent, strict=True) if not gone]
    known = [
        sum(len(x & {1, 2}) for x in (*both(t, p), *both(e, p))) for p, gone in zip(pairs, absent, strict=True) if gone
    ]
    found["any"] = sum(k > 0 for k in differ)
    found["marks"] = sum(kept) + 2 * sum(absent)
    found["marks+edge"] = found["marks"] + sum(absent)
    found["information"] = sum(kept) + sum(1 + k for k in known)
    found["sep_distances"] = sum(kept) + sum(absent)
    found["bnmetrics"] = sum(k > 0 and not c for k, c in zip(differ, circled, strict=True))

    def bidirected(side):
        return {p for p in pairs if 2 in side[p] and 2 in side[p[::-1]]}

    found["bidirected_tp"] = len(bidirected(t) & bidirected(e))
    found["bidirected_fp"] = len(bidirected(e) - bidirected(t))

    def directed(side):
        return {x for x in side if 2 in side[x] and 1 in side[x[::-1]]}

    found["directed_tp"], found["directed_fn"] = len(directed(t) & directed(e)), len(directed(t) - directed(e))

    def colliders(side):
        return {
            (frozenset((u, w)), v)
            for v in range(len(truth))
            for u, w in itertools.combinations(set(range(len(truth))) - {v}, 2)
            if 2 in side[u, v] and 2 in side[w, v] and not side[u, w]
        }

    found["v_structure_tp"] = len(colliders(t) & colliders(e))
    found["v_structure_fp"] = len(colliders(e) - colliders(t))
    return found


COSTS = ("any", "marks", "marks+edge", "information", "sep_distances", "bnmetrics")


def measured(pairs):
    """The same counts by the metrics."""
    found = {key: ce.get_metric(f"adjacency_{key}")(pairs) for key in ("tp", "fp", "fn")}
    for name in ("tail", "arrowhead", "circle"):
        found |= {f"{name}_{k}": ce.get_metric(f"{name}_{k}")(pairs) for k in ("tp", "fp", "fn", "tn")}
        found |= {f"{name}_shared_{k}": ce.get_metric(f"{name}_{k}")(pairs, slots="shared") for k in ("fp", "tn")}
        if name != "circle":
            found |= {
                f"{name}_unknown_{k}": ce.get_metric(f"{name}_{k}")(pairs, circle="unknown") for k in ("fp", "tn")
            }
            found[f"{name}_half_tp"] = ce.get_metric(f"{name}_tp")(pairs, circle="half")
    found |= {cost: ce.shd(pairs, cost=cost) for cost in COSTS}
    rest = ("bidirected_tp", "bidirected_fp", "directed_tp", "directed_fn", "v_structure_tp", "v_structure_fp")
    return found | {name: ce.get_metric(name)(pairs) for name in rest}


@pytest.mark.parametrize(("d", "doubles"), [(4, True), (7, False), (13, True)])  # 13 nodes have more pairs than a word
def test_counts_are_those_of_the_definitions(d, doubles):
    truth, estimate = (drawn(40, d, doubles=doubles, seed=s) for s in (1, 2))
    estimate[::4] = truth[::4]
    estimate[1::4, : d // 2] = truth[1::4, : d // 2]
    estimate[1::4, d // 2 :, : d // 2] = truth[1::4, d // 2 :, : d // 2]
    expected = pd.DataFrame([reference(t, e) for t, e in zip(truth, estimate, strict=True)])
    found = pd.DataFrame(measured(paired(truth, estimate)))
    pd.testing.assert_frame_equal(found[expected.columns], expected.astype(float), check_dtype=False)


def test_plain_graphs_have_the_same_counts_by_both_kernels():
    marks = [drawn(60, 5, doubles=False, seed=s, edges=[(1, 2), (2, 1), (1, 1)] * 2) for s in (3, 4)]
    mixed = paired(*marks)
    forward = np.triu(np.ones((5, 5), bool), 1)
    strings = []
    for side in marks:
        texts = []
        for one in side:
            edges = [f"{i} {'-' if one[i, j] == 1 == one[j, i] else ''}-> {j}" for i, j in np.argwhere(one == 2)]
            edges += [f"{i} -- {j}" for i, j in np.argwhere((one == 1) & (one.T == 1) & forward)]
            texts.append("; ".join([*edges, *map(str, range(5))]).replace("--->", "->"))
        strings.append(ce.graph_column(texts, kind="pdag"))
    table = pd.DataFrame({"truth": strings[0], "estimate": strings[1]})
    for name in ("arrowhead_f1", "tail_mcc", "tail_fn", "circle_fp", "bidirected_fp", "v_structure_tp"):
        np.testing.assert_allclose(ce.evaluate(table, [name])[name], ce.get_metric(name)(mixed))
    for cost in COSTS:
        metric = ce.tweak("shd", cost=cost, name="found")
        np.testing.assert_allclose(ce.evaluate(table, [metric])["found"], ce.shd(mixed, cost=cost))


ADDITIVE = [
    *["adjacency_tp", "adjacency_f1", "skeleton_hd", "arrowhead_tp", "arrowhead_mcc", "tail_f1", "circle_precision"],
    *["bidirected_f1", "directed_recall"], *[("shd", {"cost": cost}) for cost in COSTS],
    ("shd", {"cost": "marks", "circle_cost": 0.5}), ("arrowhead_fp", {"circle": "unknown"}),
    ("arrowhead_tp", {"circle": "half"}), ("tail_tp", {"slots": "shared"}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("doubles", [False, True])
def test_moments_are_those_of_all_relabellings(doubles):
    truth, estimate = drawn(1, 5, doubles=doubles, seed=5), drawn(1, 5, doubles=doubles, seed=6)
    orders = [list(order) for order in itertools.permutations(range(5))]
    moved = np.concatenate([estimate[:, order][:, :, order] for order in orders])
    every, one = paired(np.repeat(truth, len(moved), axis=0), moved), paired(truth, estimate)
    for given in ADDITIVE:
        name, options = (given, {}) if isinstance(given, str) else given
        metric = ce.tweak(name, name="found", **options)
        values, known = metric(every), additive_moments(metric, one)
        np.testing.assert_allclose(known.mean, values.mean(), atol=1e-12, err_msg=str(given))
        np.testing.assert_allclose(known.variance, values.var(), atol=1e-12, err_msg=str(given))
    assert additive_moments(ce.tweak("arrowhead_precision", name="found", slots="shared"), one) is None


def test_conventions_of_peers():
    """Distances that peers give for the same pairs, by their sources or runs."""
    cases = {
        # (truth, estimate): GetPAGSHD (Matlab), pagSHD (R), SHD_MAGs (sep-distances), bnmetrics
        ("A; B", "A o-o B"): {"marks+edge": 3, "information": 1},
        ("A; B", "A o-> B"): {"marks+edge": 3, "information": 2},
        ("A; B", "A -> B"): {"information": 3, "sep_distances": 1},
        ("A; B", "A <-> B"): {"information": 3, "sep_distances": 1},
        ("A -> B", "B -> A"): {"sep_distances": 2, "bnmetrics": 1},
        ("A -> B", "A <-> B"): {"sep_distances": 1},
        ("A o-> B", "B o-> A"): {"marks+edge": 2, "bnmetrics": 0},
        ("A o-> B", "A o-o B"): {"bnmetrics": 0},
        ("A o-> B", "A -> B"): {"bnmetrics": 1},
        ("A o-> B", "A <-> B"): {"bnmetrics": 1},
    }
    for (truth, estimate), costs in cases.items():
        cells = [ce.as_graph(text, nodes=["A", "B"], kind="mixed") for text in (truth, estimate)]
        assert {cost: ce.shd(*cells, cost=cost) for cost in costs} == costs, (truth, estimate)


def test_options_are_checked():
    mixed = "A o-> B; C o-> B"
    with pytest.raises(ValueError, match="cost"):
        ce.shd(mixed, mixed, cost="mark")
    with pytest.raises(ValueError, match="circle_cost applies where ends are counted"):
        ce.shd(mixed, mixed, circle_cost=0.5)
    with pytest.raises(ValueError, match="apply to graphs of directed and undirected"):
        ce.shd(mixed, mixed, reversal_cost=2)
    with pytest.raises(ValueError, match="slots"):
        ce.tail_tp(mixed, mixed, slots="some")
    with pytest.raises(ValueError, match="circle"):
        ce.tail_tp(mixed, mixed, circle="some")


def test_types_of_edges():
    truth, estimate = (drawn(30, 5, doubles=True, seed=s) for s in (7, 8))
    found = ce.edge_confusion(paired(truth, estimate), seen="from_first")
    from_truth = ce.edge_confusion(paired(truth, estimate))
    labels = ce.edge_confusion.dims["true_edge"]
    names = {(0, 0): "none", (0, 2): "->&<->", (2, 0): "<-&<->", (1, 2): "->", (2, 1): "<-", (2, 2): "<->"}
    names |= {(3, 2): "o->", (2, 3): "<-o", (3, 3): "o-o", (1, 1): "--", (1, 3): "--o", (3, 1): "o--"}
    expected = np.zeros_like(found)
    for row, (i, j) in itertools.product(range(30), itertools.combinations(range(5), 2)):
        types = [labels.index(names[int(m[row, j, i]), int(m[row, i, j])]) for m in (truth, estimate)]
        expected[row, types[0], types[1]] += 1
    np.testing.assert_array_equal(found, expected)
    order = np.random.default_rng(0).permutation(5)
    turned = ce.edge_confusion(paired(truth[:, order][:, :, order], estimate[:, order][:, :, order]))
    np.testing.assert_array_equal(turned, from_truth)
    assert (from_truth.sum(axis=(1, 2)) == 10).all()
    assert (from_truth[:, [labels.index(x) for x in ("<-", "<-o", "o--", "<-&<->")]] == 0).all()
    same = sum(np.trace(x) for x in found)
    assert same == sum(np.trace(x) for x in from_truth) == (10 - ce.shd(paired(truth, estimate))).sum()


def marks_of_all(d):
    """All graphs with at most one edge per pair, as codes, and the ordered pairs of nodes."""
    pairs, types = list(itertools.combinations(range(d), 2)), [(0, 0), *EDGES]
    marks = np.zeros((len(types) ** len(pairs), d, d), np.uint8)
    for place, (i, j) in enumerate(pairs):
        chosen = np.array(types, np.uint8)[np.arange(len(marks)) // len(types) ** place % len(types)]
        marks[:, j, i], marks[:, i, j] = chosen.T
    return marks, pairs


def cost_of(cost, s, t):
    """What it costs that the marks (here, there) of one pair are s and t; 0 is no edge."""
    differ = sum(a != b for a, b in zip(s, t, strict=True))
    gone = (s == (0, 0)) != (t == (0, 0))
    circles = 3 in s and 3 in t
    return {
        "any": s != t,
        "marks": differ,
        "marks+edge": differ + gone,
        "information": 1 + sum(x in (1, 2) for x in (*s, *t)) if gone else differ,
        "sep_distances": 1 if gone else differ,
        "bnmetrics": s != t and not circles,
    }[cost]


@pytest.mark.slow
def test_all_pairs_of_graphs_of_three_nodes():
    """Counts of a million pairs as products of indicators of ends, pairs and triples of nodes."""
    marks, pairs = marks_of_all(3)
    n = len(marks)
    ends = np.stack([marks[:, u, v] for u, v in itertools.permutations(range(3), 2)], axis=1)
    near = (ends > 0).astype(float)
    truth, estimate = np.divmod(np.arange(n * n), n)
    batch = GraphBatch(3, planes_from_marks(marks), np.full(n, 8, np.uint8))
    every = GraphPairs(batch, batch, truth, estimate)

    def same(found, left, right):
        np.testing.assert_array_equal(found, (left @ right.T).ravel())

    circle = (ends == 3).astype(float)
    for name, code in (("tail", 1), ("arrowhead", 2), ("circle", 3)):
        mine = (ends == code).astype(float)
        metrics = {k: ce.get_metric(f"{name}_{k}") for k in ("tp", "fp", "fn", "tn")}
        same(metrics["tp"](every), mine, mine)
        same(metrics["fp"](every), 1 - mine, mine)
        same(metrics["fn"](every), mine, 1 - mine)
        same(metrics["tn"](every), 1 - mine, 1 - mine)
        same(metrics["fp"](every, slots="shared"), near - mine, mine)
        same(metrics["tn"](every, slots="shared"), near - mine, near - mine)
        if name != "circle":
            # ends where the truth has a circle are left out, of false positives and true negatives alike
            same(metrics["fp"](every, circle="unknown"), 1 - mine - circle, mine)
            same(metrics["tn"](every, circle="unknown"), 1 - mine - circle, 1 - mine)
            same(metrics["fn"](every, circle="unknown"), mine, 1 - mine)
            same(
                metrics["tp"](every, circle="half"),
                np.hstack([mine, mine, circle]),
                np.hstack([mine, circle / 2, mine / 2]),
            )
    both = np.stack([(marks[:, i, j] == 2) & (marks[:, j, i] == 2) for i, j in pairs], axis=1).astype(float)
    same(ce.bidirected_tp(every), both, both)
    same(ce.bidirected_fn(every), both, 1 - both)
    types = [(0, 0), *EDGES]
    shown = np.stack([[marks[:, j, i] == a, marks[:, i, j] == b] for i, j in pairs for a, b in types]).all(axis=1)
    shown = shown.reshape(3, len(types), n).astype(float)
    for cost in COSTS:
        table = np.array([[cost_of(cost, s, t) for t in types] for s in types], float)
        found = sum(one.T @ table @ one for one in shown)
        np.testing.assert_array_equal(ce.shd(every, cost=cost), found.ravel())
    collide = [
        (marks[:, u, v] == 2) & (marks[:, w, v] == 2) & (marks[:, u, w] == 0)
        for u, v, w in ((1, 0, 2), (0, 1, 2), (0, 2, 1))
    ]
    unshielded = np.stack(collide, axis=1).astype(float)
    same(ce.get_metric("v_structure_tp")(every), unshielded, unshielded)
    same(ce.get_metric("v_structure_fp")(every), 1 - unshielded, unshielded)
