"""Read network files: BIF, XMLBIF, NET and DSC, perhaps compressed by gzip; whole files or an error, never a part.

These readers are ours, so that a file has the same bits wherever it is read: pyagrum reads probabilities in single
precision and no DSC, pgmpy takes seconds for a file of milliseconds, and neither refuses every damaged file.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from .bif import read_bif
from .dsc import read_dsc
from .net import read_net
from .network import DiscreteNetwork
from .xmlbif import read_xmlbif

#: the formats of texts, by suffix; XMLBIF is read as bytes
_TEXTS = {".bif": read_bif, ".net": read_net, ".dsc": read_dsc}
SUFFIXES = (".bif", ".xmlbif", ".bifxml", ".xml", ".net", ".dsc")
_MAX_FILE_BYTES = 64 * 2**20


def read_file(path: str | Path) -> DiscreteNetwork:
    """Read a BIF, XMLBIF, NET or DSC file, perhaps compressed by gzip; the suffix of its name is that of the format.

    Raises a ValueError with the path and the line if the file is not such a network from the first to the last byte.
    """
    path = Path(path)
    suffixes = [s.lower() for s in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    suffix = (suffixes[:-1] if compressed else suffixes)[-1:]
    if not suffix or suffix[0] not in SUFFIXES:
        raise ValueError(
            f"{str(path)!r} is not the path of a network; files end in {', '.join(SUFFIXES)}, perhaps with .gz; a "
            "graph has no parameters: give it some by ce.causal_kl.from_data(graph, data)"
        )
    if not path.is_file():
        raise ValueError(f"the file {str(path)!r} does not exist")
    try:
        raw = _read_bytes(path, compressed)
        read_text = _TEXTS.get(suffix[0])
        return read_xmlbif(raw) if read_text is None else read_text(_decode(raw))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not read as a network: {error}") from None


def _read_bytes(path: Path, compressed: bool) -> bytes:
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb") as stream:
            raw = stream.read(_MAX_FILE_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"it is not a whole gzip file: {error}") from None
    if len(raw) > _MAX_FILE_BYTES:
        raise ValueError(f"it has more than {_MAX_FILE_BYTES} bytes")
    return raw


def _decode(raw: bytes) -> str:
    raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, found = raw.count(b"\n", 0, error.start) + 1, raw[error.start]
        raise ValueError(f"line {line}: found the byte {found:#04x}, expected UTF-8; save the file as UTF-8") from None
