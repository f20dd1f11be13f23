"""How the direct claims of an estimated model stand to the truth: right, part of what is right, indirect, or false."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import NamedTuple

from ..formulas.formula import Conjunction, Literal, Model
from ..formulas.truth_table import Setting
from .exposition import expose
from .submodel import Entailed

#: see `Verdict`
Standing = OneOf["both", "part", "indirect", "bypass", "false"]


class Verdict(NamedTuple):
    """What the truth says of one disjunct of the estimate.

    Attributes
    ----------
    standing : {"both", "part", "indirect", "bypass", "false"}
        The truth has it; has it with further conjuncts; entails it through outcomes that the estimate does not mention;
        entails it only through outcomes that the estimate mentions, beside which it is not a direct cause; or does not
        entail it.
    causes : frozenset of literals
        The literals that are causes of the outcome in the truth, directly or along its chains.
    """

    standing: Standing
    causes: Conjunction


def judge_claims(
    truth: Model, estimate: Model, setting: Setting | None = None
) -> dict[tuple[Conjunction, Literal], Verdict]:
    """Judge every disjunct of an estimate, by disjunct and outcome.

    Parameters
    ----------
    truth, estimate : Model
        Two acyclic models.
    setting : Setting, optional
        Values of multi-value factors.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> truth = parse("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)")
    >>> def standings(text):
    ...     return [verdict.standing for verdict in judge_claims(truth, parse(text)).values()]
    >>> standings("A+B+E<->G"), standings("A+B+D+E<->G"), standings("B+A*C<->D")
    (['indirect', 'indirect', 'both'], ['bypass', 'bypass', 'both', 'both'], ['false', 'part'])
    """
    setting = setting or Setting()
    words = setting.vocabulary
    expose(estimate, setting)  # refuses cyclic models and unknown values
    exposed, entailed = expose(truth, setting), Entailed(truth, words)
    omitted = frozenset(words.bit(outcome) for outcome in truth.outcomes if outcome[0] not in estimate.factors)
    found: dict[tuple[Conjunction, Literal], Verdict] = {}
    for atom in estimate.atoms:
        outcome = words.bit(atom.outcome)
        own = truth.by_outcome.get(atom.outcome)
        known = own is not None and not exposed[outcome].constant
        causes = words.decode(exposed[outcome].literals) if known else frozenset()
        forms = entailed.forms(outcome) if known else {}
        for disjunct in atom.disjuncts:
            code = words.encode(disjunct)
            chains = [sub for sub, some in forms.items() if any(code & one == code for form in some for one in form)]
            standing: Standing = "false"
            if own is not None and disjunct in own.disjuncts:
                standing = "both"
            elif frozenset() in chains:
                standing = "part"
            elif any(sub <= omitted for sub in chains):
                standing = "indirect"
            elif chains:
                standing = "bypass"
            found[disjunct, atom.outcome] = Verdict(standing, disjunct & causes)
    return found
