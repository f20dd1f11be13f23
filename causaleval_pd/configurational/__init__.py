"""Configurational causal models: correctness and completeness of MINUS formulas, and what a benchmark of them needs."""

from __future__ import annotations

from .formula import Atom, Conjunction, FormulaError, Literal, Model, parse, parse_set, set_text

__all__ = ["Atom", "Conjunction", "FormulaError", "Literal", "Model", "parse", "parse_set", "set_text"]
