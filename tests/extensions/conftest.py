"""The toys are importable, and registered for the tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import toys

#: the guide's examples register what they declare; tests/test_docs.py runs each in a process of its own
collect_ignore = ["encoding.py", "field.py", "figure.py", "null_model.py", "statistical_test.py"]


@pytest.fixture(autouse=True, scope="module")
def registered():
    """Register the toy fields, metrics and null models, and remove them again."""
    with toys.registered():
        yield


@pytest.fixture
def runs():
    """Return runs of two algorithms on the same truths."""
    return toys.runs()
