"""Fit-robustness scores against their definition and by hand."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.configurational import (
    FormulaTooLargeError,
    causal_submodel_of,
    fit_robustness,
    is_cyclic,
    parse,
    random_models,
    submodel_of,
)

KNOWN = pathlib.Path(__file__).parents[2] / "known_answers" / "configurational_relations.csv.gz"


def test_by_hand() -> None:
    """A (1 token) is part of A+B (3) and of A+B+C (1); the tokens of a type count twice but for one."""
    table = fit_robustness(["A<->E", *["A+B<->E"] * 3, "B + A + C <-> E", "d<->E", "C+B+A<=>E"]).set_index("model")
    assert table["score"].to_dict() == {"A+B<->E": 4 + 1 + 2, "A<->E": 3 + 2, "A+B+C<->E": 2 + 1 + 3, "d<->E": 0}
    assert table["tokens"].to_dict() == {"A+B<->E": 3, "A<->E": 1, "A+B+C<->E": 2, "d<->E": 1}
    assert table["normalised"].max() == 1


def test_token_by_token() -> None:
    """The score of a model is the sum of its relations to every other token of the series, equality being two."""
    drawn = random_models(60, 4, disjuncts=(1, 2), conjuncts=(1, 2), rng=2).tolist()
    table = fit_robustness(drawn).set_index("model")["score"]
    models = [parse(text) for text in drawn]
    for i, model in enumerate(models):
        agrees = [submodel_of(model, o) + submodel_of(o, model) for j, o in enumerate(models) if j != i]
        assert table[str(model)] == sum(agrees)
    assert table.max() > 5


def test_ideal_maximum_is_reached_by_a_nested_series() -> None:
    nested = ["A<->E", "A+B<->E", "A+B<->E", "A+B+C<->E"]
    assert fit_robustness(nested, normalise="idealmax")["normalised"].max() == 1
    assert fit_robustness([*nested, "d<->E"], normalise="idealmax")["normalised"].max() == pytest.approx(4 / 5)


def test_causal_submodels_agree_across_chains() -> None:
    series = ["(A+B<->C)*(C+D<->E)", "A+D<->E"]
    assert fit_robustness(series)["score"].tolist() == [0, 0]
    assert fit_robustness(series, relation="causal_submodel")["score"].tolist() == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "column"), [("submodel", "is_submodel"), ("causal_submodel", "causal_submodel")])
def test_agreement_with_published_relations(relation: str, column: str) -> None:
    """Scores of two models are the relations that cna and frscore find between them."""
    known = pd.read_csv(KNOWN).query("type == 'cs' and not identical and not cyclic_x")
    known = known[[not is_cyclic(text) for text in known["y"]]]
    related = {"submodel": submodel_of, "causal_submodel": causal_submodel_of}[relation]
    for row in known.itertuples():
        x, y = parse(row.x), parse(row.y)
        scores = fit_robustness([x, y], relation=relation)["score"]
        assert scores.tolist() == [getattr(row, column) + related(y, x)] * 2
    assert len(known) == 134


def test_outcomes_that_a_whole_does_not_explain_have_no_submodels() -> None:
    """The function causal_submodel of frscore 0.5.2 says otherwise."""
    for whole in ("A+B<->E", "(A+B<->D)*(D+C<->E)"):
        assert not causal_submodel_of("A+B<->C", whole)
        assert fit_robustness(["A+B<->C", whole], relation="causal_submodel")["score"].tolist() == [0, 0]


def test_nothing_in_common_has_no_scale() -> None:
    assert np.isnan(fit_robustness(["A<->E", "b<->E"])["normalised"]).all()


def test_refusals() -> None:
    with pytest.raises(ValueError, match="no model"):
        fit_robustness([])
    with pytest.raises(ValueError, match="unknown relation"):
        fit_robustness(["A<->B"], relation="equal")  # type: ignore[arg-type]
    with pytest.raises(FormulaTooLargeError, match="2001 different models"):
        fit_robustness([f"A{i}<->B" for i in range(2001)])
    with pytest.raises(FormulaTooLargeError, match="at most 200"):
        fit_robustness([f"A{i}<->B" for i in range(201)], relation="causal_submodel")
