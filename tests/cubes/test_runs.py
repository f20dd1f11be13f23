"""The rows of a table as a cube takes them: every column that the settings name is found and checked."""

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.contract.metric import METRICS
from causaleval_pd.cubes.runs import read_runs, stratum_columns, unnamed_truths
from causaleval_pd.tables.settings import Cells, NullChoice
from causaleval_pd.tables.tasks import read_tasks

TABLE = pd.DataFrame(
    {
        "truth": ["A -> B; C", "A -> B; B -> C", "A -> B; C"],
        "estimate": ["A; B; C", None, "B -> A; C"],
        "a": ["x", "y", "x"],
        "number": [0, 1, 1],
        "seconds": pd.array([1, None, 3], dtype="Int64"),
    }
)
NAMED = {"key": None, "replicate": None, "values": ()}


def read(table=TABLE, metrics=("shd",), by=("a",), cells=None, choice=None, **named):
    return read_runs(table, list(metrics), list(by), cells or Cells(), choice, **NAMED | named)


def test_columns_are_read_by_their_roles():
    runs = read(values=["seconds"], replicate="number", key=["a", "number"], choice=NullChoice(None, 7))
    assert runs.failed.tolist() == [False, True, False] and [m.name for m in runs.metrics] == ["shd"]
    np.testing.assert_array_equal(runs.carried["seconds"], [1, np.nan, 3])
    assert runs.replicate.tolist() == [0, 1, 1] and [key.name for key in runs.keys] == ["a", "number"]
    assert runs.truth_id[0] == runs.truth_id[2] != runs.truth_id[1]
    assert runs.matches.seed == 7 and read().matches is None


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"values": "seconds"}, TypeError, "values must be a list of columns or {column: direction}, found 'seconds'"),
        ({"replicate": "run"}, ValueError, r"no column 'run' \(replicate\)"),
        ({"key": ["a", "run"]}, ValueError, r"key names columns that the table lacks: \['run'\]"),
        ({"choice": NullChoice(None, 7, key="a")}, ValueError, r"columns \['a'\] repeat: rows \[0, 2\] share the key"),
        ({"by": (3,)}, ValueError, "by names 3, and a stratum needs a string as its name; rename"),
        ({"by": ("null",)}, ValueError, "by names 'null', which cubes .*'null': 'my_null'"),
        ({"by": ("metric",)}, ValueError, "by names 'metric', which cubes and their tables need; rename"),
    ],
)
def test_mistakes_are_named(named, error, message):
    with pytest.raises(error, match=message):
        read(**named)


def test_strata_may_be_metrics_that_describe_a_row_and_columns_come_first():
    [task], _ = read_tasks(TABLE, ["shd"], Cells())
    found = stratum_columns(TABLE, ["true_edges", {"true_density": [0, 0.5, 1]}, "a"], task)
    assert [x.name for x in found] == ["true_edges", "true_density", "a"]
    assert found[0].values.tolist() == [1, 2, 1], "of the truth alone, so that failed runs have it too"
    assert found[1].edges == [0, 0.5, 1] and found[2].edges is None
    own = stratum_columns(TABLE.assign(true_edges=9), ["true_edges"], task)
    assert own[0].values.tolist() == [9] * 3
    with pytest.raises(ValueError, match=r"no column 'shd' \(by\)"):
        stratum_columns(TABLE, ["shd"], task)


def test_strata_may_be_metrics_of_third_parties(declare, monkeypatch):
    [task], _ = read_tasks(TABLE, ["shd"], Cells())

    def load() -> None:
        @declare(direction=None, optimum=np.nan, of_truth=True)
        def late(pairs):
            return pairs.counts.true_edges * 2.0

    monkeypatch.setattr(METRICS, "load", load)
    assert stratum_columns(TABLE, ["late"], task)[0].values.tolist() == [2, 4, 2]


def test_without_truths_runs_are_known_by_key_or_replicate_and_never_missing():
    numbers = unnamed_truths([pd.Series([0, 1, 0]), pd.Series([0, 0, 0])])
    assert numbers[0] == numbers[2] != numbers[1] and (numbers != 0).all()
    assert unnamed_truths([pd.Series([0])])[0] != 0


def test_tables_without_rows():
    runs = read(TABLE.iloc[:0], choice=NullChoice(None, 7), values=["seconds"])
    assert len(runs.truth_id) == len(runs.failed) == len(runs.carried["seconds"]) == len(runs.matches.keys) == 0
