"""Configurational causal models: correctness and completeness of MINUS formulas, and what a benchmark of them needs."""

from __future__ import annotations

# metrics name these rules when they are registered
from .nulls import rules as _rules  # noqa: F401

# isort: split
# figures register themselves
from . import plot as _plot  # noqa: F401

# isort: split
from .breakdown import quality_table
from .field import FORMULAS
from .formulas.formula import Atom, Model, parse, parse_set, set_text
from .formulas.limits import FormulaTooLargeError
from .formulas.reader import Conjunction, FormulaError, Literal
from .formulas.truth_table import ideal_data
from .measures.components import (
    completeness_conjunctive,
    completeness_disjunctive,
    completeness_literal,
    completeness_sequential,
    correctness_conjunctive,
    correctness_disjunctive,
    correctness_literal,
    correctness_sequential,
    f_beta_conjunctive,
    f_beta_disjunctive,
    f_beta_literal,
    f_beta_sequential,
)
from .measures.fit import (
    coherence,
    exhaustiveness,
    faithfulness,
    fit_by_atom,
    fit_consistency,
    fit_coverage,
    fit_measures,
)
from .measures.relations import (
    has_complete_disjuncts,
    is_causal_submodel,
    is_identical,
    is_strict_submodel,
    is_submodel,
    lcr,
    ncr,
    submodel_completeness,
)
from .measures.scores import completeness, correctness, f_beta
from .models.exposition import Setting, exposition_table, exposition_text
from .models.frscore import fit_robustness
from .models.inus import is_inus
from .models.quality import Convention
from .models.redundancy import minimal_models, redundant_atoms
from .models.submodel import causal_submodel_of, is_cyclic, relation_matrix, strict_submodel_of, submodel_of
from .nulls.models import acceptance_rate
from .simulation.data import add_noise, fragment, fuzzify, sample_cases, select_cases, simulate_data
from .simulation.draws import NoSuchModelError, redundancy_free
from .simulation.ground_truths import random_model, random_models, switches

# isort: split
# null models register themselves
from .nulls import models as _models  # noqa: F401

__all__ = [
    "FORMULAS",
    "Atom",
    "Conjunction",
    "Convention",
    "FormulaError",
    "FormulaTooLargeError",
    "Literal",
    "Model",
    "NoSuchModelError",
    "Setting",
    "acceptance_rate",
    "add_noise",
    "causal_submodel_of",
    "coherence",
    "completeness",
    "completeness_conjunctive",
    "completeness_disjunctive",
    "completeness_literal",
    "completeness_sequential",
    "correctness",
    "correctness_conjunctive",
    "correctness_disjunctive",
    "correctness_literal",
    "correctness_sequential",
    "exhaustiveness",
    "exposition_table",
    "exposition_text",
    "f_beta",
    "f_beta_conjunctive",
    "f_beta_disjunctive",
    "f_beta_literal",
    "f_beta_sequential",
    "faithfulness",
    "fit_by_atom",
    "fit_consistency",
    "fit_coverage",
    "fit_measures",
    "fit_robustness",
    "fragment",
    "fuzzify",
    "has_complete_disjuncts",
    "ideal_data",
    "is_causal_submodel",
    "is_cyclic",
    "is_identical",
    "is_inus",
    "is_strict_submodel",
    "is_submodel",
    "lcr",
    "minimal_models",
    "ncr",
    "parse",
    "parse_set",
    "quality_table",
    "random_model",
    "random_models",
    "redundancy_free",
    "redundant_atoms",
    "relation_matrix",
    "sample_cases",
    "select_cases",
    "set_text",
    "simulate_data",
    "strict_submodel_of",
    "submodel_completeness",
    "submodel_of",
    "switches",
]
