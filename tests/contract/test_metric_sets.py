"""Metrics of one call: chosen, renamed, with options fixed."""

import pytest

import causaleval_pd as ce


def test_tweak_fixes_options_and_keeps_the_base_unchanged():
    doubled = ce.tweak("shd", reversal_cost=2, name="shd_double")
    assert (doubled.name, doubled("A -> B", "B -> A"), ce.shd("A -> B", "B -> A")) == ("shd_double", 2.0, 1.0)
    assert ce.tweak("shd", reversal_cost=2).name == "shd"
    twice = ce.tweak(doubled, undirected_cost=0, name="both")
    assert dict(twice.options) == {"reversal_cost": 2, "undirected_cost": 0}
    message = "shd has no option 'reversal'; did you mean 'reversal_cost'. its options: reversal_cost"
    with pytest.raises(ValueError, match=message):
        ce.tweak("shd", reversal=2)
    with pytest.raises(ValueError, match="must be an identifier"):
        ce.tweak("shd", name="my shd")


def test_metric_set_renames_and_refuses_repeats():
    chosen = ce.metric_set("shd", "skeleton_hd", double=ce.tweak("shd", reversal_cost=2))
    assert [m.name for m in chosen] == ["shd", "skeleton_hd", "double"]
    with pytest.raises(ValueError, match="found twice: shd"):
        ce.metric_set("shd", ce.tweak("shd", reversal_cost=2))
