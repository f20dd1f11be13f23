"""Answered tables: checked columns, keys and cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...contract.checks import check_known, check_type, name_row, nearest
from ..worlds.world import WORLDS
from .yes_counts import Floats

#: columns that an answered table must have; `replicate` is optional and then 0
ANSWER_COLUMNS = ("task", "sample", "cause", "effect", "world", "truth", "answer")


def check_answers(answers: pd.DataFrame, by: Sequence[str] | str | None) -> tuple[pd.DataFrame, list[str]]:
    """Check an answered table; return its needed columns, answers as 1, 0 or NaN, and the names of the settings."""
    if not isinstance(answers, pd.DataFrame):
        raise TypeError(f"answers must be a pandas DataFrame, found {type(answers).__name__}")
    settings = setting_names(by)
    for name in (*ANSWER_COLUMNS, *settings):
        if name not in answers.columns:
            near = nearest(name, answers.columns)
            hint = "make it by ce.reasoning.ask or a baseline; " if name == "answer" else near
            columns = list(answers.columns)
            raise ValueError(f"the answered table has no column {name!r}; {hint}its columns are {columns}")
        if isinstance(answers[name], pd.DataFrame):
            raise ValueError(f"the answered table has several columns {name!r}; column names must be unique")
    if reserved := [name for name in settings if name in (*ANSWER_COLUMNS, "replicate")]:
        raise ValueError(
            f"by names {reserved}, which identify questions; name settings such as the model "
            "(answer_scores splits its rows by these columns with within=)"
        )
    table = answers[[*settings, *ANSWER_COLUMNS]].copy()
    table["replicate"] = answers["replicate"].to_numpy() if "replicate" in answers.columns else 0
    for name in ("truth", "answer"):
        table[name] = as_bits(answers[name], name)
    for world in pd.unique(table["world"]):
        check_known(world, WORLDS, "world of a question:")
    if table["truth"].isna().any():
        row = int(table["truth"].isna().to_numpy().argmax())
        raise ValueError(f"{name_row(row, answers.index, 'truth')} is missing; every question has a true answer")
    if (missing := table["sample"].isna().to_numpy()).any():
        raise ValueError(f"{name_row(int(missing.argmax()), answers.index, 'sample')} is missing; number the samples")
    _check_keys(table, settings, answers.index)
    return table.reset_index(drop=True), settings


def setting_names(by: Sequence[str] | str | None) -> list[str]:
    """Return the names of settings as a list."""
    if by is not None:
        check_type(by, (str, list, tuple), "the name of a column or a list of names", "by")
    return [by] if isinstance(by, str) else list(by or [])


def as_bits(cells: pd.Series, name: str) -> Floats:
    """Return booleans as 1, 0 or NaN."""
    if isinstance(cells.dtype, (np.dtype, pd.BooleanDtype)) and cells.dtype in ("bool", "boolean"):
        return np.asarray(cells.astype("boolean").to_numpy(np.float64, na_value=np.nan))
    known = cells.dropna()
    if not known.isin([True, False]).all():
        odd = known[~known.isin([True, False])].iloc[0]
        raise ValueError(
            f"column {name!r} must hold True, False or missing, found {odd!r}; read texts by ce.reasoning.parse_answers"
        )
    return np.asarray(cells.astype("boolean").to_numpy(np.float64, na_value=np.nan))


def _check_keys(table: pd.DataFrame, settings: list[str], index: pd.Index) -> None:
    """Refuse two answers to one question of one unit, which would be pooled silently."""
    keys = [*settings, "task", "sample", "replicate", "cause", "effect", "world"]
    repeated = table.duplicated(keys, keep=False).to_numpy()
    if repeated.any():
        row = int(np.argmax(repeated))
        found = table.iloc[row][keys].to_dict()
        raise ValueError(
            f"{name_row(row, index)}: the question {found} is answered more than once; pass the columns of reasoners "
            "or prompts as by=, or number repeats in a column 'replicate'"
        )
