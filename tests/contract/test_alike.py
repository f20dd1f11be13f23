"""Names and labels that look alike or count as equal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.contract.alike import alike, check_labels, explain_alike, face, hint_alike, near_equal


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ("A", " A", "blanks"),
        ("A", "A\u00a0", "blanks"),
        ("blood pressure", "blood  pressure", "blanks"),
        ("\u00e9", "e\u0301", "Unicode's normal form (NFC, NFD)"),
        ("\u212b", "\u00c5", "Unicode's normal form (NFC, NFD)"),
        ("A", "\ufeffA", "characters that do not show"),
        ("A", "A\u200b", "characters that do not show"),
        ("IL-6", "IL\u20116", "dashes"),
        ("\u00b5g", "\u03bcg", "blanks and other characters"),
        ("e\u0301 ", "\u00e9", "blanks and other characters"),
    ],
)
def test_names_that_look_alike(first, second, what):
    assert face(first) == face(second)
    assert alike(["B", first, second]) == (first, second)
    assert explain_alike(first, second) == f"{first!a} and {second!a} look alike, but differ in {what}"
    assert hint_alike([second, "C"], ["D", first]) == f"; {explain_alike(second, first)}"


@pytest.mark.parametrize(
    "names", [["A", "a"], ["x2", "x\u00b2"], ["IL-6", "IL6"], ["A B", "AB"], ["A", "\u0391"], ["A"], []]
)
def test_other_names_are_told_apart(names):
    assert alike(names) is None
    assert hint_alike(names[:1], names[1:]) == ""


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([True, 1, "x"], r"'k': found the labels True and 1, which count as equal; make .* table\['k'\].astype\(str\)"),
        ([0.0, "x", False], r"found the labels False and 0.0, which count as equal"),
        ([np.True_, 1], r"True.* and 1, which count as equal"),
        ([None, 1, True], r"True and 1, which count as equal"),
        (
            ["pc", "ges", "pc "],
            r"'pc' and 'pc ' look alike, but differ in blanks; .*table\['k'\]\.str\.normalize\('NFC'\)",
        ),
        (["\u00e9", "e\u0301", 3], r"Unicode's normal form \(NFC, NFD\)"),
        ([0.3, 0.1 + 0.2, np.nan], r"0.3 and 0.30000000000000004, equal but .*; round: table\['k'\].round\(9\)"),
    ],
)
def test_labels_that_may_be_one(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(pd.Series(labels), "k")
    with pytest.raises(ValueError, match=message.replace("table", "cube")):
        check_labels(pd.Series(labels), "k", "cube")


def test_labels_of_categories():
    with pytest.raises(ValueError, match="'a' and 'a ' look alike"):
        check_labels(pd.Series(["a", "a ", None], dtype="category"), "k")


@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        [1, 1.0, 2],
        [True, 2, "1"],
        ["a", "b", None],
        [0.1, 0.2, 1e-300, -0.0, np.inf, -np.inf, np.nan],
        [],
    ],
)
def test_labels_that_differ(labels):
    assert check_labels(pd.Series(labels, dtype=object), "k") is None
    assert check_labels(pd.Series(labels), "k") is None


def test_near_equal_looks_on_both_sides():
    others = np.array([0.1, 0.3, np.inf])
    assert near_equal(np.array([0.1 + 0.2]), others) == (0.1 + 0.2, 0.3)
    assert near_equal(np.nextafter([0.1], 0), others) == (np.nextafter(0.1, 0), 0.1)
    assert near_equal(np.array([0.1, 0.3, np.nan, np.inf, 0.3001]), others) is None
