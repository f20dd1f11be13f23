"""Strata: the numbers of `summary`, open points, legends and captions."""

import functools
import inspect

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from seaborn import FacetGrid

import causaleval_pd as ce
from causaleval_pd.contract.figure import FIGURES

from .conftest import ALGORITHMS, F1, SHD, captions, graph, inside, many_levels, spaced


@pytest.mark.slow
def test_points_and_bars_are_skill_and_its_interval(cube):
    """The columns of `summary`, and lines of guessing at 0 below 1."""
    grid = ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n")
    table = ce.summary(cube, "shd", columns="full").set_index("density")
    for ax, n in zip(grid.axes.flat, (100, 1000, 10_000), strict=True):
        for k, algorithm in enumerate(ALGORITHMS):
            part = table[(table["n"] == n) & (table["algorithm"] == algorithm)].reindex([0.2, 0.4, 0.6])
            for gid in ("means", "line"):
                np.testing.assert_array_equal(drawn(ax, gid)[k].get_ydata(), part["skill"])
            bars = [path.vertices[:, 1] for path in ax.collections[k].get_paths() if len(path.vertices)]
            found = part[["skill_low", "skill_high"]].dropna().to_numpy()
            np.testing.assert_allclose([bar for bar in bars if not np.isnan(bar).any()], found)
        [guessing] = drawn(ax, "guessing")
        assert set(guessing.get_ydata()) == {0} and ax.get_ylim()[0] < 0 and ax.get_ylim()[1] > 1
    grid.figure.canvas.draw()
    names = [tick.get_text() for tick in grid.axes.flat[0].get_yticklabels()]
    assert "guessing  0" in names and "perfect  1" in names
    assert spaced(grid.axes[0, 0].get_ylabel()) == "skill of structural Hamming distance"
    assert "skill and its 95 % interval" in captions(grid.figure) and "bands" not in captions(grid.figure)
    inside(grid.figure)


@pytest.mark.parametrize(("case", "values"), [("no controls", "skill"), ("raw", "raw")])
def test_raw_values_stand_where_there_is_no_skill(cube, make, case, values):
    shown = (make(n_draws=None) if case == "no controls" else cube).sel(density=0.2)
    grid = ce.plot.strata(shown, "shd", x="n", hue="algorithm", values=values)
    assert spaced(grid.ax.get_ylabel()) == SHD and not drawn(grid.ax, "guessing")


def test_size_and_caption_are_arguments(cube):
    part = cube.sel(density=0.2, n=100)
    for draw in (functools.partial(ce.plot.strata, x="algorithm"), ce.plot.distributions):
        grid = draw(part, "shd", height=2, aspect=1.5, caption=False)
        assert captions(grid.figure) == "" and grid.figure.get_figheight() < 3.2
        assert draw(part, "shd").figure.get_figheight() > grid.figure.get_figheight() + 0.8


def test_every_figure_has_a_size_and_a_caption_that_can_be_left_out():
    """Either axes to draw on, or a height."""
    for figure in FIGURES.every():
        if figure.function.__module__.startswith("causaleval_pd."):
            taken = inspect.signature(figure.function).parameters
            assert "caption" in taken and ("ax" in taken) != ("height" in taken), figure.name


@pytest.mark.slow
def test_captions_fit_a_figure_whose_size_was_changed(cube):
    figure = ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n").figure
    whole = captions(figure)
    for size in ((6.9, 3.4), (16, 4)):
        figure.set_size_inches(*size)
        inside(figure)
        assert captions(figure) == whole


@pytest.mark.slow
def test_raw_values_show_the_summary(cube):
    grid = ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n", values="raw")
    assert isinstance(grid, FacetGrid)
    table = ce.summary(cube, "shd", interval="mean_ci", columns="full")
    for ax, n in zip(grid.axes.flat, (100, 1000, 10_000), strict=True):
        assert ax.get_title() == f"n = {n}"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.2", "0.4", "0.6"]
        points = [line for line in ax.lines if line.get_gid() == "means"]
        assert len(points) == 3
        bands = [patch for patch in ax.patches if patch.get_gid() == "band"]
        for algorithm, line in zip(ALGORITHMS, points, strict=True):
            part = table[(table["algorithm"] == algorithm) & (table["n"] == n)]
            expected = part.set_index("density")["mean"].reindex([0.2, 0.4, 0.6])
            np.testing.assert_array_equal(line.get_ydata(), expected)
            # the dodge keeps every point in the field of its density
            np.testing.assert_array_equal(np.round(line.get_xdata()), [0, 1, 2])
        part = table[table["n"] == n].set_index(["algorithm", "density"])
        found = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in bands]
        everywhere = pd.MultiIndex.from_product([ALGORITHMS, [0.2, 0.4, 0.6]])
        limits = np.array(found)
        shown, p = part["mean"].reindex(everywhere), part["p_value"].reindex(everywhere)
        known = p.notna().to_numpy()
        np.testing.assert_array_equal((shown < limits[:, 0] - 1e-9)[known], (p <= 0.05)[known])
        centre = part["control_mean"].reindex(everywhere).to_numpy()
        assert ((limits[:, 0] <= centre + 1e-9) & (centre <= limits[:, 1] + 1e-9))[known].all()
        bars = [x.vertices[:, 1] for lines in ax.collections[1::2] for x in lines.get_paths() if len(x.vertices)]
        effects = part[["control_mean", "ci_low", "ci_high"]].dropna()
        np.testing.assert_allclose(
            np.sort([bar[:2].tolist() for bar in bars if not np.isnan(bar).any()], axis=0),
            np.sort(effects[["ci_low", "ci_high"]].add(effects["control_mean"], axis=0), axis=0),
        )
        dashes = np.concatenate(
            [path.vertices[:1, 1] for lines in ax.collections[::2] for path in lines.get_paths() if len(path.vertices)]
        )
        np.testing.assert_allclose(dashes, part["control_mean"].reindex(everywhere))
    assert spaced(grid.axes[0, 0].get_ylabel()) == SHD
    words = "Null model: edges (random graphs with the estimate's class and number of edges), 60 draws per run."
    assert words in captions(grid.figure)
    inside(grid.figure)


@pytest.mark.slow
@pytest.mark.parametrize(("null", "repeats"), [("edges", 1), ("permutation", 1), ("edges", 2)])
def test_bands_are_the_verdicts_of_p(null, repeats):
    """Combinations of clusters, and truths that repeat, whose estimates are relabelled jointly."""
    rows = []
    rng = np.random.default_rng(3)
    for stratum in range(30):
        for _ in range(7):
            truth = rng.choice(15, 6, replace=False)
            for _ in range(repeats):
                estimate = np.r_[truth[: stratum % 4], rng.choice(15, 5, replace=False)]
                rows.append((stratum, graph(truth), graph(np.unique(estimate))))
    table = pd.DataFrame(rows, columns=["stratum", "truth", "estimate"])
    cube = table.ceval.cube(["adjacency_f1"], by=["stratum"], null=null, n_draws=40, rng=1)
    ax = ce.plot.strata(cube, "adjacency_f1", x="stratum", values="raw", level=0.8).ax
    found = cube.ceval.summary(columns="full")
    upper = [patch.get_y() + patch.get_height() for patch in ax.patches if patch.get_gid() == "band"]
    outside = found["mean"].to_numpy() > np.array(upper) + 1e-9
    np.testing.assert_array_equal(outside, found["p_value"] <= 0.2)
    assert 2 < outside.sum() < 28


@pytest.mark.slow
def test_points_are_filled_by_adjusted_p():
    runs = ce.datasets.runs().query("replicate < 6")
    part = runs.ceval.cube(["orientation_f1"], by=["algorithm", "density", "n"], n_draws=60, rng=1)
    open_points = {}
    for adjust, words in ((None, "not adjusted"), ("bonferroni", "adjusted by Bonferroni's method")):
        table = ce.summary(part, adjust=adjust).dropna(subset="skill")
        grid = ce.plot.strata(part, "orientation_f1", x="density", hue="algorithm", col="n", adjust=adjust)
        heights = np.concatenate([line.get_ydata() for ax in grid.axes.flat for line in drawn(ax, "open")])
        open_points[adjust] = np.sort(heights[~np.isnan(heights)])
        np.testing.assert_array_equal(open_points[adjust], np.sort(table.loc[table["verdict"] != "better", "skill"]))
        assert words in captions(grid.figure)
    assert len(open_points["bonferroni"]) > len(open_points[None])
    raw = ce.plot.strata(part.sel(n=100), "orientation_f1", values="raw", adjust="holm")
    assert "what guesses reach with p above 0.05 before adjustment" in captions(raw.figure)


def test_bands_do_not_stand_for_twice_the_mean_p():
    """Where a truth repeats under a null model that does not allow relabelling."""
    runs = pd.DataFrame({"k": ["a", "a", "b"], "truth": ["A -> B; B -> C; D"] * 3, "estimate": ["A -> B; C; D"] * 3})
    for null, words in (("orientation", "of 1 point p is twice the mean p"), ("edges", "bands: mean of the controls")):
        found = runs.ceval.cube(["shd"], by=["k"], null=null, n_draws=30, rng=1)
        text = captions(ce.plot.strata(found, "shd", values="raw").figure)
        assert words in text and ("twice" in text) == (null == "orientation")


@pytest.mark.slow
def test_captions_say_what_bars_leave_out(cube):
    """Points without an interval, bars that the axis cuts, and bars of filled points that hold 0; only where drawn."""
    for n in (100, 10_000):
        part = cube.sel(n=n)
        table = ce.summary(part, "shd", columns="full").dropna(subset="skill")
        text = captions(ce.plot.strata(part, "shd", x="density", hue="algorithm").figure)
        assert ("without bar: interval not defined" in text) == table["skill_low"].isna().any()
    seen = set()
    for n_truths, level in ((3, 0.95), (7, 0.95), (7, 0.999)):
        runs = ce.datasets.runs()
        runs = runs[(runs["n"] == 100) & (runs["replicate"] < n_truths)]
        part = runs.ceval.cube(["orientation_f1"], by=["algorithm", "density"], n_draws=60, rng=1)
        table = ce.summary(part, columns="full", level=level)
        cut = ((table["skill_low"] < -1) & (table["skill_high"] >= -1)).any()
        holds_0 = ((table["verdict"] == "better") & (table["skill_low"] <= 0)).any()
        drawn_by = {"x": "density", "hue": "algorithm", "level": level}
        text = captions(ce.plot.strata(part, "orientation_f1", **drawn_by).figure)
        assert ("below \N{MINUS SIGN}1 end there" in text, "filled points may hold 0" in text) == (cut, holds_0)
        seen |= {("cut", cut), ("holds 0", holds_0)}
    assert len(seen) == 4


def test_skills_far_below_guessing_are_marked_at_the_edge(cube):
    """The axis ends at -1, and the caption states how many lie below."""
    table = pd.DataFrame({"k": list("aabb"), "truth": ["A -> B; C; D; E", "A; B -> C; D; E"] * 2})
    table["estimate"] = [*table["truth"][:2], *["B -> A; B -> C; A -> C; C -> D; A -> D"] * 2]
    table.loc[2:, "estimate"] += "; B -> D; E"
    bad = table.ceval.cube(["shd"], by=["k"], null="empty", rng=1)
    grid = ce.plot.strata(bad, "shd", x="k")
    skills = bad.ceval.summary()["skill"].tolist()
    assert skills[0] == 1 and skills[1] < -1
    [edge] = drawn(grid.ax, "below")
    assert edge.get_xydata().tolist() == [[1, -1]] and -1.1 < grid.ax.get_ylim()[0] < -1
    assert np.isnan(drawn(grid.ax, "means")[0].get_ydata()[1])
    words = f"triangles: 1 skill below \N{MINUS SIGN}1, the least \N{MINUS SIGN}{-skills[1]:.2g}"
    assert words in captions(grid.figure)
    inside(grid.figure)


def test_bars_that_lie_below_the_axis_are_not_said_to_end_there():
    truths = [f"{a} -> {b}; A; B; C; D" for a in "ABCD" for b in "ABCD" if a != b]
    wrong = ["B -> A; C -> A; D -> A; C -> B; D -> B" + "; D -> C" * (i % 2) for i in range(12)]
    bad = pd.DataFrame({"k": "a", "truth": truths, "estimate": wrong}).ceval.cube(["shd"], by=["k"], null="empty")
    [low], [high] = (bad.ceval.summary(columns="full")[name] for name in ("skill_low", "skill_high"))
    assert low < high < -1
    text = captions(ce.plot.strata(bad, "shd", x="k").figure)
    assert "triangles: 1 skill below" in text and "end there" not in text


@pytest.mark.slow
def test_open_points_are_not_better_than_controls(cube, make):
    # one run per stratum: some of them are not better
    one = cube.isel(replicate=[0])
    grid = ce.plot.strata(one, "shd", x="density", hue="algorithm", col="n")
    tests = ce.summary(one, "shd", columns="full")
    tests = tests[tests["skill"].notna()]
    expected = tests.loc[tests["verdict"] != "better", "skill"]
    drawn = [line for ax in grid.axes.flat for line in ax.lines if line.get_gid() == "open"]
    assert all(mpl.colors.to_hex(line.get_markerfacecolor()) == "#ffffff" for line in drawn)
    heights = np.concatenate([line.get_ydata() for line in drawn])
    np.testing.assert_allclose(np.sort(heights[~np.isnan(heights)]), np.sort(expected))
    assert len(expected)
    words = [text.get_text() for text in grid.figure.legends[0].get_texts()]
    assert words[-2:] == ["better", "not better"]
    assert "filled points: better than controls" in captions(grid.figure)
    plain = ce.plot.strata(make(n_draws=None), "shd", x="density", hue="algorithm", col="n")
    assert "open" not in {line.get_gid() for ax in plain.axes.flat for line in ax.lines}
    assert "filled" not in captions(plain.figure)


@pytest.mark.slow
def test_many_levels_and_hues_fit(runs):
    names = [f"{kind} {i:02d}" for kind in ("pc", "lingam") for i in range(14)]
    table = pd.concat([runs[runs["n"] == 100].assign(algorithm=name) for name in names], ignore_index=True)
    table = table.drop_duplicates(["algorithm", "density", "replicate"])
    how = {"n_draws": 20, "rng": 1, "replicate": "replicate", "control_kind": "dag"}
    many = ce.cube(table, ["shd"], by=["algorithm", "density"], **how)
    for use in ({"x": "density", "hue": "algorithm"}, {"x": "algorithm", "hue": "density"}):
        figure = ce.plot.strata(many, "shd", **use).figure
        inside(figure)
        legend = figure.legends[0].get_window_extent()
        assert legend.y0 >= 0 and legend.y1 <= figure.bbox.height
        assert figure.get_figwidth() < 22


@pytest.mark.slow
def test_bands_keep_off_the_edge_of_the_axes(cube):
    """Higher is better: the lowest mark is a band, and a point there would be cut in half."""
    for ax in ce.plot.strata(cube, "adjacency_f1", x="density", hue="algorithm", col="n", values="raw").axes.flat:
        low, high = ax.get_ylim()
        bands = [patch.get_y() for patch in ax.patches if patch.get_gid() == "band"]
        assert min(bands) - low > 0.02 * (high - low)


@pytest.mark.slow
def test_levels_keep_the_order_of_the_cube(cube):
    grid = ce.plot.strata(cube.sel(n=100, density=0.2), "adjacency_f1", x="algorithm", values="raw")
    assert [spaced(tick.get_text()) for tick in grid.ax.get_xticklabels()] == ALGORITHMS
    assert spaced(grid.ax.get_ylabel()) == F1
    assert "density = 0.2, n = 100." in captions(grid.figure)
    inside(grid.figure)


@pytest.mark.slow
def test_null_models_are_columns(runs):
    cube = runs.head(60).ceval.cube(["shd"], by=["algorithm"], null=["edges", "permutation"], n_draws=9, rng=1)
    grid = ce.plot.strata(cube, "shd", x="algorithm", col="null")
    assert [ax.get_title() for ax in grid.axes.flat] == ["null = edges", "null = permutation"]


def drawn(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


@pytest.mark.slow
def test_lines_are_the_summary_at_their_numbers(cube):
    grid = ce.plot.strata(cube, "shd", x="n", hue="algorithm", col="density", scale="log", values="raw")
    table = ce.summary(cube, "shd", interval="mean_ci", columns="full")
    for ax, density in zip(grid.axes.flat, (0.2, 0.4, 0.6), strict=True):
        for gid, column in (("means", "mean"), ("line", "mean"), ("control means", "control_mean")):
            for algorithm, line in zip(ALGORITHMS, drawn(ax, gid), strict=True):
                part = table[(table["density"] == density) & (table["algorithm"] == algorithm)].set_index("n")
                np.testing.assert_array_equal(line.get_ydata(), part[column].reindex([100, 1000, 10_000]))
                np.testing.assert_allclose(line.get_xdata(), [2, 3, 4], atol=0.05)
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["100", "1000", "10000"]
        assert sum(x.get_gid() == "band" for x in ax.collections) == 3
        assert not any(x.get_segments() for x in ax.collections if x.get_gid() == "lone band")
    # zero has no runs at 100: a gap, and its name
    assert np.isnan(drawn(grid.axes.flat[1], "line")[2].get_ydata()[0])
    assert "no runs: (zero, 0.4, 100)" in captions(grid.figure)
    assert grid.axes.flat[0].get_xlabel() == "n"
    inside(grid.figure)


def test_levels_are_in_the_order_of_their_numbers_and_failures_are_named(cube):
    part = cube.isel(n=[2, 0, 1]).sel(density=0.6, algorithm="zero")
    grid = ce.plot.strata(part, "shd", x="n", scale="linear")
    [line] = drawn(grid.ax, "means")
    assert line.get_xdata().tolist() == [100, 1000, 10_000] and np.isnan(line.get_ydata()[0])
    assert "all runs failed: 100" in captions(grid.figure)
    better = part.where(part["n"] != 1000, drop=True)
    assert better.ceval.summary("shd")["verdict"].fillna("none").tolist() == ["better", "none"]
    words = ce.plot.strata(better, "shd", x="n", scale="linear").figure.legends[0].get_texts()
    assert [text.get_text() for text in words] == ["better"], "a stratum without a point is no open point"


def test_one_level_on_a_scale_has_its_points_and_its_band(cube):
    one = cube.sel(density=0.2, n=[100])
    grid = ce.plot.strata(one, "shd", x="n", hue="algorithm", scale="log", values="raw")
    assert grid.ax.get_xlim()[0] < 2 < grid.ax.get_xlim()[1]
    assert [line.get_xdata().tolist() for line in drawn(grid.ax, "means")] == [[2.0]] * 3
    bands = [x for x in grid.ax.collections if x.get_gid() == "lone band"]
    assert len(bands) == 3 and all(len(x.get_segments()) == 1 for x in bands)


@pytest.mark.slow
def test_thirty_lines_fit():
    figure = ce.plot.strata(many_levels(30), "shd", x="n", hue="algorithm", scale="log").figure
    inside(figure)
    assert len(figure.legends[0].get_texts()) == 33


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "algorithm", "hue": "n"}, "the levels of 'algorithm' are not numbers, such as 'peter and clark'"),
        ({"x": "n", "hue": "algorithm", "scale": "symlog"}, "scale"),
    ],
)
def test_what_has_no_place_on_a_scale_is_refused(cube, options, message):
    with pytest.raises(ValueError, match=message):
        ce.plot.strata(cube.sel(density=0.2), "shd", **({"scale": "log"} | options))


@pytest.mark.slow
def test_a_level_of_zero_has_no_place_on_a_log_axis(cube):
    part = cube.sel(density=0.2).assign_coords(n=[0, 1, 2])
    with pytest.raises(ValueError, match="'n' has the level 0, which has no place on a log axis; use scale='linear'"):
        ce.plot.strata(part, "shd", x="n", hue="algorithm", scale="log")
    ce.plot.strata(part, "shd", x="n", hue="algorithm", scale="linear")


@pytest.mark.slow
def test_dark_themes_and_large_letters(cube):
    part = cube.sel(density=0.2)
    with mpl.style.context("dark_background"), mpl.rc_context({"font.size": 15}):
        grid = ce.plot.strata(part, "shd", x="n", hue="algorithm", scale="log")
        assert all(line.get_markerfacecolor() == grid.ax.get_facecolor() for line in drawn(grid.ax, "open"))
        [text] = [x for x in grid.figure.findobj(mpl.text.Text) if x.get_gid() == "caption"]
        assert np.mean(mpl.colors.to_rgb(text.get_color())) > 0.5 and len(captions(grid.figure)) > 200
        inside(grid.figure)


@pytest.mark.parametrize("name", ["skill", "status"])
def test_figures_take_strata_of_any_name(name):
    runs = ce.datasets.runs().query("replicate < 5 and n < 1600 and density == 0.2").rename(columns={"algorithm": name})
    cube = runs.ceval.cube(["shd"], by=[name, "n"], n_draws=20, rng=1)
    grid = cube.ceval.plot.strata("shd", x="n", hue=name)
    assert [text.get_text() for text in grid.figure.legends[0].get_texts()][:3] == ["ges", "lingam", "pc"]
    cube.ceval.plot.distributions("shd", hue=name, col="n")
    ax = cube.ceval.plot.heat_map("shd", x="n", y=name)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["ges", "lingam", "pc"]
    one = cube.sel(n=[400]).ceval.plot.critical_difference("shd", name)
    assert sum(text.get_gid() == "level" for text in one.texts) == 3
