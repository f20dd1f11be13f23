"""Match controls to rows: the null model, the class of the controls, the given controls of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_known, check_number, check_type, check_whole, nearest
from ..contract.field import Field
from ..contract.metric import Metric
from ..contract.null import Controls, Matching, Null, NullLike, null_model
from ..contract.pairs import Pairs
from ..execution.random_streams import row_keys
from .columns import column
from .tasks import Task


def shared_key(seed: int) -> np.uint64:
    """Return the one random stream of rows that share their draws."""
    return np.uint64(row_keys(pd.DataFrame(index=[0]), None, seed)[0])


def check_settings(n_draws: int | None, level: float, method: str, p_rule: str, stop_after: int | None = None) -> None:
    """Refuse settings that no control can be made with."""
    for name, number in (("n_draws", n_draws), ("stop_after", stop_after)):
        if number is not None:
            check_whole(number, name, 1)
    check_number(level, "level", "(0, 1)")
    check_known(method, ("auto", "exact", "moments", "simulate"), "method")
    check_known(p_rule, ("add_one", "share", "mid"), "p_rule")
    if stop_after is not None and p_rule != "add_one":
        raise ValueError(f"p_rule={p_rule!r} does not go with stop_after=, whose p is h / l or (b + 1) / (n + 1)")


def check_directions(metrics: Sequence[Metric]) -> None:
    """Refuse metrics that know no better and worse: a control can be neither."""
    if not metrics:
        raise ValueError("no metrics were named; controls need at least one")
    aimless = [m.name for m in metrics if m.direction is None]
    if aimless:
        raise ValueError(
            f"{', '.join(aimless)} describes a row and has no direction, so no control can be as good; "
            "use evaluate for it"
        )


def find_null(field: Field, null: NullLike | None, *, permute: bool = True) -> Null:
    """Return a field's null model with the user's options."""
    if isinstance(null, (list, tuple)):
        raise ValueError(f"null must be one null model here, found {len(null)}; cube(null=[...]) takes several")
    chosen = null_model(field.default_null if null is None else null)
    if isinstance(chosen.model, str):
        if chosen.model not in field.nulls:
            raise ValueError(
                f"unknown null {chosen.model!r} for field {field.name!r}; {nearest(chosen.model, field.nulls)}its null "
                f"models: {', '.join(field.nulls)}"
            )
        model = field.nulls[chosen.model]
    elif field.custom_null is None:
        raise ValueError(f"field {field.name!r} takes no function as null; its null models: {', '.join(field.nulls)}")
    else:
        model = field.custom_null(chosen.model, chosen.name)
    options = {**chosen.options, **({} if permute else {"permute": False})}
    for name in options:
        if name not in model.options:
            raise ValueError(
                f"null {model.name!r} has no option {name!r}; its options: {', '.join(model.options) or 'none'}"
            )
    return replace(model, name=chosen.name, options={**model.options, **options})


def control_kinds(table: pd.DataFrame, control_kind: str | None) -> NDArray[np.object_] | None:
    """Return the stated class of each row's controls: one word for all, or a column's words."""
    if control_kind is None:
        return None
    check_type(control_kind, str, "a class of graphs or the name of a column", "control_kind")
    if control_kind in table.columns:
        return column(table, control_kind, "control_kind").to_numpy(object)
    return np.full(len(table), control_kind, object)


@dataclass(frozen=True)
class GivenControls(Controls):
    """One control a row that the user's table holds.

    Attributes
    ----------
    pairs : Pairs
        The rows' truths with the given controls.
    """

    pairs: Pairs

    @property
    def kind(self) -> NDArray[np.object_]:
        """The word "given" a row."""
        return np.full(self.pairs.n, "given", object)

    @property
    def work(self) -> float:
        """Nothing is drawn."""
        return 0.0

    def draw(self, start: int, count: int) -> Pairs:
        """Return the given pairs; there is one draw, number 0."""
        if (start, count) != (0, 1):
            raise ValueError(
                f"a column of controls holds one draw a row, asked for draws {start} to {start + count - 1}"
            )
        return self.pairs


def given_controls(task: Task, cells: pd.Series, name: str) -> Null:
    """Make a null model of a column that holds one control a row.

    Parameters
    ----------
    task : Task
        The cells that the controls belong to.
    cells : Series
        The controls, in the rows' order.
    name : str
        Name of the column.

    Returns
    -------
    Null
        A model whose draw 0 is the column.

    Raises
    ------
    ValueError
        If a row with an estimate has no control, or one over other nodes.
    """
    controls = task.field.coerce(cells, name)
    lacking = task.field.missing(controls) & ~task.field.missing(task.estimate) & ~task.field.missing(task.truth)
    if lacking.any():
        raise ValueError(
            f"column {name!r} has no control in rows {np.flatnonzero(lacking)[:5].tolist()}, which have an estimate"
        )

    def of_batch(matching: Matching, rows: NDArray[np.int64], pairs: Pairs, keys: NDArray[np.uint64]) -> Controls:
        extra = None if matching.context is None else matching.context.take(rows)
        [(order, found)] = task.field.batches(matching.truth.iloc[rows], controls.iloc[rows], extra)
        return GivenControls(found.take(np.argsort(order)))

    return Null(f"column {name}", f"the controls of column {name}", of_batch)
