"""Settings as values: checked when they are made, contradictions refused."""

from dataclasses import FrozenInstanceError

import pytest

import causaleval_pd as ce
from causaleval_pd.tables.settings import Cells, Drawing


def test_columns_by_role_leave_out_a_truth_that_is_not_there():
    assert Cells().names == {"truth": "truth", "estimate": "estimate"}
    assert Cells(truth=None, estimate=("a", 1)).names == {"estimate": ("a", 1)}
    assert Cells(truth=0).names == {"truth": 0, "estimate": "estimate"}, "a column may be called 0"


def test_methods_that_never_draw():
    assert [m for m in ("auto", "exact", "simulate") if Drawing(1, m).draws] == ["auto", "simulate"]
    with pytest.raises(FrozenInstanceError):
        Drawing(1).n_draws = 2


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"overwrite": "no"}, TypeError, "overwrite must be True or False, found 'no'"),
        ({"metrics": {"new": "shd"}}, TypeError, r"found a mapping; rename by ce.metric_set\(new=metric\)"),
        ({"key": []}, ValueError, "key names no column; leave it out to use the index"),
        ({"n_draws": 0}, ValueError, "n_draws must be a positive integer, found 0"),
        ({"n_draws": True}, ValueError, "n_draws must be a positive integer, found True"),
        ({"level": 1}, ValueError, "level must lie between 0 and 1, found 1"),
        ({"level": float("nan")}, ValueError, "level must lie between 0 and 1, found nan"),
        ({"method": "exakt"}, ValueError, "unknown method 'exakt'; did you mean 'exact'"),
    ],
)
def test_words_are_not_taken_for_flags_or_numbers(settings, error, message):
    with pytest.raises(error, match=message):
        ce.datasets.runs().head(3).ceval.with_controls(**({"metrics": ["shd"], "n_draws": 5} | settings))


def test_metrics_may_have_another_name():
    scored = ce.datasets.runs().head(3).ceval.with_controls(ce.metric_set(SHD="shd"), n_draws=5)
    assert {"SHD", "SHD_p", "SHD_p_method"} <= set(scored.columns)
