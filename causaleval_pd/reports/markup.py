"""Texts as HTML, LaTeX or Markdown: every character is shown as it is, and none is read as markup."""

from __future__ import annotations

import html
import math
import re
from typing import Literal

Output = Literal["html", "latex", "markdown"]

#: signs of printed numbers: minus, and a dash for a missing number
MINUS, DASH = "\u2212", "\u2013"

_LATEX = {
    **{x: f"\\{x}" for x in "{}$&#%_"},
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
    **{
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "`": r"\textasciigrave{}",
    },
    # after the end of a row, a bracket or a star would be an argument of it
    **{"[": "{[}", "]": "{]}", "*": "{*}"},
    # two hyphens would join
    **{"-": "{-}", "'": "{'}"},
    **{
        MINUS: "$-$",
        DASH: "--",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "\u00d7": r"$\times$",
        "±": r"$\pm$",
        "\u03b1": r"$\alpha$",
        "β": r"$\beta$",
    },
    **{"↓": r"$\downarrow$", "↑": r"$\uparrow$", "→": r"$\rightarrow$"},
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$!&])")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def escaped(text: object, output: Output) -> str:
    r"""Return a text on one line as HTML, LaTeX or Markdown shows it; control characters become spaces.

    Parameters
    ----------
    text : object
        What to show; other objects than texts by `str`.
    output : {"html", "latex", "markdown"}
        For what.

    Returns
    -------
    str
        The text with its special characters escaped. LaTeX for a document with T1 or OpenType fonts.

    Examples
    --------
    >>> from causaleval_pd.reports.markup import escaped
    >>> [escaped("p_1 < 5 %", output) for output in ("html", "latex", "markdown")]
    ['p_1 &lt; 5 %', 'p\\_1 \\textless{} 5 \\%', 'p\\_1 \\< 5 %']
    """
    line = _BLANK.sub(" ", str(text))
    if output == "html":
        return html.escape(line)
    if output == "latex":
        return "".join(_LATEX.get(x, x) for x in line)
    return _MARKDOWN.sub(r"\\\1", line)


def number(x: float) -> str:
    """Return a number with three significant digits, whole ones as they are; a dash where it is missing.

    Examples
    --------
    >>> [number(x) for x in (5.53333, 12345.6, -0.5, 0.0000123, 7, float("nan"))]
    ['5.53', '12,346', '−0.500', '1.23e−05', '7.00', '–']
    """
    if math.isnan(x):
        return DASH
    if abs(x) == float("inf") or x == 0:
        text = f"{abs(x):g}"
    elif abs(x) >= 999.5:
        text = f"{abs(x):,.0f}" if abs(x) < 1e9 else f"{abs(x):.2e}"
    else:
        text = f"{abs(x):#.3g}".removesuffix(".") if abs(x) >= 1e-3 else f"{abs(x):.2e}"
    return (MINUS if x < 0 else "") + text.replace("e-", f"e{MINUS}")


#: p-values below are written as such; that of this number of draws, which bounds p, and larger ones as fractions
_LEAST_P, _MOST_DRAWS = 1e-5, 10**4


def p_text(p: float, *, at_floor: bool = False) -> str:
    """Return a p-value with two significant digits, a bound rounded up; the least that R draws can give as `≤ 1/(R+1)`.

    Examples
    --------
    >>> p_text(0.0316), p_text(1 / 101, at_floor=True), p_text(0.0297, at_floor=True), p_text(3e-12)
    ('0.032', '≤ 1/101', '≤ 0.030', '< 1e−5')
    >>> p_text(1e-5, at_floor=True), p_text(2e-5)
    ('≤ 1e−5', '2.0e−5')
    """
    if math.isnan(p):
        return DASH
    least = f"1e{MINUS}5"
    if p < _LEAST_P * (1 - 1e-9):
        return f"< {least}"
    if at_floor:
        whole = round(1 / p)
        if 1 < whole <= _MOST_DRAWS and abs(1 / p - whole) < 1e-6 * whole:
            return f"≤ 1/{whole}"
        digit = 10.0 ** (math.floor(math.log10(p)) - 1)
        p = math.ceil(p / digit - 1e-9) * digit
        if p < _LEAST_P * (1 + 1e-9):
            return f"≤ {least}"
    text = f"{p:#.2g}".removesuffix(".") if p >= 1e-4 else f"{p:.1e}".replace("e-0", f"e{MINUS}")
    return f"≤ {text}" if at_floor else text
