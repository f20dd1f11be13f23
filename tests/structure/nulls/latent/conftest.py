"""Makes the references of mixed graphs importable by name."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "graphs"))
