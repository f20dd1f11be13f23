"""Print what pyproject.toml requires: Python, packages and extras, a line each."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
print(f"python{project['requires-python']}")
print(*sorted(project["dependencies"]), sep="\n")
for extra, requirements in sorted(project["optional-dependencies"].items()):
    print(*(f"[{extra}] {requirement}" for requirement in sorted(requirements)), sep="\n")
