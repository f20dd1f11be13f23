"""Print the lower bounds that pyproject.toml declares as constraints for pip: `numpy>=1.26` becomes `numpy==1.26`."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *(one for extra in sys.argv[1:] for one in extras[extra])]:
    found = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
    if found is None and not requirement.startswith("causaleval_pd["):
        raise SystemExit(f"{requirement!r} has no lower bound")
    if found is not None:
        print(f"{found[1]}=={found[2]}")
