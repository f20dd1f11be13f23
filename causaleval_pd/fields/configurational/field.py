"""The formula field: how the verbs recognise, read and align configurational models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing
from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, identify_cells, register_field
from ...contract.null import Controls, DrawnControls, Matching, Null, custom_draws
from ...contract.pairs import Batch
from .formula import Model, set_text
from .pairs import KINDS, FormulaCells, FormulaPairs, compile_kernels
from .reader import SEVERAL, Cell, FormulaError, as_models, parse_set
from .truth_table import Setting

__all__ = ["FORMULAS"]

#: draws one control for an estimate: a model, or the models of a set
DrawOne = Callable[[Any, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model from a function that draws one control."""
    # `function(estimate, rng)` gets a `Model`, or a tuple of them where the estimate is a set, and returns a model as
    # text or value, or several. It must draw from `rng` alone: draw r depends on the seed, the row's key and r.

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        def drawn(start: int, count: int) -> FormulaPairs:
            cells = (pairs.estimated_models(position) for position in range(pairs.n))
            estimates = (cell[0] if len(cell) == 1 else cell for cell in cells)
            models: list[Cell] = []
            for at, _, control in custom_draws(function, estimates, keys, start, count):
                # values and factors that the row's setting lacks are refused
                try:
                    models.append(as_models(control))
                    for model in models[-1]:
                        pairs.setting(at).check(model, relative=True)
                except (TypeError, ValueError) as error:
                    what = f"null {name!r} returned no model that can be scored"
                    raise ValueError(f"{matching.where(rows[at])}: {what}: {error}") from error
            paired: FormulaPairs = pairs.with_estimates(models, np.repeat(np.arange(pairs.n), count))
            return paired

        kinds = np.array(KINDS, object)[pairs.estimate.kinds[pairs.estimate_index]]
        return DrawnControls(pairs, kinds, drawn, work=3e5)

    return Null(name, f"random models drawn by the function {name}", controls)


DEFAULT_METRICS = ("correctness", "completeness", "f_beta")
#: inputs that models are evaluated relative to, and those by which a search is run again
SETTING = ("data", "con", "cov", "max_size", "domains", "factors")
CONTEXT = (*SETTING, "method", "search_data")
_FIRST_CELLS = 20
_NODE, _EDGE = r"\s*[^\W\d][\w.]*\s*", r"(?:<?->?|--|<-|o-[o>]|<-o)"
_GRAPH = re.compile(rf"{_NODE}(?:{_EDGE}{_NODE})*(?:[;,\n]{_NODE}(?:{_EDGE}{_NODE})*)*[;,\s]*")
_ARROW, _MODEL = re.compile("->|<-|--"), re.compile(r"[*+(={\[]|<->|\bM\d+\s*:")
_BYTES = re.compile(r"""b['"]""")  # a packed cell that CSV wrote as text
_GRAPH_HINT = "a graph ('A -> B; C') takes metrics of the field 'graph', e.g. 'shd'"


def holds(cells: pd.Series) -> bool:
    """Check whether a column looks like formulas, by its first cells."""
    # `A -> B` may be a graph as well; an equivalence, a conjunction or a disjunction makes it a formula.
    known = cells.dropna().iloc[:_FIRST_CELLS].tolist()
    parts = [part for cell in known for part in (cell if isinstance(cell, SEVERAL) else (cell,))]
    if any(isinstance(part, Model) for part in parts):
        return True
    texts = [part for part in parts if isinstance(part, str)]
    marked = any(set("*+") & set(text) or re.search("<->|=>|<=|[↔⇔⇒⇐]", text) for text in texts)
    if not marked or _BYTES.match(texts[0]):
        return False
    try:
        parse_set(texts[0])
    except FormulaError as error:
        return error.position > 0
    return True


def reads_as_graphs(cells: Iterable[Any]) -> bool:
    """Check whether texts have the arrows of graphs, and nothing that only models have."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    return any(map(_ARROW.search, texts)) and not any(map(_MODEL.search, texts))


def _graph_message(text: str) -> str:
    return (
        f"{text!r} reads as a graph, which takes metrics of the field 'graph', e.g. 'shd'; a model is written with "
        "<->, as 'A*b+C<->E'"
    )


def coerce_truths(cells: pd.Series, column: str) -> pd.Series:
    """Write truths in canonical form; refuse those that read as graphs as well, while estimates are read as truths."""
    if reads_as_graphs(cells):
        row = next(i for i, cell in enumerate(cells) if isinstance(cell, str))
        raise ValueError(f"{name_row(row, cells.index, column)}: {_graph_message(cells.iloc[row])}")
    return coerce(cells, column)


def coerce(cells: pd.Series, column: str) -> pd.Series:
    """Write every cell in canonical form, as a pandas string; each distinct cell is read once."""
    distinct: Iterable[Any]
    if isinstance(cells.dtype, pd.StringDtype):
        codes, distinct = pd.factorize(cells)
    else:
        # lists of models cannot be hashed
        missing = np.array([is_missing(cell) for cell in cells], bool)
        codes = np.where(missing, -1, np.cumsum(~missing) - 1)
        distinct = [cell for cell, absent in zip(cells, missing, strict=True) if not absent]
    texts: list[str | None] = []
    for code, cell in enumerate(distinct):
        try:
            texts.append(set_text(as_models(cell)))
        except (FormulaError, TypeError) as error:
            where = name_row(int(np.argmax(codes == code)), cells.index, column)
            if isinstance(error, TypeError):
                raise TypeError(f"{where}: {error}") from None
            hint = _GRAPH_HINT if "-" in error.text and _GRAPH.fullmatch(error.text) else ""
            raise FormulaError(f"{where}: {error.what}", error.text, error.position, hint) from None
    strings = np.array([*texts, None], object)[codes]
    return pd.Series(strings, index=cells.index, name=cells.name, dtype="str")


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two canonical columns in one batch; rows with a missing cell are left out."""
    sides = [pd.factorize(cells) for cells in (truth, estimate)]
    rows = np.flatnonzero((sides[0][0] >= 0) & (sides[1][0] >= 0))
    if not len(rows):
        return
    true, estimated = (FormulaCells(tuple(parse_set(cell) for cell in distinct)) for _, distinct in sides)
    codes, settings = _settings(len(truth), context)
    pairs = FormulaPairs(true, estimated, sides[0][0][rows], sides[1][0][rows], codes[rows], settings)
    check_pairs(pairs, rows, truth.index)
    yield Batch(rows, pairs)


def _settings(n: int, context: Context | None) -> tuple[NDArray[np.int64], tuple[Setting, ...]]:
    """Return what models are evaluated relative to, from the context of `n` rows, and the number of each row's."""
    if context is None:
        return np.zeros(n, np.int64), (Setting(),)
    inputs = [{name: value for name, value in values.items() if name in SETTING} for values in context.values]
    return context.codes, tuple(Setting(**one) for one in inputs)


def check_pairs(pairs: FormulaPairs, rows: NDArray[np.int64] | None = None, index: pd.Index | None = None) -> None:
    """Raise an error for truths that are not one model, and models with values or factors that the setting lacks."""
    seen: set[tuple[bool, int, int]] = set()
    for position in pairs.distinct[0].tolist():
        where = "" if rows is None else f"{name_row(int(rows[position]), index)}: "
        at = int(pairs.setting_index[position])
        truth, estimate = int(pairs.truth_index[position]), int(pairs.estimate_index[position])
        for relative, side, cell in ((False, pairs.truth, truth), (True, pairs.estimate, estimate)):
            models = side.cells[cell]
            if not relative and len(models) != 1:
                raise ValueError(
                    f"{where}a truth is one model, found {len(models)}: {set_text(models)}; give each truth a row of "
                    "its own" + f"; {_GRAPH_HINT}" * all(model.complexity == 1 for model in models)
                )
            try:
                for model in () if (relative, cell, at) in seen else models:
                    pairs.settings[at].check(model, relative=relative)
            except ValueError as error:
                raise ValueError(f"{where}{error}") from None
            seen.add((relative, cell, at))


def pair(truth: Any, estimate: Any) -> FormulaPairs:
    """Align two single cells."""
    if truth is None or estimate is None:
        raise TypeError("a metric of formulas needs a truth and an estimate, found None")
    if reads_as_graphs((truth, estimate)):
        raise ValueError(_graph_message(truth if isinstance(truth, str) else estimate))
    pairs = FormulaPairs.of(as_models(truth), as_models(estimate), Setting())
    check_pairs(pairs)
    return pairs


def labels(truths: pd.Series, context: Context | None = None) -> NDArray[np.int64]:
    """Return one number per cell that stands for the factors of truth and context and their values, 0 where missing."""
    codes, distinct = pd.factorize(truths)
    written = [{name for model in parse_set(cell) for name in model.factors} for cell in distinct]
    of_row, settings = _settings(len(truths), context)
    pairs, place = np.unique(np.stack([codes, of_row]), axis=1, return_inverse=True)
    words: list[str | None] = []
    for truth, number in pairs.T.tolist():
        setting = settings[number]
        names = set(setting.factors or setting.names or ())
        if setting.names is None:
            names |= written[truth] | set(setting.vocabulary.domains)
        word = repr([(name, setting.vocabulary.domain(name)) for name in sorted(names)])
        words.append(None if truth < 0 else word)
    return identify_cells(pd.Series(words, dtype=object))[place.reshape(-1)]


def relabelled_cells(pairs: FormulaPairs, truths: pd.Series) -> pd.Series:
    """Write the estimates of pairs; missing where a pair has none."""
    cells, absent = pairs.estimate.cells, pairs.estimate.absent
    texts = [None if index == absent else set_text(cells[index]) for index in pairs.estimate_index.tolist()]
    return pd.Series(texts, index=truths.index, dtype="str")


def samples() -> Iterator[pd.DataFrame]:
    """Make a table of crisp models, and compile the kernels that many of them take."""
    compile_kernels()
    chain = "(A*b+C<->D)*(D*E+a<->F)"
    table = pd.DataFrame({"truth": [chain, "A+B<->C"], "estimate": ["(A+C<->D)*(D*E<->F)", "A*B<->C"]})
    table.attrs["context"] = {"factors": list("ABCDEF")}
    yield table


_TRUTHS = Field(
    "formula", (), "", holds, coerce_truths, batches, pair, context=CONTEXT, labels=labels, labels_in_context=labels
)
FORMULAS = register_field(
    Field(
        name="formula",
        default_metrics=DEFAULT_METRICS,
        default_null="complexity",
        holds=holds,
        coerce=coerce,
        batches=batches,
        pair=pair,
        truth_field=_TRUTHS,
        context=CONTEXT,
        custom_null=custom_null,
        labels=labels,
        labels_in_context=labels,
        relabelling=Relabelling(relabelled_cells),
        samples=samples,
    )
)
