import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.reports import report as module

RUNS = ce.datasets.runs().query("density == 0.2").groupby(["algorithm", "n"]).head(6)
DOUBLE = ce.tweak("shd", reversal_cost=2, name="shd_2")
ODD = ["<script>alert(1)</script>", "a & b_%$#{}~^\\", "[x](y) | *z*\n\n\\input{k}"]


@pytest.fixture(scope="module")
def cube():
    return RUNS.ceval.cube(["shd", "directed_precision"], by=["algorithm", "n"], n_draws=99, rng=7, values=["seconds"])


class Page(HTMLParser):
    """Tags of a page, and whether they are closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.links = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_one_file_that_is_whole(cube, tmp_path):
    before = cube.copy(deep=True)
    path = cube.ceval.report(tmp_path / "r.html", metrics="shd")
    text = path.read_text("utf-8")
    page = Page(text)
    assert page.open == [] and page.tags.count("table") == 4 and "script" not in page.tags
    assert page.links and all(x.startswith("data:image/png;base64,") for x in page.links)
    assert [x.name for x in tmp_path.iterdir()] == ["r.html"]
    for words in (
        "The report covers 54 runs in 9 strata on 6 truths. Levels of algorithm: ges, lingam, pc.",
        "No run failed.",
        "Comparison of the levels of algorithm, all strata",
        "Comparison of the levels of algorithm, by stratum",
        "shd: no difference is detected between any two levels (adjusted p at most 0.05).",
        "brackets: 95 % interval",
    ):
        assert words in text
    assert path.samefile(ce.report(cube, tmp_path / "again.html", metrics="shd").with_name("r.html"))
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()
    xr.testing.assert_identical(cube, before)


def test_all_strata_together_come_first_and_single_ones_are_folded(cube, tmp_path):
    text = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    headings = re.findall(r"(<summary>)?<h2>(.*?)</h2>", text)
    assert [(heading, bool(folded)) for folded, heading in headings] == [
        ("What was compared", False),
        ("Comparison of the levels of algorithm, all strata", False),
        ("Results, all strata", False),
        ("Figures", False),
        ("Results by stratum", True),
        ("Comparison of the levels of algorithm, by stratum", True),
        ("Further figures", True),
        ("Methods", True),
        ("References", True),
    ]
    headers = set(re.findall(r"<th[^>]*>([^<]*)</th>", text))
    assert {"metric", "skill", "adjusted p"} <= headers and not [x for x in headers if x.startswith("_")]
    # one stratum by algorithm: nothing to pool
    alone = cube.isel(n=[0]).ceval.report(tmp_path / "alone.html").read_text("utf-8")
    assert "Results by stratum" in alone and "Results, all strata" not in alone


@pytest.mark.slow
def test_names_are_text(tmp_path):
    runs = RUNS.assign(algorithm=RUNS["algorithm"].map(dict(zip(["pc", "ges", "lingam"], ODD, strict=True))))
    odd = runs.rename(columns={"n": "<b>n_%"}).ceval.cube(["shd"], by=["algorithm", "<b>n_%"], n_draws=None)
    text = odd.ceval.report(tmp_path / "r.html", title="<i>T_%", date="1 May <2026>").read_text("utf-8")
    tags = Page(text).tags
    assert "script" not in tags and "i" not in tags and tags.count("b") == 3
    assert "1 May &lt;2026&gt;" in text and r"\input" not in text.split("LaTeX of the table")[1].split("</pre>")[0]


@pytest.mark.slow
def test_nothing_is_replaced_unasked(cube, tmp_path, monkeypatch):
    path = cube.ceval.report(tmp_path / "r.html", metrics="shd")
    before = path.read_bytes()
    with monkeypatch.context() as patched, pytest.raises(FileExistsError, match="overwrite=True"):
        # before anything is drawn
        patched.setattr(module, "pictures", None)
        cube.ceval.report(path, metrics="shd")
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"r\.html exists"):
        cube.ceval.report(path, metrics="shd")
    assert path.read_bytes() == b"mine"
    assert cube.ceval.report(path, metrics="shd", overwrite=True) == path
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_the_folder_of_the_user_is_expanded(cube, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert cube.ceval.report("~/r.html", metrics="shd") == tmp_path / "r.html"
    assert (tmp_path / "r.html").exists()


@pytest.mark.slow
def test_a_failure_leaves_no_file(cube, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("no figure")

    monkeypatch.setattr(module, "pictures", fail)
    with pytest.raises(RuntimeError, match="no figure"):
        cube.ceval.report(tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_cube_that_was_saved_gives_the_same_report(cube, tmp_path):
    cube.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as read:
        again = read.ceval.report(tmp_path / "again.html", metrics="shd").read_bytes()
    assert again == cube.ceval.report(tmp_path / "r.html", metrics="shd").read_bytes()


@pytest.mark.slow
def test_failed_and_undefined_runs_and_empty_strata_are_counted(tmp_path):
    runs = RUNS[~((RUNS["algorithm"] == "pc") & (RUNS["n"] == 100))].reset_index(drop=True)
    runs["estimate"] = [None if a == "ges" else x for a, x in zip(runs["algorithm"], runs["estimate"], strict=True)]
    without_edges = ce.graph_column(["; ".join(ce.as_graph(runs["truth"][0]).nodes)])[0]
    runs.at[runs.index[runs["algorithm"] == "pc"][0], "estimate"] = without_edges
    cube = runs.ceval.cube(["directed_precision"], by=["algorithm", "n"], n_draws=19, rng=1, invalid="nan")
    text = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    assert "1 combination of levels has no run. 18 runs failed. Undefined: directed_precision in" in text
    assert "Failed runs are not in means, skill and tests" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "settings", "words", "absent"),
    [
        ({"estimate": None}, {"n_draws": 9}, ["54 runs failed", "no stratum has a test"], ["<h2>Figures</h2>"]),
        ({}, {}, ["There are no controls."], ["<h2>Tests against controls</h2>"]),
        ({}, {"metrics": ["shd", DOUBLE]}, [f"{x}, structural Hamming distance: mean" for x in ("shd", "shd_2")], []),
    ],
)
def test_pages_follow_their_cube(tmp_path, columns, settings, words, absent):
    usual = {"metrics": ["shd"], "by": ["algorithm"], "n_draws": None, "rng": 1, "invalid": "nan"}
    cube = RUNS.assign(**columns).ceval.cube(**usual | settings)
    text = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    assert [x for x in words if x not in text] == [x for x in absent if x in text] == []


def test_dates_are_no_levels_to_compare(tmp_path):
    dated = RUNS.assign(day=pd.Timestamp("2026-01-01") + pd.to_timedelta(RUNS["n"], "D"))
    cube = dated.ceval.cube(["shd"], by=["day"], n_draws=20, rng=1)
    assert "<h2>Comparison" not in cube.ceval.report(tmp_path / "r.html").read_text("utf-8")


@pytest.mark.slow
def test_a_cube_that_was_cut_names_its_level(cube, tmp_path):
    text = cube.sel(algorithm="pc").ceval.report(tmp_path / "r.html", metrics="shd").read_text("utf-8")
    assert "Of algorithm it covers pc alone." in text and "<h2>Comparison" not in text


@pytest.mark.slow
def test_several_null_models_and_carried_columns(tmp_path):
    nulls = ["edges", "oracle_skeleton"]
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=99, rng=1, null=nulls, values={"seconds": "minimize"})
    text = cube.ceval.report(tmp_path / "r.html", metrics=["shd", "seconds"]).read_text("utf-8")
    tests = cube.ceval.summary(adjust="holm", columns="full")
    better = int((tests.query("null == 'edges'")["p_adjusted"] <= 0.05).sum())
    assert f"{better} of 3 tested strata better than controls (null model “edges”" in text
    assert "no stratum has a test (null model “oracle_skeleton”" in text
    assert "Columns of the table of runs, which have no controls: seconds." in text and ">seconds ↓<" in text


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("r.pdf", {}, ValueError, r"r\.pdf' does not end with \.html; pandoc makes other formats"),
        ("none/r.html", {}, FileNotFoundError, "none. does not exist"),
        ("r.html", {"over": "m"}, ValueError, "over"), ("r.html", {"metrics": "sid"}, ValueError, "metric"),
        ("r.html", {"level": 95}, ValueError, "level"), ("r.html", {"adjust": "holmes"}, ValueError, "holm"),
        ("r.html", {"date": 3}, TypeError, "date"), ("r.html", {"overwrite": "yes"}, TypeError, "overwrite"),
    ],
)  # fmt: skip
def test_unknown_settings_are_refused(cube, tmp_path, name, settings, error, words):
    with pytest.raises(error, match=words):
        cube.ceval.report(tmp_path / name, **settings)
    assert list(tmp_path.iterdir()) == []


def test_levels_without_common_truths_are_not_compared(tmp_path):
    runs = ce.datasets.runs().query("algorithm == 'pc' and n == 400")
    cube = runs.ceval.cube(["shd"], by=["density"], n_draws=None)
    with pytest.raises(ValueError, match="truth"):
        cube.ceval.report(tmp_path / "r.html", over="density")


def test_lazy_and_empty_cubes_are_refused(cube, tmp_path):
    with pytest.raises(ValueError, match=r"compute\(\)"):
        cube.chunk().ceval.report(tmp_path / "r.html")
    with pytest.raises(ValueError, match="no runs"):
        cube.where(cube["shd"] < -1).ceval.report(tmp_path / "r.html")
    with pytest.raises(TypeError, match="cube"):
        ce.report(np.zeros(3), tmp_path / "r.html")


@pytest.mark.slow
def test_too_few_draws_for_the_correction_are_no_evidence(tmp_path):
    alone = RUNS.groupby(["algorithm", "n"], as_index=False).head(1)
    cube = alone.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=99, rng=7)
    text = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    assert "shd: 0 of 9 tested strata better than controls (null model “edges”, adjusted p at most 0.05)." in text
    assert "too few draws for this number of tests" in text
    text = cube.ceval.report(tmp_path / "none.html", adjust=None).read_text("utf-8")
    assert "0 of 9 tested strata better than controls, 9 not all guesses (null model “edges”, p at most 0.05)." in text
    assert "too few draws" not in text


@pytest.mark.slow
def test_long_names_with_commas_stay_apart_and_break(tmp_path):
    names = {"pc": "PC, Fisher's z, level .05 <after screening>", "ges": "GES", "lingam": "LiNGAM"}
    runs = RUNS.assign(algorithm=RUNS["algorithm"].astype("str").map(names))
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    page = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    assert "Levels of algorithm: GES; LiNGAM; PC, Fisher&#x27;s z, level .05" in page
    long = '<span class="long">PC, Fisher&#x27;s z, level .05 &lt;after screening&gt;</span>'
    assert long in page and '<span class="long">GES<' not in page and ".long {" in page


@pytest.mark.slow
def test_of_many_inputs_the_first_are_listed(tmp_path):
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    cube.attrs["context"] = json.dumps({"data": "by column data (0: a; 1: b; 2: c; 3: d; 4: e)", "estimator": 0.5})
    text = cube.ceval.report(tmp_path / "r.html").read_text("utf-8")
    assert "inputs: data = by column data (0: a; 1: b; 2: c; and 2 more), estimator = 0.5." in text


@pytest.mark.slow
def test_dates_and_infinite_values_are_stated(tmp_path):
    runs = RUNS.head(12)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(12) % 2, unit="D")
    runs = runs.assign(day=days, seconds=runs["seconds"].where(np.arange(12) > 0, np.inf))
    cube = runs.ceval.cube(["shd"], by=["day"], n_draws=None, values={"seconds": "minimize"})
    text = cube.ceval.report(tmp_path / "r.html", metrics=["shd", "seconds"]).read_text("utf-8")
    assert "Levels of day: 2024-01-01, 2024-01-02." in text
    assert "Infinite: seconds in 1 run." in text


@pytest.mark.slow
def test_levels_are_compared_as_it_is_asked(cube, tmp_path):
    path = cube.ceval.report(tmp_path / "skill.html", metrics=["shd", "seconds"], on="skill")
    text = path.read_text("utf-8")
    expected = cube.ceval.compare("algorithm", metrics="shd", on="skill", adjust="holm", columns="full")
    differ = expected["p_adjusted"] <= 0.05
    assert differ.any() and ("lingam has more skill by shd than ges" in text) == differ[0]
    assert "by the delete-one-truth jackknife of the difference of skills" in text
    assert "the effect is the skill difference." in text
    # a carried column has no skill
    assert "seconds" not in text.split("Comparison of the levels")[1].split("<h2>Figures</h2>")[0]
    text = cube.ceval.report(tmp_path / "t.html", metrics="shd", on="excess", test="t").read_text("utf-8")
    assert "by the paired t test" in text and "lingam has a lower shd beyond its controls than pc" in text
    assert "the effect is the mean difference of the metric minus the mean of its controls" in text


@pytest.mark.slow
def test_a_report_without_a_comparison_takes_no_test(tmp_path):
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    with pytest.raises(ValueError, match=r"on= and test= set the comparison .* without controls has not"):
        cube.ceval.report(tmp_path / "r.html", on="skill")
    cube = RUNS.ceval.cube(["shd"], by=["n"], n_draws=19, rng=1)
    with pytest.raises(ValueError, match=r"on= and test= .* without two levels that share truths"):
        cube.ceval.report(tmp_path / "r.html", test="t")
    with pytest.raises(ValueError, match="unknown on 'skil'; did you mean 'skill'"):
        cube.ceval.report(tmp_path / "r.html", on="skil")
    assert list(tmp_path.iterdir()) == []
