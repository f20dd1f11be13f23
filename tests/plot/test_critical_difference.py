"""What the critical-difference diagram says: ranks, groups, captions."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.plot.critical_difference import alike_groups, alike_pairs

from .conftest import captions, inside


@pytest.fixture(scope="module")
def cube():
    return ce.cube(ce.datasets.runs().query("n == 400"), ["shd"], by=["algorithm", "density"], n_draws=None)


def parts(ax, gid):
    return [x for x in [*ax.lines, *ax.texts] if x.get_gid() == gid]


@pytest.mark.slow
def test_ranks_and_groups_are_those_of_the_tables(cube):
    one = cube.sel(density=[0.2])
    ax = one.ceval.plot.critical_difference("shd", "algorithm")
    table = ce.rank_test(one, "algorithm")
    expected = {f"{name}  {rank:.2f}" for name, rank in zip(table["algorithm"], table["mean_rank"], strict=True)}
    assert {x.get_text() for x in parts(ax, "level")} == expected
    pairs = ce.compare(one, "algorithm", test="max_t", columns="full")
    alike = pairs.loc[pairs["p_adjusted"] > 0.05, "comparison"].tolist()
    assert alike == ["ges - pc"]
    [group] = parts(ax, "group")
    ranks = sorted(table.loc[table["algorithm"].isin(["ges", "pc"]), "mean_rank"])
    np.testing.assert_allclose(group.get_xdata(), [ranks[0] - 0.04, ranks[1] + 0.04])


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], [(0, 3)]), ([(0, 3)], [(0, 2), (1, 3)]), ([(0, 1), (0, 2), (0, 3)], [(1, 3)]),
        ([(0, 2), (0, 3), (1, 3)], [(0, 1), (1, 2), (2, 3)]), ([(i, j) for i in range(4) for j in range(i)], []),
    ],
)  # fmt: skip
def test_groups_are_the_longest_runs_without_a_difference(pairs, expected):
    apart = np.zeros((4, 4), bool)
    for i, j in pairs:
        apart[i, j] = apart[j, i] = True
    assert alike_groups(apart) == expected


def test_pairs_that_no_bar_can_join_are_lines():
    apart = np.zeros((4, 4), bool)
    apart[0, 1] = apart[1, 0] = True
    assert alike_groups(apart) == [(1, 3)] and alike_pairs(apart) == [(0, 2), (0, 3)]
    assert alike_pairs(np.zeros((4, 4), bool)) == []


def test_strata_that_are_not_shown_and_empty_ranks_are_refused(cube):
    with pytest.raises(ValueError, match=r"strata that the figure does not show: density \(3 levels\)"):
        ce.plot.critical_difference(cube, "shd", "algorithm")
    # every truth has a level that failed
    runs = ce.datasets.runs().query("density == 0.2 and n == 400")
    apart = runs["estimate"].where((runs["replicate"] < 10) == (runs["algorithm"] == "pc"))
    empty = ce.cube(runs.assign(estimate=apart), ["shd"], by=["algorithm"], n_draws=None)
    with pytest.raises(ValueError, match="no truth has a value of shd for every level of 'algorithm'"):
        ce.plot.critical_difference(empty, "shd", "algorithm")


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [2, 3])
def test_all_names_stand_within_the_axis(cube, n_levels):
    # names stand on both sides, one more on the left where their number is odd
    ax = ce.plot.critical_difference(cube.sel(density=[0.2]).isel(algorithm=slice(n_levels)), "shd", "algorithm")
    heights = [text.xy[1] for text in parts(ax, "level")]
    assert len(heights) == n_levels and ax.get_ylim()[0] < min(heights)


@pytest.mark.slow
def test_long_names_of_levels_stay_apart():
    names = ["a-very-long-name-without-any-spaces-whatsoever", "the PC algorithm with Fisher-z tests at .01", "x"]
    rows = [(name, "A -> B; C", "A -> B; C") for name in names for _ in range(3)]
    table = pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"])
    ax = table.ceval.cube(["shd"], by=["algorithm"], n_draws=None).ceval.plot.critical_difference("shd", "algorithm")
    inside(ax.figure)
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.slow
def test_levels_with_dashes_keep_their_places(runs):
    names = {"peter and clark": "a", "greedy equivalence search": "a - b", "zero": "b - c"}
    part = runs.query("n == 100 and density == 0.2")
    more = part[part["algorithm"] == "zero"].assign(algorithm="c")
    renamed = pd.concat([part.assign(algorithm=part["algorithm"].map(names)), more], ignore_index=True)
    cube = ce.cube(renamed, ["shd"], by=["algorithm"], n_draws=None, replicate="replicate")
    ranks = cube.ceval.plot.critical_difference("shd", "algorithm")
    assert sum(text.get_gid() == "level" for text in ranks.texts) == 4


@pytest.mark.parametrize("n_infinite", [1, 10])
def test_pairs_with_infinite_values_have_no_bar_and_are_named(make_cube, n_infinite):
    """Their largest t has no p-value, from which nothing follows."""
    infinite = np.where(np.arange(10) < n_infinite, np.inf, 1.0)
    values = np.stack([np.zeros(10), np.full(10, 5.0), infinite, np.r_[np.zeros(9), 1.0]])
    cube = make_cube({"algorithm": ["right", "wrong", "infinite", "nearly"]}, {"m": (values, "minimize")})
    two = ce.plot.critical_difference(cube.sel(algorithm=["right", "infinite"]), "m", "algorithm")
    assert not parts(two, "group") and not parts(two, "pair")
    assert "not compared, as values are infinite: right and infinite." in captions(two.figure)
    ax = ce.plot.critical_difference(cube, "m", "algorithm")
    [bar] = [*parts(ax, "group"), *parts(ax, "pair")]
    ranks = ce.rank_test(cube, "algorithm").set_index("algorithm")["mean_rank"]
    np.testing.assert_allclose(bar.get_xdata(), [ranks["right"] - 0.04, ranks["nearly"] + 0.04])
    named = captions(ax.figure).split("infinite: ")[1].split(".")[0].split(", ")
    assert len(named) == 3 and all("infinite" in pair for pair in named)


def test_captions_of_finite_values_name_no_pairs(cube):
    ax = cube.isel(density=[0]).ceval.plot.critical_difference("shd", "algorithm")
    assert "not compared" not in captions(ax.figure)
