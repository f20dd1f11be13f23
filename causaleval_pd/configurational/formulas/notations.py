"""Writers of models in the notations of the R packages cna and QCA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf

from ...contract.checks import check_flag, check_known
from .formula import Conjunction, Literal, Model, literal_text
from .reader import as_models

__all__ = ["write_models"]

#: arrows of QCA
_ARROWS = {"<->": "<->", "=>": "->", "<=": "<-"}


def write_models(
    models: Model | str | Sequence[Model | str],
    notation: OneOf["cna", "qca"] = "cna",
    *,
    multi_value: bool | None = None,
) -> list[str]:
    """Write the models of one cell in the notation of an R package, a text a model.

    Parameters
    ----------
    models : Model, str, or sequence of these
        A model or a set of models.
    notation : {"cna", "qca"}
        `(A*b+C<->D)*(D<->E)` and `A=2*B=0<->Y=1` of cna, which has no one-sided arrows in solutions; or
        `A*~B + C <-> D` and `A[2]*B[0] <-> Y[1]` of QCA, which writes one outcome a model.
    multi_value : bool, optional
        Whether values are written; default where a model has other values than 0 and 1.

    Returns
    -------
    list of str
        Texts in canonical order, which `parse` reads back; empty for a set without models.

    Raises
    ------
    ValueError
        If a model has several outcomes and the notation is QCA's, or states sufficiency alone and it is cna's.
    FormulaError
        If a text is not a model.

    Examples
    --------
    >>> write_models("(A*b+C<->D)*(D<->E)")
    ['(A*b+C<->D)*(D<->E)']
    >>> write_models("A*b+C => D; B => D", "qca")
    ['A*~B + C -> D', 'B -> D']
    >>> write_models("A=2*B=0<->Y=1", "qca")
    ['A[2]*B[0] <-> Y[1]']
    """
    check_known(notation, ("cna", "qca"), "notation")
    if multi_value is not None:
        check_flag(multi_value, "multi_value")
    found: list[str] = []
    for model in as_models(models):
        values = model.multi_value if multi_value is None else multi_value
        found.append(_cna(model, values) if notation == "cna" else _qca(model, values))
    return found


def _cna(model: Model, multi_value: bool) -> str:
    if model.one_way:
        raise ValueError(
            f"cna writes solutions as equivalences, and {model} has other arrows; use model.as_equivalence()"
        )
    return model.text(multi_value=multi_value)


def _qca(model: Model, multi_value: bool) -> str:
    if len(model.atoms) > 1:
        raise ValueError(
            f"QCA writes one outcome a model, and {model} has {len(model.atoms)}; write its atoms one by one"
        )
    [atom] = model.atoms
    left = " + ".join(_qca_conjunction(one, multi_value) for one in atom.disjuncts)
    return f"{left} {_ARROWS[atom.arrow]} {_qca_literal(atom.outcome, multi_value)}"


def _qca_conjunction(conjunction: Conjunction, multi_value: bool) -> str:
    return "*".join(_qca_literal(literal, multi_value) for literal in sorted(conjunction))


def _qca_literal(literal: Literal, multi_value: bool) -> str:
    name, value = literal
    if multi_value or "=" in literal_text(literal):  # names without case have values
        return f"{name}[{value}]"
    return name if value else f"~{name}"
