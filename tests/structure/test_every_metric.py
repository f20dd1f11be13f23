"""What must hold for every registered metric of graphs, and brute force over all small graphs."""

import functools
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs.kernels.planes import KINDS
from causaleval_pd.graphs.pairs import COMPARABLE

#: tables are tested in `marks`, metrics that need inputs besides the graphs in their own rooms
NAMES = sorted(
    name
    for name in ce.list_metrics("graph").index
    if not ce.get_metric(name).dims and ".structure." in ce.get_metric(name).__module__
)
JUDGED = [name for name in NAMES if ce.get_metric(name).direction is not None]


PLAIN = ("dag", "cpdag", "pdag", "digraph")
#: some graphs over A, B and C with the marks of latent confounders
MIXED = {
    "mag": [
        *["A <-> B; C", "A -> B; B <-> C", "A <-> B; B <-> C", "A <-> B; B <-> C; A <-> C"],
        *["A <-> B; B -> C", "A -> B; C"],
    ],
    "pag": ["A o-> B; C o-> B", "A o-o B; B o-o C", "A o-o B; C", "A o-o B; B o-o C; A o-o C"],
    "admg": ["A -> B; A <-> B; C", "A -> B; A <-> B; C -> B", "A <-> C; C -> A; B"],
    "skeleton": ["A -- B; C", "A -- B; B -- C"],
    "mixed": ["A o-> B; B o-o C", "A -- B; B <-> C", "A o-- B; C -> B"],
}


@functools.cache
def strings(kinds=PLAIN, d=3):
    """Every plain graph over d nodes, and some mixed ones over 3, of the given classes, as edge strings."""
    names = [chr(65 + i) for i in range(d)]
    marks = {0: None, 1: "{} -> {}", 2: "{1} -> {0}", 3: "{} -- {}"}
    pairs = list(itertools.combinations(names, 2))
    texts = [
        "; ".join([marks[c].format(a, b) for c, (a, b) in zip(choice, pairs, strict=True) if c] + names)
        for choice in itertools.product(range(4), repeat=len(pairs))
    ]
    declared = [None] * len(texts)
    for kind, more in MIXED.items() if d == 3 else ():
        texts, declared = texts + more, declared + [kind] * len(more)
    column = ce.graph_column(texts, kind=declared)
    return column[column.graph.kind.isin(kinds)].reset_index(drop=True)


@functools.cache
def relabelled(kinds):
    """The same graphs with other names of their nodes."""
    graphs = strings(kinds)
    found = graphs.graph.kind.astype(str).tolist()
    return ce.graph_column(graphs.graph.to_strings(), rename={"A": "C", "B": "A", "C": "B"}, kind=found)


def product(left, right, both_ways=False):
    """All pairs whose classes are compared with each other, or also when they change places."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(len(left)), np.arange(len(right)), indexing="ij"))
    true, estimated = (np.array([KINDS.index(kind) for kind in x.graph.kind], int) for x in (left, right))
    fits = COMPARABLE[true[i], estimated[j]] & (COMPARABLE[estimated[j], true[i]] | (not both_ways))
    return pd.DataFrame({"truth": left.take(i[fits]).array, "estimate": right.take(j[fits]).array})


def kinds_of(name):
    """The classes of truths and of estimates of a metric."""
    metric = ce.get_metric(name)
    return metric.truth_kinds or metric.kinds, metric.kinds


def of_both(name):
    """The graphs that may be truth and estimate of a metric."""
    return strings(tuple(sorted(set.intersection(*map(set, kinds_of(name))))))


def named(same):
    """The metrics of the same classes of graphs, which are scored together."""
    return [name for name in NAMES if kinds_of(name) == same]


@functools.cache
def scored(truth_kinds, kinds, turned):
    """Values of all metrics of these classes on all pairs of graphs, of which nodes may have other names."""
    made = relabelled if turned else strings
    return ce.evaluate(product(made(truth_kinds), made(kinds)), named((truth_kinds, kinds)))


@functools.cache
def scored_in_turn(truth_kinds, kinds):
    """Values of all metrics of these classes on all pairs of graphs that may change places, and after they do."""
    graphs = strings(tuple(sorted({*truth_kinds} & {*kinds})))
    table = product(graphs, graphs, both_ways=True)
    turned = table.rename(columns={"truth": "estimate", "estimate": "truth"})
    names = named((truth_kinds, kinds))
    return ce.evaluate(table, names), ce.evaluate(turned, names)


@pytest.fixture(scope="module")
def everything():
    return product(strings(), strings())


@pytest.fixture(scope="module")
def mixed_too():
    return ce.evaluate(product(strings(KINDS), strings(KINDS)), NAMES, invalid="nan")


@pytest.fixture(scope="module")
def filled():
    names = [name for name in NAMES if ce.get_metric(name).zero_division]
    with ce.set_options(zero_division=1):
        return ce.evaluate(product(strings(KINDS), strings(KINDS)), names, invalid="nan")


@pytest.mark.parametrize("name", NAMES)
def test_values_stay_in_the_range(name, mixed_too):
    values = mixed_too[name]
    low, high = ce.get_metric(name).range
    assert values.dropna().between(low - 1e-12, high + 1e-12).all()
    assert values.notna().any()


@pytest.mark.parametrize("name", JUDGED)
def test_the_truth_itself_scores_the_optimum_or_is_undefined(name):
    metric = ce.get_metric(name)
    graphs = of_both(name)
    # a graph claims nothing of pairs that are not adjacent
    asked = ce.tweak(name, among="adjacent") if name.startswith(("arrow_claim", "tail_claim")) else name
    values = ce.evaluate(pd.DataFrame({"truth": graphs, "estimate": graphs}), [asked])[name].dropna()
    if name == "skeleton_p":  # a p-value of a perfect skeleton is small, not 0
        assert (values <= 1).all()
    elif math.isfinite(metric.optimum):
        np.testing.assert_allclose(values, metric.optimum)
    elif not name.endswith("_claim_tp") and name != "visible_tp":  # more edges claim more, wrong ones too
        others = ce.evaluate(product(graphs, graphs), [name]).groupby("truth")[name].max()
        np.testing.assert_allclose(values, others.loc[graphs.array].to_numpy()[values.index])


@pytest.mark.parametrize("name", NAMES)
def test_relabelling_both_changes_nothing(name):
    before, after = (scored(*kinds_of(name), turned)[name] for turned in (False, True))
    np.testing.assert_allclose(before.astype(float), after.astype(float))


@pytest.mark.parametrize("name", NAMES)
def test_symmetry_is_as_stated(name):
    metric = ce.get_metric(name)
    forth, back = (table[name] for table in scored_in_turn(*kinds_of(name)))
    same = np.allclose(forth.astype(float), back.astype(float), equal_nan=True)
    # of other kinds on either side only some pairs change places
    some = {*metric.kinds} != {*metric.truth_kinds}
    assert same == metric.symmetric or (same and some) or metric.name == "n_nodes"


@pytest.mark.parametrize("name", [n for n in NAMES if ce.get_metric(n).zero_division])
def test_zero_division_fills_exactly_the_undefined(name, mixed_too, filled):
    plain, filled = mixed_too[name], filled[name]
    refused = plain.isna() & filled.isna()
    plain, filled = plain[~refused], filled[~refused]
    single = [f"{x}_ancestor_{y}" for x in ("definite", "possible") for y in ("npv", "specificity")]
    single += ["arrow_claim_recall", "arrow_claim_f1"]
    if name not in ["adjacency_accuracy", *single]:  # 0/0 for a single node only
        assert plain.isna().any()
    if name != "adjacency_balanced_accuracy":  # there each half can be 0/0
        assert (filled[plain.isna()] == 1).all()
    np.testing.assert_allclose(filled[plain.notna()], plain.dropna())


def _parts(text):
    """Directed edges and undirected edges of an edge string, as sets."""
    directed, undirected = set(), set()
    for piece in text.split("; "):
        if "->" in piece:
            directed.add(tuple(piece.split(" -> ")))
        elif "--" in piece:
            undirected.add(frozenset(piece.split(" -- ")))
    return directed, undirected


def _naive(truth, estimate):
    """The metrics' definitions, once more, on sets."""
    (td, tu), (ed, eu) = _parts(truth), _parts(estimate)
    t, e = {frozenset(x) for x in td} | tu, {frozenset(x) for x in ed} | eu
    nodes = ["A", "B", "C"]
    pairs = {frozenset(x) for x in itertools.combinations(nodes, 2)}
    found = {"adjacency_tp": len(t & e), "adjacency_fp": len(e - t), "adjacency_fn": len(t - e)}
    found["adjacency_tn"] = len(pairs - t - e)
    ends = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    for pair in t & e:
        for a, b in itertools.permutations(pair):
            positive, claimed = (a, b) in td, (a, b) in ed
            ends["tp" if positive and claimed else "fp" if claimed else "fn" if positive else "tn"] += 1
    found |= {f"orientation_{k}": v for k, v in ends.items()}
    found |= {"directed_tp": len(td & ed), "directed_fp": len(ed - td), "directed_fn": len(td - ed)}
    found["arrowhead_tn"] = 6 - len(td | ed)

    def edge(pair, directed, undirected):
        return tuple(sorted(x for x in directed if frozenset(x) == pair)) or (pair in undirected and "u")

    found["shd"] = sum(edge(p, td, tu) != edge(p, ed, eu) for p in pairs)

    def colliders(directed, adjacent):
        return {
            (k, frozenset((i, j)))
            for k in nodes
            for i, j in itertools.combinations([n for n in nodes if n != k], 2)
            if (i, k) in directed and (j, k) in directed and frozenset((i, j)) not in adjacent
        }

    vt, ve = colliders(td, t), colliders(ed, e)
    found |= {"v_structure_tp": len(vt & ve), "v_structure_fp": len(ve - vt), "v_structure_fn": len(vt - ve)}
    return found


@pytest.mark.slow
def test_counts_by_brute_force_over_all_pairs_of_small_graphs(everything):
    texts = {c: everything[c].graph.to_strings() for c in everything}
    expected = pd.DataFrame([_naive(t, e) for t, e in zip(texts["truth"], texts["estimate"], strict=True)])
    found = ce.evaluate(everything, list(expected.columns))[list(expected.columns)]
    pd.testing.assert_frame_equal(found, expected.astype("float64"))


def test_ratios_are_those_of_the_counts(everything):
    for family in ("adjacency", "orientation", "directed", "arrowhead", "v_structure"):
        names = [n for n in NAMES if n.startswith(family + "_")]
        x = ce.evaluate(everything, names)
        tp, fp, fn = (x[f"{family}_{k}"] for k in ("tp", "fp", "fn"))
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(x[f"{family}_precision"], tp / (tp + fp))
            np.testing.assert_allclose(x[f"{family}_recall"], tp / (tp + fn))
            np.testing.assert_allclose(x[f"{family}_f1"], 2 * tp / (2 * tp + fp + fn))
        if family in ("adjacency", "orientation"):
            tn = x[f"{family}_tn"]
            np.testing.assert_allclose(x[f"{family}_npv"], tn / (tn + fn))
            np.testing.assert_allclose(x[f"{family}_for"], fn / (tn + fn))
            np.testing.assert_allclose(x[f"{family}_fdr"], fp / (tp + fp))
            np.testing.assert_allclose(x[f"{family}_specificity"], tn / (tn + fp))
            np.testing.assert_allclose(x[f"{family}_g1"], 2 * tn / (2 * tn + fp + fn))
    tp, fp, fn, tn = (
        x0.astype(float)
        for x0 in (
            ce.evaluate(everything, [f"adjacency_{k}" for k in ("tp", "fp", "fn", "tn")]).iloc[:, 2:].to_numpy().T
        )
    )
    x = ce.evaluate(
        everything,
        [
            "adjacency_mcc",
            "adjacency_jaccard",
            "adjacency_accuracy",
            "adjacency_f_beta",
            ce.tweak("adjacency_f_beta", beta=2, name="f2"),
        ],
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        mcc = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        np.testing.assert_allclose(x["adjacency_mcc"], mcc, atol=1e-15)
        np.testing.assert_allclose(x["adjacency_jaccard"], tp / (tp + fp + fn))
        np.testing.assert_allclose(x["adjacency_accuracy"], (tp + tn) / 3)
        np.testing.assert_allclose(x["adjacency_f_beta"], 1.25 * tp / (1.25 * tp + 0.25 * fn + fp))
        np.testing.assert_allclose(x["f2"], 5 * tp / (5 * tp + 4 * fn + fp))


def test_options_are_checked():
    with pytest.raises(ValueError, match="beta must be a positive number, found 0"):
        ce.adjacency_f_beta("A -> B", "A -> B", beta=0)
    with pytest.raises(ValueError, match="normalised must be False, True, 'pairs'"):
        ce.shd("A -> B", "A -> B", normalised="edges")


def test_normalised_distances():
    truth, estimate = "A -> B; B -> C; C -> D", "B -> A; A -> D; C"
    assert ce.shd(truth, estimate) == 4
    assert ce.shd(truth, estimate, normalised=True) == ce.shd(truth, estimate, normalised="pairs") == 4 / 6
    assert ce.shd(truth, estimate, normalised="ordered_pairs") == 4 / 12
    assert ce.shd(truth, estimate, normalised="true_edges") == 4 / 3
    assert np.isnan(ce.shd("A; B", "A -> B", normalised="true_edges"))


def test_every_metric_is_a_name_of_the_package():
    assert {"edge_confusion", "ancestor_confusion"} <= set(dir(ce.metrics))
    assert set(NAMES) <= set(dir(ce.metrics))
    for name in NAMES:
        assert getattr(ce, name) is ce.get_metric(name)
