"""Configurational causal models: quality of MINUS formulas, submodels, fit to data, and simulated benchmarks."""

from __future__ import annotations

from . import field, metrics
from . import nulls as _nulls  # null models and figures register themselves
from . import plot as _plot
from .field import *
from .formulas.configurations import fit_by_atom
from .formulas.formula import Atom, Model
from .formulas.printouts import read_printout, write_models
from .formulas.reader import FormulaError, parse
from .formulas.truth_table import Setting, ideal_data
from .formulas.vocabulary import FormulaTooLargeError
from .metrics import *
from .models.exposition import exposition_table
from .models.quality import Convention, quality_table
from .models.redundancy import redundancy_free
from .models.submodel import submodels
from .simulation.data import benchmark_grid, simulate_data
from .simulation.ground_truths import NoSuchModelError, random_models

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
    "benchmark_grid",
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
