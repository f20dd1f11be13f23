"""History: the calls that made a result, with versions, conventions, null models and seeds, in its attributes.

`table.attrs["causaleval_pd_history"]` is a list of calls, the last one last. A call is a dict of JSON values, so that
attributes survive Parquet and equal ones compare equal: NaN is "nan". The attribute of a cube holds the list as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

from ..contract.checks import shown
from ..contract.metric import Metric
from ..contract.null import Null
from ..versions import versions

#: the attribute
HISTORY = "causaleval_pd_history"

#: numbers of an array that a record holds; larger ones are described by their shape
MOST_NUMBERS = 64

Call = dict[str, Any]


def call(verb: str, settings: Mapping[str, Any]) -> Call:
    """Return the record of a call: the verb, its settings as JSON values, and the versions that numbers depend on."""
    return {"verb": verb, **{name: _plain(value) for name, value in settings.items()}, "versions": versions()}


def calls(attrs: Mapping[Any, Any]) -> list[Call]:
    """Return the calls that the attributes of a table or cube record, none if they record none."""
    entries = attrs.get(HISTORY, [])
    try:
        entries = json.loads(entries) if isinstance(entries, str) else entries
    except ValueError:
        entries = None
    if not (isinstance(entries, list) and all(isinstance(one, dict) for one in entries)):
        raise ValueError(
            f"the attribute {HISTORY!r} holds {shown(attrs[HISTORY])}, expected the list of calls that verbs write; "
            "delete it"
        )
    return deepcopy(entries)


def remember(table: pd.DataFrame, made_by: Sequence[Call], attrs: Mapping[Hashable, Any] | None = None) -> pd.DataFrame:
    """Set the calls that made a table as its attribute, besides the attributes of the table that it was made from."""
    table.attrs = {**deepcopy(dict(attrs or {})), HISTORY: list(made_by)}
    return table


def metric_settings(metrics: Sequence[Metric]) -> dict[str, Any]:
    """Return the names of metrics, and the options of those that have any."""
    whole = {m.name: m for m in (m if m.component is None else m.component.whole for m in metrics)}
    options = {name: {k: v for k, v in m.options.items() if k != "zero_division"} for name, m in whole.items()}
    return {"metrics": list(whole), "options": {name: settings for name, settings in options.items() if settings}}


def null_settings(models: Sequence[Null]) -> dict[str, Any]:
    """Return the names of null models, and the options of those that have any."""
    return {
        "null": list(dict.fromkeys(model.name for model in models)),
        "null_options": {model.name: model.options for model in models if model.options},
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what JSON lacks as a word: "nan", "inf", the name of a function or of a type."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(x) for name, x in value.items()}
    if isinstance(value, np.ndarray) and value.size > MOST_NUMBERS:
        return f"array of shape {value.shape}"
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return [_plain(x) for x in (sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)]
    return getattr(value, "__name__", None) or (str(value) if pd.api.types.is_scalar(value) else type(value).__name__)
