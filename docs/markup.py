"""Pieces of Markdown pages: tables, links between files and pages, sections, what Sphinx shows of an object."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
_LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)(#[^)\s]*)?(?=\))")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Lay out a table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n" for cells in lines)


def names(entries: Iterable[tuple[str, str, Any]]) -> str:
    """Lay out names, linked to their pages or to where functions are shown, with first sentences of docstrings."""
    rows = []
    for name, page, value in entries:
        link = f"[`{name}`]({page})" if page else f"{{py:obj}}`{name} <causaleval_pd.{name}>`"
        rows.append((link, first_sentence(value)))
    return table(["name", "purpose"], rows)


def fold(anchor: str, title: str, text: str) -> str:
    """Lay out a text that opens by a click on its title, which is HTML; links lead to its anchor."""
    return f'<details id="{anchor}">\n<summary>{title}</summary>\n\n{text}\n\n</details>\n'


def first_sentence(value: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0]
    return " ".join(text.replace("``", "`").split())


def toctree(pages: Iterable[str], *, caption: str = "") -> str:
    """List pages in the navigation, not on the page."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *pages, "```", ""])


def docstring_of(directive: str, name: str, *options: str, module: str = "causaleval_pd") -> str:
    """Show an object's signature and docstring, which are reStructuredText."""
    return rst([f".. currentmodule:: {module}", "", f".. {directive}:: {name}", *(f"   {x}" for x in options)])


def rst(lines: Iterable[str]) -> str:
    """Return lines of reStructuredText as part of a page."""
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def as_text(docstring: str) -> str:
    """Return a docstring without the headings of its sections, which directives alone may have: they become bold."""
    return re.sub(r"^(\w[\w ]*)\n-{3,}$", r"**\1**\n", docstring, flags=re.MULTILINE)


def sections(path: Path, level: int = 2) -> dict[str, str]:
    """Return the sections of a page by heading, the part before the first as ""."""
    parts = re.split(rf"^{'#' * level} (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def moved(text: str, source: Path, page: Path) -> str:
    """Return the text of a file for another place: its links lead where they led, or to the page made of their target.

    Parameters
    ----------
    text : str
        Markdown, links of which are relative to `source`.
    source, page : Path
        The file, and the page that shows the text.

    Returns
    -------
    str
        The text with links relative to `page`.
    """
    shown_by = {
        ROOT / "README.md": DOCS / "index.md",
        ROOT / "CONTRIBUTING.md": GENERATED / "contributing.md",
        ROOT / "CHANGELOG.md": GENERATED / "changelog.md",
        ROOT / "examples/README.md": GENERATED / "examples.md",
    }

    def link(found: re.Match[str]) -> str:
        target = (source.parent / found[1]).resolve()
        anchor = found[2] or ""
        if target.parent == ROOT / "examples" and target.suffix == ".py":
            target, anchor = GENERATED / "examples.md", f"#{target.stem}"
        target = shown_by.get(target, target)
        # Markdown that no page shows is a file to download
        is_file = target.suffix == ".md" and not target.is_relative_to(DOCS)
        return "path:" * is_file + Path(os.path.relpath(target, page.parent)).as_posix() + anchor

    return _LINK.sub(link, text)
