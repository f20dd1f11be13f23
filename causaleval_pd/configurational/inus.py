"""INUS form: formulas from which no literal and no disjunct can be deleted without changing what they say [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2023). Boolean difference-making: a modern regularity theory of causation. The
   British Journal for the Philosophy of Science 74. doi:10.1093/bjps/axz047
"""

from __future__ import annotations

from collections.abc import Iterable

from .formula import Model
from .truth_table import TruthTable, free_planes
from .vocabulary import Vocabulary, bits


def full_table(form: Iterable[int], vocabulary: Vocabulary) -> TruthTable:
    """Return all configurations of the factors of a formula.

    Parameters
    ----------
    form : iterable of int
        Conjunctions.
    vocabulary : Vocabulary
        Which bit is which literal.

    Returns
    -------
    TruthTable
        The full space.

    Raises
    ------
    FormulaTooLargeError
        If there are too many configurations.
    """
    everything = 0
    for code in form:
        everything |= code
    return TruthTable(*free_planes(sorted({name for name, _ in vocabulary.decode(everything)}), vocabulary))


def is_irredundant(form: Iterable[int], table: TruthTable) -> bool:
    """Tell whether a formula varies on a table and changes its truth values with every deletion.

    Parameters
    ----------
    form : iterable of int
        Conjunctions.
    table : TruthTable
        Configurations.

    Returns
    -------
    bool
        Whether no disjunct and no literal can be deleted.
    """
    form = list(form)
    truth = table.disjunction(form)
    if not truth or truth == table.rows:
        return False
    for i, code in enumerate(form):
        rest = form[:i] + form[i + 1 :]
        others = table.disjunction(rest)
        if others == truth:
            return False
        if any(code != bit and table.conjunction(code ^ bit) | others == truth for bit in bits(code)):
            return False
    return True


def is_inus(model: Model, vocabulary: Vocabulary | None = None) -> bool:
    """Tell whether the left-hand side of every atom is in INUS form.

    Parameters
    ----------
    model : Model
        What to judge.
    vocabulary : Vocabulary, optional
        Carries the values of multi-value factors; without it a factor may have further values than the model mentions.

    Returns
    -------
    bool
        Whether each left-hand side varies over all configurations of its factors and nothing can be deleted from it.

    Raises
    ------
    FormulaTooLargeError
        If there are too many configurations.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> is_inus(parse("A*b+C<->E")), is_inus(parse("A+A*B<->E")), is_inus(parse("A*B+a*B<->E"))
    (True, False, False)
    """
    words = vocabulary or open_vocabulary(model)
    for atom in model.atoms:
        form = [words.encode(one) for one in atom.disjuncts]
        if not is_irredundant(form, full_table(form, words)):
            return False
    return True


def open_vocabulary(*models: Model) -> Vocabulary:
    """Return a vocabulary for models whose domains are unknown: a factor with a value above 1 has one value more.

    Parameters
    ----------
    *models : Model
        Models that are judged together.

    Returns
    -------
    Vocabulary
        Binary factors keep two values.
    """
    values: dict[str, set[int]] = {}
    for model in models:
        for atom in model.atoms:
            for name, value in (*atom.literals, atom.outcome):
                values.setdefault(name, {0, 1}).add(value)
    return Vocabulary({name: [*found, max(found) + 1] for name, found in values.items() if max(found) > 1})
