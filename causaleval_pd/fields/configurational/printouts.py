"""Models as programs in R write them: formulas for cna and QCA, and what these print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from typing import Literal as OneOf

import pandas as pd

from ...contract.checks import check_choice, check_known
from ...contract.encoding import without_comment_marks
from .formula import Literal, Model, literal_text
from .reader import FormulaError, as_models, parse

__all__ = ["read_printout", "write_models"]

#: arrows of QCA
_ARROWS = {"<->": "<->", "=>": "->", "<=": "<-"}


def write_models(models: Model | str | Sequence[Model | str], notation: OneOf["cna", "qca"] = "cna") -> list[str]:
    """Write the models of one cell in the notation of an R package, one text per model.

    Parameters
    ----------
    models : Model, str, or sequence of these
        A model or a set of models.
    notation : {"cna", "qca"}
        `(A*b+C<->D)*(D<->E)` and `A=2*B=0<->Y=1` of cna, which has no one-sided arrows in solutions; or
        `A*~B + C <-> D` and `A[2]*B[0] <-> Y[1]` of QCA, which writes one outcome per model.

    Returns
    -------
    list of str
        Texts in canonical order, which `parse` reads back; empty for a set without models.

    Raises
    ------
    ValueError
        If a model has several outcomes and the notation is QCA's, or states sufficiency alone and it is cna's.
    FormulaError
        If a text is not a model.

    Examples
    --------
    >>> write_models("(A*b+C<->D)*(D<->E)")
    ['(A*b+C<->D)*(D<->E)']
    >>> write_models("A*b+C => D; B => D", "qca")
    ['A*~B + C -> D', 'B -> D']
    >>> write_models("A=2*B=0<->Y=1", "qca")
    ['A[2]*B[0] <-> Y[1]']
    """
    check_known(notation, ("cna", "qca"), "notation")
    cell = as_models(models)
    if notation == "qca":
        return list(map(_in_qca, cell))
    if one_way := [model for model in cell if model.one_way]:
        raise ValueError(
            f"cna writes solutions as equivalences, and {one_way[0]} has other arrows; use model.as_equivalence()"
        )
    return list(map(str, cell))


def _in_qca(model: Model) -> str:
    if len(model.atoms) > 1:
        raise ValueError(
            f"QCA writes one outcome per model, and {model} has {len(model.atoms)}; write its atoms one by one"
        )
    [atom] = model.atoms
    disjuncts = [[_qca_literal(literal, model.multi_value) for literal in sorted(one)] for one in atom.disjuncts]
    left = " + ".join(map("*".join, disjuncts))
    return f"{left} {_ARROWS[atom.arrow]} {_qca_literal(atom.outcome, model.multi_value)}"


def _qca_literal(literal: Literal, multi_value: bool) -> str:
    name, value = literal
    if multi_value or "=" in literal_text(literal):  # names without case have values
        return f"{name}[{value}]"
    return name if value else f"~{name}"


MAX_PRINTOUT = 2_000_000
_COLUMNS = {"section": "str", "outcome": "str", "model": "str"}
_NUMBERS = {"consistency": "float64", "coverage": "float64", "complexity": "int64"}
#: headings of cna, and the sections that they open
_SECTIONS = {
    "Minimally sufficient conditions:": "msc",
    "Atomic solution formulas:": "asf",
    "Complex solution formulas:": "csf",
}
#: what both packages print where no model is found
_NO_MODELS = ("*none*", "None of the values in OUT is explained", "There are no solutions")
#: names of columns in the releases of both packages
_FIT = {
    **dict.fromkeys(("consistency", "con", "inclS"), "consistency"),
    **dict.fromkeys(("coverage", "cov", "covS"), "coverage"),
}
_FORMULA = ("condition", "solution")
_VALUE = re.compile(r"-?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|TRUE|FALSE|NA|NaN|-")
_NUMBERED = re.compile(r"\s*M(?P<number>\d{1,6}):(?P<model>.*)")
#: a name without a value
_NAME = re.compile(r"(?<![\w.])[^\W\d_][\w.]*+(?!\s*(?:=(?!>)|[{\[]))")
_NEGATED = re.compile(rf"~\s*({_NAME.pattern})")
_FIT_OF = re.compile(rf"\s*M(?P<number>\d{{1,6}})(?P<values>(\s+({_VALUE.pattern}))+)\s*")

Row = dict[str, Any]


class Printed(NamedTuple):
    """A model as printed, its printed fit, and the number of its line."""

    text: str
    fit: dict[str, float]
    at: int


def read_printout(text: str, *, lower: OneOf["name", "absent"] | None = None) -> pd.DataFrame:
    """Read the models that the R packages cna and QCA print, with their consistency and coverage.

    Read are `print` of a cna object, its tables `msc()`, `asf()` and `csf()`, and what `minimize()` and
    `causalChain()` of QCA print, with details or without.

    Parameters
    ----------
    text : str
        The output as printed, with or without the lines around the models, and the `#`, `##` or `#>` before them. R
        breaks tables that are wider than its line; print them with `options(width = 500)`.
    lower : {"name", "absent"}, optional
        What lower case means in the output of QCA. "name": nothing, names are as printed and `~` alone negates, as QCA
        prints by default. "absent": a name in lower case is an absent factor, as with `use.tilde = FALSE` of
        early releases. Required where all names are in lower case, or one is in mixed case. Models are returned in the
        notation of cna, where names are in upper case.

    Returns
    -------
    DataFrame
        One row per model in the printed order: section ("msc", "asf" and "csf" of cna, "M" of QCA, a missing value
        where a table has no heading), outcome (several are joined by a comma), model (canonical text, which all verbs
        read), consistency, coverage (as printed, NaN where they are not) and complexity (number of literals).
        Where cna prints "Same as asf", the atomic solutions stand under "csf" too.

    Raises
    ------
    ValueError
        If all names that QCA prints are in lower case, or one is in mixed case, and `lower` is not given; if the text
        has neither models nor what cna (``*none*``) and QCA print in their place, a table is broken or misses its
        header, or a formula is not a model; the message has the number of the line.
    TypeError
        If `text` is not a string.

    Notes
    -----
    Printed tables may be cut: cna adds "... (total no. of formulas: 12)" and QCA nothing. `attrs["n_unprinted"]` of the
    result counts what cna left out.

    Examples
    --------
    >>> print(read_printout('''
    ... Atomic solution formulas:
    ... -------------------------
    ... Outcome E:
    ...        condition consistency coverage
    ...  D + G + U <-> E       1.000    1.000
    ...  G + L     <-> E       1.000    0.857
    ... ''').to_string(index=False))
    section outcome     model  consistency  coverage  complexity
        asf       E D+G+U<->E          1.0     1.000           3
        asf       E   G+L<->E          1.0     0.857           2
    """
    if not isinstance(text, str):
        raise TypeError(f"expected printed output as text, found {type(text).__name__}")
    if len(text) > MAX_PRINTOUT:
        raise ValueError(f"printed output has at most {MAX_PRINTOUT} characters, found {len(text)}")
    text = without_comment_marks(text)
    lines = text.splitlines()
    numbered = any(map(_NUMBERED.match, lines))
    if lower is not None:
        check_choice(lower, ("name", "absent"), "lower")
        if not numbered:
            raise ValueError("lower= reads the output of QCA ('M1: a*b -> c'); cna prints absent factors in lower case")
    if numbered:
        models = _in_one_case(list(_qca(lines)), lower)
        rows, n_unprinted = [_row("M", model.text, model.fit, model.at) for model in models], 0
    else:
        rows, n_unprinted = _cna(lines)
    if not rows and not any(words in text for words in _NO_MODELS):
        raise ValueError(
            "no models found; expected what cna prints (a table with a column 'condition' or 'solution') or QCA "
            "('M1: A*~B + C -> Y')"
        )
    table = pd.DataFrame(rows, columns=[*_COLUMNS, *_NUMBERS]).astype(_COLUMNS | _NUMBERS)
    table.attrs["n_unprinted"] = n_unprinted
    return table


def _row(section: str | None, text: str, fit: dict[str, float], at: int) -> Row:
    """Return a row of the table from the text of a formula in line number `at`."""
    try:
        model = parse(text)
    except FormulaError as error:
        raise ValueError(f"line {at}: {error}") from None
    outcomes = ",".join(map(literal_text, model.outcomes))
    row: Row = {"section": section, "outcome": outcomes, "model": str(model), "complexity": model.complexity}
    if (printed := fit.get("complexity", model.complexity)) != model.complexity:
        raise ValueError(f"line {at}: {model} has complexity {model.complexity}, printed is {printed:g}")
    return row | {name: fit.get(name, float("nan")) for name in ("consistency", "coverage")}


def _cna(lines: list[str]) -> tuple[list[Row], int]:
    """Return the rows of tables, and the number of formulas that were not printed."""
    rows: list[Row] = []
    section: str | None = None
    header: tuple[bool, list[str]] | None = None
    of_table = n_unprinted = 0
    for at, line in enumerate(lines, start=1):
        words = line.split()
        if line.strip() in _SECTIONS:
            section, header = _SECTIONS[line.strip()], None
        elif {"model", "score"} <= {*words}:
            raise ValueError(
                f"line {at}: found the table of frscore(), which has no consistency and coverage; read its column "
                "'model' as texts of models, or print the cna object that it scores"
            )
        elif any(name in words for name in _FORMULA):
            header, of_table = _header(words, at), 0
        elif line.strip() == "Same as asf":
            rows += [row | {"section": "csf"} for row in rows if row["section"] == "asf"]
        elif total := re.fullmatch(r"\.\.\. \(total no\. of (?:formulas|conditions): (\d{1,9})\)", line.strip()):
            n_unprinted += int(total[1]) - of_table
        elif "->" in line:
            rows.append(_cna_row(line, section, header, at))
            of_table += 1
    return rows, n_unprinted


def _header(words: list[str], at: int) -> tuple[bool, list[str]]:
    """Return whether outcomes stand before the formulas of a table, and the columns after them."""
    place = next(i for i, word in enumerate(words) if word in _FORMULA)
    if not any(name in _FIT for name in words[place + 1 :]):
        raise ValueError(
            f"line {at}: the table has no consistency and coverage beside its formulas, as where R breaks wide tables; "
            "print it with options(width = 500)"
        )
    return "outcome" in words[:place], words[place + 1 :]


def _cna_row(line: str, section: str | None, header: tuple[bool, list[str]] | None, at: int) -> Row:
    if header is None:
        raise ValueError(f"line {at}: a formula without the header of its table; copy the line with the names too")
    has_outcome, names = header
    left, *values = line.rsplit(None, len(names))
    if len(values) < len(names) or not all(map(_VALUE.fullmatch, values)):
        raise ValueError(f"line {at}: expected a formula and {len(names)} values ({', '.join(names)}), found {line!r}")
    formula = re.sub(r"^\s*\d+\s", "", left).strip()  # the number of the row
    if has_outcome:
        formula = formula.partition(" ")[2]
    return _row(section, formula, _printed_fit(names, values), at)


def _printed_fit(names: list[str], values: list[str]) -> dict[str, float]:
    """Return the numbers of a row by their names, without what is no number; a row may end before its header."""
    pairs = zip(names, values, strict=False)
    return {_FIT.get(name, name): float(value) for name, value in pairs if value.rstrip(".")[-1].isdigit()}


def _qca(lines: list[str]) -> Iterator[Printed]:
    """Yield the numbered models, whose fit may follow in a table."""
    models: dict[int, tuple[str, int]] = {}
    fits: dict[int, dict[str, float]] = {}
    header: list[str] = []
    open_model: int | None = None
    for at, line in enumerate([*lines, ""], start=1):
        words = line.split()
        start, fit = _NUMBERED.match(line), _FIT_OF.fullmatch(line)
        if start:
            number = int(start["number"])
            if number in models:  # the models of another solution begin
                yield from (Printed(text, fits.get(n, {}), place) for n, (text, place) in models.items())
                models, fits = {}, {}
            models[number], open_model = (start["model"], at), number
        elif open_model is not None and words:
            models[open_model] = (models[open_model][0] + " " + line.strip(), models[open_model][1])
        elif "inclS" in words:
            header = [name for name in words if not name.startswith("(M")]
        elif fit and int(fit["number"]) in models and header:
            fits[int(fit["number"])] = _printed_fit(header, fit["values"].split())
        if not words:
            open_model = None
    yield from (Printed(text, fits.get(n, {}), place) for n, (text, place) in models.items())


def _in_one_case(models: list[Printed], lower: str | None) -> list[Printed]:
    """Return models in the notation of cna; refuse names whose case has two readings, unless `lower` tells which."""
    names: dict[str, int] = {}
    for model in models:
        for name in _NAME.findall(model.text):
            names.setdefault(name, model.at)
    if lower is None and names:
        mixed = next((name for name in names if name not in (name.lower(), name.upper())), None)
        if mixed is not None:
            raise ValueError(
                f"line {names[mixed]}: {mixed!r} is neither upper case (present) nor lower case (absent); pass "
                "lower='name' where names are as printed and ~ negates"
            )
        negations = (name for model in models for name in _NEGATED.findall(model.text))
        negated = next((name for name in negations if name != name.upper()), None)
        if negated is not None and any(name == name.upper() for name in names):
            raise ValueError(
                f"line {names[negated]}: ~{negated} negates twice if lower case means absent; pass lower='name' where "
                "names are as printed and ~ alone negates"
            )
        if all(name != name.upper() for name in names):
            name, at = next(iter(names.items()))
            raise ValueError(
                f"line {at}: all names are in lower case, so {name!r} may state that a factor is present or "
                "absent; pass lower='name' where ~ alone negates, as QCA prints by default, or lower='absent' where "
                "lower case negates, as with use.tilde = FALSE"
            )
    if lower != "name":
        return models
    by_upper: dict[str, str] = {}
    for name, at in names.items():
        other = by_upper.setdefault(name.upper(), name)
        if other != name:
            raise ValueError(
                f"line {at}: the names {other!r} and {name!r} differ in case only; rename one of the factors"
            )
    return [model._replace(text=_NAME.sub(_in_upper_case, model.text)) for model in models]


def _in_upper_case(name: re.Match[str]) -> str:
    """Return a name in upper case, but as it is where the cases do not correspond, which the reader refuses."""
    upper = name.group().upper()
    return upper if upper.lower() == name.group().lower() else name.group()
