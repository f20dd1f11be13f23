"""A report as text: its sections filled into the template of a format."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from typing import Any, NamedTuple

from .figures import Picture
from .markup import Output, escaped
from .methods import Reference, Sentence
from .style import Shown, styler

#: formats by the suffix of the file
FORMATS: dict[str, Output] = {".html": "html", ".md": "markdown", ".tex": "latex"}
#: characters of the default font of LaTeX: up to the end of Latin alphabets, punctuation, signs
_LAST_OF_LATIN, _FIRST_MARK, _LAST_MARK, _SIGNS = "\u024f", "\u2010", "\u203a", "\u20ac\u2122"
#: letters of the longest cell that stays in one line
_LONG = 28


class Section(NamedTuple):
    """A part of the report: a heading, sentences, a table for print, figures."""

    heading: str
    sentences: list[Sentence]
    table: Shown | None = None
    pictures: Sequence[Picture] = ()


def jinja() -> Any:
    """Import jinja2, or name the extra that has it."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("styled tables and reports need jinja2: pip install 'causaleval_pd[report]'") from None
    return jinja2


class _Made(str):
    """Text that is markup already."""


def rendered(
    output: Output,
    title: str,
    date: str | None,
    sections: Sequence[Section],
    entries: Sequence[Reference],
    folder: str,
) -> str:
    """Fill the template of a format; all that it prints is escaped unless it was made here as markup."""
    # braces are LaTeX's own
    marks = ("<<", ">>", "<%", "%>", "<#", "#>") if output == "latex" else ("{{", "}}", "{%", "%}", "{#", "#}")
    names = [f"{name}_{end}_string" for name in ("variable", "block", "comment") for end in ("start", "end")]
    environment = jinja().Environment(
        finalize=lambda value: value if isinstance(value, _Made) else escaped(value, output),
        undefined=jinja().StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **dict(zip(names, marks, strict=True)),
    )
    suffix = next(suffix for suffix, found in FORMATS.items() if found == output)
    source = files("causaleval_pd.reports").joinpath("templates", f"report{suffix}.jinja")
    tables = (section.table for section in sections)
    texts = {id(one): _table(one, output, i) for i, one in enumerate(filter(None, tables), 1)}
    pictures = (one for section in sections for one in section.pictures)
    numbers = {id(one): i for i, one in enumerate(pictures, 1)}
    render = partial(
        environment.from_string(source.read_text("utf-8")).render,
        title=title,
        date=date,
        sections=sections,
        entries=entries,
        folder=_Made(folder),
        written=lambda sentence: _Made(_written(sentence, entries, output)),
        table=lambda one: _Made(texts[id(one)]),
        number=lambda one: numbers[id(one)],
        image=lambda one: _Made(base64.b64encode(one.content).decode()),
        width=lambda one: one.width,
        key=lambda one: _Made(one.key),
        bibtex=_Made("\n".join(escaped(line, "html") for line in bibtex(entries).split("\n"))),
    )
    rendered = render(lost="")
    lost = "".join(
        sorted({x for x in rendered if x > _LAST_OF_LATIN and not _FIRST_MARK <= x <= _LAST_MARK and x not in _SIGNS})
    )
    if output == "latex" and lost:
        rendered = render(lost=_Made(lost[:20]))
    return f"{rendered.rstrip()}\n"


def _written(sentence: Sentence, entries: Sequence[Reference], output: Output) -> str:
    """Return a sentence with the marks of what it cites before its full stop."""
    places = [i for i, entry in enumerate(entries, 1) if entry.cited in sentence.cites]
    text = escaped(sentence.text.removesuffix("."), output)
    if not places:
        return f"{text}."
    if output == "latex":
        return rf"{text}~\cite{{{','.join(entries[i - 1].key for i in places)}}}."
    words = ", ".join(map(str, places))
    return f"{text} [{words}]." if output == "html" else rf"{text} \[{words}\]."


def bibtex(entries: Sequence[Reference]) -> str:
    """Return the references as a file of BibTeX."""
    return "\n\n".join(entry.bibtex for entry in entries) + "\n"


def _html_cell(text: object) -> str:
    """Return a cell; long names may break, so that the columns behind them stay on the page."""
    cell = escaped(text, "html")
    return f'<span class="long">{cell}</span>' if len(str(text)) > _LONG else cell


def _table(shown: Shown, output: Output, number: int) -> str:
    """Return a table for print in a format."""
    if output == "html":
        return str(styler(shown, output, number_of_table=number).format(_html_cell).to_html())
    if output == "latex":
        columns = "l" * shown.texts.shape[1]
        return str(styler(shown, output).to_latex(hrules=True, environment="longtable", column_format=columns))
    cells = shown.texts.map(lambda x: escaped(x, output))
    cells = cells.where(~shown.bold, "**" + cells + "**")
    rows = [[escaped(x, output) for x in cells.columns], ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
