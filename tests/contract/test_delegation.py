"""Delegation: methods keep signatures, docstrings and errors of the functions that they call."""

from __future__ import annotations

import inspect

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.options import method, takes_settings_of


def joined(words: list[str], /, by: str = " ", *, upper: bool = False) -> str:
    """Join words."""
    text = by.join(words)
    return text.upper() if upper else text


class Words:
    def __init__(self, words):
        self._object = words

    joined = method(joined)


def test_the_object_is_the_first_argument():
    assert Words(["a", "b"]).joined("-", upper=True) == "A-B"
    assert Words.joined(Words(["a"])) == "a"


def test_signature_and_docstring_are_those_of_the_function():
    assert Words.joined.__doc__ == "Join words." and Words.joined.__name__ == "joined"
    assert str(inspect.signature(Words([]).joined)) == "(by: 'str' = ' ', *, upper: 'bool' = False) -> 'str'"
    assert list(inspect.signature(Words.joined).parameters) == ["self", "by", "upper"]


def test_wrong_arguments_are_type_errors_that_name_the_function():
    with pytest.raises(TypeError, match=r"joined\(\) got an unexpected keyword argument 'lower'"):
        Words([]).joined(lower=True)
    with pytest.raises(TypeError, match=r"joined\(\) takes from 1 to 2 positional arguments but 3 were given"):
        Words([]).joined("-", "+")


def test_a_keyword_may_be_called_self():
    class Kept:
        _object = 1
        call = method(lambda value, **options: (value, options))

    assert Kept().call(self=2) == (1, {"self": 2})


def test_settings_of_a_target_are_shown_once_and_without_the_excluded():
    def target(table, other, *, a=1, b: int = 2, c=3, **rest):
        """Do it."""

    @takes_settings_of(target, without=["c"])
    def verb(table, *, a=5, **settings):
        return settings

    assert str(inspect.signature(verb)) == "(table, *, a=5, b: 'int' = 2)"
    assert verb(None, b=7, z=8) == {"b": 7, "z": 8}, "what is passed on is not checked here"


def test_accessors_show_every_setting_of_their_verbs():
    runs = pd.DataFrame({"truth": ["A -> B"], "estimate": ["A -> B"]})
    for name in ("evaluate", "with_controls", "cube"):
        function, bound = getattr(ce, name), getattr(runs.ceval, name)
        assert bound.__doc__ == function.__doc__
        wanted = list(inspect.signature(function).parameters.values())[1:]
        assert list(map(str, inspect.signature(bound).parameters.values())) == list(map(str, wanted))
    with pytest.raises(TypeError, match="unexpected keyword argument 'levle'"):
        runs.ceval.cube(["shd"], by=[], levle=0.9)
