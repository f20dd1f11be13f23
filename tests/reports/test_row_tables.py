"""Tables of runs, lists, and the columns that verbs print."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.reports.row_tables import (
    LEFT_OUT,
    MARKS,
    ROW_VERBS,
    SHOWN,
    is_list,
    list_texts,
    long_form,
    metrics_of_rows,
)
from causaleval_pd.reports.style import shown_table


def test_every_verb_is_recognised_and_shows_columns_of_its_own():
    assert set(MARKS) | set(ROW_VERBS) == set(SHOWN)
    for verb, columns in SHOWN.items():
        headers = [x.header for x in columns]
        assert len(set(headers)) == len(headers), verb
        assert not {x.name for x in columns} & LEFT_OUT.get(verb, set()), verb


def test_columns_of_a_model_are_shown_or_left_out():
    cube = ce.datasets.runs().query("n == 400").ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    table = cube.ceval.model("shd ~ algorithm")
    known = {name for x in SHOWN["model"] for name in (x.name, *(x.limits or ()))} | LEFT_OUT["model"]
    assert set(table) <= known | {"metric", "statistic"}


RUNS = ce.datasets.runs().query("n == 400")
LISTS = ("metrics", "nulls", "fields", "closed_forms", "figures", "tests", "encodings")


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_shown(name):
    table = getattr(ce, f"list_{name}")().head(20)
    shown = shown_table(table)
    assert len(shown.texts) == len(table) and not shown.bold.any(axis=None)
    assert shown.texts.iloc[:, 0].tolist() == [str(x) for x in table.reset_index().iloc[:, 0]]
    assert "nan" not in shown.texts.to_numpy().ravel().tolist()
    assert ce.style(table).to_html() and ce.style(table, output="latex").to_latex()


def test_printed_tables_have_a_row_a_metric(from_published):
    shown = shown_table(from_published)
    assert list(shown.texts)[:3] == ["method", "n_nodes", "true_edges"]
    assert shown.texts["method"].tolist() == ["PC", "PC", "GES", "GES"]
    assert shown.texts["metric"].tolist() == ["adjacency_precision ↑", "adjacency_recall ↑"] * 2
    first = from_published.iloc[0]
    name = "adjacency_precision"
    assert shown.texts["controls"][0].startswith(f"{first[f'{name}_control_mean']:.3f} [")
    assert shown.texts["p"][1] == "\u2013", "nothing was printed"
    assert any("edges of each run" in word for word in shown.legend)
    assert "brackets: middle 95 % of the controls" in shown.legend


def test_runs_with_controls_mark_p_at_the_floor():
    table = RUNS.query("algorithm == 'lingam'").head(4).ceval.with_controls(["shd"], n_draws=9, rng=1)
    p = shown_table(table).texts["p"]
    assert [text.startswith("≤ 1/10") for text in p] == (table["shd_p"] < 0.11).tolist()
    assert "truth" not in shown_table(table).texts
    clashing = shown_table(table.assign(note="mine", value=3.0))
    assert clashing.texts["note (column)"].tolist() == ["mine"] * 4 and "value" in clashing.texts


def test_the_long_form_keeps_every_number(from_published):
    long = long_form(from_published)
    assert metrics_of_rows(from_published) == ["adjacency_precision", "adjacency_recall"]
    for m, rows in long.groupby("metric"):
        for part, name in (("control_mean", "control_mean"), ("p", "p_value"), ("skill", "skill")):
            np.testing.assert_array_equal(rows[name], from_published[f"{m}_{part}"])
        assert rows["value"].tolist()[1] == from_published[m][1]
    bare = from_published[["method"]]
    assert len(long_form(bare)) == 0


def test_only_lists_are_lists(from_published):
    assert not is_list(from_published) and is_list(ce.list_nulls())
    texts = list_texts(pd.DataFrame({"a": [1.5, np.nan], "b": [True, False], "c": [None, None]}))
    assert texts.to_dict("list") == {"a": ["1.5", ""], "b": ["yes", ""]}
