"""The null model `search`: the models that the user's own method finds in data whose outcomes are shuffled.

A permutation test of the whole search: what a method makes of data in which the outcomes do not depend on the other
factors, with its sizes, signs, ambiguities and thresholds, is the guess that its models are compared with [1]_.

References
----------
.. [1] Braumoeller, B. F. (2015). Guarding against false positives in Qualitative Comparative Analysis. Political
   Analysis 23. doi:10.1093/pan/mpv017
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, check_type, shown
from ...contract.null import Controls, DrawnControls, Matching, Null, draw_stream, register_null
from ...execution.engines import stop_if_unwanted
from .field import FORMULAS
from .formula import set_text
from .pairs import FormulaCells, FormulaPairs
from .reader import Cell, as_models, parse_set
from .truth_table import Setting, factor_columns, refuse_case_numbers

SHUFFLES = ("outcomes", "within")
#: nanoseconds that a run of the method takes at least: every row is a unit of work of its own
_RUN = 1e7
#: rough bytes of a control while it is scored
_CONTROL_BYTES = 20_000
#: results that are kept in memory
_MAX_KEPT = 100_000


@dataclass(frozen=True, eq=False)
class Search:
    """A method with the data that it was run on."""

    method: Callable[..., Any]
    data: pd.DataFrame
    #: whether the method takes random numbers, as `rng=`
    random: bool
    #: name of the method, by which its results are kept
    name: str

    @classmethod
    def of(cls, values: Any) -> Search:
        """Check the inputs of a row's context."""
        method, data = values.get("method"), values.get("search_data", values.get("data"))
        if method is None or data is None:
            lacking = "method" if method is None else "search_data"
            raise ValueError(
                f"null='search' runs a method again on shuffled data, and the context has no {lacking!r}; pass "
                "context={'method': function, 'search_data': frame}, or ('column', {name: object}) for each"
            )
        if not callable(method):
            raise TypeError(f"method must be a function of a DataFrame that returns models, found {shown(method)}")
        check_type(data, pd.DataFrame, "a DataFrame with one column per factor", "search_data")
        try:
            random = "rng" in inspect.signature(method).parameters
        except (TypeError, ValueError):  # a function of compiled code has no signature
            random = False
        return cls(method, data, random, _name(method))

    def shuffled(self, outcomes: Sequence[str], how: str, rng: np.random.Generator) -> pd.DataFrame:
        """Return the data with permuted columns of outcomes."""
        # "outcomes" permutes the rows of all outcomes together; "within" each outcome on its own among the cases that
        # agree in all other factors.
        place = {str(name).upper(): i for i, name in enumerate(self.data.columns)}
        moved = [place[name] for name in outcomes if name in place]
        n, frame = len(self.data), self.data.copy()
        if how == "outcomes":
            order = rng.permutation(n)
            for i in moved:
                frame.isetitem(i, self.data.iloc[order, i].array)
            return frame
        others = self.data.iloc[:, [i for i in range(len(place)) if i not in moved]]
        group = others.groupby(list(others.columns), sort=False, dropna=False).ngroup() if others.shape[1] else 0
        groups = np.broadcast_to(np.asarray(group), n)
        base = np.argsort(groups, kind="stable")
        for i in moved:
            order = np.empty(n, np.int64)
            order[base] = np.lexsort((rng.random(n), groups))
            frame.isetitem(i, self.data.iloc[order, i].array)
        return frame


def _name(method: Callable[..., Any]) -> str:
    """Name a function, or a partial function with what it binds."""
    inner = getattr(method, "func", None)
    if inner is not None:
        return f"{_name(inner)}{getattr(method, 'args', ())}{sorted(getattr(method, 'keywords', {}).items())}"
    return f"{getattr(method, '__module__', '')}.{getattr(method, '__qualname__', type(method).__qualname__)}"


@dataclass(frozen=True)
class Prepared:
    """What the controls of a table share."""

    searches: tuple[Search, ...]
    shuffle: str
    #: texts of models found in data, by a digest of method and data
    results: dict[str, str] = field(default_factory=dict)


def prepare_search(matching: Matching) -> Prepared:
    """Check the inputs and options of a table's controls."""
    shuffle = matching.options.get("shuffle", "outcomes")
    check_known(shuffle, SHUFFLES, "value of shuffle")
    values = ({},) if matching.context is None else matching.context.values
    searches = tuple(map(Search.of, values))
    if shuffle == "within":
        for search in searches:
            refuse_case_numbers(search.data)
    names = {id(search.method): search.name for search in searches}
    if len(set(names.values())) < len(names):
        raise ValueError(
            f"results are stored by the method's name, and two methods have one: {sorted(names.values())}; write each "
            "as a function with a name of its own"
        )
    return Prepared(searches, shuffle)


def _found(
    search: Search, prepared: Prepared, data: pd.DataFrame, rng: np.random.Generator, draw: tuple[int, int], where: str
) -> Cell | None:
    """Return the models that a method finds in shuffled data, or those that it found in equal data before."""
    names = [str(name).upper() for name in data.columns]
    numbers = np.stack(list(factor_columns(data, names).values()), axis=1) if names else np.empty((len(data), 0))
    parts = (search.name, names, numbers.shape, draw if search.random else None)
    digest = hashlib.blake2b(repr(parts).encode() + numbers.tobytes(), digest_size=16).hexdigest()
    text = prepared.results.get(digest)
    if text is None:
        models = search.method(data, rng=rng) if search.random else search.method(data)
        try:
            text = "" if models is None else set_text(as_models(models))  # nothing for a failed run
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: null 'search': {search.name} returned no models: {error}") from error
        if len(prepared.results) >= _MAX_KEPT:
            prepared.results.clear()
        prepared.results[digest] = text
    return parse_set(text) if text else None


def search_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's method, data and outcomes."""
    codes = np.zeros(len(rows), np.int64) if matching.context is None else matching.context.codes[rows]
    prepared: Prepared = matching.prepared

    def drawn(start: int, count: int) -> FormulaPairs:
        # where rows are judged relative to data, controls are judged relative to the data in which they were found
        cells: list[Cell | None] = []
        settings: dict[Setting, int] = {}
        numbers: list[int] = []
        for position, (row, key) in enumerate(zip(rows.tolist(), keys.tolist(), strict=True)):
            setting, search = pairs.setting(position), prepared.searches[int(codes[position])]
            where = matching.where(row)
            models = (pairs.true_model(position), *pairs.estimated_models(position))
            outcomes = sorted({name for model in models for name, _ in model.outcomes})
            for number in range(start, start + count):
                stop_if_unwanted()
                rng = draw_stream(key, number)
                data = search.shuffled(outcomes, prepared.shuffle, rng)
                cells.append(_found(search, prepared, data, rng, (key, number), where))
                if setting.data is not None:
                    setting = setting.with_data(data)
                numbers.append(settings.setdefault(setting, len(settings)))
                try:
                    for model in cells[-1] or ():
                        setting.check(model, relative=True)
                except ValueError as error:
                    raise ValueError(f"{where}: null 'search': {error}") from None
        controls = pairs.with_estimates(cells, np.repeat(np.arange(pairs.n), count))
        # expositions are kept by setting, and these settings live no longer than the pairs
        truth = FormulaCells(controls.truth.cells, kinds=controls.truth.kinds)
        index = np.array(numbers, np.int64)
        paired: FormulaPairs = replace(controls, truth=truth, setting_index=index, settings=tuple(settings))
        return paired

    return DrawnControls(pairs, "found in shuffled data", drawn, cost=_CONTROL_BYTES, work=_RUN)


register_null(
    FORMULAS.name,
    Null(
        "search",
        "models that the row's method finds in its data with shuffled outcomes",
        search_controls,
        prepare=prepare_search,
        options={"shuffle": "outcomes"},
    ),
)
