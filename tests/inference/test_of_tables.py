"""`df.ceval.summary`, `test_controls` and `compare`: what the cube and its verb give, with one seed for both."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

RUNS = ce.datasets.runs().query("n == 100 and replicate < 5").reset_index(drop=True)
BY = ["algorithm", "density"]
HOW = {"by": BY, "n_draws": 30, "rng": 7}


@pytest.fixture(scope="module")
def cube():
    return ce.cube(RUNS, ["shd", "adjacency_f1"], **HOW)


@pytest.mark.slow
def test_tables_are_those_of_the_cube(cube):
    names = ["shd", "adjacency_f1"]
    pd.testing.assert_frame_equal(
        RUNS.ceval.summary(names, interval="mean_ci", level=0.8, **HOW), ce.summary(cube, interval="mean_ci", level=0.8)
    )
    pd.testing.assert_frame_equal(
        RUNS.ceval.test_controls(names, adjust="holm", **HOW), ce.test_controls(cube, adjust="holm")
    )
    pd.testing.assert_frame_equal(
        RUNS.ceval.compare("algorithm", metrics=names, on="excess", **HOW),
        ce.compare(cube, "algorithm", on="excess", rng=7),
    )


@pytest.mark.slow
def test_settings_of_cubes_pass_through():
    given = {"control_kind": "cpdag", "keep_draws": False}
    cube = ce.cube(RUNS, ["shd"], **HOW, **given)
    pd.testing.assert_frame_equal(
        RUNS.ceval.summary(["shd"], **HOW, control_kind="cpdag"), ce.summary(cube), rtol=1e-12
    )
    pd.testing.assert_frame_equal(RUNS.ceval.test_controls(["shd"], cube_settings=given, **HOW), ce.test_controls(cube))
    pd.testing.assert_frame_equal(
        RUNS.ceval.test_controls(["shd"], adjust="holm", **given, **HOW), ce.test_controls(cube, adjust="holm")
    )
    pd.testing.assert_frame_equal(
        RUNS.ceval.compare("algorithm", metrics=["shd"], on="skill", **given, **HOW),
        ce.compare(cube, "algorithm", on="skill", rng=7),
    )


def test_settings_that_both_take_go_to_the_verb_and_no_setting_is_given_twice():
    found = RUNS.ceval.test_controls(["shd"], method="wilcoxon", cube_settings={"method": "simulate"}, **HOW)
    assert set(found["method"]) == {"wilcoxon"}
    with pytest.raises(ValueError, match="control_kind is given twice, as a keyword and in cube_settings="):
        RUNS.ceval.test_controls(["shd"], control_kind="dag", cube_settings={"control_kind": "cpdag"}, **HOW)
    with pytest.raises(TypeError, match="unexpected keyword argument 'control_kinds'"):
        RUNS.ceval.test_controls(["shd"], control_kinds="dag", **HOW)


@pytest.mark.slow
def test_comparisons_make_no_controls_unless_they_are_subtracted():
    drawn = []
    how = {"by": BY, "metrics": ["shd"], "n_draws": 1, "null": lambda estimate, rng: drawn.append(estimate) or estimate}
    assert RUNS.ceval.compare("algorithm", **how)["null"].isna().all() and not drawn
    RUNS.ceval.compare("algorithm", on="excess", **how)
    assert len(drawn) >= len(RUNS)
    assert set(RUNS.ceval.compare("algorithm", metrics=["shd"], on="excess", **HOW)["null"]) == {"edges"}


@pytest.mark.slow
def test_strata_are_kept_by_name(cube):
    names = ["shd", "adjacency_f1"]
    for keep in ("all", ["density"]):
        pd.testing.assert_frame_equal(
            RUNS.ceval.compare("algorithm", names, keep=keep, **HOW), ce.compare(cube, "algorithm", by=keep)
        )
    with pytest.raises(TypeError, match=r"name it first, then the metrics, as in compare\('algorithm', \['shd'\]\)"):
        RUNS.ceval.compare(["shd"], "algorithm", by=BY)
    with pytest.raises(ValueError, match="by= names 'algorithm', whose levels are compared"):
        RUNS.ceval.compare("algorithm", ["shd"], by=BY, keep=BY)


@pytest.mark.slow
def test_generators_are_drawn_from_once():
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    kwargs = {"by": BY, "metrics": ["shd"], "on": "excess", "n_draws": 9, "test": "sign_flip"}
    pd.testing.assert_frame_equal(
        RUNS.ceval.compare("algorithm", rng=one, **kwargs), RUNS.ceval.compare("algorithm", rng=two, **kwargs)
    )
    fresh = np.random.default_rng(3)
    fresh.integers(2**63 - 1)
    assert one.bit_generator.state == fresh.bit_generator.state


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="unknown dimension 'algoritm'; did you mean 'algorithm'"):
        RUNS.ceval.compare("algoritm", by=BY, metrics=["shd"])
    with pytest.raises(ValueError, match="level must lie between 0 and 1, found 95"):
        RUNS.ceval.summary(["shd"], level=95, **HOW)
    with pytest.raises(TypeError, match="unexpected keyword argument 'keep_drawz'"):
        RUNS.ceval.summary(["shd"], keep_drawz=True, **HOW)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'by'"):
        RUNS.ceval.summary(["shd"])


def test_settings_of_the_verb_are_shown_and_those_that_are_made_are_not():
    shown = {
        name: set(inspect.signature(getattr(RUNS.ceval, name)).parameters) for name in ("test_controls", "compare")
    }
    assert {"method", "adjust", "cube_settings"} <= shown["test_controls"]
    assert {"test", "effect", "paired", "cube_settings"} <= shown["compare"]
    assert not {"cube", "settings"} & (shown["test_controls"] | shown["compare"])
