"""Versions: of the package, of the libraries that its numbers depend on, and `show_versions` for reports of faults."""

from __future__ import annotations

import platform
import re
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TextIO

__version__ = "0.3.0"

#: libraries that numbers depend on
NUMERIC = ("numpy", "scipy", "numba", "statsmodels", "pandas", "xarray")


@lru_cache(maxsize=1)
def _numeric_versions() -> dict[str, str]:
    packages = {name: _installed(name) for name in NUMERIC}
    known = {name: number for name, number in packages.items() if number is not None}
    return {"causaleval_pd": __version__, "python": platform.python_version(), **known}


def versions() -> dict[str, str]:
    """Return the versions that numbers depend on, by name: the package, Python, numerical libraries."""
    return dict(_numeric_versions())


def show_versions(file: TextIO | None = None) -> None:
    """Print the versions of the package, Python, the platform and the installed dependencies.

    Parameters
    ----------
    file : text file, optional
        Where to print; default the standard output.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.show_versions()  # doctest: +ELLIPSIS
    causaleval_pd  ...
    python         ...
    """
    out = sys.stdout if file is None else file
    parts = {
        "": {
            "causaleval_pd": __version__,
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "platform": f"{platform.system()} {platform.release()}, {platform.machine()}",
        },
        "Dependencies": {name: _installed(name) or "not installed" for name in dependencies(optional=False)},
        "Optional": {name: number for name in dependencies(optional=True) if (number := _installed(name))},
    }
    width = max(len(name) for rows in parts.values() for name in rows)
    for title, rows in parts.items():
        if rows:
            out.write(f"\n{title}\n" if title else "")
            out.writelines(f"{name:<{width}}  {number}\n" for name, number in rows.items())


def dependencies(*, optional: bool) -> list[str]:
    """Return the names of required or of optional dependencies, as the installed package declares them."""
    try:
        declared = requires("causaleval_pd") or []
    except PackageNotFoundError:
        # run from a folder of sources
        return [] if optional else list(NUMERIC)
    names = {line: re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in declared}
    required = [name for line, name in names.items() if "extra ==" not in line]
    if not optional:
        return sorted(required)
    return sorted({*names.values()} - {*required, "causaleval_pd"})


def _installed(name: str) -> str | None:
    """Return the version of a distribution, or None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
