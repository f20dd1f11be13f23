"""Results are as recorded: what counts is equal, sums of floats agree to their last digits on any processor.

Whoever changes a number on purpose renews its records by name:

    python tests/test_recorded_results.py NAME [NAME ...]

`--all` renews all, a name that ends in * all that start so. It prints what changed.
"""

import importlib
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parent
FILE = HERE / "known_answers" / "recorded_results.json.gz"
if str(HERE) not in sys.path:  # this file is also run as a script
    sys.path.insert(0, str(HERE))
recorded = importlib.import_module("recorded")
KNOWN = recorded.load(FILE)
MOST_LINES = 20
#: repeats of a verb on another cube, by another adjustment or engine; one of each is a quick test
SLOW = [
    *("summary/kept/b[hy]", "summary/kept/none"), "summary/larger*", *("compare/adjust/*",),
    *("compare/greater", "compare/failed_runs"), *("cube/null/several*", "cube/zero_division"),
    *("cube/default_metrics", "cube/permute", "cube/replicate"),
    *("engine/serial/*", "engine/default/*", "engine/*/fields", "dask/*/*", "dask/summary"),
    *("files/to_zarr/chunks", "files/netcdf", "figure/strata", "figure/reliability", "figure/complexity"),
    *("graph/with_controls/every_metric/[pc]*", "graph/null/*/cpdag", "network/null/*/simulate", "*/cube/nulls"),
    *("graph/metric_functions", "network/with_controls/every_metric/g*"),
    *("dask/compare",),
    *("graph/with_controls/every_metric/[eos]*", "cube/several_nulls"),
    *("network/evaluate/discrete", "network/cube/draws", "network/null/dags/gaussian"),
    *("dask/cube", "answer/cube", "reasoning/answer_scores", "files/to_zarr"),
    *("quantity/cube/draws", "quantity/null/*/simulate", "answer/null/*/simulate", "network/null/[!d]*/gaussian"),
]  # fmt: skip
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] * any(fnmatchcase(name, slow) for slow in SLOW))
    for name in recorded.RECORDS
]


@pytest.mark.parametrize("name", NAMES)
def test_result_is_as_recorded(name: str) -> None:
    assert name in KNOWN, f"{name} has no record; make it: python tests/{Path(__file__).name} {name}"
    lines = recorded.differences(KNOWN[name], recorded.compute(name))
    assert not lines, f"record {name} ({len(lines)} parts differ):\n" + "\n".join(lines[:MOST_LINES])


def written(value: object, column: str = "mean") -> dict[str, object]:
    return dict(recorded.write(pd.DataFrame({column: value}), ""))


SEVENTHS = np.arange(100) / 7


@pytest.mark.parametrize("values", [SEVENTHS[:9], SEVENTHS])
def test_the_last_digits_of_floats_may_differ_and_no_others(values) -> None:
    assert recorded.differences(written(values), written(values * (1 + 1e-12))) == []
    assert recorded.differences(written(values), written(values * (1 + 1e-8)))
    assert recorded.differences(written(values), written(np.r_[values[:-1], np.nan]))
    assert recorded.differences(written(values), written(values[::-1]))


def test_whole_numbers_texts_and_cells_are_equal() -> None:
    counts = np.arange(100.0)
    swapped = counts.copy()
    swapped[[4, 5, 6]] = [5, 5, 5]
    for one, other in [
        (counts, swapped),
        (counts[:9], swapped[:9]),
        (["a"], ["b"]),
        ([b"a"], [b"b"]),
        ([True], [False]),
    ]:
        assert recorded.differences(written(one), written(one)) == []
        assert recorded.differences(written(one), written(other))


def test_small_p_values_have_their_digits() -> None:
    tiny = np.array([1e-30])
    assert recorded.differences(written(tiny), written(2 * tiny)) == []
    for column in ("p_value", "p_adjusted", "shd_p", "p"):
        assert recorded.differences(written(tiny, column), written(2 * tiny, column))


def test_no_record_is_left_over() -> None:
    assert set(KNOWN) <= set(recorded.RECORDS)


def renew(names: list[str]) -> None:
    """Compute records anew, print what changed, and write the file."""
    chosen = {
        name
        for name in recorded.RECORDS
        for word in names
        if word in ("--all", name) or (word.endswith("*") and name.startswith(word[:-1]))
    }
    unknown = [word for word in names if word not in recorded.RECORDS and word != "--all" and not word.endswith("*")]
    if unknown or not chosen:
        raise SystemExit(f"no record is called {', '.join(unknown or names)}; names: {', '.join(recorded.RECORDS)}")
    for name in [x for x in recorded.RECORDS if x in chosen]:
        entries = recorded.compute(name)
        lines = recorded.differences(KNOWN[name], entries) if name in KNOWN else ["is new"]
        if lines:
            print(name, *lines, sep="\n  ")
            KNOWN[name] = entries
    for name in set(KNOWN) - set(recorded.RECORDS):
        print(name, "is left out: no function makes it")
        del KNOWN[name]
    recorded.save(KNOWN, FILE)


if __name__ == "__main__":
    renew(sys.argv[1:])
