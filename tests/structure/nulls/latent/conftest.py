"""Makes the references of mixed graphs, and how controls are drawn here, importable by name."""

from __future__ import annotations

import sys
from pathlib import Path

for _folder in (Path(__file__).parent, Path(__file__).parents[3] / "graphs"):
    sys.path.append(str(_folder))
