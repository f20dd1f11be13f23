"""Arel-Bundock's measure of correctness: the share of a model's submodels that the truth has too [1]_.

References
----------
.. [1] Arel-Bundock, V. (2022). The double bind of Qualitative Comparative Analysis. Sociological Methods & Research 51.
   doi:10.1177/0049124119882460
"""

from __future__ import annotations

import itertools

from .formula import Atom
from .inus import full_table, is_irredundant
from .limits import FormulaTooLargeError
from .minimisation import Form
from .vocabulary import Vocabulary, bits

MAX_NCR_COMPLEXITY = 16


def atom_submodels(atom: Atom, vocabulary: Vocabulary) -> set[Form]:
    """Return the irredundant formulas that deletion of literals and disjuncts makes of an atom's left-hand side.

    Parameters
    ----------
    atom : Atom
        An atom.
    vocabulary : Vocabulary
        Which bit is which literal, and the factors' values.

    Returns
    -------
    set of frozensets of int
        Formulas; deletions that make two disjuncts equal do not count.

    Raises
    ------
    FormulaTooLargeError
        If the atom has more than 16 literals: every set of them is a candidate.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> len(atom_submodels(parse("A*b+C<->E").atoms[0], Vocabulary()))
    7
    """
    if atom.complexity > MAX_NCR_COMPLEXITY:
        raise FormulaTooLargeError(
            f"{atom} has {atom.complexity} literals, so 2**{atom.complexity} candidates for submodels; "
            f"the limit is {MAX_NCR_COMPLEXITY} literals"
        )
    codes = [vocabulary.encode(one) for one in atom.disjuncts]
    table = full_table(codes, vocabulary)
    found = set()
    for parts in itertools.product(*map(_parts, codes)):
        kept = [part for part in parts if part]
        form = frozenset(kept)
        if kept and len(form) == len(kept) and form not in found and is_irredundant(kept, table):
            found.add(form)
    return found


def _parts(code: int) -> list[int]:
    """Return all subsets of a conjunction, the empty one included."""
    found = [0]
    for bit in bits(code):
        found += [part | bit for part in found]
    return found
