"""Graphs in files: texts of tools, matrices and tables of edges, one graph per file."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from glob import glob
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_type, warn
from ..contract.encoding import ENCODINGS
from .column import read_cells
from .edge_strings import explain_other_text
from .formats.edge_list import edge_columns, read_table
from .packing import MAX_NODES, pack_column

#: a file of this size is read at once
MAX_BYTES = 1 << 28
#: a larger file is not looked at for being blank
_MOST_BLANK = 1 << 16

_BY_PGMPY = "read it by pgmpy.readwrite.{}(path).get_model()"
_BY_PYAGRUM = "read it by pyagrum.loadBN(path), which has single precision"
#: how files of networks with parameters are read, by their suffix
NETWORK_READERS = {
    ".net": _BY_PGMPY.format("NETReader"),
    **dict.fromkeys((".xmlbif", ".bifxml"), _BY_PGMPY.format("XMLBIFReader")),
    **dict.fromkeys((".xdsl", ".dsl", ".uai", ".o3prm"), _BY_PYAGRUM),
}

#: how files that are no text begin, and how they are read
_NO_TEXTS = {
    b"\x1f\x8b": "is compressed by gzip; decompress it, as by gunzip",
    b"\x80": "is a pickle of Python; load it by pickle.load if you trust it, and pass what it holds to graph_column",
    b"PK\x03\x04": "is an archive, as .npz is; read the matrices of np.load(path) by graph_column, naming encoding=",
}
#: encodings of texts by the suffix of their file, so that the rest of a truncated file is not read as an edge string
_ENCODING_OF = {".dot": "DOT", ".gv": "DOT", ".gml": "GML", ".graphml": "GraphML", ".json": "JSON", ".bif": "BIF"}

#: of texts of numbers: a matrix with or without names, or a table of edges
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?$|(?:nan|inf|NA|NaN)$")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*+,\d++(?:[eE][-+]?\d++)?$")
#: separators of fields; a comma may be that of decimals where there is another
_SEPARATORS = "\t;,"
_IN_QUOTES = re.compile(r'"[^"\n]*+"')
_ARROW = re.compile(r"->|<-|--|-@|@-|o-")
_COMMENTS = re.compile(r"\s*+(?>(?:#[^\n]*+(?:\n|$)\s*+)*)")
_FLAGS = {"true", "false"}


def read_graphs(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    encoding: str | Iterable[str | None] | None = None,
    nodes: Any = None,
    kind: Any = None,
    rename: Mapping[Hashable, Hashable] | None = None,
) -> pd.Series:
    r"""Read graphs from files, one graph per file.

    Parameters
    ----------
    path : str, path, or list of these
        A file, a pattern such as ``"results/*.pc.txt"``, or a list of files.
    encoding : str or one per file, optional
        Name of the encoding of the files (see `list_encodings`); texts of tools are recognised. Required for matrices,
        such as "pcalg amat.pag".
    nodes : list of str, or one list per file, optional
        Node names, as in `graph_column`; they name the rows and columns of matrices without a header, in their order.
    kind, rename : optional
        As in `graph_column`.

    Returns
    -------
    Series
        Packed graphs by name of the file, in the order of the sorted names, or that of the list. Files of one name in
        several folders are named by their paths. An empty or blank file is a missing value: a failed run.

    Warns
    -----
    UserWarning
        If files are empty or blank; names them.

    Raises
    ------
    FileNotFoundError
        If no file matches.
    ValueError, TypeError
        If a file is not a graph in the encoding; names the file, and the line where there is one.

    Notes
    -----
    A file of numbers is a matrix: one row per line, separated by blanks, tabs, commas or semicolons, with an optional
    header of names, and names before each row. ``.npy`` and ``.mtx`` files hold matrices too. A comma separated file
    with the columns from and to, or source and target, is a table of edges. All others are texts in UTF-8; files
    ``.dot``, ``.gv``, ``.gml``, ``.graphml``, ``.json`` and ``.bif`` must be in the format of their suffix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import causaleval_pd as ce
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "fci.txt").write_text("0 2\n1 0\n")
    ...     _ = Path(folder, "pc.dot").write_text("digraph { A -> B }")
    ...     graphs = ce.read_graphs(f"{folder}/*", encoding="pcalg amat.pag", nodes=["A", "B"])
    >>> graphs.graph.to_strings().to_dict()
    {'fci.txt': 'A o-> B', 'pc.dot': 'A -> B'}
    """
    files = _files(path)
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    empty: list[str] = []

    def cells() -> Iterator[Any]:
        # a file is read when its graph is
        for file, name in zip(files, names, strict=True):
            try:
                cell = _read_cell(file)
            except (ValueError, TypeError) as fault:
                raise type(fault)(f"file {name}: {fault}") from fault
            if cell is None:
                empty.append(name)
            yield cell

    graphs = read_cells(cells(), len(files), lambda row: f"file {names[row]}", nodes, encoding, kind, rename)
    if empty:
        shown = ", ".join(empty[:5]) + ", ..." * (len(empty) > 5)
        warn(
            f"{len(empty)} of {len(files)} files are empty and read as missing values, which count as failed runs: "
            f"{shown}; a graph without edges is written as its nodes ('A; B')"
        )
    return pack_column(graphs, index=pd.Index(names, name="file", dtype="str"), name="graph")


def _files(path: Any) -> list[Path]:
    """Return the files that a path, a pattern or a list of paths names."""
    if isinstance(path, (str, os.PathLike)):
        path = sorted(x for x in glob(os.fspath(path), recursive=True) if not os.path.isdir(x)) or [path]
    check_type(path, Iterable, "a file, a pattern, or a list of files", "path")
    files = []
    for i, one in enumerate(path):
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"path, item {i}: found {one!r}, expected the path of a file")
        file = Path(one)
        if file.is_dir():
            raise ValueError(f"path {str(file)!r} is a folder; name its files by a pattern, as in {str(file / '*')!r}")
        if not file.is_file():
            raise FileNotFoundError(f"no file matches path {str(file)!r}")
        files.append(file)
    return files


def _read_cell(file: Path) -> Any:
    """Return what a file holds: a matrix, a table of edges, or a text; None for a blank one."""
    size, suffix = file.stat().st_size, file.suffix.lower()
    if size <= _MOST_BLANK and not file.read_bytes().removeprefix(b"\xef\xbb\xbf").strip():
        return None
    if size > MAX_BYTES:
        raise ValueError(f"has {size} bytes; at most {MAX_BYTES} are read")
    if file.suffix == ".npy":
        try:
            return np.load(file, allow_pickle=False)
        except MemoryError as fault:
            raise ValueError(f"is cut short, or not that of a matrix: {fault}") from None
    if file.suffix == ".mtx":
        from scipy.io import mminfo, mmread

        # before there is memory for them all
        if (n := max(mminfo(file)[:2])) > MAX_NODES:
            raise ValueError(f"found a matrix of {n} nodes; at most {MAX_NODES} are supported")
        # newer releases ask which class of sparse matrices to return
        options: dict[str, Any] = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
        return mmread(file, **options)
    content = file.read_bytes()
    what = next((what for begin, what in _NO_TEXTS.items() if content.startswith(begin)), None)
    if what is not None:
        raise ValueError(what)
    if suffix == ".net" and re.match(rb"\s*\*(?:vertices|network)", content, re.I):
        raise ValueError("is Pajek's; read it by nx.DiGraph(nx.read_pajek(path)), and make a column by graph_column")
    if suffix in NETWORK_READERS:
        raise ValueError(
            f"is a network with parameters in {suffix}; {NETWORK_READERS[suffix]}, and make a column of graphs by "
            "graph_column([ce.as_network(network).graph])"
        )
    try:
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except UnicodeDecodeError as fault:
        raise ValueError(f"byte {fault.start} is not valid UTF-8; save the file as UTF-8") from None
    name = _ENCODING_OF.get(suffix)
    if name is None:
        return _read_table(text, is_table=suffix in (".csv", ".tsv"))
    if not ENCODINGS.find(name).takes(text):
        kind = explain_other_text(text) or f"does not begin as {name}; read other texts by graph_column"
        raise ValueError(f"found {text[:40]!r}, which {kind}")
    return text


def _read_table(text: str, *, is_table: bool = False) -> Any:
    """Return the matrix or the table of edges that a text holds, else the text itself, which a table is not."""
    if ENCODINGS["GML"].takes(text):
        # its words may stand like those of a table
        return text
    lines = [line for line in text.lstrip("\r\n").split("\n", 20)[:20] if line.strip()][:2]
    if not lines:
        return text
    if lines[0][0] == "#" and (is_table or not isinstance(_read_table(_COMMENTS.sub("", text, count=1)), str)):
        raise ValueError(
            f"line 1: found the comment {lines[0][:40]!r} before a matrix or table; delete the '#' before names of "
            "nodes, and other comments whole"
        )
    separator = _separator(lines)
    first, *second = [_fields(line, separator) for line in lines]
    if any(first) and all(_NUMBER.match(field) or not field for field in first):
        header = _names_are_numbers(text, separator)
        if header or all(first):
            return _matrix(text, separator, header=header)
    if edge_columns(first) is not None and not (separator is None and any(map(_ARROW.search, lines))):
        return read_table(text, separator)
    if any(map(_ARROW.search, lines)):
        return text
    plain = _is_row(first, None)
    header = not plain and bool(second) and _is_row(second[0], first)
    if is_table and not header and not plain:
        raise ValueError(
            f"line 1: found {lines[0][:40]!r}, expected names of nodes and a matrix of numbers below, or a table with "
            "the columns from and to, or source and target"
        )
    return _matrix(text, separator, header=header) if header or plain else text


def _separator(lines: list[str]) -> str | None:
    """Return the separator of fields, None for blanks."""
    plain = [_IN_QUOTES.sub("x", line) for line in lines]
    if len(plain[0].split()) > 1 and not any(x in plain[0] for x in _SEPARATORS):
        return None
    return next((x for line in plain for x in _SEPARATORS if x in line), None)


def _fields(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return [field.strip('"') for field in line.split()]
    return [field.strip() for field in next(csv.reader([line.strip("\r\n")], delimiter=separator), [])]


def _is_row(fields: list[str], names: list[str] | None) -> bool:
    """Return whether fields are those of a row of a matrix, if perhaps a faulty one, below these names."""
    numbers = fields if names is None or (len(names) == len(fields) and _is_value(fields[0])) else fields[1:]
    if names is not None and len(names) not in (len(fields), len(fields) - 1):
        return len(numbers) > 1 and all(map(_NUMBER.match, fields))
    return len(fields) > 1 and any(numbers) and all(map(_is_value, numbers))


def _names_are_numbers(text: str, separator: str | None) -> bool:
    """Return whether the first line of a text of numbers names the nodes, as the matrix is square without it only."""
    rows = [fields for line in text.splitlines() if any(fields := _fields(line, separator))]
    names, others = rows[0], rows[1:]
    if names[0] == "":
        return names[1:] == [row[0] for row in others]
    if len(others) != len(names) or len({*names}) < len(names) or {*names} <= {"0", "1"}:
        # one row too many of zeros and ones is a fault of the file
        return False
    with_labels = all(len(row) == len(names) + 1 for row in others) and names == [row[0] for row in others]
    return with_labels or all(len(row) == len(names) for row in others)


def _is_value(field: str) -> bool:
    """Return whether a field is a number or stands for one, if perhaps a faulty one, and so not a name."""
    return not field or bool(_NUMBER.match(field) or _DECIMAL_COMMA.match(field)) or field.lower() in _FLAGS


def _matrix(text: str, separator: str | None, *, header: bool) -> Any:
    """Read a matrix; a header names the columns, and a name before each row the rows."""
    numbered = ((number, _fields(line, separator)) for number, line in enumerate(io.StringIO(text), 1))
    filled = ((number, row) for number, row in numbered if any(row))
    names = next(filled)[1] if header else None
    rows: list[NDArray[np.float64]] = []
    labels: list[str] = []
    for number, row in filled:
        if len(row) > MAX_NODES + 1:
            raise ValueError(f"line {number}: found {len(row)} numbers; at most {MAX_NODES} nodes are supported")
        fields = row
        if names and (not _is_value(row[0]) or len(row) == len(names) + (1 if names[0] else 0)):
            labels.append(row[0])
            fields = row[1:]
        _check_numbers(fields, names, number)
        if rows and len(fields) != len(rows[0]):
            raise ValueError(f"line {number}: found {len(fields)} numbers, the first row has {len(rows[0])}")
        if len(rows) >= len(fields):
            more = "; if line 1 holds names, write ones that are not numbers" if names is None else ""
            raise ValueError(f"line {number}: found more than {len(fields)} rows of {len(fields)} numbers{more}")
        rows.append(np.array(["nan" if field == "NA" else field for field in fields], np.float64))
    if not rows or len(rows) != len(rows[0]):
        raise ValueError(f"found {len(rows)} rows of {len(rows[0]) if rows else 0} numbers, expected a square matrix")
    stacked = np.stack(rows)
    values = stacked.astype(np.int8) if np.isin(stacked, np.arange(-100, 101)).all() else stacked
    if names is None:
        return values
    columns = [name for name in names if name] if len(names) > len(rows) else names
    if len(columns) != len(rows) or (labels and len(labels) != len(rows)):
        raise ValueError(f"line 1: found {len(columns)} names, expected {len(rows)} as there are rows")
    return pd.DataFrame(values, labels or columns, columns)


def _check_numbers(fields: list[str], names: list[str] | None, number: int) -> None:
    """Refuse fields of a line that are not numbers, by the name of their column, or its number where it has none."""
    place = next((k for k, field in enumerate(fields) if not _NUMBER.match(field)), None)
    if place is None:
        return
    if names and not names[-1] and not fields[-1]:
        raise ValueError(f"line {number}: ends with a separator; delete it at the end of all lines")
    field, named = fields[place], (names or [])[-len(fields) :]
    column = f"column {named[place]!r}" if place < len(named) and named[place] else f"column {place + 1}"
    mend = ""
    if not field:
        mend = "; write 0 where there is no edge"
    elif _DECIMAL_COMMA.match(field):
        mend = f"; write a point for the decimal comma, as {field.replace(',', '.')[:60]!r}"
    elif field.lower() in _FLAGS:
        mend = "; write 1 for true and 0 for false"
    shown = repr(field[:60]) if field else "an empty cell"
    raise ValueError(f"line {number}: found {shown}, expected a number in {column}{mend}")
