"""Desiderata of measures and their counter-examples."""

from __future__ import annotations

import math

import numpy as np

from causaleval_pd.causal_kl import desiderata


def test_witnesses():
    table = desiderata().set_index(["witness", "metric"])
    assert table.loc[("copy: wrong parent > 0", "ckl3"), "values"] == [0.0]
    assert not table.loc[("copy: wrong parent > 0", "ckl3"), "holds"]
    assert table.loc[("copy: wrong parent > 0", "ckl1"), "values"][0] > 0.1
    for name in ("ckl1", "ckl2", "ckl3"):
        assert table.loc[("copy: reversed < inf", name), "values"] == [math.inf]
    for name in ("ckl1", "ckl2"):
        assert np.isnan(table.loc[("impossible combination: true structure = 0", name), "values"][0])
    assert table.loc[("impossible combination: true structure = 0", "ckl3"), "values"] == [0.0]
    assert table.loc[("rev.in.weak > 0", "kl"), "values"].iloc[0] == [0.0]


def test_measures_are_chosen():
    table = desiderata(["wed_d", "wed_3"])
    held = table.groupby(["metric", "desideratum"], observed=True)["holds"].all()
    assert held["wed_d", "D1a"] and not held["wed_d", "sensitivity"]
    assert set(table["metric"]) == {"wed_d", "wed_3"}
