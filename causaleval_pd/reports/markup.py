"""Texts as HTML or LaTeX: every character is shown as it is, and none is read as markup."""

from __future__ import annotations

import html
import math
import re
from typing import Literal

from ..contract.words import DASH, MINUS

Output = Literal["html", "latex"]

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
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def escaped(text: object, output: Output) -> str:
    """Return a text on one line as HTML or LaTeX shows it; control characters become spaces."""
    line = _BLANK.sub(" ", str(text))
    if output == "html":
        return html.escape(line)
    return "".join(_LATEX.get(x, x) for x in line)


def number(x: float) -> str:
    """Return a number with three significant digits, whole ones as they are; a dash where it is missing."""
    if math.isnan(x):
        return DASH
    if abs(x) == float("inf") or x == 0:
        text = f"{abs(x):g}"
    elif abs(x) >= 999.5:
        text = f"{abs(x):,.0f}" if abs(x) < 1e9 else f"{abs(x):.2e}"
    else:
        text = f"{abs(x):#.3g}".removesuffix(".") if abs(x) >= 1e-3 else f"{abs(x):.2e}"
    return (MINUS if x < 0 else "") + text.replace("e-", f"e{MINUS}")
