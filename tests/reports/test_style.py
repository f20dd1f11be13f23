"""Styled tables: columns, digits, marks and legends; texts in them are shown as they are."""

import html
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.reports.style import escaped, number, result_of, shown_table, styler
from causaleval_pd.statistics.words import p_text

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
        *((0.0, "0"), (-0.0, "0"), (0.99996, "1.00"), (999.7, "1,000"), (999.5, "1,000"), (123.4, "123")),
        *((-12.34, "\u221212.3"), (1e12, "1.00e+12"), (np.inf, "inf"), (-np.inf, "\u2212inf"), (np.nan, "\u2013")),
    ],
)
def test_numbers_have_three_digits(x, text):
    assert number(x) == text


RUNS = ce.datasets.runs().query("n == 400")


@pytest.fixture(scope="module")
def cube():
    return RUNS.ceval.cube(["shd", "adjacency_precision"], by=["algorithm", "density"], n_draws=99, rng=7)


@pytest.fixture(scope="module")
def results(cube):
    return {
        "summary": cube.ceval.summary(columns="full"),
        "full": cube.ceval.summary(adjust="bh", columns="full"),
        "compare": cube.ceval.compare("algorithm", columns="full"),
        "rank_test": cube.ceval.rank_test("algorithm", by="all"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["summary", "compare", "rank_test"])
def test_every_result_is_shown_as_html_and_latex_and_recognised(results, verb):
    before = results[verb].copy()
    page = ce.style(results[verb]).to_html()
    paper = ce.style(results[verb], output="latex").to_latex(hrules=True)
    assert page.count("<tr>") == 1 + len(before) and "≤" not in paper
    assert paper.count(r"\\") == 1 + len(before) and r"\toprule" in paper
    pd.testing.assert_frame_equal(results[verb], before)
    assert results[verb].attrs == before.attrs
    before.attrs = {}
    assert result_of(before) == verb, "a table that lost its history"


@pytest.fixture(scope="module")
def others(cube, from_published):
    """Results with other columns than those of tests."""
    printed = {"n_edges": 16, "kind": "dag", "observed": {"shd": 22}}
    return {
        "model": cube.ceval.model("shd ~ algorithm + density"),
        "control_distribution": ce.control_distribution(ce.datasets.sachs_truth(20), n_draws=19, **printed),
        "expected_metric": ce.expected_metric("adjacency_f1", n_nodes=9, true_edges=[9, 8], estimated_edges=12),
        "with_controls": RUNS.head(4).ceval.with_controls(["shd", "adjacency_f1"], n_draws=19, rng=1),
        "from_published": from_published,
    }


@pytest.mark.parametrize(
    "verb", ["model", "control_distribution", "expected_metric", "with_controls", "from_published"]
)
def test_other_results_are_shown_as_well(others, verb):
    table = others[verb]
    before, attrs = table.copy(), dict(table.attrs)
    shown = shown_table(table)
    assert len(shown.texts) == len(table) * (2 if verb in ("with_controls", "from_published") else 1)
    assert any("[" in text for text in shown.texts.astype(str).to_numpy().ravel())
    for output, write in (("html", "to_html"), ("latex", "to_latex")):
        assert getattr(ce.style(table, output=output), write)()
    pd.testing.assert_frame_equal(table, before)
    assert table.attrs == attrs
    before.attrs = {}
    assert result_of(before) == verb


def test_columns_of_the_summary(results):
    shown = shown_table(results["summary"], best="algorithm")
    assert list(shown.texts) == ["algorithm", "density", "metric", "mean", "controls", "effect", "skill", "p", "note"]
    row = results["summary"].iloc[0]
    assert shown.texts.loc[0, "mean"] == f"{row['mean']:#.3g}"
    assert row["p_at_floor"] and row["p_value"] == pytest.approx(1e-5)
    assert shown.texts.loc[0, "p"] == f"{p_text(row['p_value'], at_floor=True)} *" and shown.texts.loc[0, "note"] == "a"
    assert {"runs: 20", "failed: 0", "↓ lower is better", "↑ higher is better"} <= set(shown.legend)
    assert shown.legend[-1].startswith("a: skill: assumes no rare large losses")


def test_the_best_level_is_bold_by_the_direction_of_the_metric(results):
    table = results["summary"]
    bold = shown_table(table, best="algorithm").bold
    for (name, _), rows in table.groupby(["metric", "density"]):
        best = rows["mean"].idxmin() if name == "shd" else rows["mean"].idxmax()
        assert bold.loc[best, "mean"] and bold.loc[rows["skill"].idxmax(), "skill"]
        assert bold.loc[rows.index, "mean"].sum() == (rows["mean"].round(6) == round(rows.loc[best, "mean"], 6)).sum()


def test_values_that_look_alike_are_equally_good():
    table = pd.DataFrame({"a": ["x", "y", "z"], "metric": "shd", "mean": [1.0, 1.0001, 2.0], "control_mean": 5.0})
    assert shown_table(table).bold["mean"].tolist() == [True, True, False]
    # the direction of an unknown metric is not known
    assert not shown_table(table.assign(metric="mine")).bold.any(axis=None)
    assert shown_table(table.assign(metric="mine"), directions={"mine": "maximize"}).bold["mean"].tolist()[2]


def test_shares_are_shown_where_one_is_not_zero():
    table = pd.DataFrame({"a": ["x", "y"], "metric": "m", "undefined_share": 0.0, "mean": 1.0, "control_mean": 5.0})
    assert list(shown_table(table).texts) == ["a", "metric", "mean", "controls"]
    assert shown_table(table.assign(undefined_share=[0, 0.25])).texts["share undefined"].tolist() == ["0", "0.250"]


def test_closest_to_zero_is_best():
    table = pd.DataFrame({"a": ["x", "y"], "metric": "m", "mean": [-3.0, 1.0], "control_mean": 5.0})
    shown = shown_table(table, directions={"m": "zero"})
    assert shown.bold["mean"].tolist() == [False, True] and shown.texts["metric"][0] == "m → 0"


def test_nothing_is_bold_where_several_strata_could_be_meant(results):
    assert not shown_table(results["summary"]).bold.any(axis=None)
    assert not shown_table(results["compare"]).bold.any(axis=None)


def test_ranks_have_their_own_stratum(results):
    shown = shown_table(results["rank_test"])
    assert list(shown.texts)[:4] == ["density", "metric", "algorithm", "mean rank"]
    assert shown.bold["mean rank"].sum() >= 6 and not shown.bold["algorithm"].any()


def test_stars_belong_to_adjusted_p_values(results):
    table = results["compare"]
    shown = shown_table(table, alpha=0.01)
    assert (shown.texts["adjusted p"].str.endswith("*") == (table["p_adjusted"] <= 0.01)).all()
    assert not shown.texts["p"].str.contains("*", regex=False).any()
    assert "* p at most 0.01, adjusted by Holm's method" in shown.legend
    one = shown_table(table.assign(p_adjusted=table["p_value"]))
    assert "adjusted p" not in one.texts and one.texts["p"].str.contains("*", regex=False).any()


def test_names_are_text():
    odd = "<img src=x onerror=alert(1)>"
    table = pd.DataFrame({odd: [odd, r"\input{x} & %"], "metric": [odd, "a_b"], "mean": 1.0, "control_mean": 2.0})
    table["note"] = [odd, None]
    page, paper = ce.style(table).to_html(), ce.style(table, output="latex").to_latex()
    assert "<img" not in page and "&lt;img" in page
    assert r"\input" not in paper and r"\textbackslash{}input\{x\} \& \%" in paper and r"a\_b" in paper


def test_a_stratum_called_like_a_header_keeps_its_column():
    table = pd.DataFrame({"p": ["u", "v"], "metric": "shd", "mean": 1.0, "control_mean": 2.0, "p_value": 0.5})
    assert list(shown_table(table).texts) == ["p", "metric", "mean", "controls", "p (result)"]


def test_strata_may_be_called_like_columns_of_other_results():
    row = {"term": "a", "estimate": "b", "metric": "m", "mean": 1.0, "control_mean": 2.0, "n_runs": 3}
    shown = shown_table(pd.DataFrame([row]))
    assert list(shown.texts) == ["term", "estimate", "metric", "runs", "mean", "controls"]
    assert shown.texts["runs"].tolist() == ["3"] and shown.legend == [], "a count of one row is no count of all"


def test_notes_have_letters_and_then_numbers():
    table = pd.DataFrame({"a": range(27), "metric": "m", "mean": 1.0, "control_mean": 2.0})
    texts = shown_table(table.assign(note=[f"note {i}" for i in range(27)])).texts
    assert texts["note"].tolist()[24:] == ["y", "z", "27"]


def test_stars_of_p_values_that_are_not_adjusted_are_explained(results):
    assert "* p at most 0.05, not adjusted" in ce.style(results["summary"]).caption


def test_missing_values_are_dashes(results):
    table = results["full"].copy()
    table.loc[0, ["p_value", "p_adjusted", "effect", "ci_low", "ci_high"]] = np.nan
    table["p_at_floor"] = table["p_at_floor"].astype("boolean")
    table.loc[0, "p_at_floor"] = pd.NA
    assert set(shown_table(table).texts.loc[0, ["effect", "p"]]) == {"\u2013"}


def test_some_rows_and_columns_will_do(results):
    some = results["summary"].query("metric == 'shd'")[["algorithm", "metric", "skill"]]
    assert list(shown_table(some).texts) == ["algorithm", "metric", "skill"]
    empty = shown_table(results["summary"].head(0))
    assert len(empty.texts) == 0 and len(empty.bold) == 0
    assert ce.style(results["summary"].head(0)).to_html()


def test_a_table_with_one_stratum_and_no_metric_is_one_group(results):
    table = results["summary"].query("metric == 'shd' and density == 0.2").drop(columns=["metric", "density"])
    shown = shown_table(table)
    best = table["skill"].to_numpy().argmax()
    assert shown.bold["skill"].tolist() == [row == best for row in range(len(table))]


def test_a_table_with_a_number_has_the_same_bytes(results):
    shown = shown_table(results["summary"])
    pages = {styler(shown, "html", number_of_table=1).to_html() for _ in range(2)}
    assert len(pages) == 1


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        (pd.DataFrame({"a": [1]}), ValueError, "results of summary, compare"),
        ([1], TypeError, "table"),
        (pd.DataFrame([[1, 2]], columns=["mean", "mean"]), ValueError, "occurs twice"),
    ],
)
def test_other_tables_are_refused(table, error, words):
    with pytest.raises(error, match=words):
        ce.style(table)


def test_unknown_settings_are_refused(results):
    settings = {"best": "algoritm", "alpha": 2, "directions": {"shd": "down"}, "output": "pdf"}
    for (name, value), message in zip(settings.items(), ("stratum", "alpha", "direction", "output"), strict=True):
        with pytest.raises(ValueError, match=message):
            ce.style(results["summary"], **{name: value})
    with pytest.raises(ValueError, match="evaluate"):
        ce.style(RUNS.head(3).assign(mean=1.0, control_mean=2.0).ceval.evaluate(["shd"]))


@pytest.mark.slow
def test_a_missing_extra_is_named_in_one_line():
    code = """
import sys
sys.modules["jinja2"] = None
import pandas as pd
import causaleval_pd as ce
table = pd.DataFrame({"metric": ["shd"], "mean": [1.0], "control_mean": [2.0]})
try:
    ce.style(table)
except ImportError as error:
    sys.stdout.write(str(error))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "styled tables and reports need jinja2: pip install 'causaleval_pd[report]'"


@pytest.mark.slow
def test_the_caption_states_controls_seed_and_conventions():
    runs = ce.datasets.runs().query("n == 100 and density == 0.2")
    with ce.set_options(zero_division=0.0):
        cube = runs.ceval.cube(["adjacency_f1"], by=["algorithm"], n_draws=20, rng=7)
    words = ce.style(cube.ceval.summary(columns="full")).to_html()
    assert "controls: 20 draws per run of edges, seed 7; 0/0 counts as 0.0; causaleval_pd " in words
    table = cube.ceval.summary(columns="full")
    table.attrs.clear()
    assert "controls: 20" not in ce.style(table).to_html()


@pytest.mark.slow
def test_skill_is_better_when_larger_whatever_the_metric():
    cube = ce.datasets.runs().query("n == 100").ceval.cube(["shd"], by=["algorithm", "density"], n_draws=19, rng=1)
    for table in (cube.ceval.compare("algorithm", on="skill", columns="full"), cube.ceval.model("skill ~ algorithm")):
        shown = shown_table(table)
        assert set(shown.texts["metric"]) == {"skill of shd ↑"} and "↑ higher is better" in shown.legend
    for on in ("excess", "metric"):
        assert set(shown_table(cube.ceval.compare("algorithm", on=on)).texts["metric"]) == {"shd ↓"}


@pytest.mark.parametrize("columns", ["short", "full"])
def test_the_caption_says_what_bounds_p(cube, columns):
    """Combinations of draws, as notes of the summary say, though no column names the method."""
    table = cube.ceval.summary(columns=columns)
    legend = "; ".join(shown_table(table).legend)
    assert "≤: p is an upper bound, the least of 99,999 combinations of draws" in legend and "R + 1" not in legend
