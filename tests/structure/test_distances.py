"""Interventional, ancestral, separation and adjustment distances: metrics and verbs, with and without latent nodes."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS
from causaleval_pd.fields.structure.field import pair

COSTLY = ["sid", "parent_aid", "ancestor_aid", "oset_aid", "ancestor_f1", "top_order_divergence", "separation_parent"]
CHAIN = "A -> B; B -> C; C -> D"


@pytest.fixture
def runs():
    estimates = ["A -> B; B -> C; D -> C", "A -> B; D; C", "B -> A; C -> B; A -> D", None] * 5
    rows = {"truth": [CHAIN, "A -> B; A -> C; B -> D; C -> D"] * 10, "estimate": estimates}
    return pd.DataFrame({**rows, "algorithm": ["x", "y"] * 10})


def test_sid_of_a_class_is_refused_or_missing():
    table = pd.DataFrame({"truth": [CHAIN] * 2, "estimate": [CHAIN, "A -- B; B -- C; C -- D"]}, index=["r", "s"])
    with pytest.raises(ValueError, match=r"sid applies to dag, not to row 1 \(index 's'\), where .* estimate a cpdag"):
        ce.evaluate(table, ["sid"])
    np.testing.assert_array_equal(ce.evaluate(table, ["sid"], invalid="nan")["sid"], [0, np.nan])
    with pytest.raises(ValueError, match="sid_lower applies to dag as truth with dag or cpdag as estimate"):
        ce.evaluate(table, ["sid_lower"], truth="estimate", estimate="truth")


def test_bounds_say_where_they_are_not_attained():
    pdag = "A -> B; B -- C; D"
    clique = "A -- B; A -- C; A -- D; B -- C; B -- D; C -- D"
    table = pd.DataFrame({"truth": [CHAIN] * 3, "estimate": [CHAIN, pdag, clique]})
    with pytest.raises(ValueError, match=r"sid_upper applies to .*row 1 .*a pdag .*beyond='local'.*invalid='nan'"):
        ce.evaluate(table, ["sid_upper"])
    tight = {"max_parent_sets": 31}
    with pytest.raises(ValueError, match=r"row 1 \(index 2\): .*more than 31 parent sets; raise max_parent_sets"):
        ce.evaluate(table.drop(index=1), [ce.tweak("sid_lower", **tight)])
    names = ["sid_lower", "sid_upper"]
    missing = ce.evaluate(table, [ce.tweak(n, **tight) for n in names], invalid="nan")[names]
    np.testing.assert_array_equal(missing.isna(), [[False] * 2, [True] * 2, [True] * 2])
    local = ce.evaluate(
        table, [*(ce.tweak(n, beyond="local", **tight) for n in names), ce.tweak("sid_bounds_exact", **tight)]
    )
    assert local["sid_bounds_exact"].tolist() == [True, False, False]
    exact = ce.sid_lower(CHAIN, clique), ce.sid_upper(CHAIN, clique)
    assert local["sid_lower"][2] <= exact[0] <= exact[1] <= local["sid_upper"][2]
    assert (local.loc[0, names] == 0).all()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("sid_lower", {"max_parent_sets": 0}, "max_parent_sets must be a whole number from 1 to 10000000, found 0"),
        ("sid_upper", {"max_parent_sets": 1e9}, "max_parent_sets"),
        ("sid_lower", {"beyond": "guess"}, "beyond must be 'raise' or 'local', found 'guess'"),
        ("sid", {"normalised": "pairs"}, "normalised must be False or True"),
        ("separation_zl", {"part": "both"}, "part must be 'markov', 'faithfulness' or 'symmetric'"),
        ("top_order_divergence", {"undecided": 2}, r"undecided must lie in \[0, 1\], found 2"),
    ],
)
def test_options_are_checked(name, options, words):
    with pytest.raises(ValueError, match=words):
        ce.get_metric(name)(CHAIN, CHAIN, **options)


def test_a_cycle_behind_a_false_label_is_named():
    good = ce.as_graph("A -> B; B -> C; A -> C")
    cyclic = ce.as_graph("A -> B; B -> C; C -> A", kind="pdag").to_bytes()
    # all but the planes say "dag"
    forged = good.to_bytes()[:-16] + cyclic[-16:]
    column = pd.Series([good.to_bytes(), forged], dtype=ce.graph_column([good]).dtype)
    table = pd.DataFrame({"truth": [good.to_bytes()] * 2, "estimate": column}).astype({"truth": column.dtype})
    with pytest.raises(ValueError, match=r"sid applies to dag, not to row 1 .*declared a dag, which it is not"):
        ce.evaluate(table, ["sid"])
    np.testing.assert_array_equal(ce.evaluate(table, ["sid"], invalid="nan")["sid"], [0, np.nan])


def test_parts_of_the_separation_distance():
    truth, estimate = "A -> B; B -> C; D", "A; B; C -> D"
    markov, faithful, both = (
        ce.separation_parent(truth, estimate, part=part) for part in ("markov", "faithfulness", "symmetric")
    )
    assert (markov, faithful, both) == (3, 1, 2)
    assert ce.separation_parent(estimate, truth) == faithful
    assert ce.separation_parent(truth, estimate, normalised=True) == 3 / 6


def test_equivalent_graphs_have_no_separation_distance():
    column = ce.graph_column(["A -> B; B -> C", "C -> B; B -> A", "B -> A; B -> C", "A -- B; B -- C"])
    i, j = np.meshgrid(range(4), range(4))
    table = pd.DataFrame({"truth": column.take(i.ravel()).array, "estimate": column.take(j.ravel()).array})
    names = ["separation_parent", "separation_ancestor", "separation_zl"]
    assert (ce.evaluate(table, names)[names] == 0).all(axis=None)


def test_order_divergence_of_orders_partial_orders_and_cycles():
    order = "D -> C; D -> B; D -> A; C -> B; C -> A; B -> A"
    assert ce.top_order_divergence(CHAIN, order) == 3
    assert ce.top_order_divergence(CHAIN, order, normalised=True) == 1
    assert ce.top_order_divergence(CHAIN, "A; B; C; D", undecided=0.5) == 1.5
    assert ce.top_order_divergence(CHAIN, "A -> B; B -> C; C -> A; D", undecided=1) == 3


@pytest.mark.slow
def test_controls_and_cubes(runs):
    cube = ce.cube(runs, COSTLY, by=["algorithm"], n_draws=60, rng=3, invalid="nan")
    for name in COSTLY:
        assert cube[f"{name}_control"].notnull().any()
    tests = cube.ceval.summary(columns="full")
    assert set(tests["metric"]) == set(COSTLY)
    assert tests["p_value"].between(0, 1).all()


def test_controls_of_rows_are_the_same_in_any_order(runs):
    forth = ce.with_controls(runs, COSTLY, n_draws=40, rng=5)
    back = ce.with_controls(runs.iloc[::-1], COSTLY, n_draws=40, rng=5).iloc[::-1]
    pd.testing.assert_frame_equal(forth, back)
    drawn = forth["sid_control_mean"].dropna()
    assert len(drawn) == 15
    assert drawn.between(0, 12).all()


def test_the_mean_order_divergence_of_complete_random_orders():
    """An order drawn at random puts half of the true edges the wrong way."""
    names = [chr(65 + k) for k in range(5)]
    complete = "; ".join(f"{a} -> {b}" for i, a in enumerate(names) for b in names[i + 1 :])
    table = pd.DataFrame({"truth": ["A -> B; B -> C; A -> D; E"], "estimate": [complete]})
    found = ce.with_controls(table, ["top_order_divergence"], n_draws=4000, rng=1)
    assert found["top_order_divergence_control_mean"][0] == pytest.approx(1.5, abs=0.06)


def test_bounds_of_pairs_that_were_not_checked_are_refused():
    pairs = pair(CHAIN, "A -> B; B -- C; D")
    with pytest.raises(ValueError, match="not a valid CPDAG"):
        ce.sid_lower(pairs)


KINDS = ("dag", "cpdag", "pdag")
FAMILIES = ce.structure.families.__name__
#: families of claims refuse classes of DAGs, which have other metrics altogether; those of other rooms need data
REFUSED = [
    name
    for name, m in METRICS.items()
    if m.field == "graph" and "pdag" not in m.kinds
    if m.function.__module__.startswith(ce.structure.__name__) and not m.function.__module__.startswith(FAMILIES)
]


@pytest.mark.parametrize("name", REFUSED)
def test_what_refuses_a_class_names_what_takes_it(name):
    truth, estimates = CHAIN, [CHAIN, "A -- B; B -- C; C -- D", "A -> B; B -- C; D", None]
    table = pd.DataFrame({"truth": [truth] * 4, "estimate": estimates})
    refused = [not {"dag": True, "cpdag": "cpdag" in ce.get_metric(name).kinds, "pdag": False}[x] for x in KINDS]
    with pytest.raises(ValueError, match=rf"^{name} applies to .* \({sum(refused)} of 4 rows\); use ") as error:
        ce.evaluate(table, [name])
    advice = str(error.value).partition("; use ")[2].partition("; or leave these rows out, or pass invalid='nan'")[0]
    calls = re.findall(r"ce\.tweak\('(\w+)', (\w+)='(\w+)'\)", advice)
    plain = re.findall(r"(?<!tweak\()'(\w+)'", re.sub(r"\w+='\w+'", "", advice))
    metrics = [ce.tweak(base, **{option: value}) for base, option, value in calls] + [ce.get_metric(x) for x in plain]
    assert metrics
    with ce.set_options(zero_division=0):
        taken = [ce.evaluate(table.head(3), [m], invalid="nan")[m.name].notna()[refused].sum() for m in metrics]
    assert min(taken) > 0 and max(taken) == sum(refused), "together they take all"
    missing = ce.evaluate(table, [name], invalid="nan")[name]
    assert missing.isna().tolist() == [*refused, True]


def test_advice_counts_the_rows_that_it_is_for():
    runs = ce.datasets.runs()
    with pytest.raises(ValueError, match=r"\(316 of 540 rows\); use 'sid_lower', 'sid_upper' or 'parent_aid' for 301 "):
        runs.ceval.evaluate(["sid"])
    for verb in ("evaluate", "with_controls"):
        with pytest.raises(ValueError, match=r"and 12 more rows \(15 of 540 rows\); use ce.tweak\('shd_cpdag', pdag="):
            getattr(runs.ceval, verb)(["shd_cpdag"])
    with pytest.raises(ValueError, match="but truth is a cpdag and estimate a cpdag; use 'parent_aid'$"):
        ce.sid("A -- B", "A -- B")


def test_pdags_are_compared_by_a_named_convention():
    as_is = ce.tweak("shd_cpdag", pdag="as_is")
    pdag, other = "A -> B; B -- C; D", "A -- B; B -- C; D"
    assert as_is(CHAIN, pdag) == ce.shd("A -- B; B -- C; C -- D", pdag) == 2
    assert as_is(CHAIN, other) == ce.shd_cpdag(CHAIN, other) == 1
    assert as_is(pdag, CHAIN) == as_is(CHAIN, pdag)
    assert ce.shd_cpdag(CHAIN, pdag, pdag="as_is") == 2
    for options in ({}, {"pdag": "refuse"}):
        with pytest.raises(ValueError, match=r"estimate a pdag; use ce.tweak\('shd_cpdag', pdag='as_is'\) \(PDAGs are"):
            ce.shd_cpdag(CHAIN, pdag, **options)
    with pytest.raises(ValueError, match="pdag must be 'refuse' or 'as_is', found 'skip'"):
        ce.shd_cpdag(CHAIN, CHAIN, pdag="skip")


@pytest.mark.slow
def test_conventions_and_refusals_are_recorded_and_counted():
    runs = ce.datasets.runs().query("algorithm == 'pc'")
    as_is = ce.tweak("shd_cpdag", pdag="as_is", name="shd_as_is")
    how = {"by": ["algorithm"], "n_draws": 20, "rng": 7, "invalid": "nan"}
    cube = runs.ceval.cube(["shd_cpdag", as_is], **how)
    assert json.loads(cube["shd_as_is"].attrs["options"]) == {"pdag": "as_is"}
    found = cube.ceval.summary(columns="full").set_index("metric")
    assert found[["n_runs", "n_scored", "n_undefined"]].to_numpy().tolist() == [[180, 165, 15], [180, 180, 0]]
    exact = runs.ceval.with_controls([as_is], null="permutation", method="exact", rng=7).iloc[60:70]
    drawn = runs.iloc[60:70].ceval.with_controls([as_is], null="permutation", method="simulate", rng=7)
    np.testing.assert_allclose(exact["shd_as_is_control_mean"], drawn["shd_as_is_control_mean"], rtol=0.05)


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
    message = "separation_zl applies to dag, cpdag, mag and admg.*use 'separation_ancestor'"
    with pytest.raises(ValueError, match=message):
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
