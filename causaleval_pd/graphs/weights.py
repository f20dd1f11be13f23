"""Weights of edges: how to cut them, in messages about graphs that hold weights."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..contract.cells import is_missing

#: the threshold of NOTEARS (doi:10.48550/arXiv.1803.01422), taken where it suits the weights
_USUAL = 0.3
#: a number as tools print it: <0.001, 98 %, 0,5, 1.2e-5***
_NUMBER = re.compile(r"[<>=~\s]*[-+]?(?:\d[\d.,]*|\.\d+)(?:e[-+]?\d+)?[\s%*]*", re.I)
_FLAGS = {"true": 1, "false": 0}
_BLANK = {"", "na", "nan", "none", "null", "."}
#: columns that number the rows of a table
_ROW_NUMBERS = {"", "id", "index", "row", "no", "nr", "#", "unnamed: 0"}
#: attributes of edges that state how these are numbered and drawn
_DRAWN = {"id", "key", "penwidth", "len", "minlen", "width", "fontsize", "labeldistance", "labelangle"}
_DRAWN |= {"arrowsize", "pos", "lp", "labelfontsize"}
#: columns of bnlearn's boot.strength: the share of an edge, and that of its direction given the edge
BOOTSTRAP = ("strength", "direction")
#: columns that number runs, data sets and the like
_RUN = re.compile(
    r"(?:run|seed|rep(?:licate|etition)?|iter(?:ation)?|fold|trial|data[ _.-]?set|graph|network|sim(?:ulation)?|"
    r"batch|bootstrap|draw|job)s?(?:[ _.-]?(?:id|no|nr|number))?|id",
    re.I,
)
_RANK = re.compile(r"(?:.*[ _.-])?rank(?:ing|s)?", re.I)
#: words of names: letters and the digits that follow them, up to a change of case
_WORD = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*|\d+")
_STATISTIC = r"(?:t|z|f|chi2?|chisq)"
_TEST = (
    rf"(?:{_STATISTIC}|raw|nominal|unadjusted|(?:un)?corr(?:ected)?|unc|bonferroni|holm|bh|by|perm(?:utation)?|"
    "f?tests?|matrix)"
)
#: names of p-values, their words in lower case: p-value, padj or FDR among them, or a lone p or q at the end or before
#: words of tests only, unlike the probability of something, such as p_link
_P_VALUE = re.compile(
    r".*\b(?:(?:adj|max|min|raw)?[pq](?:val\w*|adjs?\b)|[pq] (?:vals?|values?|adj(?:usted)?)\b|\w*fdr).*|"
    rf"(?:.* )?(?:[pq]s?(?: {_TEST})*|pr(?: {_STATISTIC})+)"
)
#: what makes large numbers of small p-values, as 1 - p and -log10(p)
_TURNED = re.compile(r"\s*(?:-|(?:1|one)[ _]*(?:-|minus)|(?:neg(?:ative)?|minus)[ _.-]*(?:log|p))", re.I)


def explain_weights(source: ArrayLike, target: ArrayLike, weights: ArrayLike, edges: str = "W") -> str:
    """Return how to make a graph of other numbers than 0 and 1, given as its arcs, a graph without weights."""
    values = np.asarray(weights, np.float64)
    if not np.isfinite(values).all():
        return "drop missing and infinite weights, as by np.nan_to_num(W, posinf=0, neginf=0) where they are no edges"
    if np.isin(values, (-1, 0, 1, 2, 3)).all():
        return "decode endpoint codes first, or name their encoding= (see list_encodings)"
    size = np.abs(values)
    cut = advised_threshold(size[size > 0])
    low, high = np.minimum(source, target), np.maximum(source, target)

    def count(kept: NDArray[np.bool_]) -> str:
        arcs = int(kept.sum())
        pairs = len(set(zip(low[kept].tolist(), high[kept].tolist(), strict=True)))
        return f"{pairs} edge{'s' * (pairs != 1)}" + (f", {arcs - pairs} of them undirected" if arcs > pairs else "")

    return (
        f"threshold weights by their size, as in abs({edges}) > {cut:g}: {count(size > cut)}; {edges} != 0 would make "
        f"{count(size > 0)}"
    )


def advised_threshold(size: ArrayLike) -> float:
    """Return a round threshold for weights by size: .3 where a tenth of the largest is smaller, else in proportion."""
    largest = float(np.max(size))
    return _USUAL if largest / 10 <= _USUAL < largest else float(f"{largest / math.sqrt(10):.1g}")


def as_floats(column: pd.Series) -> pd.Series:
    """Return a column as numbers: NaN for what is none, infinity for integers beyond the largest float."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        large = column.map(lambda x: isinstance(x, int) and abs(x) > sys.float_info.max)
        return pd.to_numeric(column.mask(large, math.inf), errors="coerce")


def unread_numbers(table: pd.DataFrame, read: Collection[Hashable]) -> list[Hashable]:
    """Return the columns of a table of edges with numbers, also as text, that are not read, ones or row numbers."""
    return [name for name in table.columns if name not in read and _holds_numbers(table[name], name)]


def _holds_numbers(column: pd.Series, name: Hashable) -> bool:
    known = [_plain(value) for value in column.tolist() if not _is_blank(value)]
    if not known or not all(isinstance(x, (int, float, np.number)) or _is_number(x) for x in known):
        return False
    numbers = as_floats(pd.Series(known, dtype=object)).tolist()
    if str(name).strip().lower() in _ROW_NUMBERS and numbers in ([*range(len(column))], [*range(1, len(column) + 1)]):
        return False
    return any(number != 1 for number in numbers)


def _plain(value: Any) -> Any:
    """Return a flag, printed or not, as a number, and other values as they are."""
    if isinstance(value, np.bool_):
        return int(value)
    return _FLAGS.get(value.strip().lower(), value) if isinstance(value, str) else value


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in _BLANK
    return is_missing(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value) is not None


def explain_numbers(table: pd.DataFrame, names: Sequence[Hashable], read: Sequence[Hashable]) -> str:
    """Return a message for columns of numbers in a table of edges of which the columns `read` are read."""
    what = f"column {names[0]!r}" if len(names) == 1 else f"columns {', '.join(map(repr, names))}"
    first = table[names[0]].dropna().iloc[0]
    kept = " & ".join(f"(table[{name!r}] {_cut(table[name], name)})" for name in names)
    message = (
        f"found numbers in the {what} (first {first!s:.20}), which a graph does not keep; drop the {what} if every row "
        f"is an edge, or keep the rows that are edges, as table.loc[{kept}, {list(read)!r}]"
    )
    if all(map(is_p_value, names)):
        return message
    shares = [name for name in names if str(name).strip().lower() in BOOTSTRAP]
    ranking = shares if len(shares) == len(BOOTSTRAP) else names[:1]
    return (
        f"{message}; to rank edges by {'it' if len(ranking) == 1 else 'both'}, make a column of scores, as "
        f"score_column([table[{[*read[:2], *ranking]!r}]], nodes=nodes)"
    )


def refuse_groups(table: pd.DataFrame, read: Collection[Hashable]) -> None:
    """Refuse columns that are not read and divide a table of edges into several graphs: texts, and numbers of runs."""
    groups = [name for name in table.columns if name not in read and _divides(table[name], name)]
    if not groups:
        return
    name = groups[0]
    values = pd.unique(table[name].dropna()).tolist()
    by = groups if len(groups) > 1 else name
    missing = ", dropna=False" if table[groups].isna().any(axis=None) else ""
    raise ValueError(
        f"found {len(values)} values in the column {name!r:.60} (first {', '.join(f'{x!r:.30}' for x in values[:2])}) "
        "of a table of edges, which is one graph; make one graph of each group, as "
        f"[g.drop(columns={by!r}) for _, g in table.groupby({by!r}{missing})], or drop the column if the table is one "
        "graph"
    )


def _divides(column: pd.Series, name: Hashable) -> bool:
    """Return whether a column has several values that are words, or numbers under the name of a run or data set."""
    values = [value for value in column.tolist() if not _is_blank(value)]
    if not all(isinstance(value, (str, int, float, np.number)) for value in values):
        return False
    known = {value.strip() if isinstance(value, str) else value for value in values}
    if len(known) < 2 or (str(name).strip().lower() in _ROW_NUMBERS and len(known) == len(column)):
        return False
    if _RUN.fullmatch(str(name).strip()) is not None:
        return True
    if not all(isinstance(value, str) for value in known):
        return False
    return any(isinstance(_plain(value), str) and not _is_number(value) for value in known)


def is_rank(name: Hashable) -> bool:
    """Return whether a column holds ranks, of which the first is the best, by its name."""
    return _RANK.fullmatch(str(name).strip()) is not None


def is_p_value(name: Hashable) -> bool:
    """Return whether a column holds p-values, by its name."""
    words = " ".join(_WORD.findall(str(name))).lower()
    return _P_VALUE.fullmatch(words) is not None and _TURNED.match(str(name)) is None


def _cut(column: pd.Series, name: Hashable) -> str:
    """Return how numbers of a column are cut, for messages."""
    if is_p_value(name):
        return "< 0.05"
    if is_rank(name):
        return f"<= {as_floats(column).median():.0f}"
    size = as_floats(column).abs().dropna()
    if size.empty or (size <= 1).all():
        return "> 0.5"
    return f"> {advised_threshold(size[size > 0]):g}"


def refuse_numbers(edges: Iterable[Mapping[Any, Any]], read: Collection[str]) -> None:
    """Refuse numbers in attributes of edges that are not read, unless they are 1, or 0, wherever they stand."""
    numbers: dict[Any, list[Any]] = {}
    for attributes in edges:
        for name, value in attributes.items():
            if name in read or str(name).lower() in _DRAWN or isinstance(value, bool):
                continue
            if _is_number(value) or (isinstance(value, (int, float, np.number)) and not math.isnan(value)):
                numbers.setdefault(name, []).append(value)
    for name, values in numbers.items():
        if {*pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")} not in ({1}, {0}):
            raise ValueError(
                f"found numbers in the attribute {name!r} of edges (first {values[0]!s:.20}), which a graph does not "
                "keep; leave the attribute out if every edge counts, or keep the edges above a threshold without it"
            )
