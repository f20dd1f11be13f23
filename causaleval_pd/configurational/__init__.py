"""Configurational causal models: correctness and completeness of MINUS formulas, and what a benchmark of them needs."""

from __future__ import annotations

from .components import (
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
from .exposition import Setting, exposition_table, exposition_text
from .field import FORMULAS
from .formula import Atom, Conjunction, FormulaError, Literal, Model, parse, parse_set, set_text
from .inus import is_inus
from .limits import FormulaTooLargeError
from .quality import Convention, quality_table
from .scores import completeness, correctness, f_beta
from .truth_table import ideal_data

__all__ = [
    "FORMULAS",
    "Atom",
    "Conjunction",
    "Convention",
    "FormulaError",
    "FormulaTooLargeError",
    "Literal",
    "Model",
    "Setting",
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
    "exposition_table",
    "exposition_text",
    "f_beta",
    "f_beta_conjunctive",
    "f_beta_disjunctive",
    "f_beta_literal",
    "f_beta_sequential",
    "ideal_data",
    "is_inus",
    "parse",
    "parse_set",
    "quality_table",
    "set_text",
]
