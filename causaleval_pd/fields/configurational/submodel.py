"""Submodels: whether a model is one of another [1]_, all submodels of an atom [2]_, and claims of an estimate.

References
----------
.. [1] Baumgartner, M. & Thiem, A. (2020). Often trusted but never (properly) tested: evaluating Qualitative Comparative
   Analysis. Sociological Methods & Research 49. doi:10.1177/0049124117701487
.. [2] Arel-Bundock, V. (2022). The double bind of Qualitative Comparative Analysis. Sociological Methods & Research 51.
   doi:10.1177/0049124119882460
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pandas as pd

from .formula import (
    Atom,
    Conjunction,
    Domains,
    FormulaTooLargeError,
    Literal,
    Model,
    Vocabulary,
    Work,
    bits,
    literal_text,
)
from .minimisation import NO_CAPS, Form, Minimiser, full_table, injects, is_irredundant
from .quality import Expansion, expose, reached
from .reader import as_model
from .truth_table import Setting, ideal_table

__all__ = ["submodels"]

MAX_NCR_COMPLEXITY = 16


def submodel_of(model: Model | str, other: Model | str) -> bool:
    """Check whether a model results from another one by deleting literals, disjuncts and atoms."""
    model, other = as_model(model), as_model(other)
    return all(
        atom.outcome in other.by_outcome and injects(atom.disjuncts, other.by_outcome[atom.outcome].disjuncts)
        for atom in model.atoms
    )


def atom_submodels(atom: Atom, vocabulary: Vocabulary) -> set[Form]:
    """Return the irredundant formulas that result from an atom's left-hand side by deleting literals and disjuncts."""
    if atom.complexity > MAX_NCR_COMPLEXITY:
        raise FormulaTooLargeError(
            f"{atom} has {atom.complexity} literals, so 2**{atom.complexity} candidates for submodels; "
            f"the limit is {MAX_NCR_COMPLEXITY} literals"
        )
    codes = [vocabulary.encode(one) for one in atom.disjuncts]
    table = full_table(codes, vocabulary)
    subforms = set()
    for parts in itertools.product(*map(_parts, codes)):
        left = [part for part in parts if part]
        form = frozenset(left)
        if left and len(form) == len(left) and form not in subforms and is_irredundant(left, table):
            subforms.add(form)
    return subforms


def submodels(model: Model | str, truth: Model | str | None = None, *, domains: Domains | None = None) -> pd.DataFrame:
    """List the submodels of a model that have no redundant part: what `ncr` counts.

    A submodel is any formula that results from the left-hand side of an atom by deleting literals and disjuncts, if
    nothing more can be deleted without changing its truth function; deletions that make two disjuncts equal do not
    count. Defined for one atom; our extension to several lists the submodels of all atoms.

    Parameters
    ----------
    model : Model or str
        The model.
    truth : Model or str, optional
        A model whose submodels are looked for among them.
    domains : mapping, optional
        Values of multi-value factors.

    Returns
    -------
    DataFrame
        One row per submodel, by outcome, complexity and text: submodel, outcome, complexity, and with `truth` shared,
        whether it is a submodel of the truth too. The mean of shared is `ncr`.

    Raises
    ------
    FormulaTooLargeError
        If an atom has more than 16 literals.
    ValueError
        If a value occurs that a factor does not have.

    References
    ----------
    .. [1] Arel-Bundock, V. (2022). The double bind of Qualitative Comparative Analysis. Sociological Methods &
       Research 51. doi:10.1177/0049124119882460

    Examples
    --------
    >>> submodels("A*B+D<->E", truth="A*b+c*D<->E")
         submodel outcome  complexity  shared
    0       A<->E       E           1    True
    1       B<->E       E           1   False
    2       D<->E       E           1    True
    3     A*B<->E       E           2   False
    4     A+D<->E       E           2    True
    5     B+D<->E       E           2   False
    6   A*B+D<->E       E           3   False
    """
    model, words = as_model(model), Vocabulary(domains)
    other = None if truth is None else as_model(truth)
    rows: list[tuple[str, str, int, bool]] = []
    for atom in model.atoms:
        shared: set[Form] = set()
        if other is not None and atom.outcome in other.by_outcome:
            shared = atom_submodels(other.by_outcome[atom.outcome], words)
        texts = sorted(
            (sum(code.bit_count() for code in form), str(Atom(tuple(map(words.decode, form)), atom.outcome)), form)
            for form in atom_submodels(atom, words)
        )
        outcome = literal_text(atom.outcome, multi_value=words.multi_value)
        rows += [(text, outcome, complexity, form in shared) for complexity, text, form in texts]
    table = pd.DataFrame(rows, columns=["submodel", "outcome", "complexity", "shared"])
    return table if other is not None else table.drop(columns="shared")


def _parts(code: int) -> list[int]:
    """Return all subsets of a conjunction, the empty one included."""
    subsets = [0]
    for bit in bits(code):
        subsets += [part | bit for part in subsets]
    return subsets


class Verdict(NamedTuple):
    """What the truth says of one disjunct of the estimate, and which literals are true causes of its outcome."""

    #: "both": the truth has it; "part": with further conjuncts; "indirect": entails it through outcomes that the
    #: estimate does not mention; "bypass": only through outcomes that it mentions, beside which it is not a direct
    #: cause; "false"
    standing: str
    causes: Conjunction


def judge_claims(
    truth: Model, estimate: Model, setting: Setting | None = None
) -> dict[tuple[Conjunction, Literal], Verdict]:
    """Judge every disjunct of an acyclic estimate, by disjunct and outcome."""
    setting = setting or Setting()
    words = setting.vocabulary
    expose(estimate, setting)  # refuses cyclic models and unknown values
    exposed = expose(truth, setting)
    atoms = {words.bit(a.outcome): frozenset(map(words.encode, a.disjuncts)) for a in truth.atoms}
    work, table = Work(), ideal_table(truth, words)
    expansion = Expansion(atoms, words, work)
    omitted = frozenset(words.bit(outcome) for outcome in truth.outcomes if outcome[0] not in estimate.factors)
    verdicts: dict[tuple[Conjunction, Literal], Verdict] = {}
    for atom in estimate.atoms:
        outcome = words.bit(atom.outcome)
        true_atom = truth.by_outcome.get(atom.outcome)
        known = true_atom is not None and not exposed[outcome].constant
        causes = words.decode(exposed[outcome].literals) if known else frozenset()
        # the minimal formulas that the truth entails, by the outcomes that were substituted
        forms: dict[frozenset[int], set[Form]] = {}
        if known:
            minimiser = Minimiser(table, outcome, NO_CAPS, work)
            start = (frozenset[int](), atoms[outcome])
            for substituted, candidate in reached(
                start, lambda at: [(at[0] | {one}, new) for one, new in expansion.steps(at[1])]
            ):
                minimal = minimiser.forms(candidate) if substituted else [candidate]
                forms.setdefault(substituted, set()).update(minimal)
        for disjunct in atom.disjuncts:
            code = words.encode(disjunct)
            chains = [sub for sub, some in forms.items() if any(code & one == code for form in some for one in form)]
            standing = "false"
            if true_atom is not None and disjunct in true_atom.disjuncts:
                standing = "both"
            elif frozenset() in chains:
                standing = "part"
            elif any(sub <= omitted for sub in chains):
                standing = "indirect"
            elif chains:
                standing = "bypass"
            verdicts[disjunct, atom.outcome] = Verdict(standing, disjunct & causes)
    return verdicts
