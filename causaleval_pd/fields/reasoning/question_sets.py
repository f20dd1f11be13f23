"""Others' sets of yes/no questions about causes, read from files that you have: CLadder, Corr2Cause."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ...contract.checks import shown
from .tasks import instruction_text

__all__ = ["read_cladder", "read_corr2cause"]

Record = Mapping[str, Any]
T = TypeVar("T")

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

#: meanings of answers, by the words of each layout
_YES_NO = {"yes": True, "no": False}
_LABELS = {"1": True, "0": False}
_RELATIONS = {"entailment": True, "neutral": False, "contradiction": False}

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
            return fields | {"truth": _truth(_field(record, "label"), _YES_NO), "prompt": _text(record, "prompt")}
        parts = [_text(record, "given_info", may_be_empty=True), _text(record, "question")]
        if background:
            model = str(_field(meta, "model_id"))
            if model not in told:
                raise ValueError(
                    f"the background of model {model} is missing; pass models= (cladder-v1-meta-models.json), or "
                    "background=False to leave it out"
                )
            parts.insert(0, told[model])
        return fields | {"truth": _truth(_field(record, "answer"), _YES_NO), "prompt": " ".join(filter(None, parts))}

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
            truth = _truth(_field(record, "label"), _LABELS)
        else:
            premise = _text(record, "premise")
            text = f"Premise: {premise}\nHypothesis: {_text(record, 'hypothesis')}"
            truth = _truth(_field(record, "relation"), _RELATIONS)
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


def _key(found: Any) -> str | None:
    """Return the key of a question as text; None where it has none."""
    if isinstance(found, bool) or not isinstance(found, (str, int, type(None))):
        raise ValueError(f"its key must be text or a whole number, found {shown(found)}")
    return None if found is None else str(found)


def _truth(answer: Any, words: Mapping[str, bool]) -> bool:
    """Return the meaning of an answer, by the words of a layout."""
    word = str(answer).strip().rstrip(".").casefold()
    if isinstance(answer, bool) or word not in words:
        raise ValueError(f"the answer must be {' or '.join(words)}, found {shown(answer)}")
    return words[word]
