"""Registries: names once, the nearest names of unknown ones, third parties loaded late and once."""

from __future__ import annotations

import pytest

from causaleval_pd.contract import registry
from causaleval_pd.contract.registry import Registry


@pytest.fixture
def colours(monkeypatch):
    """A registry with one entry point, and the groups that were asked for."""
    found: Registry[str] = Registry("encoding", "example.colours")
    found.groups = []

    class Point:
        def load(self) -> None:
            found.add("green", "#0f0")

    monkeypatch.setattr(registry, "entry_points", lambda group: found.groups.append(group) or [Point()])
    found.add("red", "#f00")
    return found


def test_a_name_is_taken_once(colours):
    with pytest.raises(ValueError, match="^an encoding called 'red' is already registered; choose another name$"):
        colours.add("red", "#f01")
    assert colours["red"] == "#f00"
    del colours["red"]
    assert colours.add("red", "#f01") == "#f01"


def test_third_parties_are_loaded_when_a_name_is_missing_and_once(colours):
    assert colours.find("red") == "#f00" and colours.groups == []
    assert colours.find("green") == "#0f0" and colours.groups == ["example.colours"]
    with pytest.raises(ValueError, match="unknown encoding 'blue'; it is one of green, red"):
        colours.find("blue")
    assert list(colours.every()) == ["#f00", "#0f0"] and colours.groups == ["example.colours"]


def test_every_object_includes_those_of_third_parties_and_bears_removal(colours):
    seen = []
    for value in colours.every():
        seen.append(value)
        colours.pop("green", None)
    assert seen == ["#f00", "#0f0"]


@pytest.mark.parametrize("name", [["red"], {"red": 1}, ("red", []), None, 3])
def test_what_is_no_name_is_refused_with_the_known_ones(colours, name):
    with pytest.raises(ValueError, match=r"^unknown encoding .*it is one of green, red$"):
        colours.find(name)
