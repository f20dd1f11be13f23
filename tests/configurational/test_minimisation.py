"""Minimal forms and models of crisp data, by trying everything; pairings of disjuncts against enumeration."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.configurational import Setting, parse, random_models
from causaleval_pd.fields.configurational.formula import FormulaTooLargeError, Work
from causaleval_pd.fields.configurational.kernels.scores import count_pairs
from causaleval_pd.fields.configurational.minimisation import Caps, Minimiser, ThresholdMinimiser, best_overlap, injects
from causaleval_pd.fields.configurational.pairs import CrispCells, DecodedCells, Names, Sizes, count_quality, total
from causaleval_pd.fields.configurational.quality import Convention, expose, quality_counts
from causaleval_pd.fields.configurational.reader import parse_set
from causaleval_pd.fields.configurational.truth_table import TruthTable

CAPS = Caps(3, 4, 10)
OUTCOME = 1 << 6
codes = st.integers(1, 62)
candidates = st.frozensets(codes, min_size=1, max_size=3)
cases = st.lists(st.integers(0, 15), min_size=2, max_size=10)


def tables(rows):
    """Three binary factors (two bits each) and an outcome, as bit planes and as memberships."""
    columns = {}
    for factor in range(3):
        for value in (0, 1):
            columns[1 << (2 * factor + value)] = [(row >> factor & 1) == value for row in rows]
    columns[OUTCOME] = [row >> 3 & 1 == 1 for row in rows]
    planes = {bit: sum(1 << i for i, x in enumerate(column) if x) for bit, column in columns.items()}
    member = {bit: np.array(column, float) for bit, column in columns.items()}
    return TruthTable((1 << len(rows)) - 1, planes), TruthTable(np.ones(len(rows)), member)


def by_trying(member, n_cases, candidate, con, cov):
    """Search all sets of all parts of a candidate's disjuncts."""
    y = member.planes[OUTCOME]

    def consistent(x):
        return x.sum() > 0 and np.minimum(x, y).sum() / x.sum() >= con - n_cases * 2.2e-16

    def parts(code):
        return [p for p in range(1, 64) if p & ~code == 0 and p.bit_count() <= 3]

    good = {p for code in candidate for p in parts(code) if consistent(member.conjunction(p))}
    pool = {p for p in good if not any(q != p and q & p == q for q in good)}
    found = []
    for size in range(1, len(candidate) + 1):
        for form in map(frozenset, itertools.combinations(sorted(pool), size)):
            x = member.disjunction(form)
            covers = np.minimum(x, y).sum() >= (cov - n_cases * 2.2e-16) * y.sum()
            fits = any(
                all(p & ~code == 0 for p, code in zip(form, chosen, strict=True))
                for chosen in itertools.permutations(candidate, size)
            )
            small = sum(p.bit_count() for p in form) <= 10
            if covers and consistent(x) and fits and small and not any(f < form for f in found):
                found.append(form)
    return set(found)


@settings(deadline=None)
@given(cases, candidates, st.sampled_from([1.0, 0.8, 0.6]), st.sampled_from([1.0, 0.75, 0.5]))
def test_thresholds(rows, candidate, con, cov):
    crisp, fuzzy = tables(rows)
    own = [ThresholdMinimiser(t, OUTCOME, CAPS, consistency=con, coverage=cov) for t in (crisp, fuzzy)]
    assert own[0].constant == own[1].constant == (len({row >> 3 for row in rows}) == 1)
    if not own[0].constant:
        expected = by_trying(fuzzy, len(rows), candidate, con, cov)
        assert set(own[0].forms(candidate)) == set(own[1].forms(candidate)) == expected


@settings(deadline=None)
@given(cases, candidates)
def test_perfect_thresholds_are_the_exact_minimiser(rows, candidate):
    crisp, _ = tables(rows)
    exact, threshold = (
        Minimiser(crisp, OUTCOME, CAPS),
        ThresholdMinimiser(crisp, OUTCOME, CAPS, consistency=1, coverage=1),
    )
    if not exact.constant:
        assert set(exact.forms(candidate)) == set(threshold.forms(candidate))


@pytest.mark.slow
@settings(deadline=None)
@given(cases, st.lists(candidates, min_size=20, max_size=40))
def test_many_candidates_at_once_have_the_forms_that_each_has_alone(rows, many):
    crisp, _ = tables(rows)
    together = Minimiser(crisp, OUTCOME, CAPS)
    if not together.constant:
        alone = [Minimiser(crisp, OUTCOME, CAPS).forms(candidate) for candidate in many]
        assert together.forms(*many) == set().union(*alone)


def test_long_searches_are_refused():
    crisp, _ = tables(range(16))
    minimiser = ThresholdMinimiser(crisp, OUTCOME, CAPS, consistency=0.9, coverage=0.1, work=Work(5))
    with pytest.raises(FormulaTooLargeError, match="takes more than 5 steps"):
        minimiser.forms(frozenset([0b010101, 0b101010]))


formulas = st.lists(st.integers(1, 31), min_size=1, max_size=4)


def overlaps(left, right):
    """All sets of non-empty intersections that partial pairings give."""
    padded = [*right, *([0] * len(left))]
    for chosen in itertools.permutations(padded, len(left)):
        yield {a & b for a, b in zip(left, chosen, strict=True)} - {0}


@given(formulas, formulas)
def test_best_overlap(left, right):
    sizes = {(sum(x.bit_count() for x in found), len(found)) for found in overlaps(left, right)}
    assert best_overlap(left, right) == max(sizes)
    assert best_overlap(left, right, disjuncts_first=True) == max((k, n) for n, k in sizes)


@given(formulas, formulas)
def test_injections(left, right):
    expected = any(
        all(not a & ~b for a, b in zip(left, chosen, strict=True))
        for chosen in itertools.permutations(right, len(left))
    )
    assert injects(left, right) == expected


def test_a_search_that_takes_too_long_is_refused():
    with pytest.raises(FormulaTooLargeError, match="takes more than 10 steps"):
        best_overlap([3, 5, 6, 9, 10], [12, 10, 9, 6, 5], work=Work(10))


HARD = [
    "(A*b+C<->D)*(D*E+f*a<->G)*(G*b+d*A<->J)*(J*d+g*C<->L)*(L*j+G*E<->N)",
    "A*B*C*D+a*b*c*d+A*b*C*d+a*B*c*D+A*B*c*d<->E", "A+a<->B", "(A+a<->C)*(C+D<->E)",
    "(A*b+a*B<->D)*(D*C+d*c<->E)*(E*f+e*F<->G)", "(D+E<->G)*(g+A<->H)*(h+B<->J)",
]  # fmt: skip


def pairs():
    drawn = [
        random_models(40, n, outcomes=k, disjuncts=(1, 4), conjuncts=(1, 3), rng=seed)
        for n, k in ((4, 1), (6, 2), (8, 3), (10, 4))
        for seed in (1, 2)
    ]
    truths = [*pd.concat(drawn[::2]), *HARD, *HARD]
    estimates = [*pd.concat(drawn[1::2]), *HARD, *HARD[::-1]]
    return list(map(parse, truths)), list(map(parse, estimates))


@pytest.mark.slow
@pytest.mark.parametrize(
    "convention",
    [Convention(), Convention.of("paper"), Convention(partial_credit=False, constant_outcome="nan")],
    ids=["corrected", "paper", "nan"],
)
def test_kernels_count_what_python_counts(convention):
    truths, estimates = pairs()
    names = Names()
    packed = [CrispCells.of(Sizes.of([(model,) for model in side], names)) for side in (truths, estimates)]
    index = np.arange(len(truths))
    found, done = count_quality(*packed, index, index, names, convention)
    assert done.all()
    setting = Setting()
    for i, (truth, estimate) in enumerate(zip(truths, estimates, strict=True)):
        known = [expose(model, setting, size_caps=convention.size_caps) for model in (truth, estimate)]
        sides = quality_counts(*known, setting.vocabulary, convention)
        expected = np.stack([total(list(side.values())) for side in sides])
        # bit by bit, so that it does not matter which of them was used
        assert found[i].tobytes() == expected.tobytes() or (np.isnan(expected).any() and np.isnan(found[i]).any())


@pytest.mark.slow
def test_large_models_are_left_to_python():
    wide = "+".join(f"X{i}" for i in range(13)) + "<->Y"
    names = Names()
    cells = [(parse(text),) for text in (wide, "A=2+B=0<->C=1", "A => B", "A<->B")]
    packed = CrispCells.of(Sizes.of(cells, names))
    zero = np.zeros(4, np.int64)
    _, done = count_quality(packed, packed, zero + 3, np.arange(4), names, Convention())
    assert done.tolist() == [False, False, False, True]


def test_cells_are_decoded():
    cells = [parse_set("(A*b+C<->D)*(D<->E)"), parse_set("A<->B; c<->B"), ()]
    names = Names()
    decoded = DecodedCells(CrispCells.of(Sizes.of(cells, names)), names, {})
    assert list(decoded) == cells
    assert len(decoded) == 3
    with pytest.raises(IndexError):
        decoded[3]


def test_names_have_numbers_of_their_own_in_threads_and_processes():
    names = Names()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(names.number, [f"X{i % 200}" for i in range(2000)]))
    assert sorted(set(found)) == list(range(200))
    assert found[:200] == found[-200:]
    copied = pickle.loads(pickle.dumps(names))
    assert copied.numbers == names.numbers
    assert copied.number("new") == 200
    assert pickle.loads(pickle.dumps(Names())).number("first") == 0


@pytest.mark.slow
def test_engines_draw_and_score_alike():
    truths, estimates = (random_models(30, 7, outcomes=2, rng=seed) for seed in (1, 2))
    runs = pd.DataFrame({"truth": truths, "estimate": estimates})
    how = {"n_draws": 99, "rng": 5, "context": {"factors": list("ABCDEFGH")}}
    found = {}
    for engine in ("serial", "threads"):
        with ce.set_options(engine=engine, n_jobs=2):
            found[engine] = runs.ceval.with_controls(["f_beta"], **how)
    pd.testing.assert_frame_equal(found["serial"], found["threads"])


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["corrected", "paper"])
def test_the_number_of_pairs_does_not_matter(convention, monkeypatch):
    """Few pairs are counted in Python; kernels give the same, those that they do not take among them too."""
    truths, estimates = pairs()
    wide = "+".join(f"X{i}" for i in range(13)) + "<->Y"
    runs = pd.DataFrame({"truth": [*map(str, truths), wide], "estimate": [*map(str, estimates), wide]})
    metrics = [ce.tweak(name, convention=convention) for name in ("correctness", "completeness_sequential", "f_beta")]
    monkeypatch.setattr("causaleval_pd.fields.configurational.pairs.FEWEST_BY_KERNELS", 1_000_000_000)
    in_python = runs.ceval.evaluate(metrics)
    monkeypatch.setattr("causaleval_pd.fields.configurational.pairs.FEWEST_BY_KERNELS", 1)
    pd.testing.assert_frame_equal(runs.ceval.evaluate(metrics), in_python, check_exact=True)


@pytest.mark.slow
def test_warming_up_is_enough():
    """The kernel of quality is compiled, and no table compiles it once more."""
    ce.warm_up(["correctness"])
    compiled = len(count_pairs.signatures)
    runs = pd.DataFrame({"truth": random_models(600, 6, rng=1), "estimate": random_models(600, 6, rng=2).to_numpy()})
    runs.ceval.evaluate(["correctness"])
    assert compiled == len(count_pairs.signatures) > 0
