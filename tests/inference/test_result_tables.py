"""What tables of tests share: their columns as declared, order, and checks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.summary import summary
from causaleval_pd.cubes.summary_columns import FURTHER, SHORT
from causaleval_pd.inference import compare, ranking
from causaleval_pd.inference.result_tables import directions_of, in_order, stack_tests

# verbs have the names of their modules
TABLES = {
    (*compare.SHORT, *compare.FURTHER): lambda cube: ce.compare(
        cube, "algorithm", by="all", adjust=None, columns="full"
    ),
    (*SHORT, *FURTHER): lambda cube: summary(cube, columns="full"),
    ranking.COLUMNS: lambda cube: ranking.rank_test(cube, "algorithm", by="all"),
}


@pytest.fixture
def study(make_cube):
    """Two algorithms on truths that the densities do not share."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, (2, 2, 6)).astype(float)
    truth = np.arange(1, 13).reshape(1, 2, 6) + np.zeros((2, 1, 1), int)
    draws = rng.integers(2, 12, (2, 2, 6, 20)).astype(float)
    strata = {"algorithm": np.array(["ges", "pc"]), "density": np.array([0.2, 0.5])}
    return make_cube(strata, {"m": (values, "minimize", draws)}, truth=truth)


@pytest.mark.parametrize("columns", TABLES)
def test_tables_have_their_declared_columns_after_the_strata(study, columns):
    table = TABLES[columns](study)
    assert len(table)
    assert [name for name in table if name in columns] == list(columns)
    assert set(table) - set(columns) <= {"algorithm", "density"}


@pytest.mark.parametrize("columns", TABLES)
def test_a_further_stratum_is_a_further_column(study, columns):
    wide = study.expand_dims(n=[10, 20]).assign_attrs(strata='["n", "algorithm", "density"]')
    table, narrow = TABLES[columns](wide), TABLES[columns](study)
    assert list(table) == ["n", *narrow]
    if "note" in narrow:
        # the least possible p depends on the number of tests
        table, narrow = (
            x.assign(note=x["note"].where(~x["note"].str.startswith("p_adjusted", na=False))) for x in (table, narrow)
        )
    pd.testing.assert_frame_equal(table[table["n"] == 10].drop(columns="n").reset_index(drop=True), narrow)


@pytest.mark.slow
def test_printed_tables_show_results():
    runs = ce.datasets.runs().query("n == 100")
    cube = ce.cube(runs, ["shd"], by=["algorithm", "density"], n_draws=19, rng=1)
    wanted = {
        lambda cube: compare.compare(cube, "algorithm"): ("comparison", "p_value", "p_adjusted"),
        summary: ("algorithm", "metric", "p_value", "skill"),
    }
    for verb, names in wanted.items():
        # as in a terminal
        with pd.option_context("display.width", 80, "display.max_columns", 0):
            printed = str(verb(cube)).splitlines()[0].split()
        assert set(names) <= set(printed), printed


def test_strata_come_first():
    table = pd.DataFrame({"b": [1], "density": [0.2], "a": [2]})
    assert list(in_order(table, ("a", "b"))) == ["density", "a", "b"]


def test_corrections_of_a_test_are_kept():
    table = pd.DataFrame({"metric": ["m", "m"], "p_value": [0.01, 0.04]})
    assert stack_tests([table], ("metric", "p_value", "p_adjusted"), [], "holm")["p_adjusted"].tolist() == [
        *(0.02, 0.04)
    ]
    own = table.assign(p_adjusted=[0.5, 0.6])
    found = stack_tests([own], ("metric", "p_value", "p_adjusted"), [], "nemenyi")
    assert found["p_adjusted"].tolist() == [0.5, 0.6]


def test_a_metric_is_named_once(study):
    with pytest.raises(ValueError, match="metrics names 'm' twice"):
        summary(study, ["m", "m"])


@pytest.mark.slow
def test_directions_of_carried_columns_are_those_of_the_cube():
    runs = ce.datasets.runs().head(60).assign(run=range(60))
    values = {"seconds": "minimize", "run": None}
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=None, values=values)
    table = cube.ceval.compare("algorithm", metrics=["shd", "seconds", "run"], columns="full").groupby("metric").head(1)
    assert directions_of(table, {}) == ["minimize", "minimize", "none"]
    assert directions_of(table, {"seconds": "maximize"}) == ["minimize", "maximize", "none"]
    shown = ce.style(cube.ceval.summary(["shd", "seconds"], columns="full")).data["metric"]
    assert set(shown) == {"shd ↓", "seconds ↓"}
    ax = ce.plot.forest(cube.ceval.compare("algorithm", metrics="seconds", columns="full"))
    words = " ".join(" ".join(text.get_text().split()) for text in ax.texts)
    assert "◂ first is better" in words and "is not known" not in words
