"""What error messages share: rows and unknown names with the nearest, and names that look alike are told apart."""

import inspect
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract import checks


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ("A", " A", "blanks"), ("A", "A\u00a0", "blanks"), ("blood pressure", "blood  pressure", "blanks"),
        ("\u00e9", "e\u0301", "Unicode's normal form (NFC, NFD)"),
        ("\u212b", "\u00c5", "Unicode's normal form (NFC, NFD)"), ("A", "\ufeffA", "characters that do not show"),
        ("A", "A\u200b", "characters that do not show"), ("IL-6", "IL\u20116", "dashes"),
        ("\u00b5g", "\u03bcg", "blanks and other characters"), ("e\u0301 ", "\u00e9", "blanks and other characters"),
    ],
)  # fmt: skip
def test_names_that_look_alike(first, second, what):
    assert checks.face(first) == checks.face(second)
    assert checks.alike(["B", first, second]) == (first, second)
    assert checks.explain_alike(first, second) == f"{first!a} and {second!a} look alike, but differ in {what}"
    assert checks.hint_alike([second, "C"], ["D", first]) == f"; {checks.explain_alike(second, first)}"


@pytest.mark.parametrize(
    "names", [["A", "a"], ["x2", "x\u00b2"], ["IL-6", "IL6"], ["A B", "AB"], ["A", "\u0391"], ["A"], []]
)
def test_other_names_are_told_apart(names):
    assert checks.alike(names) is None
    assert checks.hint_alike(names[:1], names[1:]) == ""


@pytest.mark.parametrize(
    ("index", "column", "expected"),
    [
        (None, None, "row 1"),
        (None, "truth", "column 'truth', row 1"),
        (pd.RangeIndex(3), ("a", 1), "column ('a', 1), row 1 (index 1)"),
        (pd.Index(["x", "y"]), "truth", "column 'truth', row 1 (index 'y')"),
        (pd.MultiIndex.from_tuples([("pc", 0.1), ("ges", 0.2)]), None, "row 1 (index ('ges', 0.2))"),
        (pd.MultiIndex.from_arrays([np.array([1, 2]), np.array([0.5, 1.5])]), None, "row 1 (index (2, 1.5))"),
        (pd.Index([np.float64(0.5), np.float64(2.0)]), None, "row 1 (index 2.0)"),
    ],
)
def test_rows_are_named_by_place_and_plain_label(index, column, expected):
    assert checks.name_row(1, index, column) == expected


def test_the_nearest_names_come_first():
    assert checks.nearest("shdd", ["sid", "shd", "f1"]) == "did you mean 'shd', 'sid'? "
    assert checks.nearest("zzz", ["shd"]) == checks.nearest("shd", []) == ""
    assert checks.nearest(12, [123, "x"]) == "did you mean '123'? "


@pytest.mark.parametrize("name", [["shd"], {"shd"}, pd.Series(["shd"]), np.array(["shd"]), ("shd", ["x"]), pd.NA])
def test_names_that_cannot_be_compared_are_unknown(name):
    with pytest.raises(ValueError, match="^unknown metric .*known are 'shd', 'sid'$"):
        checks.check_known(name, iter(["shd", "sid"]), "metric")
    checks.check_known("sid", iter(["shd", "sid"]), "metric")


@pytest.mark.parametrize("value", [pd.NA, np.array([]), pd.DataFrame(), ["low"], 1, "middle", None])
def test_words_that_are_no_choice_are_refused(value):
    with pytest.raises(ValueError, match="^end must be 'low' or 'high', found "):
        checks.check_choice(value, ("low", "high"), "end")
    checks.check_choice("high", ("low", "high"), "end")
    checks.check_choice(None, ("low", None), "end")


def test_types_are_told_by_what_was_found():
    checks.check_type([], list, "a list", "values")
    checks.check_type((), (list, tuple), "a list", "values")
    with pytest.raises(TypeError, match=r"^values must be a list, found a DataFrame$"):
        checks.check_type(pd.DataFrame({"a": [1]}), list, "a list", "values")


@pytest.mark.parametrize("interval", ["(-inf, inf)", "(0, inf)", "[0, inf)", "(0, 1)", "[0, 1)", "[0, 1]"])
def test_intervals_include_the_ends_in_square_brackets_only(interval):
    low, high = (float(end) for end in interval[1:-1].split(","))
    inside = [x for x in (0.5, low, high) if (x != low or interval[0] == "[") and (x != high or interval[-1] == "]")]
    outside = [x for x in (low, high, low - 1, high + 1, math.nan) if x not in inside and (low > -1 or x != x)]
    for value in inside:
        assert checks.check_number(value, "x", interval) == value
    assert outside
    for value in outside:
        with pytest.raises(ValueError, match=r"^x must (be a (finite|positive|number)|lie (in|between)).*found"):
            checks.check_number(value, "x", interval)


@pytest.mark.parametrize("value", [True, np.True_, "1", None, [0.5], np.array([0.5]), 0.5 + 0j])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="^level must lie between 0 and 1, found "):
        checks.check_number(value, "level", "(0, 1)")
    with pytest.raises(ValueError, match="^n must be a positive integer, found "):
        checks.check_whole(value, "n", 1)


def test_whole_numbers_have_limits_and_one_type():
    for value in (3, 3.0, np.int8(3), np.float32(3)):
        assert type(checks.check_whole(value, "n")) is int and checks.check_whole(value, "n", 3, 3) == 3
    for value in (2.5, math.nan, math.inf, -1):
        with pytest.raises(ValueError, match=f"^n must be an integer from 0 to 9, found {value}$"):
            checks.check_whole(value, "n", 0, 9)
    with pytest.raises(ValueError, match="^n must be an integer from 0, found "):
        checks.check_whole(np.float64(math.inf), "n")


def test_long_values_are_cut():
    assert checks.shown("x" * 78) == repr("x" * 78)
    assert checks.shown("x" * 79) == repr("x" * 79)[:77] + "..." and len(checks.shown("x" * 500)) == 80
    assert checks.shown(np.int64(3)) == "3" and checks.shown(np.arange(3)) == "a ndarray"


MASKED = np.ma.masked_greater([[0.0, 0.9], [0.1, 0.0]], 0.5)
CUBE = np.ma.masked_greater(np.full((2, 2, 2), 0.9), 0.5)


@pytest.mark.parametrize(
    ("read", "place"),
    [
        (lambda: ce.graph_column([MASKED], encoding="row->column"), r"row 0 \(index 0\): .*\(0, 1\)"),
        (lambda: ce.score_column([MASKED], encoding="row->column"), r"row 0 \(index 0\): .*\(0, 1\)"),
        (lambda: ce.score_column(np.ma.stack([MASKED]), encoding="row->column"), r"row 0 \(index 0\): .*\(0, 1\)"),
        (lambda: ce.lagged_column([CUBE], encoding="lag,cause,effect", first_lag=0, threshold=0),
         r"row 0.*\(0, 0, 0\)"),
        (lambda: ce.lagged_scores([CUBE], encoding="lag,cause,effect", first_lag=0, lag=1), r"row 0.*\(0, 0, 0\)"),
        (lambda: ce.lagged_column([[MASKED]], encoding="VARLiNGAM", threshold=0), r"row 0.*\(0, 1\)"),
        (lambda: ce.DiscreteNetwork({"A": []}, {"A": np.ma.masked_greater([0.3, 0.7], 0.5)}), r"node 'A'.*\(1,\)"),
        (lambda: ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": MASKED[0, 1:]}, {"A": 1, "B": 1}),
         r"node 'B'.*\(0,\)"),
    ],
)  # fmt: skip
def test_masked_values_are_refused_wherever_arrays_are_read(read, place):
    with pytest.raises(ValueError, match=f"{place}.*fill it, as in"):
        read()


RUNS = pd.DataFrame({"tool": "pc", "truth": ["A -> B", None], "estimate": "A -> B"})


@pytest.mark.parametrize(
    "verb",
    [
        lambda: RUNS.ceval.evaluate(["shd"]),
        lambda: RUNS.ceval.cube(["shd"], by=["tool"], n_draws=9, rng=7),
        lambda: ce.cube(RUNS, ["shd"], by=["tool"], n_draws=9, rng=7),
        lambda: [ce.with_controls(RUNS, ["shd"], n_draws=9, rng=7) for _ in range(1)],
        lambda: ce.reasoning.parse_answers(["perhaps"] * 9),
    ],
)
def test_warnings_point_at_the_line_that_called_the_package(verb):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        verb()
    assert seen and {warning.filename for warning in seen} == {__file__}
    assert {warning.lineno for warning in seen} == {verb.__code__.co_firstlineno}


def test_warnings_of_cubes_and_of_files_point_at_their_line(tmp_path):
    (tmp_path / "a.txt").write_text("")
    with pytest.warns(UserWarning, match="without a truth"):
        cube = RUNS.ceval.cube(["shd"], by=["tool"], n_draws=9, rng=7)
    with pytest.warns(UserWarning) as seen:
        first = inspect.currentframe().f_lineno + 1
        cube.ceval.summary()
        ce.read_graphs(tmp_path / "*.txt")
    assert {(warning.filename, warning.lineno - first) for warning in seen} == {(__file__, 0), (__file__, 1)}


def test_every_warning_of_the_package_is_of_one_function():
    folder = Path(ce.__file__).parent
    others = [file for file in folder.rglob("*.py") if "warnings.warn" in file.read_text(encoding="utf-8")]
    assert [file.relative_to(folder) for file in others] == [Path("contract", "checks.py")]


@pytest.mark.parametrize(("n", "text"), [(0, "0 runs"), (1, "1 run"), (10_000, "10,000 runs")])
def test_numbers_have_their_noun(n, text):
    assert checks.counted(n, "run") == text
