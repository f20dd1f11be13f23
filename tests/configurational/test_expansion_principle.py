"""Model expansion principle: adding true claims to a model never lowers its correctness. Where it holds, where not.

It holds in every trial if the model has one outcome, stays in INUS form, and the addition is true of the place where it
is made: a literal joins a disjunct that is part of its own counterpart in the truth, or a disjunct of the truth without
counterpart is added. It fails where an addition makes earlier claims wrong; the counter-examples below are the smallest
found.
"""

from __future__ import annotations

import itertools
import random

import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import Atom, Model, parse, redundancy_free
from causaleval_pd.configurational.submodel import submodel_of


def random_form(rng: random.Random, names: str) -> list[frozenset[tuple[str, int]]]:
    sizes = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    return [frozenset((name, rng.randint(0, 1)) for name in rng.sample(names, size)) for size in sizes]


def damaged(rng: random.Random, form: list[frozenset]) -> list[frozenset]:
    """Lose, negate and add parts of a formula."""
    found = []
    for one in form:
        kept = {(name, v if rng.random() > 0.1 else 1 - v) for name, v in one if rng.random() > 0.25}
        found += [frozenset(kept)] if kept and rng.random() > 0.25 else []
    if rng.random() < 0.3 or not found:
        found.append(frozenset([(rng.choice("ABCD"), rng.randint(0, 1))]))
    return found


def best_pairings(own, true):
    """Pairings of disjuncts with most literals in common, and among these with most disjuncts."""
    scored = {}
    for chosen in set(itertools.permutations([*range(len(true)), *([None] * len(own))], len(own))):
        overlap = {one & true[j] for one, j in zip(own, chosen, strict=True) if j is not None} - {frozenset()}
        scored.setdefault((sum(map(len, overlap)), len(overlap)), []).append(chosen)
    return scored[max(scored)]


def true_expansions(own, true):
    for pairing in best_pairings(own, true):
        for i, j in enumerate(pairing):
            if j is not None and own[i] <= true[j]:
                yield from ([*own[:i], own[i] | {literal}, *own[i + 1 :]] for literal in true[j] - own[i])
        yield from ([*own, true[j]] for j in range(len(true)) if j not in pairing)


def model(form) -> Model:
    return Model((Atom(tuple(form), ("Y", 1)),))


@pytest.mark.slow
def test_true_additions_never_lower_correctness():
    rng, n_expansions = random.Random(20240725), 0
    while n_expansions < 1500:
        true = random_form(rng, "ABCD")
        own = list(model(damaged(rng, true)).atoms[0].disjuncts)
        if not (redundancy_free(model(true)) and redundancy_free(model(own))):
            continue
        truth, before = str(model(true)), ce.correctness(str(model(true)), str(model(own)))
        for new in {model(form) for form in true_expansions(own, list(model(true).atoms[0].disjuncts))}:
            if redundancy_free(new) and new != model(own):
                assert ce.correctness(truth, str(new)) >= before - 1e-12, (truth, str(model(own)), str(new))
                n_expansions += 1


@pytest.mark.parametrize(
    ("truth", "smaller", "larger", "before", "after"),
    [
        # D belongs to A in the truth, but A is no alternative to C*D there, and now two literals are misplaced
        ("A*C*D<->X", "A+C*D<->X", "A*D+C*D<->X", 11 / 12, 12 / 14),
        # B<->X is true, but beside it the model denies that B works through X
        ("(B<->X)*(A*X*d<->Y)", "B<->Y", "(B<->X)*(B<->Y)", 1, 7 / 8),
        # x is a cause of Z, but beside it the model denies that D works through x
        ("(b*d<->X)*(C<->Y)*(x<->Z)", "(C<->Y)*(D<->Z)", "(C<->Y)*(D+x<->Z)", 1, 10 / 12),
    ],
)
def test_counter_examples(truth, smaller, larger, before, after):
    assert submodel_of(parse(smaller), parse(larger))
    assert ce.correctness(truth, smaller) == pytest.approx(before)
    assert ce.correctness(truth, larger) == pytest.approx(after)
