"""Graphs in files: texts of tools, matrices and tables of edges, one graph per file."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Hashable, Iterable, Mapping
from glob import glob
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..contract.checks import check_type, warn
from ..contract.encoding import ENCODINGS
from .column import read_column
from .formats.text_matrices import read_table
from .other_texts import explain_other_text
from .packing import MAX_NODES

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
        several folders are named by their paths. An empty or blank file is a missing value: a failed
        run.

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
    # a file is read when its graph is
    cells = (_read_named(file, name, empty) for file, name in zip(files, names, strict=True))
    index = pd.Index(names, name="file", dtype="str")

    def where(row: int) -> str:
        return f"file {names[row]}"

    graphs = read_column(cells, index, "graph", where, nodes=nodes, encoding=encoding, kind=kind, rename=rename)
    if empty:
        shown = ", ".join(empty[:5]) + ", ..." * (len(empty) > 5)
        warn(
            f"{len(empty)} of {len(files)} files are empty and read as missing values, which count as failed runs: "
            f"{shown}; a graph without edges is written as its nodes ('A; B')"
        )
    return graphs


def _read_named(file: Path, name: str, empty: list[str]) -> Any:
    """Return what a file holds; None for a blank one, whose name is added to `empty`."""
    try:
        if file.stat().st_size <= _MOST_BLANK and not file.read_bytes().removeprefix(b"\xef\xbb\xbf").strip():
            empty.append(name)
            return None
        return _read_cell(file)
    except (ValueError, TypeError) as fault:
        raise type(fault)(f"file {name}: {fault}") from fault


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
    """Return what a file holds: a matrix, a table of edges, or a text."""
    if (size := file.stat().st_size) > MAX_BYTES:
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
    suffix = file.suffix.lower()
    content = file.read_bytes()
    for begin, what in _NO_TEXTS.items():
        if content.startswith(begin):
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
        return read_table(text, is_table=suffix in (".csv", ".tsv"))
    if not ENCODINGS.find(name).takes(text):
        kind = explain_other_text(text) or f"does not begin as {name}; read other texts by graph_column"
        raise ValueError(f"found {text[:40]!r}, which {kind}")
    return text
