"""Read the bytes of an XMLBIF file, in one pass of the parser of the standard library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from ...contract.checks import shown
from .declarations import Declarations, read_number
from .network import DiscreteNetwork

#: elements, by the element that they stand in
_CHILDREN = {
    "": {"BIF"},
    "BIF": {"NETWORK"},
    "NETWORK": {"NAME", "PROPERTY", "VARIABLE", "DEFINITION"},
    "VARIABLE": {"NAME", "OUTCOME", "PROPERTY"},
    "DEFINITION": {"FOR", "GIVEN", "TABLE", "PROPERTY"},
}
#: faults of XML that ends too early
_CUT_SHORT = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
}


def read_xmlbif(raw: bytes) -> DiscreteNetwork:
    """Read an XMLBIF file: elements VARIABLE and DEFINITION in BIF / NETWORK.

    Anything else is refused with its line: XML that is not well-formed or declares entities, unknown elements, tables
    of another length than the states ask for, a variable without a table.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(raw, True)
    except (expat.ExpatError, LookupError) as error:
        hint = "; is the file cut short?" if getattr(error, "code", None) in _CUT_SHORT else ""
        raise ValueError(f"it is not well-formed XML: {error}{hint}") from None
    return reader.found.network()


class _Reader:
    """Open elements, and the texts of the variable or definition that is being read, by element."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.refuse_entity
        self.parser.SkippedEntityHandler = self.refuse_skipped
        self.open: list[str] = [""]
        self.text: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.found = Declarations(self.fault)

    def fault(self, message: str) -> ValueError:
        """Return the error of a message at the current line."""
        return ValueError(f"line {self.parser.CurrentLineNumber}: {message}")

    def refuse_entity(self, name: str, *_: Any) -> None:
        """Refuse entities, which may stand for texts of any size."""
        raise self.fault(f"the file declares XML entities, which are not read ({name!r})")

    def refuse_skipped(self, name: str, *_: Any) -> None:
        """Refuse entities of a file that is not read, whose text would be left out."""
        raise self.fault(f"the file refers to the XML entity {name!r}, which it does not declare")

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Open an element."""
        known = _CHILDREN.get(self.open[-1], set())
        if name not in known:
            place = f"in {self.open[-1]}" if self.open[-1] else "first"
            expected = f"one of {sorted(known)}" if known else "text"
            raise self.fault(f"found the element {shown(name)} {place}, expected {expected}")
        if name == "VARIABLE" and attributes.get("TYPE", "nature") != "nature":
            raise self.fault(f"found a variable of type {shown(attributes['TYPE'])}; only 'nature' is read")
        self.open.append(name)
        if name in ("VARIABLE", "DEFINITION"):
            self.texts = {}
        self.text = []

    def characters(self, text: str) -> None:
        """Keep text, which stands in the innermost elements only."""
        if self.open[-1] not in _CHILDREN:
            self.text.append(text)
        elif text.strip():
            raise self.fault(f"found the text {shown(text.strip())} in {self.open[-1]}")

    def end(self, name: str) -> None:
        """Close an element."""
        self.open.pop()
        if name == "VARIABLE":
            self.found.add_variable(self.one("NAME"), self.texts.get("OUTCOME", []))
        elif name == "DEFINITION":
            self.add_table()
        elif name not in _CHILDREN:
            self.texts.setdefault(name, []).append("".join(self.text).strip())

    def one(self, name: str) -> str:
        """Return the text of an element that occurs once."""
        texts = self.texts.get(name, [])
        if len(texts) != 1 or not texts[0]:
            raise self.fault(f"expected one element {name} with text, found {shown(texts)}")
        return texts[0]

    def add_table(self) -> None:
        """Add the table of a definition; its numbers are in the order of (parents.., child), the last fastest."""
        name, parents = self.one("FOR"), self.texts.get("GIVEN", [])
        self.found.shape(name, parents)
        words = self.one("TABLE").split()
        values = [value for word in words if (value := read_number(word)) is not None]
        if len(values) < len(words):
            wrong = next(word for word in words if read_number(word) is None)
            raise self.fault(f"the table of {name!r} has {shown(wrong)}, expected numbers")
        self.found.add_table(name, parents, values)
