"""Printed metrics of graphs: their numbers are compared with each other, and random graphs put beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from ..contract.checks import check_known, name_row
from ..contract.metric import Metric, tweak
from .bounds import CONVENTION_OPTIONS, CONVENTIONS
from .consistency import check_distance, check_values, check_whole_counts
from .controls import Draws, controls
from .guesses import Guesses, Printed, rescaled
from .printed_numbers import PrintedNumber, decimals_of, half_unit, read_column
from .printed_rows import Row, check_graph_columns, read_rows

#: how distances are counted where a table does not say
_USUAL = "any difference 1"


def graph_guesses(
    table: pd.DataFrame,
    printed: Mapping[Metric, Sequence[Printed]],
    deviations: Mapping[Metric, Sequence[PrintedNumber]],
    constant: Sequence[str],
    spread: str | None,
    draws: Draws,
) -> dict[Metric, list[Guesses]]:
    """Return the random graphs of each row, after its numbers were compared with each other."""
    check_graph_columns(table)
    rows = read_rows(table, constant)
    conventions = _conventions(table)
    values = [{m: x[i].value for m, x in printed.items()} for i in range(len(rows))]
    slack = [{m.name: x[i].slack for m, x in printed.items()} for i in range(len(rows))]
    spreads = [
        [_deviation(row, m, deviations[m][i], spread, f"{m.name}_sd" in table) for m in printed]
        for i, row in enumerate(rows)
    ]
    # rows that say the same are judged once
    keys = [
        repr(
            (
                row._replace(name="", truth=None),
                None if row.truth is None else i,
                conventions[i],
                *values[i].values(),
                spreads[i],
            )
        )
        + repr(slack[i])
        for i, row in enumerate(rows)
    ]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    distinct = sorted(first.values())
    usual = [
        {m: x for m, x in values[i].items() if m.name != "shd" or conventions[i] == _USUAL} for i in range(len(rows))
    ]
    for i in distinct:
        check_values(rows[i], usual[i], slack[i])
        for m, x in printed.items():
            if m.name == "shd" and not m.options:
                check_distance(rows[i], x[i]._replace(convention=conventions[i]), values[i], slack[i])
    check_whole_counts([rows[i] for i in distinct], [usual[i] for i in distinct], [slack[i] for i in distinct])
    judged: dict[int, dict[Metric, Guesses]] = {}
    for i in distinct:
        of_row = {}
        for (m, x), of_runs in zip(printed.items(), spreads[i], strict=True):
            one = Printed(x[i].value, x[i].slack, *of_runs)
            if m.name == "shd" and not m.options:
                options, scale = CONVENTION_OPTIONS[conventions[i]]
                sides = (one.value / scale, one.slack / scale, one.sd / scale, one.sd_slack / scale)
                one = Printed(*sides, one.unclear, conventions[i], scale)
                of_row[tweak(m, **options) if options else m] = one
            else:
                of_row[m] = one
        by_name = controls(rows[i], of_row, draws)
        judged[i] = {
            chosen: rescaled(by_name[m.name], one.scale)
            for (m, one), chosen in zip(of_row.items(), printed, strict=True)
        }
    return {m: [judged[first[key]][m] for key in keys] for m in printed}


def _conventions(table: pd.DataFrame) -> list[str]:
    """Return how the distance of each row charges differences."""
    if "shd_convention" not in table:
        return [_USUAL] * len(table)
    conventions = [_USUAL if pd.isna(x) else x for x in table["shd_convention"]]
    for i, x in enumerate(conventions):
        check_known(x, tuple(CONVENTIONS), f"shd_convention in {name_row(i, table.index)}")
    return conventions


def printed_deviations(
    table: pd.DataFrame, metric: Metric, cells: Sequence[PrintedNumber], spread: str | None
) -> list[PrintedNumber]:
    """Return printed deviations over the runs: those of their own column, else those beside the values."""
    name = f"{metric.name}_sd"
    beside = [PrintedNumber(x.spread, x.spread_decimals) for x in cells]
    if name not in table:
        return beside
    if spread is not None and any(not math.isnan(x.value) for x in beside):
        raise ValueError(f"deviations of {metric.name} are in the column {name!r} and beside its values; omit spread=")
    numbers = read_column(table, name)
    places = max((decimals_of(x.value) for x in numbers), default=0)
    return [x if x.decimals is not None else PrintedNumber(x.value, places) for x in numbers]


def _deviation(
    row: Row, metric: Metric, printed: PrintedNumber, spread: str | None, stated: bool
) -> tuple[float, float, bool]:
    """Return the standard deviation of a metric's runs, half a unit of its last digit, and whether it is unclear."""
    sd = printed.value
    if math.isnan(sd):
        return math.nan, 0.0, False
    what = f"{metric.name}_sd" if stated else f"what follows {metric.name}"
    if sd < 0:
        raise ValueError(f"{row.name}: {what} is {sd:g}, but a deviation is not negative")
    if row.n_runs == 1 and sd > 0:
        raise ValueError(f"{row.name}: {what} is {sd:g}, but n_runs is 1; n_runs counts the runs of a row")
    if not stated and spread is None:
        return math.nan, 0.0, True
    widest = (metric.range[1] - metric.range[0]) / 2
    if sd > widest * math.sqrt(2) + half_unit(printed.decimals or 0):
        least, most = metric.range
        raise ValueError(f"{row.name}: {what} is {sd:g}, but values from {least:g} to {most:g} have less")
    scale = math.sqrt(row.n_runs or math.nan) if spread == "se" and not stated else 1.0
    return scale * sd, scale * half_unit(printed.decimals or 0), False
