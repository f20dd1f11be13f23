"""Configurational causal models: quality of MINUS formulas, submodels, fit to data, and simulated benchmarks."""

from __future__ import annotations

from . import field, metrics
from . import nulls as _nulls  # null models and figures register themselves
from . import plot as _plot
from . import search as _search
from .field import *
from .formula import Atom, FormulaTooLargeError, Model
from .metrics import *
from .minimisation import redundancy_free
from .printouts import read_printout, write_models
from .quality import Convention, exposition_table, quality_table
from .reader import FormulaError, parse
from .simulation import NoSuchModelError, random_models, simulate_data
from .submodel import submodels
from .truth_table import Setting, fit_by_atom, ideal_data

__all__ = [
    *field.__all__,
    *metrics.__all__,
    "Atom",
    "Convention",
    "FormulaError",
    "FormulaTooLargeError",
    "Model",
    "NoSuchModelError",
    "Setting",
    "exposition_table",
    "fit_by_atom",
    "ideal_data",
    "parse",
    "quality_table",
    "random_models",
    "read_printout",
    "redundancy_free",
    "simulate_data",
    "submodels",
    "write_models",
]
