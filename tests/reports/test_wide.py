"""Wide tables: numbers of the summary at their settings, bounds, limits, and what is refused."""

import re

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.reports.style import shown_wide


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("density < 0.5 and n < 1000")
    return runs.ceval.cube(["shd", "adjacency_f1"], by=["algorithm", "density", "n"], n_draws=19, rng=7)


@pytest.mark.parametrize(("values", "digits"), [("mean", 2), ("skill", 1), ("effect", 3)])
def test_each_cell_is_the_number_of_its_row(cube, values, digits):
    summary = cube.ceval.summary()
    table = ce.wide(summary, "algorithm", values, digits=digits)
    assert table.columns.tolist() == ["ges", "lingam", "pc"] and len(table) == 8
    assert table.index.names == ["metric", "density", "n"]
    for row in summary.to_dict("records"):
        text = table.loc[(row["metric"], str(row["density"]), str(row["n"])), row["algorithm"]]
        assert float(text.replace("\u2212", "-")) == pytest.approx(row[values], abs=0.51 * 10**-digits)


def test_bounds_stay_bounds_and_rows_that_are_missing_are_dashes(cube):
    """The least p-value is one, in a subset of columns too."""
    part = cube.ceval.summary("shd")[["algorithm", "density", "n", "metric", "mean", "control_mean", "p_value"]]
    table = ce.wide(part.iloc[1:], "algorithm", "p_value")
    assert table.loc[("0.2", "100"), "ges"] == "\u2013"
    assert (table.loc[("0.2", "100"), "pc"]).startswith("\u2264")


def test_limits_stand_behind_their_values(cube):
    full = cube.ceval.summary("shd", columns="full").query("density == 0.2")
    row = full.iloc[0]
    table = ce.wide(full, "algorithm", "skill", interval=True)
    assert table.iloc[0, 0] == f"{row['skill']:.2f} [{row['skill_low']:.2f}, {row['skill_high']:.2f}]"
    assert "toprule" in table.to_latex()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "algoritm"}, "did you mean 'algorithm'"),
        ({"columns": "algorithm", "values": "verdict"}, "values"),
        ({"columns": "algorithm", "values": "mean", "interval": True}, "no limits of 'mean'"),
        ({"columns": "algorithm", "digits": -1}, "digits"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(cube, options, message):
    with pytest.raises(ValueError, match=message):
        ce.wide(cube.ceval.summary(), **options)


def test_two_rows_of_a_setting_are_refused(cube):
    table = cube.ceval.summary("shd")
    with pytest.raises(ValueError, match="two rows have"):
        ce.wide(table.iloc[[0, 0]], "algorithm")
    with pytest.raises(ValueError, match="result of summary"):
        ce.wide(cube.ceval.compare("algorithm"), "algorithm")


def test_the_best_of_each_row_is_bold(cube):
    """By the direction of the metric; values that are printed alike are equally good, and some rows will do."""
    summary = cube.ceval.summary()
    table = ce.wide(summary, "algorithm", digits=0).iloc[1:]
    shown = shown_wide(table)
    means = summary.set_index(["metric", "density", "n", "algorithm"])["mean"].round().sort_index()
    for row, (metric, density, n) in enumerate(table.index):
        expected = means.loc[(metric, float(density), int(n))]
        best = expected.min() if metric == "shd" else expected.max()
        assert shown.bold.loc[row, ["ges", "lingam", "pc"]].tolist() == (expected == best).tolist()
    assert shown.texts["metric"].tolist() == ["shd \u2193", "", "", "adjacency_f1 \u2191", "", "", ""]
    assert shown.texts["density"].tolist() == ["0.2", "0.4", "", "0.2", "", "0.4", ""]
    p = shown_wide(ce.wide(summary, "algorithm", "p_value"))
    assert not p.bold.any(axis=None) and "p_value by algorithm" in p.legend


def test_latex_has_one_line_of_headers_and_fits_a_page():
    """Four algorithms and six settings."""
    pytest.importorskip("jinja2")
    runs = ce.datasets.runs().query("density < 0.5")
    third = runs.query("algorithm == 'pc'").assign(algorithm="pc_stable")
    table = pd.concat([runs, third], ignore_index=True)
    cube = table.ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=19, rng=7)
    styled = ce.style(ce.wide(cube.ceval.summary(), "algorithm", digits=1), output="latex")
    lines = styled.to_latex(hrules=True).split("\n")
    body = [line for line in lines if line.endswith("\\\\")]
    assert len(body) == 7 and body[0].startswith("density & n & ges & lingam & pc & pc\\_stable")
    assert all(line.count("&") == 5 and len(re.sub(r"\\textbf|[{}]", "", line)) < 60 for line in body)
    assert "controls: 19 draws per run of edges, seed 7" in styled.caption.replace("{}", "")
    assert "font-weight: bold" in ce.style(ce.wide(cube.ceval.summary(), "algorithm", "skill")).to_html()
