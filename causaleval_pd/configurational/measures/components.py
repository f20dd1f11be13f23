"""Correctness, completeness and F-beta of single components of causal expositions.

They have the options of `correctness`, `completeness` and `f_beta`, which sum over all four components.
"""

from __future__ import annotations

import math

from ...contract.metric import metric
from ...contract.options import with_options
from ..models.quality import Convention
from ..pairs import FormulaPairs
from .scores import COMPLETENESS, CORRECTNESS, OPTIONS, QUALITY, Values, f_score, score
from .sets import SetRule


@metric(**QUALITY, long_name="literal correctness", closed_form="literal_correctness")
@with_options(OPTIONS)
def correctness_literal(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the estimate's literals that are said to be causes that the truth has too.

    Shared over own complexity of L(O), the literals in the expanded formulas of outcome O; summed over outcomes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.correctness_literal("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    1.0
    """
    return score(pairs, CORRECTNESS, "literal", models, convention, zero_division)


@metric(**QUALITY, long_name="conjunctive correctness")
@with_options(OPTIONS)
def correctness_conjunctive(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the estimate's joint causes that the truth has too.

    Shared over own complexity of C(O), the disjuncts of the expanded formulas of outcome O, each with its best
    counterpart by shared literals; summed over outcomes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.correctness_conjunctive("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.571
    """
    return score(pairs, CORRECTNESS, "conjunctive", models, convention, zero_division)


@metric(**QUALITY, long_name="disjunctive correctness")
@with_options(OPTIONS)
def correctness_disjunctive(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the estimate's alternative causes that the truth has too.

    Shared over own complexity of D(O), the expanded formulas of outcome O, each with its best counterpart,
    disjuncts being paired one to one; summed over outcomes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.correctness_disjunctive("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.556
    """
    return score(pairs, CORRECTNESS, "disjunctive", models, convention, zero_division)


@metric(**QUALITY, long_name="sequential correctness")
@with_options(OPTIONS)
def correctness_sequential(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the estimate's causal paths that the truth has too.

    Shared over own complexity of S(O), the paths from roots to outcome O through its causes; summed over outcomes.
    An estimate's path counts if it is the end of a true one from which the factors that no path of the estimate
    knows are deleted.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.correctness_sequential("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    1.0
    """
    return score(pairs, CORRECTNESS, "sequential", models, convention, zero_division)


@metric(**QUALITY, long_name="literal completeness", closed_form="literal_completeness")
@with_options(OPTIONS)
def completeness_literal(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the truth's literals that are said to be causes that the estimate has too.

    Shared over own complexity of L(O), the literals in the expanded formulas of outcome O; summed over outcomes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.completeness_literal("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.545
    """
    return score(pairs, COMPLETENESS, "literal", models, convention, zero_division)


@metric(**QUALITY, long_name="conjunctive completeness")
@with_options(OPTIONS)
def completeness_conjunctive(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the truth's joint causes that the estimate has too.

    Shared over own complexity of C(O), the disjuncts of the expanded formulas of outcome O, each with its best
    counterpart by shared literals; summed over outcomes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.completeness_conjunctive("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.545
    """
    return score(pairs, COMPLETENESS, "conjunctive", models, convention, zero_division)


@metric(**QUALITY, long_name="disjunctive completeness")
@with_options(OPTIONS)
def completeness_disjunctive(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the truth's alternative causes that the estimate has too.

    Shared over own complexity of D(O), the expanded formulas of outcome O, each with its best counterpart,
    disjuncts being paired one to one; summed over outcomes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.completeness_disjunctive("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.471
    """
    return score(pairs, COMPLETENESS, "disjunctive", models, convention, zero_division)


@metric(**QUALITY, long_name="sequential completeness")
@with_options(OPTIONS)
def completeness_sequential(
    pairs: FormulaPairs,
    *,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the share of the truth's causal paths that the estimate has too.

    Shared over own complexity of S(O), the paths from roots to outcome O through its causes; summed over outcomes.
    A true path counts by the share of its length that is the longest of the estimate's paths which end it.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.completeness_sequential("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.4
    """
    return score(pairs, COMPLETENESS, "sequential", models, convention, zero_division)


@metric(**QUALITY, long_name="F-beta of literal correctness and completeness", closed_form="literal_f_beta")
@with_options(OPTIONS)
def f_beta_literal(
    pairs: FormulaPairs,
    *,
    beta: float = 1.0,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the weighted harmonic mean of literal correctness and completeness.

    (1 + b^2) P R / (b^2 P + R) of literal correctness P and completeness R, 0 where both are 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.f_beta_literal("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.706
    """
    return f_score(pairs, beta, "literal", models, convention, zero_division)


@metric(**QUALITY, long_name="F-beta of conjunctive correctness and completeness")
@with_options(OPTIONS)
def f_beta_conjunctive(
    pairs: FormulaPairs,
    *,
    beta: float = 1.0,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the weighted harmonic mean of conjunctive correctness and completeness.

    (1 + b^2) P R / (b^2 P + R) of conjunctive correctness P and completeness R, 0 where both are 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.f_beta_conjunctive("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.558
    """
    return f_score(pairs, beta, "conjunctive", models, convention, zero_division)


@metric(**QUALITY, long_name="F-beta of disjunctive correctness and completeness")
@with_options(OPTIONS)
def f_beta_disjunctive(
    pairs: FormulaPairs,
    *,
    beta: float = 1.0,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the weighted harmonic mean of disjunctive correctness and completeness.

    (1 + b^2) P R / (b^2 P + R) of disjunctive correctness P and completeness R, 0 where both are 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.f_beta_disjunctive("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.51
    """
    return f_score(pairs, beta, "disjunctive", models, convention, zero_division)


@metric(**QUALITY, long_name="F-beta of sequential correctness and completeness")
@with_options(OPTIONS)
def f_beta_sequential(
    pairs: FormulaPairs,
    *,
    beta: float = 1.0,
    models: SetRule = "max",
    convention: str | Convention = "published",
    zero_division: float = math.nan,
) -> Values:
    """Compute the weighted harmonic mean of sequential correctness and completeness.

    (1 + b^2) P R / (b^2 P + R) of sequential correctness P and completeness R, 0 where both are 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.f_beta_sequential("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A*B<->D)*(D+B*C<->G)"), 3)
    0.571
    """
    return f_score(pairs, beta, "sequential", models, convention, zero_division)
