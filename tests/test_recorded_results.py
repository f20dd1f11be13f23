"""Results are the same bits as recorded.

On the machine and libraries that made a record, floats are compared bit by bit; elsewhere to a relative 1e-9, because
the last bit of a sum depends on the CPU. Whoever changes a number on purpose renews its records by name:

    python tests/test_recorded_results.py NAME [NAME ...]

`--all` renews all, a name that ends in * all that start so. It prints what changed.
"""

from __future__ import annotations

import importlib
import sys
from fnmatch import fnmatchcase
from pathlib import Path

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
    *("test_controls/summed/*", "test_controls/larger/*", "test_controls/kept/b[hy]", "test_controls/kept/none"),
    *("summary/larger*", "meta_analysis/larger/*", "meta_analysis/summed/*", "rank_test/summed", "control_power/[sl]*"),
    *("comparison_power/[sk]*", "compare/adjust/*", "compare/unpaired/t", "compare/test/friedman/holm"),
    *("compare/greater", "compare/cliffs_delta", "compare/failed_runs", "compare/cluster/value", "size_and_power/*"),
    *("cube/null/several*", "cube/keep_draws/auto", "cube/keep_draws/false", "cube/level", "cube/zero_division"),
    *("cube/default_metrics", "cube/share_draws", "cube/method/simulate", "cube/permute", "cube/replicate"),
    *("engine/serial/*", "engine/default/*", "engine/*/cube/draws", "engine/*/fields", "dask/*/*", "dask/summary"),
    *("files/to_zarr/chunks", "files/netcdf", "figure/strata", "figure/reliability", "figure/complexity"),
    *("graph/with_controls/every_metric/[pc]*", "graph/null/*/cpdag", "network/null/*/simulate", "*/cube/nulls"),
    *("graph/null/small_world/*", "graph/metric_functions", "figure/pareto", "network/with_controls/every_metric/g*"),
    *(
        "test_controls/kept/[bwst]*",
        "comparison_power/larger",
        "summary/summed*",
        "meta_analysis/kept/[fs]*",
        "dask/compare",
    ),
    *(
        "graph/with_controls/every_metric/[eos]*",
        "cube/several_nulls",
        "cube/method/exact",
        "reasoning/compare_answers",
    ),
    *("network/evaluate/discrete", "network/cube/draws", "network/null/dags/gaussian", "figure/skill_profile"),
    *("quantity/cube/draws", "quantity/null/*/simulate", "answer/null/*/simulate", "network/null/[!d]*/gaussian"),
]
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] * any(fnmatchcase(name, slow) for slow in SLOW))
    for name in recorded.RECORDS
]


@pytest.mark.parametrize("name", NAMES)
def test_result_is_as_recorded(name: str) -> None:
    assert name in KNOWN["records"], f"{name} has no record; make it: python tests/{Path(__file__).name} {name}"
    known = KNOWN["records"][name]
    exact = KNOWN["fingerprints"][known["fingerprint"]] == recorded.fingerprint()
    lines = recorded.differences(known["entries"], recorded.compute(name), exact=exact)
    assert not lines, f"record {name} ({len(lines)} parts differ):\n" + "\n".join(lines[:MOST_LINES])


def test_hashes_of_another_machine_may_differ_where_values_are_missing_alike() -> None:
    def entry(*values: int) -> dict[str, object]:
        return {"/0[kl_defined]": {"dtype": "int16", "shape": [len(values)], "values": list(values)}}

    assert not recorded.differences(entry(5, 0), entry(7, 0), exact=False)
    assert recorded.differences(entry(5, 0), entry(7, 0), exact=True)
    assert recorded.differences(entry(5, 0), entry(7, 1), exact=False)
    drawn = {"/0[kl_control_defined]": {"shape": [1], "values": [5]}}, {"/0[kl_control_defined]": {"values": [6]}}
    assert recorded.differences(*drawn, exact=False)


def test_no_record_is_left_over() -> None:
    assert set(KNOWN["records"]) <= set(recorded.RECORDS)


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
    KNOWN["fingerprints"].append(recorded.fingerprint())
    for name in [x for x in recorded.RECORDS if x in chosen]:
        entries = recorded.compute(name)
        old = KNOWN["records"].get(name)
        lines = recorded.differences(old["entries"], entries, exact=True) if old else []
        if old is None or lines:
            print(name, "is new" if old is None else "has changed:", *lines, sep="\n  ")
            KNOWN["records"][name] = {"entries": entries, "fingerprint": len(KNOWN["fingerprints"]) - 1}
    for name in set(KNOWN["records"]) - set(recorded.RECORDS):
        print(name, "is left out: no function makes it")
        del KNOWN["records"][name]
    recorded.save(KNOWN, FILE)


if __name__ == "__main__":
    renew(sys.argv[1:])
