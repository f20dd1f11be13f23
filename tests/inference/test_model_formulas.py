"""Formulas: what they mean, and that they take names and a few signs only."""

from __future__ import annotations

import pytest

from causaleval_pd.inference.model_formulas import Factor, read_formula

STRATA = ["algorithm", "density", "n", "n nodes"]


def labels(text):
    found = read_formula(text, STRATA)
    return [":".join(factor.label for factor in term) for term in found.terms], found.intercept


@pytest.mark.parametrize(
    ("text", "terms", "intercept"),
    [
        ("skill ~ algorithm", ["algorithm"], True),
        ("skill~algorithm+density", ["algorithm", "density"], True),
        ("shd ~ algorithm*density + n", ["algorithm", "density", "n", "algorithm:density"], True),
        ("shd ~ algorithm:density - 1", ["algorithm:density"], False),
        ("shd ~ 0 + C(n)", ["C(n)"], False),
        ("shd ~ 1 + np.log(n) + log(n)", ["log(n)"], True),
        ("shd ~ `n nodes`:C(n)", ["n nodes:C(n)"], True),
        (
            "shd ~ algorithm * density * n",
            [
                *("algorithm", "density", "n", "algorithm:density", "algorithm:n", "density:n"),
                "algorithm:density:n",
            ],
            True,
        ),
        ("shd ~ density:density + density", ["density"], True),
    ],
)
def test_terms(text, terms, intercept):
    assert labels(text) == (terms, intercept)


def test_factors_keep_their_form():
    [[log], [level]] = read_formula("shd ~ log(n) + C(density)", STRATA).terms
    assert log == Factor("n", "log") and level == Factor("density", "levels")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shd ~ __import__('os').system('ls')", '"\'" in the formula .* is not allowed'),
        ("shd ~ __import__(n)", r"__import__\(...\) in the formula"),
        ("shd ~ algorithm.__class__", "unknown stratum .* in the formula"),
        ("shd ~ exp(n)", r"exp\(...\) in the formula .* it takes names of strata"),
        ("shd ~ np.exp(n)", r"np.exp\(...\) in the formula"),
        ("shd ~ C(n", r"C\(...\) in the formula"),
        ("shd ~ C(log(n))", r"C\(...\) in the formula"),
        ("shd ~ n[0]", r"'\[' in the formula"),
        ("shd ~ n ** 2", r"'\*' in the formula .* is not the name of a stratum"),
        ("shd ~ n + 2", "'2' in the formula .* is not the name of a stratum"),
        ("shd ~ (n + density)", r"'\(' in the formula"),
        ("shd ~ n; density", "';' in the formula"),
        ("shd ~ algoritm", "did you mean 'algorithm'"),
        ("shd ~ n density", "'density' in the formula .* needs a sign before it"),
        ("shd ~ n - density", "only the intercept can be left out"),
        ("shd ~ n *", r"a term is missing after '\*'"),
        ("shd ~ n + + density", "a sign follows a sign"),
        ("shd ~ n +", "a term is missing"),
        ("shd ~ 1", "has no term; name strata: algorithm, density"),
        ("shd", "needs a response"),
        ("~ n", "needs a response"),
        ("shd ~ n ~ density", "needs a response"),
        ("log(shd) ~ n", "needs a response"),
        ("", "needs a response"),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_formula(text, STRATA)


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="formula"):
        read_formula(5, STRATA)
