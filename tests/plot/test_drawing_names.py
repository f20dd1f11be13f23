"""Names that figures break and shorten."""

import pytest

from causaleval_pd.drawing import broken, legend_room, shortened, tick_names


@pytest.mark.parametrize(
    "names",
    [
        [f"protein_kinase_{i}_phosphorylated" for i in range(12)],
        ["a" * 40 + str(i) + "b" * 40 for i in range(3)],
        [f"gene expression of the marker number {i}" for i in (1, 2, 30)],
        ["short", "names"],
    ],
)
def test_shortened_names_still_differ(names):
    found = shortened(names, 24)
    assert len(set(found)) == len(names) and max(map(len, found)) <= 26
    assert [x for x in names if len(x) <= 24] == [x for x in found if x in names]


def test_names_are_broken_between_their_parts():
    assert broken("random_forest_variable_importance", 12) == "random_\nforest_\nvariable_\nimportance"
    assert broken("lambda = -0.5", 9) == "lambda =\n-0.5"
    assert broken("abcdefgh", 3) == "abc\ndef\ngh" and broken("abcdefgh", 3, within=False) == "abcdefgh"
    assert tick_names(["GPT-4o-mini"], 0.6) == ["GPT-4o-\nmini"]


def test_a_legend_has_two_columns_before_it_makes_its_figure_higher():
    columns, wide, tall = legend_room(["one"] * 4, "title", 2.0)
    assert columns == 1 and tall <= 2.0
    columns, wider, _ = legend_room(["one"] * 12, "title", 2.0)
    assert columns == 2 and wider == 2 * wide
    columns, _, needed = legend_room(["two\nlines"] * 12, "title", 2.0)
    assert columns == 2 and needed > 2.0
