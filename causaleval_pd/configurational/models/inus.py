"""INUS form: formulas from which no literal and no disjunct can be deleted without changing what they say [1]_.

References
----------
.. [1] Baumgartner, M. & Falk, C. (2023). Boolean difference-making: a modern regularity theory of causation. The
   British Journal for the Philosophy of Science 74. doi:10.1093/bjps/axz047
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from ..formulas.formula import Model, as_model
from ..formulas.truth_table import TruthTable, free_planes
from ..formulas.vocabulary import Domains, Vocabulary, bits, read_domains


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


def is_inus(model: Model | str, domains: Domains | None = None) -> bool:
    """Tell whether no literal and no disjunct of a model can be deleted.

    Deleting one must change the truth values of the left-hand side on configurations that the other atoms allow, and
    the left-hand side must vary there.

    Parameters
    ----------
    model : Model or str
        What to judge.
    domains : mapping, optional
        Values of multi-value factors; a factor that is not mentioned may have one more value than the model gives it.

    Returns
    -------
    bool
        Whether every atom is in INUS form.

    Raises
    ------
    FormulaTooLargeError
        If there are too many configurations.

    Examples
    --------
    >>> is_inus("A*b+C<->E"), is_inus("A+A*B<->E"), is_inus("A*B+a*B<->E")
    (True, False, False)
    >>> is_inus("(D<->E)*(G+E*d<->K)")
    False
    """
    model = as_model(model)
    words = open_vocabulary(model, domains)
    forms = [[words.encode(one) for one in atom.disjuncts] for atom in model.atoms]
    table = full_table((*itertools.chain(*forms), *map(words.bit, model.outcomes)), words)
    allowed = allowed_rows(model, table, words)
    for i, form in enumerate(forms):
        rows = table.rows
        for other in allowed[:i] + allowed[i + 1 :]:
            rows &= other
        if not is_irredundant(form, TruthTable(rows, table.planes)):
            return False
    return True


def allowed_rows(model: Model, table: TruthTable, vocabulary: Vocabulary) -> list[int]:
    """Return the configurations on which each atom of a model holds.

    Parameters
    ----------
    model : Model
        A model.
    table : TruthTable
        Configurations of at least its factors.
    vocabulary : Vocabulary
        Which bit is which literal.

    Returns
    -------
    list of int
        One bit set an atom.
    """
    return [
        table.rows & ~(table.disjunction(map(vocabulary.encode, a.disjuncts)) ^ table.planes[vocabulary.bit(a.outcome)])
        for a in model.atoms
    ]


def open_vocabulary(model: Model, domains: Domains | None = None) -> Vocabulary:
    """Return a vocabulary in which multi-value factors of unknown domain have one value more than the model mentions.

    Parameters
    ----------
    model : Model
        A model.
    domains : mapping, optional
        Values of the factors that are known.

    Returns
    -------
    Vocabulary
        Factors with the values 0 and 1 keep two.
    """
    values: dict[str, set[int]] = {}
    for atom in model.atoms:
        for name, value in (*atom.literals, atom.outcome):
            values.setdefault(name, {0, 1}).add(value)
    more = {name: [*found, max(found) + 1] for name, found in values.items() if max(found) > 1}
    return Vocabulary(more | {name: list(known) for name, known in read_domains(domains).items()})
