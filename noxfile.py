#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Names for the checks in .ci: `nox -l` lists them, `nox -s lint site` runs two. Each makes its own environment."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"  # the scripts make theirs
ROOT = Path(__file__).parent


@nox.session(default=True)
def run(session: nox.Session) -> None:
    """Run what a change must pass."""
    session.run(str(ROOT / ".ci/run"), external=True)


@nox.session(default=False)
def deep(session: nox.Session) -> None:
    """Run everything else, or the steps named: `nox -s deep -- latest` tests the newest versions of all libraries."""
    session.run(str(ROOT / ".ci/deep"), *session.posargs, external=True)


def _add_step(path: Path) -> None:
    purpose = path.read_text(encoding="utf-8").splitlines()[1].removeprefix("# ")

    def step(session: nox.Session) -> None:
        session.run(str(ROOT / ".ci/run"), path.name, external=True)

    step.__doc__ = f"{purpose[0].upper()}{purpose[1:]}."
    nox.session(step, name=path.name, default=False)


for step_file in sorted((ROOT / ".ci/steps").iterdir()):
    _add_step(step_file)

if __name__ == "__main__":
    nox.main()
