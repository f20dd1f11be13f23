"""The toys are importable, and registered for the tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import toys

# sources of docs/extending.md: importing them to look for doctests would register what they show
collect_ignore = [
    path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith(("test_", "conftest"))
]


@pytest.fixture(autouse=True, scope="module")
def registered():
    """Register the toy fields, metrics and null models, and remove them again."""
    with toys.registered():
        yield


@pytest.fixture
def runs():
    """Return runs of two algorithms on the same truths."""
    return toys.runs()
