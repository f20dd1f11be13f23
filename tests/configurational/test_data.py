"""Random models against enumeration, simulated data, and fit to data."""

import io
import itertools
import pathlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd import configurational as cf
from causaleval_pd.fields.configurational.simulation import (
    add_noise,
    draw_model,
    fragment,
    fuzzify,
    stream,
    switches,
)
from causaleval_pd.fields.configurational.truth_table import evaluation_order


def conjunctions(factors: str, size: int) -> list[frozenset[tuple[str, int]]]:
    return [
        frozenset(zip(names, values, strict=True))
        for names in itertools.combinations(factors, size)
        for values in itertools.product((0, 1), repeat=size)
    ]


def models(factors: str, profile: dict[str, tuple[int, ...]]) -> list[cf.Model]:
    """All models with so many literals in the disjuncts of each outcome."""
    atoms = []
    for outcome, sizes in profile.items():
        others = factors.replace(outcome, "")
        lefts = {frozenset(left) for left in itertools.product(*(conjunctions(others, size) for size in sizes))}
        atoms.append([cf.Atom(tuple(left), (outcome, 1)) for left in lefts if len(left) == len(sizes)])
    return [cf.Model(chosen) for chosen in itertools.product(*atoms)]


def deletable(model: cf.Model) -> bool:
    """Whether a part can be deleted, by the definition: compare ideal data over the model's factors."""
    factors = {name: (0, 1) for name in model.factors}
    allowed = cf.ideal_data(model, factors)
    if (allowed[[name for name, _ in model.outcomes]].nunique() < 2).any():
        return True
    for i, atom in enumerate(model.atoms):
        rest = model.atoms[:i] + model.atoms[i + 1 :]
        lefts = [[d for d in atom.disjuncts if d != one] for one in atom.disjuncts]
        for one in atom.disjuncts:
            lefts += [[*(d for d in atom.disjuncts if d != one), one - {literal}] for literal in one if len(one) > 1]
        smaller = [(*rest, cf.Atom(tuple(left), atom.outcome)) for left in lefts if left] + ([rest] if rest else [])
        if any(cf.ideal_data(cf.Model(atoms), factors).equals(allowed) for atoms in smaller):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factors", "profile"),
    [("ABCD", {"D": (1, 2)}), ("ABCD", {"C": (1, 1), "D": (1, 1)}), ("ABC", {"B": (1,), "C": (1, 1)})],
)
def test_redundancy_free_by_its_definition(factors: str, profile: dict[str, tuple[int, ...]]) -> None:
    found = [cf.redundancy_free(model) for model in models(factors, profile)]
    assert found == [not deletable(model) for model in models(factors, profile)]
    assert 0 < sum(found) < len(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factors", "profile"), [("ABCD", {"D": (1, 2)}), ("ABCD", {"D": (2, 2)}), ("ABCD", {"C": (1, 1), "D": (1, 1)})]
)
def test_all_models_of_a_shape_are_equally_likely(factors: str, profile: dict[str, tuple[int, ...]]) -> None:
    wanted = [m for m in models(factors, profile) if evaluation_order(m) is not None and cf.redundancy_free(m)]
    n = 40 * len(wanted)
    outcomes = [(name, 1) for name in profile]
    drawn = Counter(draw_model(outcomes, lambda o: profile[o[0]], list(factors), {}, stream(11, i)) for i in range(n))
    assert set(drawn) == set(wanted)
    assert stats.chisquare([drawn[model] for model in wanted]).pvalue > 1e-3


def test_sizes_switches_and_signs_are_kept() -> None:
    for text in cf.random_models(20, 7, outcomes=2, disjuncts=(2, 3), conjuncts=(1, 2), switch=(1, 2), rng=3):
        model = cf.parse(text)
        assert model.outcomes == (("F", 1), ("G", 1))
        assert 1 <= switches(model) <= 2
        for atom in model.atoms:
            assert 2 <= len(atom.disjuncts) <= 3
            assert {len(one) for one in atom.disjuncts} <= {1, 2}
    positive = [cf.parse(text) for text in cf.random_models(10, 5, negated=0, rng=1)]
    assert all(value == 1 for model in positive for atom in model.atoms for _, value in atom.literals)


def test_outcomes_may_be_negative_and_factors_multi_value() -> None:
    drawn = cf.random_models(30, ["X", "Y", "Z"], outcomes=["z"], conjuncts=(1, 2), domains={"X": [0, 1, 2]}, rng=1)
    drawn = [*map(cf.parse, drawn)]
    assert {model.outcomes for model in drawn} == {(("Z", 0),)}
    literals = {literal for model in drawn for atom in model.atoms for literal in atom.literals}
    assert {("X", 0), ("X", 1), ("X", 2)} <= literals


def test_the_first_models_do_not_depend_on_the_number() -> None:
    assert cf.random_models(8, 6, rng=4).tolist()[:3] == cf.random_models(3, 6, rng=4).tolist()
    assert cf.random_models(8, 6, rng=4).tolist() != cf.random_models(8, 6, rng=5).tolist()


def test_an_impossible_shape_is_refused() -> None:
    with pytest.raises(cf.NoSuchModelError, match=r"disjuncts of \[3\] literals"):
        cf.random_models(1, 3, disjuncts=1, conjuncts=3, rng=1)


THREE = {"A": [0, 1, 2]}
TRUTH = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"


def space(names: str) -> pd.DataFrame:
    """All crisp configurations."""
    return pd.DataFrame(itertools.product((0, 1), repeat=len(names)), columns=list(names))


def wrong(data: pd.DataFrame, text: str) -> int:
    """Cases that contradict a model."""
    allowed = pd.Series(True, data.index)
    for atom in cf.parse(text).atoms:
        has = [np.logical_and.reduce([data[name] == value for name, value in one]) for one in atom.disjuncts]
        allowed &= np.logical_or.reduce(has) == (data[atom.outcome[0]] == atom.outcome[1])
    return int((~allowed).sum())


def test_ideal_data_fit_perfectly() -> None:
    data = cf.simulate_data(TRUTH)
    assert len(data) == 2**4
    assert wrong(data, TRUTH) == 0


def test_each_setting_does_what_it_says() -> None:
    assert len(cf.simulate_data(TRUTH, fragmentation=0.5, rng=1)) == 8
    noisy = cf.simulate_data(TRUTH, 200, noise=0.15, rng=1)
    assert (len(noisy), wrong(noisy, TRUTH)) == (200, 30)
    rare = cf.simulate_data(TRUTH, 100, prevalence=0.1, rng=1)
    assert (rare["G"].sum(), wrong(rare, TRUTH)) == (10, 0)
    fuzzy = cf.simulate_data(TRUTH, 50, fuzziness=0.3, rng=1)
    assert ((fuzzy < 0.3) | (fuzzy > 0.7)).all(axis=None)
    assert wrong(fuzzy.round(), TRUTH) == 0
    wider = cf.simulate_data("A=2<->B=1", 60, domains={"A": [0, 1, 2], "X": [0, 1]}, rng=1)
    assert set(wider) == {"A", "B", "X"}
    assert set(wider["A"]) == {0, 1, 2}


def test_the_same_seed_gives_the_same_cases() -> None:
    settings = {"noise": 0.1, "fragmentation": 0.2, "fuzziness": 0.2}
    one, two, other = (cf.simulate_data(TRUTH, 30, rng=seed, **settings) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(other)


def test_fragmentation_drops_whole_configurations() -> None:
    data = pd.concat([space("ABC")] * 3, ignore_index=True).sample(frac=1, random_state=0)
    left = fragment(data, 0.25, np.random.default_rng(1))
    assert (len(left), len(left.drop_duplicates())) == (18, 6)
    assert left.index.isin(data.index).all()


def test_inputs_are_not_changed() -> None:
    data = cf.ideal_data(cf.parse("A*b<->C"))
    before = data.copy()
    add_noise(data, cf.parse("A*b<->C"), 1.0, None, {}, np.random.default_rng(1))
    fuzzify(data, 0.5, list("ABC"), np.random.default_rng(1))
    fragment(data, 0.5, np.random.default_rng(1))
    pd.testing.assert_frame_equal(data, before)


def test_noise_is_uniform_over_the_contradicting_configurations() -> None:
    counts = cf.simulate_data("A+B<->C", 4000, noise=1.0, rng=1).value_counts()
    assert len(counts) == 4
    assert counts.min() > 900


@pytest.mark.slow
def test_an_inverse_search_in_ten_lines() -> None:
    def search(frame: pd.DataFrame) -> str:
        pool = pd.Series([f"{x}{op}{y}<->F" for x, y in ("AB", "AC", "BC", "aB", "Ab", "bC") for op in "+*"])
        found = pd.DataFrame([cf.fit_by_atom(text, frame).min(numeric_only=True) for text in pool])
        good = (found["consistency"] >= 0.7).to_numpy() & (found["coverage"] >= 0.7).to_numpy()
        return "; ".join(pool[good]) or "{}"

    factors = dict.fromkeys("ABCF", (0, 1))
    grid = pd.MultiIndex.from_product([[10, 60], [0, 0.2]], names=["n", "noise"]).to_frame(index=False)
    runs = cf.random_models(5, list(factors), disjuncts=2, conjuncts=1, rng=1).to_frame().merge(grid, how="cross")
    data = [
        cf.simulate_data(r.truth, r.n, noise=r.noise, domains=factors, rng=i) for i, r in enumerate(runs.itertuples())
    ]
    runs["estimate"] = [search(frame) for frame in data]
    context = {"domains": factors}
    cube = runs.ceval.cube(["correctness", "completeness"], by=["n", "noise"], n_draws=50, rng=7, context=context)
    tests = cube.ceval.summary(columns="full")
    assert len(tests) == 8
    assert runs["estimate"].nunique() > 3
    assert cube["completeness"].sel(n=60, noise=0).mean() >= cube["completeness"].sel(n=10, noise=0.2).mean()


def test_exogenous_factors_have_the_given_shares() -> None:
    data = cf.simulate_data("A*b+C<->D", 20_000, imbalance={"A": 0.9, "c": 0.2}, rng=1)
    assert data[["A", "B", "C"]].mean().tolist() == pytest.approx([0.9, 0.5, 0.2], abs=0.015)
    assert data[["A", "C"]].corr().iloc[0, 1] == pytest.approx(0, abs=0.03)
    assert wrong(data, "A*b+C<->D") == 0
    everywhere = cf.simulate_data("A*b+C<->D", 20_000, imbalance=0.8, domains={"E": (0, 1)}, rng=1)
    assert everywhere[["A", "B", "C", "E"]].mean().tolist() == pytest.approx([0.8] * 4, abs=0.015)
    three = cf.simulate_data("A=2<->B", 9000, imbalance={"A": [0.1, 0.3, 0.6]}, domains={"A": [0, 1, 2]}, rng=1)
    assert three["A"].value_counts(normalize=True).sort_index().tolist() == pytest.approx([0.1, 0.3, 0.6], abs=0.02)


def test_prevalence_holds_beside_imbalance_and_noise() -> None:
    data = cf.simulate_data("A*b+C<->D", 400, prevalence=0.15, imbalance={"A": 0.7}, noise=0.25, rng=2)
    assert data["D"].mean() == pytest.approx(0.15)
    assert wrong(data, "A*b+C<->D") == 100
    model, rare = cf.parse("A*b+C<->D"), cf.simulate_data("A*b+C<->D", 400, prevalence=0.15, rng=2)
    moved = add_noise(rare, model, 0.25, None, {}, np.random.default_rng(2))
    assert moved["D"].mean() > 0.2


def test_multi_value_factors_stay_crisp_where_others_become_fuzzy() -> None:
    data = cf.simulate_data("A=2*b+C<->D", 60, domains={"A": [0, 1, 2]}, fuzziness=0.3, rng=1)
    assert set(data["A"]) == {0, 1, 2}
    fuzzy = data[["B", "C", "D"]].to_numpy()
    assert ((fuzzy > 0) & (fuzzy < 1)).any(axis=0).all()
    assert wrong(data.round(), "A=2*b+C<->D") == 0


def test_noise_leaves_no_trace_in_factors_without_part() -> None:
    wide = pd.DataFrame({"A": [0] * 3000, "B": 0, **{f"X{i}": 0 for i in range(30)}, "Y": [0, 1, 2] * 1000})
    noisy = add_noise(wide, cf.parse("A<->B"), 1.0, None, {"Y": (0, 1, 2)}, np.random.default_rng(1))
    assert (noisy["A"] != noisy["B"]).all()
    assert noisy["X7"].mean() == pytest.approx(0.5, abs=0.05)
    assert noisy["Y"].value_counts().min() > 900


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cf.simulate_data("A<->B", 0), "n_cases must be a positive"),
        (lambda: cf.simulate_data("A<->B", 10, noise=2), r"noise must lie in \[0, 1\]"),
        (lambda: cf.simulate_data("A<->B", fragmentation=1.0), "leaves none of the 2 configurations"),
        (lambda: cf.simulate_data("A<->B", 10, fuzziness=0.7), "fuzziness must lie in"),
        (lambda: cf.simulate_data("A<->B", 9, imbalance={"B": 0.3}), r"explains \['B'\]; use prevalence="),
        (lambda: cf.simulate_data("A<->B", 9, imbalance={"A": 1.3}), r"imbalance of A must lie in"),
        (lambda: cf.simulate_data("A=2<->B", 9, imbalance={"A": 0.3}, domains=THREE), "give each a probability"),
        (lambda: cf.simulate_data("A<->B", 9, imbalance={"A": [0.3, 0.3]}), "2 probabilities that sum to 1"),
        (lambda: cf.simulate_data("A<->B", 9, imbalance={"C": 0.3}), "no column for factor C"),
        (
            lambda: cf.simulate_data("A<->B", 3, fragmentation=0.5, prevalence=0.5, rng=1),
            "no cases with(out)? outcome B",
        ),
        (lambda: cf.random_models(1, 1), "factors must be 2 to 26"),
        (lambda: cf.random_models(1, 3, outcomes=3), "outcomes must be 1 to 2"),
        (lambda: cf.random_models(1, 3, outcomes=["Q"]), "must be literals of the factors"),
        (lambda: cf.random_models(1, 3, disjuncts=(2, 1)), "disjuncts must be"),
        (lambda: cf.random_models(1, 3, conjuncts=0), "conjuncts must be"),
        (lambda: cf.random_models(1, 3, negated=2), r"negated must lie in \[0, 1\]"),
        (lambda: cf.fit_by_atom("A=2<->B=1", pd.DataFrame({"A": [0.3], "B": [1]})), "A=2 needs multi-value data"),
        (lambda: ce.evaluate(STUDY, ["fit_consistency"]), "fit_consistency needs the data"),
    ],
)
def test_refusals(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


STUDY = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A<->C"]})
KNOWN = pathlib.Path(__file__).parents[1] / "known_answers" / "configurational_fit.csv.gz"
CASES = pd.read_csv(KNOWN)
NAMES = ["consistency", "coverage"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cs", "mv", "fs"])
def test_known_answers(kind: str) -> None:
    cases = CASES[CASES.type == kind]
    assert len(cases) >= 20
    for case in cases.itertuples():
        found = cf.fit_by_atom(case.model, pd.read_csv(io.StringIO(case.data)))[NAMES].min()
        assert found.tolist() == pytest.approx([case.scon, case.scov], abs=1e-12), case.model


def test_crisp_measures_are_cell_counts() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        data = pd.DataFrame(rng.integers(0, 2, (25, 3)), columns=list("abC"))
        p, y = ((data.a == 1) & (data.b == 0)).tolist(), (data.C == 1).tolist()
        both = sum(i and j for i, j in zip(p, y, strict=True))
        assert cf.fit_by_atom("A*b<->C", data)[NAMES].iloc[0].tolist() == [both / sum(p), both / sum(y)]


def test_row_order_and_column_names_do_not_matter() -> None:
    case = CASES[CASES.type == "fs"].iloc[3]
    data = pd.read_csv(io.StringIO(case.data))
    mixed = data.sample(frac=1, random_state=1)[data.columns[::-1]].rename(columns=str.lower)
    found, other = (cf.fit_by_atom(case.model, frame)[NAMES].to_numpy() for frame in (data, mixed))
    assert found == pytest.approx(other, abs=1e-12)


def test_zero_over_zero_is_missing() -> None:
    found = cf.fit_by_atom("A<->B", pd.DataFrame({"A": [0, 0], "B": [0, 1]})).iloc[0]
    assert np.isnan(found["consistency"])
    assert found["coverage"] == 0


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (pd.DataFrame({"A": [1]}), ValueError, "no column for factor B"),
        (pd.DataFrame({"A": [1], "a": [1], "B": [1]}), ValueError, "2 columns for factor A"),
        (pd.DataFrame({"A": [1, None], "B": [1, 1]}), ValueError, r"column 'A', row 1 \(index 1\) is nan"),
        (pd.DataFrame({"A": [0.5, 2.0], "B": [1, 1]}), ValueError, "mixes memberships"),
        (pd.DataFrame({"A": [1, -1], "B": [1, 1]}), ValueError, "is -1; expected 0 or 1"),
        (pd.DataFrame({"A": [1, 10**6], "B": [1, 1]}), ValueError, "is 1000000; expected"),
        (pd.DataFrame({"A": ["x"], "B": [1]}), TypeError, "must hold numbers"),
        ({"A": [1], "B": [1]}, TypeError, "must be a DataFrame"),
    ],
)
def test_data_that_cannot_be_fitted_are_refused(data: pd.DataFrame, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cf.fit_by_atom("A<->B", data)


@pytest.mark.parametrize(
    ("cases", "index", "name"),
    [
        (["x", "y", "z"], True, "Unnamed: 0"),
        ([4, 7, 9], True, "Unnamed: 0"),
        (["x", "y", "z"], False, "Case"),
        (range(5), True, "Unnamed: 0"),
        (range(2, 7), False, "Case"),
    ],
)
def test_names_and_numbers_of_cases_from_csv_are_no_factors(cases, index, name):
    """The message has the column as the data name it, and its advice is followed."""
    n = len(cases)
    data = pd.DataFrame({"A": [1, 0, 1, 0, 0][:n], "B": [1, 0, 1, 0, 0][:n]}, index=cases if index else None)
    if not index:
        data.insert(0, "Case", cases)
    read = pd.read_csv(io.StringIO(data.to_csv(index=index)))
    with pytest.raises((TypeError, ValueError), match=rf"column '{name}'.*as by data.set_index\('{name}'\)"):
        cf.Setting(data=read)
    assert cf.Setting(data=read.set_index(name)).names == ["A", "B"]


STUDIES = {
    "one": pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 1, 1, 0]}),
    "two": pd.DataFrame({"A": [1, 0, 0, 0], "B": [1, 0, 1, 0], "C": [0, 1, 1, 0]}),
}


def test_metrics_take_each_rows_data() -> None:
    runs = pd.DataFrame(
        {
            "truth": "A+B<->C",
            "estimate": ["A<->C", "A<->C", "A+B<->C", "A<->C; B<->C", "{}", None],
            "study": ["one", "two", "two", "two", "one", "one"],
        }
    )
    metrics = ce.metric_set("fit_consistency", "fit_coverage", mean=ce.tweak("fit_consistency", models="mean"))
    scored = ce.evaluate(runs, metrics, context={"data": ("study", STUDIES)})
    assert scored["fit_consistency"].tolist() == pytest.approx([1, 0, 0.5, 0.5, np.nan, np.nan], nan_ok=True)
    assert scored["fit_coverage"].tolist() == pytest.approx([2 / 3, 0, 0.5, 0.5, np.nan, np.nan], nan_ok=True)
    assert scored["mean"].tolist()[3] == pytest.approx(0.25)


def test_metrics_in_a_cube_with_controls() -> None:
    runs = pd.DataFrame({"truth": "A+B<->C", "estimate": ["A<->C", "A+B<->C"], "study": ["one", "two"]})
    settings = {"n_draws": 20, "rng": 1, "context": {"data": ("study", STUDIES)}}
    cube = ce.cube(runs, ["fit_coverage"], by=["study"], **settings)
    rows = ce.with_controls(runs, ["fit_coverage"], **settings)
    assert cube["fit_coverage"].to_numpy().ravel().tolist() == rows["fit_coverage"].tolist()
    assert rows["fit_coverage_control_mean"].between(0, 1).all()
