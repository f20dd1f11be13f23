"""`python -m causaleval_pd --version` prints the version; without an option, those of all libraries, for reports."""

from __future__ import annotations

import argparse

from .versions import __version__, show_versions


def main(arguments: list[str] | None = None) -> None:
    """Print the version of the package, or those of the libraries with it."""
    parser = argparse.ArgumentParser(
        prog="python -m causaleval_pd",
        description="Print the versions of causaleval_pd and of the libraries that it uses.",
    )
    parser.add_argument("--version", action="version", version=f"causaleval_pd {__version__}")
    parser.parse_args(arguments)
    show_versions()


if __name__ == "__main__":
    main()
