"""What every test shares: figures are drawn without a display and closed afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what a test drew: matplotlib warns about many open figures, and warnings are errors here."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
