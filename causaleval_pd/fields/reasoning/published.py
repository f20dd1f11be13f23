"""Data of others, read from files that you have: compositional reasoning in printed values, CLadder, Corr2Cause."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import lzma
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_type, shown
from .tasks import COLUMNS, Tasks, instruction_text

__all__ = ["read_cladder", "read_corr2cause", "read_published"]

#: rows that are read at once; each repeats its context in full
ROWS_AT_ONCE = 5000

_KEYS = {"Context ID": "task", "Sample ID": "sample"}
_FACTUAL = {*_KEYS, "Effect", "Context", "Question", "True"}
_FACT = {"fact": ("Question", "True")}
_ARMS = {
    "do1": ("Question (cause = True)", "True (cause = True)"),
    "do0": ("Question (cause = False)", "True (cause = False)"),
}
_PAIRED = {*_KEYS, "Cause", "Effect", "Context", *(name for arm in _ARMS.values() for name in arm)}
_RAW = {*_KEYS, "DAG adjacency matrix", "DAG nodes", "CCT nodes", "Bernoulli parameters"}
_RAW |= {"Causal context", "Sample context"}

#: errors of compressed files that are cut or no such files
_DAMAGED = (UnicodeError, EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, lzma.LZMAError)

_KEY = ["task", "sample"]
_UNIQUE = {"questions": ["question"], "contexts": [*_KEY, "replicate"], "truths": [*_KEY, "question"]}

_FUNCTIONS: dict[str, Callable[[list[bool]], bool]] = {"and": all, "or": any, "xor": lambda bits: sum(bits) % 2 == 1}

#: largest number of characters of a cell; the list of all compositions of 16 components fits
MAX_CELL = 2**24
#: deepest nesting of values
MAX_DEPTH = 20

#: a text, blanks between two values where numpy prints no comma, and what no printed value has outside a text
_PIECE = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<gap>(?<=[\w.'"\])}])\s+(?=[\w.'"\[({]|[-+][\w.]))
    |(?P<odd>\.\.\.|['"\#])""",
    re.VERBOSE | re.DOTALL,
)
_TYPE = re.compile(r"(np\.|numpy\.)?(float\d+|u?int\d+|bool_?|str_|array)")
_WORDS = {"nan": math.nan, "inf": math.inf, "True_": True, "False_": False}


Record = Mapping[str, Any]
T = TypeVar("T")

#: columns of a set, and their dtypes
_COLUMNS = dict.fromkeys(("question", "rung", "query", "graph", "cluster", "truth", "prompt"), "str")
_COLUMNS |= {"rung": "Int64", "truth": "boolean"}

#: meanings of answers, by the words of each layout
_YES_NO = {"yes": True, "no": False}
_LABELS = {"1": True, "0": False}
_RELATIONS = {"entailment": True, "neutral": False, "contradiction": False}

#: largest file in bytes
_MOST_BYTES = 2**30

_VARIABLES = re.compile(r"(\d{1,3}) variables")


def read_published(*paths: str | PathLike[str]) -> Tasks:
    r"""Read CSV files in the published layout into tables in normal form.

    Files hold factual questions, paired interventional questions or raw samples, distinguished by their columns; pass
    all files of one data set together. Large files are read in chunks, and each context is kept once.

    Parameters
    ----------
    *paths : path
        CSV files, compressed ones too.

    Returns
    -------
    Tasks
        `task` is the published context number. Raw files give nodes, noise rates and edges. No file states the
        functions of nodes; they are inferred from the true values of nodes and noise in the column "Factual queries" of
        raw files, and missing where its rows agree with AND as with OR, so that more rows are needed for exact
        quantities (`Tasks.world`). Each context describes its world, so `worlds.text` is empty.

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
    # codes may look like numbers or like missing values
    how: dict[str, Any] = {"dtype": {"Effect": "str", "Cause": "str"}, "keep_default_na": False}
    for path in paths:
        try:
            with pd.read_csv(path, chunksize=ROWS_AT_ONCE, **how) as reader:
                for rows in reader:
                    for name, table in _split(rows).items():
                        parts[name].append(table)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, *_DAMAGED) as error:
            raise ValueError(f"file {path} is not a complete CSV file in UTF-8: {error}") from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"file {path}: {error}") from error
    tables = {name: _finished(name, frames) for name, frames in parts.items()}
    known = set(tables["worlds"]["task"])
    bare = [task for task in tables["contexts"]["task"].unique() if task not in known]
    added = pd.DataFrame({"task": bare, "theme": "published", "text": ""}).reindex(columns=COLUMNS["worlds"])
    tables["worlds"] = pd.concat([tables["worlds"], added], ignore_index=True) if bare else tables["worlds"]
    return Tasks(tables)


def _split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split rows into tables, by the layout of their columns."""
    names = set(rows.columns)
    rows = rows.rename(columns=_KEYS).assign(replicate=rows.get("Replicate ID", 0))
    for layout, arms in ((_PAIRED, _ARMS), (_FACTUAL, _FACT)):
        if names >= layout:
            return _asked(rows, arms)
    if names >= _RAW:
        return _raw(rows)
    raise ValueError(
        f"it has none of the published layouts; its columns are {sorted(names)}; factual questions have "
        f"{sorted(_FACTUAL)}, paired ones {sorted(_PAIRED)}, raw samples {sorted(_RAW)}"
    )


def _contexts(rows: pd.DataFrame) -> pd.DataFrame:
    # comparing keys costs less than comparing texts
    table = rows.rename(columns={"Context": "text"}).drop_duplicates(_UNIQUE["contexts"])
    return table.reindex(columns=COLUMNS["contexts"])


def _asked(rows: pd.DataFrame, arms: Mapping[str, tuple[str, str]]) -> dict[str, pd.DataFrame]:
    """Return the contexts, questions and truths of rows whose questions stand in one column or, of pairs, in two."""
    parts = []
    for world, (text, truth) in arms.items():
        cause = pd.Series(pd.NA, index=rows.index, dtype="str") if world == "fact" else rows["Cause"]
        table = rows[["task", "sample"]].assign(
            question=rows["task"].astype("str") + "/" + (cause + ">").fillna("") + rows["Effect"] + "/" + world,
            cause=cause,
            effect=rows["Effect"],
            world=world,
            text=rows[text],
            truth=_truth(rows[truth]),
        )
        parts.append([table[COLUMNS[name]].drop_duplicates() for name in ("questions", "truths")])
    questions, truths = (pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True))
    return {"contexts": _contexts(rows), "questions": questions, "truths": truths}


def _raw(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Parse the structure of each context once; its rows repeat it."""
    frames: dict[str, list[pd.DataFrame]] = {"worlds": [], "nodes": [], "edges": []}
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
            table["function"] = _infer_functions(cells, parents, f"context {task!r} of the raw samples")
        frames["nodes"].append(table.reindex(columns=COLUMNS["nodes"]))
        parent, child = np.array(nodes)[places].T
        frames["edges"].append(pd.DataFrame({"task": task, "parent": parent, "child": child}))
        size = {"n_nodes": [len(nodes)], "n_edges": [len(places)]}
        frames["worlds"].append(pd.DataFrame({"task": task, "theme": "published", **size, "text": ""}))
    whole = rows.assign(Context=rows["Causal context"] + " " + rows["Sample context"])
    return {"contexts": _contexts(whole), **{name: _finished(name, tables) for name, tables in frames.items()}}


def _listed(row: pd.Series, column: str) -> list[Any]:
    """Parse a printed list; a text would be taken apart into characters."""
    elements = parse_printed(row[column])
    check_type(elements, (list, tuple), "a printed list", f"column {column!r}")
    return list(elements)


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
        conflicts = table[twice].head(2).to_dict("records")
        raise ValueError(f"rows contradict each other: {conflicts[0]} and {conflicts[1]}")
    return table.reset_index(drop=True)[COLUMNS[name]]


def _one_function(nodes: pd.DataFrame) -> pd.DataFrame:
    """Join what several parts of a file show of the function of each node."""
    functions = nodes.astype({"function": "str"}).groupby(["task", "node"], sort=False)["function"]
    if (twice := functions.transform("nunique") > 1).any():
        conflicts = nodes.loc[twice, ["task", "node", "function"]].dropna().drop_duplicates().to_dict("records")
        raise ValueError(f"rows contradict each other: {conflicts[0]} and {conflicts[1]}")
    return nodes.assign(function=functions.transform("first")).drop_duplicates(["task", "node"])


def _infer_functions(cells: Iterable[str], parents: Mapping[str, Sequence[str]], name: str) -> list[str | None]:
    """Return the function of each node, or None where the values allow several or the node has no parents."""
    # Each cell is a printed map that holds, at any depth, maps of the true values of all endogenous and of all
    # exogenous variables, whose keys say so; `name` stands in messages.
    possible = {node: dict(_FUNCTIONS) for node, above in parents.items() if above}
    known = 0
    for cell in cells:
        for values, noise in _observations(parse_printed(cell), list(parents)):
            known += 1
            for node, fits in possible.items():
                bits = [noise[node], *(values[parent] for parent in parents[node])]
                possible[node] = {word: join for word, join in fits.items() if join(bits) == values[node]}
                if not possible[node]:
                    raise ValueError(f"{name}: the values of node {node!r} agree neither with AND nor with OR nor XOR")
    # data sets published so far have no XOR, so that it is only where no other agrees
    names = {node: [word for word in left if len(left) == 1 or word != "xor"] for node, left in possible.items()}
    single = {node: left[0] for node, left in names.items() if known and len(left) == 1}
    return [single.get(node) for node in parents]


def _observations(value: Any, nodes: Sequence[str]) -> Iterator[tuple[dict[str, bool], dict[str, bool]]]:
    """Yield values and noise by node wherever a map holds both."""
    if not isinstance(value, dict):
        return
    sides: dict[str, Any] = {}
    for key, inner in value.items():
        for side in ("endogenous", "exogenous"):
            if isinstance(key, str) and key.casefold().endswith(side) and isinstance(inner, dict):
                sides[side] = inner
    if len(sides) == 2:
        yield _by_node(sides["endogenous"], nodes), _by_node(sides["exogenous"], nodes)
        return
    for inner in value.values():
        yield from _observations(inner, nodes)


def _by_node(values: Mapping[Any, Any], nodes: Sequence[str]) -> dict[str, bool]:
    """Return values by node: by name where the names agree, else by their order."""
    if len(values) != len(nodes) or not all(value in (0, 1) for value in values.values()):
        raise ValueError(f"expected a value of 0 or 1 for each of {len(nodes)} variables, found {len(values)} values")
    if set(values) == set(nodes):
        return {node: bool(values[node]) for node in nodes}
    return {node: bool(value) for node, value in zip(nodes, values.values(), strict=True)}


def parse_printed(text: str) -> Any:
    """Parse a printed Python value: numbers, texts, lists, tuples, maps, `np.float64(0.5)`, printed arrays."""
    # Nothing is evaluated. `ast.literal_eval` would refuse what numpy prints: no commas, `nan`, `np.float64(...)`.
    check_type(text, str, "a string", "text")
    if len(text) > MAX_CELL:
        raise ValueError(f"a cell has {len(text)} characters; at most {MAX_CELL} are parsed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python does not know
        try:
            tree = ast.parse(f"[{_PIECE.sub(_with_comma, text)}\n]", mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as fault:
            if isinstance(fault, _CellError):
                raise
            what = fault.msg if isinstance(fault, SyntaxError) else str(fault)
            raise _CellError(f"a cell is not a printed Python value ({what}): {_shown(text)}") from None
    values = _value(tree, -1)
    if not isinstance(values, list) or len(values) != 1:
        what = "no value" if values == [] else "more than one value"
        raise _CellError(f"a cell holds {what}: {_shown(text)}")
    return values[0]


def parse_matrix(text: str) -> NDArray[np.int64]:
    """Parse a printed square matrix of zeros and ones, row -> column."""
    rows = parse_printed(text)
    square = isinstance(rows, list) and all(isinstance(row, list) and len(row) == len(rows) for row in rows)
    if not square or not all(entry in (0, 1) for row in rows for entry in row):
        raise ValueError(f"expected a square matrix of 0 and 1, found {_shown(text)}")
    return np.array(rows, np.int64).reshape(len(rows), len(rows))


class _CellError(ValueError):
    """A fault of a cell that its message explains."""


def _with_comma(piece: re.Match[str]) -> str:
    """Return a text as it is, and a comma for a gap."""
    if piece["odd"] == "...":
        raise _CellError(
            "a cell was cut short: numpy printed '...' in place of entries, so they are lost (matrices of 32 nodes and "
            "more); write the file again after numpy.set_printoptions(threshold=sys.maxsize)"
        )
    if piece["odd"]:
        raise _CellError(f"a cell is not a printed Python value at {_shown(piece.string[piece.start() :])}")
    return piece["text"] or ","


def _value(node: ast.expr | None, depth: int) -> Any:
    """Return the value that a piece of syntax prints; refuse any other syntax."""
    if depth > MAX_DEPTH:
        raise _CellError(f"a cell nests values more than {MAX_DEPTH} deep")
    match node:
        case ast.List(items) | ast.Tuple(items):
            elements = [_value(item, depth + 1) for item in items]
            return elements if isinstance(node, ast.List) else tuple(elements)
        case ast.Dict(keys, values):
            inner = [[_value(item, depth + 1) for item in items] for items in (keys, values)]
            try:
                return dict(zip(*inner, strict=True))
            except TypeError:
                raise _CellError(f"a cell has a map with a key that is or holds a list or a map: {inner[0]}") from None
        case ast.Call(function, items) if _TYPE.fullmatch(ast.unparse(function)):
            if len(items) != 1 or any(option.arg != "dtype" for option in node.keywords):
                raise _CellError(f"expected one value within {ast.unparse(function)}(...) of a cell")
            return _value(items[0], depth + 1)
        case ast.Constant(None | bool() | int() | float() | str()):
            return node.value
        case ast.UnaryOp(ast.USub() | ast.UAdd(), ast.Constant(int() | float()) | ast.Name("inf" | "nan")):
            number = _value(node.operand, depth)
            return -number if isinstance(node.op, ast.USub) else number
        case ast.Name(word) | ast.Attribute(ast.Name("np" | "numpy"), word) if word in _WORDS:
            return _WORDS[word]
    raise _CellError(f"a cell is not a printed Python value at {_shown('**' if node is None else ast.unparse(node))}")


def _shown(text: str) -> str:
    return repr(text[:60] + "..." if len(text) > 60 else text)


def read_cladder(
    path: str | PathLike[str],
    models: str | PathLike[str] | None = None,
    *,
    background: bool = True,
    instruction: str | None = "last_line",
) -> pd.DataFrame:
    """Read questions in the layout of CLadder: JSON with `given_info`, `question`, `answer`, `meta`; or its flat CSV.

    Parameters
    ----------
    path : path
        File of questions, as `cladder-v1-balanced.json`, or the flat table with `prompt`, `label`, `rung`.
    models : path, optional
        File of models, `cladder-v1-meta-models.json`, which holds the background of each world. The flat table needs
        none.
    background : bool
        Whether prompts begin with the background; False leaves the causal structure untold.
    instruction : str, optional
        As in `Tasks.prompts`.

    Returns
    -------
    DataFrame
        question (key), rung (1 to 3), query (type), graph, cluster (the model of the world), truth, prompt; for
        `ask(..., key=["question"])` and `score_questions`.

    Raises
    ------
    ValueError
        If a record lacks a field or has no yes or no as its answer, keys repeat, or backgrounds are missing; names the
        record.

    References
    ----------
    .. [1] Jin, Z. et al. (2023). CLadder: assessing causal reasoning in language models. doi:10.48550/arXiv.2312.04350

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from causaleval_pd.reasoning import read_cladder
    >>> meta = {"rung": 2, "query_type": "ate", "graph_id": "fork", "model_id": 7}
    >>> record = {"question_id": 1, "given_info": "Half of X is on.", "question": "Is Y on?", "answer": "yes"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "questions.json"
    ...     _ = file.write_text(json.dumps([record | {"meta": meta}]), encoding="utf-8")
    ...     found = read_cladder(file, background=False, instruction=None)
    >>> found.drop(columns=["cluster"]).values.tolist()
    [['1', 2, 'ate', 'fork', True, 'Half of X is on. Is Y on?']]
    """
    told: dict[str, str] = {}
    if models is not None:
        told = dict(_read(models, lambda record: (str(_field(record, "model_id")), _text(record, "background"))))

    def row(record: Record) -> dict[str, Any]:
        meta = record.get("meta", record)  # flat tables have what is known of a question beside it
        if not isinstance(meta, Mapping):
            raise ValueError(f"its field 'meta' must be an object, found {shown(meta)}")
        rung = str(_field(meta, "rung")).strip()
        if rung not in ("1", "2", "3"):
            raise ValueError(f"its rung must be 1, 2 or 3, found {shown(meta['rung'])}")
        fields = {
            "question": _key(_field(record, "question_id", "id")),
            "rung": int(rung),
            "query": _text(meta, "query_type"),
            "graph": _text(meta, "graph_id"),
            "cluster": meta.get("model_id", meta.get("story_id")),
        }
        if "prompt" in record:
            return fields | {"truth": _meaning(_field(record, "label"), _YES_NO), "prompt": _text(record, "prompt")}
        parts = [_text(record, "given_info", may_be_empty=True), _text(record, "question")]
        if background:
            model = str(_field(meta, "model_id"))
            if model not in told:
                raise ValueError(
                    f"the background of model {model} is missing; pass models= (cladder-v1-meta-models.json), or "
                    "background=False to leave it out"
                )
            parts.insert(0, told[model])
        return fields | {"truth": _meaning(_field(record, "answer"), _YES_NO), "prompt": " ".join(filter(None, parts))}

    return _table(path, row, instruction)


def read_corr2cause(path: str | PathLike[str], *, instruction: str | None = "last_line") -> pd.DataFrame:
    r"""Read questions in the layout of Corr2Cause: `input` and `label`, or `premise`, `hypothesis` and `relation`.

    Parameters
    ----------
    path : path
        CSV, JSON or JSON lines.
    instruction : str, optional
        As in `Tasks.prompts`.

    Returns
    -------
    DataFrame
        As `read_cladder`; rung is missing, since the questions ask for structure, query is the causal relation where
        the file names it (`causal_relation` or `template`), graph the number of variables, cluster the premise. The
        truth is yes where the hypothesis is entailed; "neutral" and "contradiction" are no.

    Raises
    ------
    ValueError
        If a record lacks a field or has another label; names the record.

    References
    ----------
    .. [1] Jin, Z. et al. (2023). Can large language models infer causation from correlation?
       doi:10.48550/arXiv.2306.05836

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from causaleval_pd.reasoning import read_corr2cause
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "test.csv"
    ...     text = "input,label\nPremise: of 2 variables ... Hypothesis: A causes B.,0\n"
    ...     _ = file.write_text(text, encoding="utf-8")
    ...     read_corr2cause(file)[["graph", "truth"]].values.tolist()
    [['2 variables', False]]
    """

    def row(record: Record) -> dict[str, Any]:
        if "input" in record:
            text = _text(record, "input")
            premise, separator, _ = text.partition("Hypothesis:")
            if not separator:
                raise ValueError(f"its 'input' has no 'Hypothesis:' after the premise; found {shown(text)}")
            truth = _meaning(_field(record, "label"), _LABELS)
        else:
            premise = _text(record, "premise")
            text = f"Premise: {premise}\nHypothesis: {_text(record, 'hypothesis')}"
            truth = _meaning(_field(record, "relation"), _RELATIONS)
        count = _VARIABLES.search(premise)
        variables = record.get("num_variables") or (count[1] if count else None)
        return {
            "question": _key(record.get("id")),
            "query": record.get("causal_relation") or record.get("template"),
            "graph": None if variables is None else f"{variables} variables",
            "cluster": premise,
            "truth": truth,
            "prompt": f"{text}\n\nDoes the hypothesis follow from the premise?",
        }

    return _table(path, row, instruction)


def _read(path: str | PathLike[str], row: Callable[[Record], T]) -> Iterator[T]:
    """Yield what a function makes of each record of a file; its errors name the record."""
    for place, record in enumerate(_records(path)):
        try:
            if not isinstance(record, dict):
                raise ValueError(f"expected an object with fields, found {shown(record)}")
            yield row(record)
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path}, record {place}: {error}") from None


def _table(path: str | PathLike[str], row: Callable[[Record], dict[str, Any]], instruction: str | None) -> pd.DataFrame:
    """Return the table of a file; records without a key are numbered."""
    last = instruction_text(instruction)
    table = pd.DataFrame(list(_read(path, row)), columns=list(_COLUMNS), dtype=object).astype(_COLUMNS)
    table["question"] = table["question"].fillna(table.index.to_series().astype("str"))
    table["prompt"] += last
    if (twice := table["question"].duplicated().to_numpy()).any():
        place = int(twice.argmax())
        raise ValueError(f"{path}, record {place}: the key {table['question'][place]!r} is repeated")
    return table


def _records(path: str | PathLike[str]) -> list[Any]:
    """Return the records of a JSON array, of JSON lines or of a CSV file."""
    file = Path(path)
    if file.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{file} has {file.stat().st_size} bytes; at most {_MOST_BYTES} are read")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not text in UTF-8: {error}") from None
    try:
        if file.suffix.casefold() == ".csv":
            records: list[Any] = _csv_records(text)
        elif text.lstrip().startswith("["):
            records = _json(text)
        else:
            records = [_json(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError, csv.Error) as error:
        raise ValueError(f"{file} is not a table of questions in CSV, JSON or JSON lines: {error}") from None
    if not records:
        raise ValueError(f"{file} holds no questions")
    return records


def _field(record: Record, *names: str) -> Any:
    """Return the first of several fields that a record has."""
    for name in names:
        if record.get(name) is not None:
            return record[name]
    raise ValueError(f"it has no field {' or '.join(map(repr, names))}; found {sorted(map(str, record))}")


def _csv_records(text: str) -> list[Record]:
    rows, records = csv.reader(text.splitlines(keepends=True), strict=True), list[Record]()
    names = next(rows, [])
    for row in filter(None, rows):
        if len(row) != len(names):
            raise ValueError(f"line {rows.line_num} has {len(row)} cells, the first line {len(names)}")
        records.append(_unique(zip(names, row, strict=True)))
    return records


def _json(text: str) -> Any:
    """Parse JSON; refuse NaN, and objects with two fields of one name, of which the last would be taken."""
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Make a record of names and values; refuse two fields of one name."""
    record: dict[str, Any] = {}
    for name, value in pairs:
        if name in record:
            raise ValueError(f"a record has two fields {name!r}")
        record[name] = value
    return record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"found {name}, which is not JSON")


def _text(record: Record, name: str, *, may_be_empty: bool = False) -> str:
    """Return a field that is text."""
    text = _field(record, name)
    if not isinstance(text, str) or not (text.strip() or may_be_empty):
        raise ValueError(f"its field {name!r} must be text, found {shown(text)}")
    return text


def _key(key: Any) -> str | None:
    """Return the key of a question as text; None where it has none."""
    if isinstance(key, bool) or not isinstance(key, (str, int, type(None))):
        raise ValueError(f"its key must be text or a whole number, found {shown(key)}")
    return None if key is None else str(key)


def _meaning(answer: Any, words: Mapping[str, bool]) -> bool:
    """Return the meaning of an answer, by the words of a layout."""
    word = str(answer).strip().rstrip(".").casefold()
    if isinstance(answer, bool) or word not in words:
        raise ValueError(f"the answer must be {' or '.join(words)}, found {shown(answer)}")
    return words[word]
