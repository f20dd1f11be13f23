"""How the direct claims of an estimated model stand to the truth: right, part of what is right, indirect, or false."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import NamedTuple

from ..formulas.formula import Conjunction, Literal, Model
from ..formulas.truth_table import Setting, evaluation_order, ideal_table
from ..formulas.vocabulary import Vocabulary, Work
from .exposition import Expansion, expose
from .minimisation import NO_CAPS, Form, Minimiser

#: see `Verdict`
Standing = OneOf["both", "part", "indirect", "bypass", "false"]


class Verdict(NamedTuple):
    """What the truth says of one disjunct of the estimate, and which literals are true causes of its outcome."""

    # "both": the truth has it; "part": with further conjuncts; "indirect": entails it through outcomes that the
    # estimate does not mention; "bypass": only through outcomes that it mentions, beside which it is not a direct
    # cause; "false".

    standing: Standing
    causes: Conjunction


def judge_claims(
    truth: Model, estimate: Model, setting: Setting | None = None
) -> dict[tuple[Conjunction, Literal], Verdict]:
    """Judge every disjunct of an acyclic estimate, by disjunct and outcome."""
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


class Entailed:
    """The minimal formulas that a model entails, by outcome and by the outcomes that were substituted."""

    def __init__(self, model: Model, words: Vocabulary) -> None:
        if evaluation_order(model) is None:
            raise ValueError(f"{model} is cyclic: chains of causes have no end, so indirect causes are not defined")
        self.atoms = {words.bit(a.outcome): frozenset(map(words.encode, a.disjuncts)) for a in model.atoms}
        self.work = Work()
        self.expansion = Expansion(self.atoms, words, self.work)
        self.table = ideal_table(model, words)
        self._forms: dict[int, dict[frozenset[int], set[Form]]] = {}

    def forms(self, outcome: int) -> dict[frozenset[int], set[Form]]:
        """Return the minimal formulas of an outcome by the set of substituted outcomes."""
        if outcome not in self._forms:
            minimiser = Minimiser(self.table, outcome, NO_CAPS, self.work)
            found: dict[frozenset[int], set[Form]] = {}
            for substituted, candidate in self.expansion.substitutions(self.atoms[outcome]):
                forms = minimiser.forms(candidate) if substituted else [candidate]
                found.setdefault(substituted, set()).update(forms)
            self._forms[outcome] = found
        return self._forms[outcome]
