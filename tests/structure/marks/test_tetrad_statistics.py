"""The table of Tetrad's statistics names each once, and metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import causaleval_pd as ce

PAGE = Path(__file__).parents[3] / "docs" / "mixed_graphs.md"


@pytest.mark.slow
def test_every_statistic_has_a_metric_or_a_reason():
    table = PAGE.read_text(encoding="utf-8").split("| statistics of Tetrad | here |")[1]
    rows = re.findall(r"^\| (\w[^|]*) \| ([^|]+) \|$", table, re.MULTILINE)
    statistics = [name for names, _ in rows for name in names.split(", ")]
    assert len(statistics) == len(set(statistics)) == 195
    for names, here in rows:
        named = re.findall(r"`(\w+)`", here)
        assert set(named) <= set(ce.list_metrics("graph").index), here
        assert named or here.startswith(("none: ", "`series.graph", "a column")), names
