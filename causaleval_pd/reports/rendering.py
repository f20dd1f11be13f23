"""A report as one page of HTML: its sections filled into the template."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from .figures import Picture
from .methods import Reference, Sentence
from .style import Shown, escaped, styler

#: letters of the longest cell that stays in one line
_LONG = 28


class Section(NamedTuple):
    """A part of the report: a heading, sentences, a table for print, figures; details are folded."""

    heading: str
    sentences: list[Sentence]
    table: Shown | None = None
    pictures: Sequence[Picture] = ()
    is_detail: bool = False


def jinja() -> Any:
    """Import jinja2, or name the extra that has it."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("styled tables and reports need jinja2: pip install 'causaleval_pd[report]'") from None
    return jinja2


class _Made(str):
    """Text that is markup already."""


def rendered(title: str, date: str | None, sections: Sequence[Section], entries: Sequence[Reference]) -> str:
    """Fill the template; all that it prints is escaped unless it was made here as markup."""
    environment = jinja().Environment(
        finalize=lambda value: value if isinstance(value, _Made) else escaped(value, "html"),
        undefined=jinja().StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    source = files("causaleval_pd.reports").joinpath("report.html.jinja").read_text("utf-8")
    tables = [section.table for section in sections if section.table is not None]
    pictures = [one for section in sections for one in section.pictures]
    page = environment.from_string(source).render(
        title=title,
        date=date,
        sections=sections,
        entries=entries,
        written=lambda sentence: _Made(_written(sentence, entries)),
        table=lambda one: _Made(_table(one, _number(one, tables))),
        latex=lambda one: _lines(_latex(one)),
        number=lambda one: _number(one, pictures),
        image=lambda one: _Made(base64.b64encode(one.content).decode()),
        bibtex=_lines("\n\n".join(entry.bibtex for entry in entries)),
    )
    return f"{page.rstrip()}\n"


def _number(one: object, among: Sequence[object]) -> int:
    return next(i for i, other in enumerate(among, 1) if other is one)


def _lines(text: str) -> _Made:
    return _Made("\n".join(escaped(line, "html") for line in text.rstrip().split("\n")))


def _written(sentence: Sentence, entries: Sequence[Reference]) -> str:
    """Return a sentence with the marks of what it cites before its full stop."""
    places = [str(i) for i, entry in enumerate(entries, 1) if entry.cited in sentence.cites]
    text = escaped(sentence.text.removesuffix("."), "html")
    return f"{text} [{', '.join(places)}]." if places else f"{text}."


def _cell(text: object) -> str:
    """Return a cell; long names may break, so that the columns behind them stay on the page."""
    cell = escaped(text, "html")
    return f'<span class="long">{cell}</span>' if len(str(text)) > _LONG else cell


def _table(shown: Shown, number: int) -> str:
    return str(styler(shown, "html", number_of_table=number).format(_cell).to_html())


def _latex(shown: Shown) -> str:
    return str(styler(shown, "latex").to_latex(hrules=True, column_format="l" * shown.texts.shape[1]))
