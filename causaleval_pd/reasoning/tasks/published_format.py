"""Readers of published compositional reasoning data: CSV tables that repeat each context in every row."""

from __future__ import annotations

import gzip
import json
import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import check_type, shown
from .inferred_functions import infer_functions
from .printed_values import parse_matrix, parse_printed
from .task_tables import COLUMNS, TaskTables

__all__ = ["read_published", "read_published_quantities"]

#: rows that are read at once; each repeats its context in full
ROWS_AT_ONCE = 5000

_KEYS = {"Context ID": "task", "Sample ID": "sample"}
_FACTUAL = {*_KEYS, "Effect", "Context", "Question", "True"}
_ARMS = {
    "do1": ("Question (cause = True)", "True (cause = True)"),
    "do0": ("Question (cause = False)", "True (cause = False)"),
}
_PAIRED = {*_KEYS, "Cause", "Effect", "Context", *(name for arm in _ARMS.values() for name in arm)}
_RAW = {
    *_KEYS,
    "DAG adjacency matrix",
    "DAG nodes",
    "CCT nodes",
    "Bernoulli parameters",
    "Causal context",
    "Sample context",
}

#: errors of compressed files that are cut or no such files
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, lzma.LZMAError)

_UNIQUE = {
    "questions": ["question"],
    "contexts": ["task", "sample", "replicate"],
    "truths": ["task", "sample", "question"],
}


def read_published(*paths: str | PathLike[str]) -> TaskTables:
    r"""Read CSV files in the published layout into tables in normal form.

    Files hold factual questions, paired interventional questions or raw samples, distinguished by their columns; pass
    all files of one data set together. Large files are read in chunks, and each context is kept once.

    Parameters
    ----------
    *paths : path
        CSV files, compressed ones too.

    Returns
    -------
    TaskTables
        `task` is the published context number. Raw files give nodes, noise rates and edges. No file states the
        functions of nodes; they are inferred from the true values of nodes and noise in the column "Factual queries" of
        raw files, and missing where its rows agree with AND as with OR, so that more rows are needed for exact
        quantities (`TaskTables.world`). Each context describes its world, so `worlds.text` is empty.

    Raises
    ------
    ValueError
        If a file has none of the three layouts, a cell cannot be parsed or was cut short, two rows contradict each
        other, or the values of a node agree neither with AND nor with OR nor with XOR.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> import io
    >>> from causaleval_pd.reasoning import read_published
    >>> text = "Context ID,Sample ID,Effect,Context,Question,True\n0,0,Y,X is on.,Is Y on?,True\n"
    >>> read_published(io.StringIO(text)).questionnaire()["truth"].tolist()
    [True]
    """
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in COLUMNS}
    kept = dict.fromkeys(COLUMNS, ROWS_AT_ONCE)
    for path in paths:
        for rows in _chunks(path):
            for name, table in _split(rows, path).items():
                parts[name].append(table)
            # contexts repeat within and across chunks; comparing keys costs less than comparing texts
            for name in ("worlds", "nodes", "edges", *_UNIQUE):
                # only once there are twice as many rows, so that the time is linear in their number
                if sum(map(len, parts[name])) > 2 * kept[name]:
                    keys = _UNIQUE[name] if name == "contexts" else None
                    parts[name] = [pd.concat(parts[name], ignore_index=True).drop_duplicates(keys)]
                    kept[name] = max(kept[name], len(parts[name][0]))
    tables = {name: _finished(name, found) for name, found in parts.items()}
    known = set(tables["worlds"]["task"])
    bare = [task for task in tables["contexts"]["task"].unique() if task not in known]
    added = pd.DataFrame({"task": bare, "theme": "published", "text": ""}).reindex(columns=COLUMNS["worlds"])
    tables["worlds"] = pd.concat([tables["worlds"], added], ignore_index=True) if bare else tables["worlds"]
    return TaskTables(**tables)


def read_published_quantities(path: str | PathLike[str]) -> pd.DataFrame:
    """Read published PNS or thresholds by context and pair or composition, from JSON.

    The published `.npy` files hold pickled maps. Unpickling can run any code, so they are refused; if you trust the
    file, write it as JSON once::

        stored = np.load(npy_file, allow_pickle=True).item()
        plain = {str(c): {str(k): float(v) for k, v in inner.items()} for c, inner in stored.items()}
        json.dump(plain, json_file)

    Parameters
    ----------
    path : path
        JSON file of a map by context of maps by printed tuple.

    Returns
    -------
    DataFrame
        task, path (the nodes), cause, effect, n_factors, value.

    Raises
    ------
    ValueError
        If the file is a `.npy` file, or not such a map.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> from causaleval_pd.reasoning import read_published_quantities
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "pns.json"
    ...     _ = file.write_text(json.dumps({"0": {"('X', 'Y')": 0.25}}), encoding="utf-8")
    ...     found = read_published_quantities(file)
    >>> found.to_dict("records")
    [{'task': 0, 'path': 'X>Y', 'cause': 'X', 'effect': 'Y', 'n_factors': 1, 'value': 0.25}]
    """
    file = Path(path)
    with file.open("rb") as opened:
        start = opened.read(6)
    if start == b"\x93NUMPY":
        raise ValueError(
            f"{file} is a .npy file, whose maps are pickled: unpickling can run any code, so it is not read; "
            "if you trust it, write it as JSON once, as the documentation of read_published_quantities shows"
        )
    try:
        stored = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"file {file} is not a JSON file: {error}") from error
    if not isinstance(stored, dict) or not all(isinstance(inner, dict) for inner in stored.values()):
        raise ValueError(f"file {file} must map each context to a map from printed tuples to numbers")
    rows = []
    for task, inner in stored.items():
        for key, value in inner.items():
            try:
                rows.append((_number(task), *_path(key), _quantity(value)))
            except (ValueError, TypeError, OverflowError) as error:
                raise ValueError(f"file {file}, context {shown(task)}, key {shown(key)}: {error}") from error
    table = pd.DataFrame(rows, columns=["task", "path", "cause", "effect", "n_factors", "value"])
    if (twice := table.duplicated(["task", "path"])).any():
        found = table.loc[twice, ["task", "path"]].iloc[0].to_dict()
        raise ValueError(f"file {file} has two values of {found}")
    return table


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a map, as JSON does, but refuse a repeated key, whose first value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {shown(name)} is repeated")
    return found


def _quantity(value: Any) -> float:
    if value is None:
        return float("nan")
    check_type(value, (int, float), "a number or null", "the value")
    return float(value)


def _chunks(path: Any) -> Iterator[pd.DataFrame]:
    """Yield the rows of a CSV file in parts."""
    # codes may look like numbers or like missing values
    names = {"Effect": "str", "Cause": "str"}
    try:
        with pd.read_csv(path, chunksize=ROWS_AT_ONCE, dtype=names, keep_default_na=False) as reader:
            yield from reader
    except (UnicodeError, pd.errors.ParserError, pd.errors.EmptyDataError, *_DAMAGED) as error:
        raise ValueError(f"file {path} is not a complete CSV file in UTF-8: {error}") from error


def _split(rows: pd.DataFrame, path: Any) -> dict[str, pd.DataFrame]:
    """Split rows into tables, by the layout of their columns."""
    rows = rows.rename(columns=_KEYS)
    rows["replicate"] = rows.get("Replicate ID", 0)
    names = {*rows.columns, *(old for old, new in _KEYS.items() if new in rows)}
    for layout, tables in ((_PAIRED, _paired), (_FACTUAL, _factual), (_RAW, _raw)):
        if names >= layout:
            try:
                return tables(rows)
            except (TypeError, ValueError) as error:
                raise ValueError(f"file {path}: {error}") from error
    raise ValueError(
        f"{path} has none of the published layouts; its columns are {[c for c in rows.columns if c != 'replicate']}; "
        f"factual questions have {sorted(_FACTUAL)}, paired ones {sorted(_PAIRED)}, raw samples {sorted(_RAW)}"
    )


def _contexts(rows: pd.DataFrame) -> pd.DataFrame:
    table = rows[["task", "sample", "replicate", "Context"]].rename(columns={"Context": "text"})
    return table.drop_duplicates(_UNIQUE["contexts"]).reindex(columns=COLUMNS["contexts"])


def _asked(
    rows: pd.DataFrame, world: str, cause: pd.Series | None, text: str, truth: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the questions and truths of one column of questions."""
    above = "" if cause is None else cause + ">"
    table = rows[["task", "sample"]].assign(
        question=rows["task"].astype("str") + "/" + above + rows["Effect"] + "/" + world,
        cause=pd.Series(pd.NA, index=rows.index, dtype="str") if cause is None else cause,
        effect=rows["Effect"],
        world=world,
        text=rows[text],
        truth=_truth(rows[truth]),
    )
    return table[COLUMNS["questions"]].drop_duplicates(), table[COLUMNS["truths"]].drop_duplicates()


def _factual(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    questions, truths = _asked(rows, "fact", None, "Question", "True")
    return {"contexts": _contexts(rows), "questions": questions, "truths": truths}


def _paired(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    arms = [_asked(rows, world, rows["Cause"], text, truth) for world, (text, truth) in _ARMS.items()]
    questions, truths = (pd.concat(part, ignore_index=True) for part in zip(*arms, strict=True))
    return {"contexts": _contexts(rows), "questions": questions, "truths": truths}


def _raw(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Parse the structure of each context once; its rows repeat it."""
    found: dict[str, list[pd.DataFrame]] = {"worlds": [], "nodes": [], "edges": []}
    for task, row in rows.drop_duplicates("task").set_index("task").iterrows():
        try:
            nodes = [str(node) for node in _listed(row, "DAG nodes")]
            matrix = parse_matrix(row["DAG adjacency matrix"])
            cut = _listed(row, "CCT nodes")
            noise = [float(p) for p in _listed(row, "Bernoulli parameters")]
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"context {task!r} of the raw samples: {error}") from error
        if not len(nodes) == len(matrix) == len(noise):
            raise ValueError(
                f"context {task!r} of the raw samples has {len(nodes)} nodes, a matrix of {len(matrix)} rows and "
                f"{len(noise)} Bernoulli parameters; their numbers must agree"
            )
        places = np.argwhere(matrix)
        table = pd.DataFrame({"task": task, "node": nodes, "noise": noise, "is_asked": [n in cut for n in nodes]})
        if "Factual queries" in rows.columns:
            parents = {node: [nodes[i] for i in np.flatnonzero(matrix[:, j])] for j, node in enumerate(nodes)}
            cells = rows.loc[rows["task"] == task, "Factual queries"].unique()
            table["function"] = infer_functions(cells, parents, f"context {task!r} of the raw samples")
        found["nodes"].append(table.reindex(columns=COLUMNS["nodes"]))
        ends = {"parent": [nodes[i] for i, _ in places], "child": [nodes[j] for _, j in places]}
        found["edges"].append(pd.DataFrame({"task": task, **ends}))
        size = {"n_nodes": [len(nodes)], "n_edges": [len(places)]}
        found["worlds"].append(pd.DataFrame({"task": task, "theme": "published", **size, "text": ""}))
    whole = rows.assign(Context=rows["Causal context"] + " " + rows["Sample context"])
    return {"contexts": _contexts(whole), **{name: _finished(name, tables) for name, tables in found.items()}}


def _listed(row: pd.Series, column: str) -> list[Any]:
    """Parse a printed list; a text would be taken apart into characters."""
    found = parse_printed(row[column])
    check_type(found, (list, tuple), "a printed list", f"column {column!r}")
    return list(found)


def _truth(column: pd.Series) -> pd.Series:
    """Parse True, False, 1, 0 as booleans."""
    words: Mapping[str, bool] = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    read = column.astype("str").str.lower().map(words)
    if (wrong := read.isna()).any():
        row = wrong.index[wrong][0]
        raise ValueError(f"column {column.name!r}, row {row}: expected True or False, found {column[row]!r}")
    return read.astype("bool")


def _finished(name: str, parts: list[pd.DataFrame]) -> pd.DataFrame:
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS[name])
    table = table.drop_duplicates()
    if name == "nodes":
        table = _one_function(table)
    if name == "contexts":
        # raw samples repeat the contexts of the questions, joined in another way
        table = table.drop_duplicates(_UNIQUE[name])
    elif name in _UNIQUE and (twice := table.duplicated(_UNIQUE[name], keep=False)).any():
        found = table[twice].head(2).to_dict("records")
        raise ValueError(f"rows contradict each other: {found[0]} and {found[1]}")
    return table.reset_index(drop=True)[COLUMNS[name]]


def _one_function(nodes: pd.DataFrame) -> pd.DataFrame:
    """Join what several parts of a file show of the function of each node."""
    known = nodes.dropna(subset=["function"]).drop_duplicates(["task", "node", "function"])
    if (twice := known.duplicated(["task", "node"], keep=False)).any():
        found = known[twice].head(2)[["task", "node", "function"]].to_dict("records")
        raise ValueError(f"rows contradict each other: {found[0]} and {found[1]}")
    single = nodes.drop(columns="function").drop_duplicates(["task", "node"])
    merged = single.merge(known[["task", "node", "function"]], how="left", on=["task", "node"])
    return merged.astype({"function": "str"})


def _path(key: str) -> tuple[str, str, str, int]:
    """Parse a printed pair, a path, or a tuple of pairs along a path."""
    parts = parse_printed(key)
    parts = list(parts) if isinstance(parts, (tuple, list)) else [parts]
    pairs = all(isinstance(part, (tuple, list)) and part for part in parts)
    nodes = [parts[0][0], *(part[-1] for part in parts)] if parts and pairs else parts
    if len(nodes) < 2 or not all(isinstance(node, str) for node in nodes):
        raise ValueError(f"expected a printed pair or path of node names, found {key[:60]!r}")
    return ">".join(nodes), nodes[0], nodes[-1], len(nodes) - 1


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
