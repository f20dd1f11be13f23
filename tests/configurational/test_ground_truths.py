"""The law of random models against enumeration of all models, and the settings that shape them."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from scipy import stats

from causaleval_pd.configurational import (
    Atom,
    Model,
    NoSuchModelError,
    ideal_data,
    parse,
    random_models,
    redundancy_free,
)
from causaleval_pd.configurational.simulation import draw_model, stream, switches
from causaleval_pd.configurational.truth_table import evaluation_order


def conjunctions(factors: str, size: int) -> list[frozenset[tuple[str, int]]]:
    """All conjunctions of a size."""
    return [
        frozenset(zip(names, values, strict=True))
        for names in itertools.combinations(factors, size)
        for values in itertools.product((0, 1), repeat=size)
    ]


def models(factors: str, profile: dict[str, tuple[int, ...]]) -> list[Model]:
    """All models with so many literals in the disjuncts of each outcome."""
    atoms = []
    for outcome, sizes in profile.items():
        others = factors.replace(outcome, "")
        lefts = {frozenset(left) for left in itertools.product(*(conjunctions(others, size) for size in sizes))}
        atoms.append([Atom(tuple(left), (outcome, 1)) for left in lefts if len(left) == len(sizes)])
    return [Model(chosen) for chosen in itertools.product(*atoms)]


def deletable(model: Model) -> bool:
    """Whether a part can be deleted, by the definition: compare ideal data over the model's factors."""
    factors = {name: (0, 1) for name in model.factors}
    allowed = ideal_data(model, factors)
    if (allowed[[name for name, _ in model.outcomes]].nunique() < 2).any():
        return True
    for i, atom in enumerate(model.atoms):
        rest = model.atoms[:i] + model.atoms[i + 1 :]
        lefts = [[d for d in atom.disjuncts if d != one] for one in atom.disjuncts]
        for one in atom.disjuncts:
            lefts += [[*(d for d in atom.disjuncts if d != one), one - {literal}] for literal in one if len(one) > 1]
        smaller = [(*rest, Atom(tuple(left), atom.outcome)) for left in lefts if left] + ([rest] if rest else [])
        if any(ideal_data(Model(atoms), factors).equals(allowed) for atoms in smaller):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factors", "profile"),
    [("ABCD", {"D": (1, 2)}), ("ABCD", {"C": (1, 1), "D": (1, 1)}), ("ABC", {"B": (1,), "C": (1, 1)})],
)
def test_redundancy_free_by_its_definition(factors: str, profile: dict[str, tuple[int, ...]]) -> None:
    found = [redundancy_free(model) for model in models(factors, profile)]
    assert found == [not deletable(model) for model in models(factors, profile)]
    assert 0 < sum(found) < len(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factors", "profile"), [("ABCD", {"D": (1, 2)}), ("ABCD", {"D": (2, 2)}), ("ABCD", {"C": (1, 1), "D": (1, 1)})]
)
def test_all_models_of_a_shape_are_equally_likely(factors: str, profile: dict[str, tuple[int, ...]]) -> None:
    wanted = [m for m in models(factors, profile) if evaluation_order(m) is not None and redundancy_free(m)]
    n = 40 * len(wanted)
    outcomes = [(name, 1) for name in profile]
    drawn = Counter(draw_model(outcomes, lambda o: profile[o[0]], list(factors), {}, stream(11, i)) for i in range(n))
    assert set(drawn) == set(wanted)
    assert stats.chisquare([drawn[model] for model in wanted]).pvalue > 1e-3


def test_sizes_switches_and_signs_are_kept() -> None:
    for text in random_models(20, 7, outcomes=2, disjuncts=(2, 3), conjuncts=(1, 2), switch=(1, 2), rng=3):
        model = parse(text)
        assert model.outcomes == (("F", 1), ("G", 1))
        assert 1 <= switches(model) <= 2
        for atom in model.atoms:
            assert 2 <= len(atom.disjuncts) <= 3
            assert {len(one) for one in atom.disjuncts} <= {1, 2}
    positive = [parse(text) for text in random_models(10, 5, negated=0, rng=1)]
    assert all(value == 1 for model in positive for atom in model.atoms for _, value in atom.literals)


def test_outcomes_may_be_negative_and_factors_multi_value() -> None:
    drawn = random_models(30, ["X", "Y", "Z"], outcomes=["z"], conjuncts=(1, 2), domains={"X": [0, 1, 2]}, rng=1)
    drawn = [*map(parse, drawn)]
    assert {model.outcomes for model in drawn} == {(("Z", 0),)}
    literals = {literal for model in drawn for atom in model.atoms for literal in atom.literals}
    assert {("X", 0), ("X", 1), ("X", 2)} <= literals


def test_the_first_models_do_not_depend_on_the_number() -> None:
    assert random_models(8, 6, rng=4).tolist()[:3] == random_models(3, 6, rng=4).tolist()
    assert random_models(8, 6, rng=4).tolist() != random_models(8, 6, rng=5).tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factors": 1}, "factors must be 2 to 26"),
        ({"factors": 3, "outcomes": 3}, "outcomes must be 1 to 2"),
        ({"factors": 3, "outcomes": ["Q"]}, "must be literals of the factors"),
        ({"factors": 3, "disjuncts": (2, 1)}, "disjuncts must be"),
        ({"factors": 3, "conjuncts": 0}, "conjuncts must be"),
        ({"factors": 3, "negated": 2}, "negated must lie in \\[0, 1\\]"),
    ],
)
def test_refusals(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        random_models(1, **settings, rng=1)  # type: ignore[arg-type]


def test_an_impossible_shape_is_refused() -> None:
    with pytest.raises(NoSuchModelError, match=r"disjuncts of \[3\] literals"):
        random_models(1, 3, disjuncts=1, conjuncts=3, rng=1)
