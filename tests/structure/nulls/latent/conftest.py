"""Makes the references of mixed graphs importable by name."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "graphs"))
