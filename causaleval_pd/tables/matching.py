"""Match controls to rows: null models, random streams and classes of controls."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_type
from ..contract.field import Field
from ..contract.metric import Metric
from ..contract.null import Matcher, Matching, Null
from ..execution.random_streams import row_keys
from .clusters import SINGLE, Clusters
from .columns import column_or_level
from .settings import NullChoice, NullLike, Nulls, null_model
from .tasks import Task


@dataclass(frozen=True)
class Matches:
    """What the controls of a table's rows are matched by, whatever the field."""

    #: seed of the call
    seed: int
    #: (n,): names of the rows' random streams
    keys: NDArray[np.uint64]
    #: (n,): class of each row's controls as the user stated it
    kinds: NDArray[np.object_] | None
    #: (n,): names of the streams that rows of a cluster share; None where every row has its own
    cluster_keys: NDArray[np.uint64] | None = None

    def keys_of(self, model: Null) -> NDArray[np.uint64]:
        """Return the names of the rows' streams; rows of a cluster share them where the model relabels estimates."""
        return self.cluster_keys if model.joint and self.cluster_keys is not None else self.keys

    def matcher(
        self,
        model: Null,
        task: Task,
        stratum: NDArray[np.int64] | None = None,
        cluster: NDArray[np.int64] | None = None,
    ) -> Matcher:
        """Prepare a null model for the rows of a task; those of a `cluster` share their labels."""
        matching = Matching(
            *(task.truth, task.estimate, self.kinds, stratum, model.options, task.context, None, cluster, task.metrics),
            keys=self.keys_of(model),
        )
        return model.match(matching)


def match_rows(table: pd.DataFrame, choice: NullChoice, clusters: Clusters | None = None) -> Matches:
    """Give each row its random streams, its own and that of its cluster, and its class of controls."""
    kinds = control_kinds(table, choice.control_kind)
    keys = row_keys(table, choice.key, choice.seed)
    if clusters is None or clusters.setting == SINGLE:
        return Matches(choice.seed, keys, kinds)
    return Matches(choice.seed, keys, kinds, clusters.keys(choice.seed))


def check_directions(metrics: Sequence[Metric]) -> None:
    """Refuse metrics without a direction: no control can be better or worse by them."""
    if not metrics:
        raise ValueError("no metrics were named; controls need at least one")
    aimless = [(m if m.component is None else m.component.whole).name for m in metrics if m.direction is None]
    if aimless:
        raise ValueError(
            f"{', '.join(dict.fromkeys(aimless))} has no direction: a control can be neither better nor worse by a "
            "description of the row; use evaluate, or a cube without controls, cube(..., n_draws=None)"
        )


def check_columns(metrics: Sequence[Metric]) -> None:
    """Refuse metrics of which one has the name of a column of another's controls, as `deviance_p` and `deviance`."""
    names = [m.name for m in metrics]
    for name in names:
        for part in ("_p", "_skill", "_p_method"):
            if name + part in names:
                raise ValueError(
                    f"the controls of {name} have a column {name + part!r}, which is also the name of a metric; call "
                    f"the verb for each of them, or rename one: ce.tweak({name + part!r}, name='...')"
                )


def find_null(field: Field, null: NullLike | None) -> Null:
    """Return a field's null model with the user's options."""
    if isinstance(null, (list, tuple)):
        raise ValueError(f"null must be one null model here, found {len(null)}; cube(null=[...]) takes several")
    chosen = null_model(field.default_null if null is None else null)
    if isinstance(chosen.model, str):
        if chosen.model not in field.nulls:
            field.nulls.load()
        if chosen.model not in field.nulls:
            raise ValueError(
                f"unknown null {chosen.model!r} for field {field.name!r}; {field.nulls.suggest(chosen.model)}its null "
                f"models: {', '.join(field.nulls) or 'none, add one by register_null'}"
            )
        model = field.nulls[chosen.model]
    elif field.custom_null is None:
        raise ValueError(f"field {field.name!r} takes no function as null; its null models: {', '.join(field.nulls)}")
    else:
        _check_arguments(chosen.model, chosen.name)
        model = field.custom_null(chosen.model, chosen.name)
    for name in chosen.options:
        if name not in model.options:
            raise ValueError(
                f"null {model.name!r} has no option {name!r}; its options: {', '.join(model.options) or 'none'}"
            )
    return replace(model, name=chosen.name, options={**model.options, **chosen.options})


def _check_arguments(function: Callable[..., Any], name: str) -> None:
    """Refuse a function that does not take an estimate and a generator, where it shows what it takes."""
    try:
        taken = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        taken.bind(None, None)
    except TypeError as error:
        raise TypeError(
            f"the null model {name!r} takes {taken}, and is called by {name}(estimate, rng): the estimate of a row and "
            "a numpy Generator; it returns a control"
        ) from error


def find_joint_null(field: Field, null: Nulls) -> Null:
    """Return the null model that draws the controls of candidates together; refuse others."""
    joint = field.joint_null
    what = "best_of= draws the controls of all candidates together"
    if joint is None:
        raise ValueError(f"{what}, and no null model of field {field.name!r} can")
    model = find_null(field, cast(NullLike, joint.name if null is None else null))
    if not model.joint:
        raise ValueError(
            f"{what}, and null={model.name!r} draws them one by one, which is valid only for candidates that guess "
            f"independently; use null={joint.name!r}, which relabels them alike"
        )
    return model


def find_models(tasks: Sequence[Task], choice: NullChoice) -> list[list[Null]]:
    """Return, for each null model of a call, the model of every task."""
    check_directions([m for task in tasks for m in task.metrics])
    if choice.best_of is not None:
        return [[find_joint_null(task.field, choice.null) for task in tasks]]
    wanted = named_nulls(choice.null)
    if not wanted:
        raise ValueError("null must name a null model, found an empty list; controls are not made by n_draws=None")
    models = [[find_null(task.field, one) for task in tasks] for one in wanted]
    twice = [name for name, n in Counter(by_task[-1].name for by_task in models).items() if n > 1]
    if twice:
        raise ValueError(f"null has {', '.join(twice)} twice; name each by ce.null_model(..., name=)")
    return models


def named_nulls(null: Nulls) -> list[NullLike | None]:
    """Return the null models of a call, one by one; None stands for the field's default."""
    return [null] if null is None or isinstance(null, str) or not isinstance(null, Sequence) else list(null)


def control_kinds(table: pd.DataFrame, control_kind: str | None) -> NDArray[np.object_] | None:
    """Return the stated class of each row's controls: one word for all, or a column's words."""
    if control_kind is None:
        return None
    check_type(control_kind, str, "a class of graphs or the name of a column", "control_kind")
    if control_kind in table.columns or control_kind in table.index.names:
        return column_or_level(table, control_kind, "control_kind").to_numpy(object)
    return np.full(len(table), control_kind, object)
