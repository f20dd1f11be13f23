from __future__ import annotations

import html
import re

import pytest

from causaleval_pd.reports.markup import escaped, number

ODD = "<b>&\"'\\input{x}$%#_~^[a](b)|`*!\n\n\x00\u2028é \u03b1 ≤"


def test_html_shows_every_character():
    text = escaped(ODD, "html")
    assert not re.search(r"[<>\"']", text)
    assert html.unescape(text) == "<b>&\"'\\input{x}$%#_~^[a](b)|`*! é \u03b1 ≤"


def test_latex_has_no_command_of_the_text():
    text = escaped(ODD, "latex")
    assert r"\input" not in text and "\n" not in text
    # what is left of special characters belongs to the escapes
    left = re.sub(r"\\[{}$&#%_]|\\text\w+\{\}|\{[\[\]*'-]\}|\$\\?\w+\$", "", text)
    assert not re.search(r"[\\{}$&#%_^~\[\]*|]", left)


def test_a_row_of_latex_cannot_begin_with_an_argument():
    assert escaped("[2cm]*", "latex") == "{[}2cm{]}{*}"


@pytest.mark.parametrize("output", ["html", "latex"])
def test_other_objects_and_lone_surrogates_are_shown(output):
    assert escaped(3, output) == "3"
    assert escaped("a\ud800b", output).encode() == b"a b"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.99996, "1.00"),
        (999.7, "1,000"),
        (999.5, "1,000"),
        (123.4, "123"),
        (-12.34, "\u221212.3"),
        (1e12, "1.00e+12"),
        (float("inf"), "inf"),
        (float("-inf"), "\u2212inf"),
        (float("nan"), "\u2013"),
    ],
)
def test_numbers_have_three_digits(x, text):
    assert number(x) == text
