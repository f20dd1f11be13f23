"""Others' sets of yes/no questions about causes, read from files that you have: CLadder, Corr2Cause, CounterBench."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from ...contract.checks import shown
from .task_tables import instruction_text

__all__ = ["read_cladder", "read_corr2cause", "read_counterbench"]

Record = Mapping[str, Any]

#: columns of a set, and their dtypes
_COLUMNS = {
    "question": "str",
    "rung": "Int64",
    "query": "str",
    "graph": "str",
    "cluster": "str",
    "truth": "boolean",
    "prompt": "str",
}

_YES = {"yes": True, "true": True, "1": True, "entailment": True}
_NO = {"no": False, "false": False, "0": False, "neutral": False, "contradiction": False}

#: largest file in bytes
_MOST_BYTES = 2**30

_VARIABLES = re.compile(r"(\d{1,3}) variables")


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
    told = _backgrounds(models) if models is not None else {}

    def row(record: Record) -> dict[str, Any]:
        meta = record.get("meta", record)
        found = {
            "question": _field(record, "question_id", "id"),
            "rung": int(_field(meta, "rung")),
            "query": _field(meta, "query_type"),
            "graph": _field(meta, "graph_id"),
            "cluster": meta.get("model_id", meta.get("story_id")),
        }
        if "prompt" in record:
            return found | {"truth": _truth(_field(record, "label", "answer")), "prompt": record["prompt"]}
        parts = [_field(record, "given_info"), _field(record, "question")]
        if background:
            model = str(_field(meta, "model_id"))
            if model not in told:
                raise ValueError(
                    f"the background of model {model} is missing; pass models= (cladder-v1-meta-models.json), or "
                    "background=False to leave it out"
                )
            parts.insert(0, told[model])
        return found | {"truth": _truth(_field(record, "answer")), "prompt": " ".join(filter(None, parts))}

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
            text = _field(record, "input")
            premise = text.partition("Hypothesis:")[0]
        else:
            premise = _field(record, "premise")
            text = f"Premise: {premise}\nHypothesis: {_field(record, 'hypothesis')}"
        count = _VARIABLES.search(premise)
        variables = record.get("num_variables") or (count[1] if count else None)
        return {
            "question": record.get("id"),
            "query": record.get("causal_relation") or record.get("template"),
            "graph": None if variables is None else f"{variables} variables",
            "cluster": premise,
            "truth": _truth(_field(record, "label", "relation")),
            "prompt": f"{text}\n\nDoes the hypothesis follow from the premise?",
        }

    return _table(path, row, instruction)


def read_counterbench(path: str | PathLike[str], *, instruction: str | None = "last_line") -> pd.DataFrame:
    """Read questions in the layout of CounterBench: `given_info`, `question`, `answer`.

    Parameters
    ----------
    path : path
        JSON, JSON lines or CSV.
    instruction : str, optional
        As in `Tasks.prompts`.

    Returns
    -------
    DataFrame
        As `read_cladder`; rung is 3 unless the file tells otherwise, query the type (basic, joint, nested,
        conditional) and graph the structure where the file names them, cluster the world (`given_info`).

    Raises
    ------
    ValueError
        If a record lacks a field or has no yes or no as its answer; names the record.

    References
    ----------
    .. [1] Chen, Y. et al. (2025). CounterBench: a benchmark for counterfactuals reasoning in large language models.
       doi:10.48550/arXiv.2502.11008

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from causaleval_pd.reasoning import read_counterbench
    >>> record = {"given_info": "X causes Y.", "question": "Would Y be on?", "answer": "No", "type": "basic"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "questions.json"
    ...     _ = file.write_text(json.dumps([record]), encoding="utf-8")
    ...     read_counterbench(file)[["rung", "query", "truth"]].values.tolist()
    [[3, 'basic', False]]
    """

    def row(record: Record) -> dict[str, Any]:
        meta = {**record, **record.get("meta", {})}
        info = _field(record, "given_info")
        kinds = ("query_type", "reasoning_type", "question_type", "type")
        return {
            "question": record.get("question_id", record.get("id")),
            "rung": int(meta.get("rung") or 3),
            "query": next((meta[name] for name in kinds if meta.get(name) is not None), None),
            "graph": meta.get("graph_id", meta.get("graph")),
            "cluster": info,
            "truth": _truth(_field(record, "answer")),
            "prompt": f"{info} {_field(record, 'question')}",
        }

    return _table(path, row, instruction)


def _backgrounds(path: str | PathLike[str]) -> dict[str, str]:
    found = {}
    for place, record in enumerate(_records(path)):
        try:
            found[str(_field(record, "model_id"))] = _field(record, "background")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}, record {place}: {error}") from None
    return found


def _table(path: str | PathLike[str], row: Callable[[Record], dict[str, Any]], instruction: str | None) -> pd.DataFrame:
    """Return the table of a file; records without a key are numbered."""
    last = instruction_text(instruction)
    rows = []
    for place, record in enumerate(_records(path)):
        try:
            found = row(record)
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path}, record {place}: {error}") from None
        key = place if found["question"] is None else found["question"]
        rows.append(found | {"question": str(key), "prompt": f"{found['prompt']}{last}"})
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(object)
    for name, dtype in _COLUMNS.items():
        values = [None if value is None else str(value) for value in table[name]] if dtype == "str" else table[name]
        table[name] = pd.array(values, dtype=dtype)  # type: ignore[call-overload]
    if (twice := table["question"].duplicated().to_numpy()).any():
        place = int(twice.argmax())
        raise ValueError(f"{path}, record {place}: the key {table['question'][place]!r} is repeated")
    return table


def _records(path: str | PathLike[str]) -> Iterable[Record]:
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
            found: list[Any] = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
        elif text.lstrip().startswith("["):
            found = json.loads(text)
        else:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError, csv.Error) as error:
        raise ValueError(f"{file} is not a table of questions in CSV, JSON or JSON lines: {error}") from None
    for place, record in enumerate(found):
        if not isinstance(record, dict):
            raise ValueError(f"{file}, record {place}: expected an object with fields, found {shown(record)}")
    if not found:
        raise ValueError(f"{file} holds no questions")
    return found


def _field(record: Record, *names: str) -> Any:
    """Return the first of several fields that a record has."""
    for name in names:
        if isinstance(record, Mapping) and record.get(name) is not None:
            return record[name]
    fields = sorted(map(str, record)) if isinstance(record, Mapping) else shown(record)
    raise ValueError(f"it has no field {' or '.join(map(repr, names))}; found {fields}")


def _truth(answer: Any) -> bool:
    word = str(answer).strip().rstrip(".").casefold()
    if word not in _YES and word not in _NO:
        raise ValueError(f"the answer must be yes or no, found {shown(answer)}")
    return word in _YES
