"""The quality of models broken down by outcome and component, as a tidy table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import name_row
from .field import as_models
from .formulas.formula import Model, literal_text
from .formulas.vocabulary import Vocabulary
from .models.exposition import COMPONENTS, Exposition, Setting, expose
from .models.quality import Convention, quality_counts
from .pairs import Cell

Column = Model | str | Sequence[Model | str] | pd.Series


def quality_table(
    truth: Column,
    estimate: Column,
    *,
    convention: str | Convention = "published",
    setting: Setting | None = None,
) -> pd.DataFrame:
    """Break the quality of a model, or of a column of models, down by outcome and component.

    Parameters
    ----------
    truth, estimate : Model, str, or sequence of these
        The true and the estimated models, all acyclic. Two columns are paired row by row, one model with every row.
    convention : {"published", "paper"} or Convention
        The numbers of the paper's tables, or what its text says.
    setting : Setting, optional
        Values of multi-value factors; data that the estimates are minimised relative to.

    Returns
    -------
    DataFrame
        One row a measure, outcome and component: shared, complexity, score = shared / complexity. Of columns, each row
        begins with row (the index label), truth, estimate; a cell with several models has the rows of each.

    Raises
    ------
    ValueError
        If a model is cyclic or mentions values that a factor does not have, a cell holds no model, or the columns do
        not have the same rows.
    FormulaTooLargeError
        If the evaluation would take too long.

    References
    ----------
    .. [1] doi:10.1515/jci-2023-0032

    Examples
    --------
    >>> truth = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"
    >>> found = quality_table(truth, "(A*B<->D)*(D+B*C<->G)")
    >>> found.query("measure == 'correctness'").groupby("component", sort=False)[["shared", "complexity"]].sum()
                 shared  complexity
    component
    literal         6.0         6.0
    conjunctive     4.0         7.0
    disjunctive     5.0         9.0
    sequential      6.0         6.0
    >>> quality_table(truth, ["A+B<->G", "A+B+E<->G"]).groupby("row")["shared"].sum().round(2).tolist()
    [17.0, 26.33]
    """
    setting, chosen = setting or Setting(), Convention.of(convention)
    known: dict[tuple[Model, bool], Exposition] = {}

    def exposed(model: Model, *, relative: bool) -> Exposition:
        if (model, relative) not in known:
            known[model, relative] = expose(
                model, setting, relative=relative, path_rule=chosen.path_rule, size_caps=chosen.size_caps
            )
        return known[model, relative]

    rows: list[tuple[Any, ...]] = []
    for label, true, estimated in _paired(truth, estimate):
        for model in estimated:
            sides = quality_counts(
                exposed(true[0], relative=False), exposed(model, relative=True), setting.vocabulary, chosen
            )
            for measure, counts in zip(("correctness", "completeness"), sides, strict=True):
                rows += [(label, str(true[0]), str(model), *row) for row in _rows(measure, counts, setting.vocabulary)]
    names = ["row", "truth", "estimate", "measure", "outcome", "component", "shared", "complexity"]
    table = pd.DataFrame(rows, columns=names)
    table["score"] = table["shared"] / table["complexity"].where(table["complexity"] != 0)
    is_one = not (_is_column(truth) or _is_column(estimate))
    return table.drop(columns=names[:3]) if is_one else table


def _is_column(cells: Column) -> bool:
    return cells is not None and not isinstance(cells, (Model, str))


def _paired(truth: Column, estimate: Column) -> list[tuple[Hashable, Cell, Cell]]:
    """Pair the models of two columns, or of a column and one cell, with the label of each row."""
    sides = {"truth": truth, "estimate": estimate}
    columns = {name: pd.Series(cells) for name, cells in sides.items() if _is_column(cells)}
    index = next((cells.index for cells in columns.values()), pd.RangeIndex(1))
    if not all(cells.index.equals(index) for cells in columns.values()):
        raise ValueError(
            f"truth has {len(columns['truth'])} rows and estimate {len(columns['estimate'])}, or their "
            "index labels differ; give columns of one table, or one model for all rows"
        )
    read = {
        name: [_cell(cell, name, i, index) for i, cell in enumerate(columns[name])]
        if name in columns
        else [_cell(cells, name, None, index)] * len(index)
        for name, cells in sides.items()
    }
    return list(zip(index.tolist(), read["truth"], read["estimate"], strict=True))


def _cell(cell: Any, name: str, row: int | None, index: pd.Index) -> Cell:
    where = name if row is None else name_row(row, index, name)
    if cell is None or (pd.api.types.is_scalar(cell) and pd.isna(cell)):
        raise ValueError(f"{where} is missing; leave failed runs out")
    models = as_models(cell)
    if not models or (name == "truth" and len(models) > 1):
        raise ValueError(f"{where}: expected {'one model' if name == 'truth' else 'a model'}, found {len(models)}")
    return models


def _rows(
    measure: str, counts: Mapping[int, NDArray[np.float64]], vocabulary: Vocabulary
) -> list[tuple[str, str, str, float, float]]:
    return [
        (
            measure,
            literal_text(next(iter(vocabulary.decode(outcome))), multi_value=vocabulary.multi_value),
            component,
            *count[:, i].tolist(),
        )
        for outcome, count in counts.items()
        for i, component in enumerate(COMPONENTS)
    ]
