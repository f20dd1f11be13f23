"""Fit-robustness scores against their definition and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.configurational import FormulaTooLargeError, fit_robustness, parse, random_models
from causaleval_pd.configurational.models.submodel import submodel_of


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
