"""Docstrings of tests on arrays name what they test."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import causaleval_pd as ce

PACKAGE = Path(ce.__file__).parent


def array_tests():
    """Return the public functions on arrays that give a p-value of a null hypothesis."""
    modules = (
        importlib.import_module(f"causaleval_pd.statistics.{file.stem}")
        for file in (PACKAGE / "statistics").glob("[a-z]*.py")
    )
    results = ("Outcome", "BoundedOutcome", "MaxT", "Friedman")
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_")
        and function.__annotations__.get("return") in results
        # `t_test` is the arithmetic of those that name what they test
        and name != "t_test"
    }


@pytest.mark.parametrize("name", sorted(array_tests()))
def test_every_test_on_arrays_names_what_it_tests(name):
    text = " ".join(inspect.getdoc(array_tests()[name]).split())
    for part in ("null hypothesis", "alternative", "assumption"):
        assert re.search(rf"{part}s?\b", text.split("Notes -----")[1], re.IGNORECASE), part
    assert re.search(r"\bNot (as|for|to|where)\b", text), "when not to use it"


def test_tests_on_arrays_are_found():
    assert {"mcnemar", "max_t", "randomisation_test"} <= {*array_tests()}
