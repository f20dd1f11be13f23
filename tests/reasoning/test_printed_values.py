"""Printed values: what Python and numpy print is read back, and nothing is evaluated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.reasoning.published import parse_matrix, parse_printed

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False),
    st.text("aB' \"\\\n,:[](){}é#.\r\t\0\x7f\x85\xa0\u2028\ufeff\ud800\U0001f600", max_size=8),
    st.text(max_size=8),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(
            st.one_of(st.text("ab", max_size=3), st.tuples(st.text("XY", max_size=2), st.integers())), inner, max_size=3
        ),
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(VALUES)
def test_whatever_python_prints_is_read_back(value):
    assert parse_printed(repr(value)) == value


def test_whatever_numpy_prints_is_read_back():
    rng = np.random.default_rng(0)
    for array in (
        rng.integers(0, 2, (5, 5)),
        rng.integers(0, 2, (3, 3)).astype(float),
        np.array(["Ab", "C d", "it's", "a\rb", "\xa0", "\u2028"]),
        np.array([[-1, 2], [3, -4]]),
        np.array([0.5, -np.inf]),
        np.array([(1, "a b"), ("c", 2)], dtype="O"),
    ):
        assert parse_printed(str(array)) == array.tolist()
        assert parse_printed(repr(array)) == array.tolist() or array.dtype == object
        assert parse_printed(repr(array.tolist())) == array.tolist()
    assert parse_printed(repr([np.float64(0.5), np.int64(3), np.str_("a"), np.bool_(True)])) == [0.5, 3, "a", True]
    assert parse_printed("{('X', 'Y'): np.float64(inf)}") == {("X", "Y"): math.inf}
    assert math.isnan(parse_printed("nan"))
    assert parse_printed("array([[1, 2], [3, 4]])") == [[1, 2], [3, 4]]
    assert parse_printed("((1),)") == (1,)
    assert parse_printed("()") == ()


def test_matrices():
    upper = np.triu(np.ones((31, 31), int), 1)
    np.testing.assert_array_equal(parse_matrix(str(upper)), upper)
    with pytest.raises(ValueError, match="cut short"):
        parse_matrix(str(np.triu(np.ones((33, 33), int), 1)))
    for wrong in ("[[0 1] [0]]", "[[0 2] [0 0]]", "3", "[0 1]", "[[0, 1], [1, 'a']]"):
        with pytest.raises(ValueError, match="square matrix"):
            parse_matrix(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os').system('true')", "not a printed Python value"),
        ("np.float64(__import__('os'))", "not a printed Python value"),
        ("open('x')", "not a printed Python value"),
        ("[1, 2", "never closed"),
        ("", "no value"),
        ("1 2", "more than one value"),
        ("{1: 2, 3}", "expected after dictionary key"),
        ("{[1]: 2}", "a list or a map"),
        ("[1: 2]", "not a printed Python value"),
        ("np.float64(1, 2)", "expected one value"),
        ("[" * 5000 + "]" * 5000, "nest"),
        ("[" * 25 + "]" * 25, "nests values more than 20 deep"),
        ("]", "unmatched"),
        ("1" * (2**24 + 1), "characters"),
        ("1" * 5000, "not a printed Python value"),
        ("[1 # 2\n]", "not a printed Python value at '# 2"),
        ("1], [2", "more than one value"),
        ("1] + [2", "not a printed Python value"),
        ("[1 - 2]", "not a printed Python value"),
        ("[x for x in (1, 2)]", "not a printed Python value"),
        ("{**{1: 2}}", "not a printed Python value"),
        ("b'a'", "not a printed Python value"),
        ("f'{1}'", "not a printed Python value"),
        ("1j", "not a printed Python value"),
        ("'a", "not a printed Python value"),
        ("'\0'", "not a printed Python value"),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_printed(text)


@pytest.mark.parametrize("piece", ["1,", "[1],", "'a' ", " ", "'", "\\'", "np.float64(1),", "1", "("])
def test_parsing_takes_linear_time(piece, count_lines):
    once, twice = (count_lines(parse_printed, "[" + piece * n + "]") for n in (500, 1000))
    assert twice < 2 * once + 100


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (" ", "never closed"),
        ("'", "unterminated"),
        ("\\'", "not a printed Python value at"),
        ("1", "not a printed Python value"),
        ("(", "too many nested"),
    ],
)
def test_a_million_equal_characters_are_read_once(piece, message):
    """A pattern that reads the rest of the text at each character would take hours."""
    with pytest.raises(ValueError, match=message):
        parse_printed("[" + piece * 1_000_000)
