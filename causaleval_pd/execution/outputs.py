"""Outputs on disk while they are written: complete pieces are marked, and a folder gets its name when it is whole."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: file of an output that names its computation, and folder of an unfinished one with a mark for each complete piece
_PLAN, _MARKS = "_plan.json", "_pieces"


def begin(partial: Path, planned: Mapping[str, Any], lay_out: Callable[[Path], object]) -> None:
    """Make the folder of an unfinished output, with what `lay_out` writes; the plan comes last."""
    try:
        partial.mkdir(parents=True)
    except FileExistsError:
        raise FileExistsError(f"{partial} is an interrupted output; continue it by resume=True, or remove it") from None
    try:
        lay_out(partial)
    except BaseException:
        # without a plan it could not be continued
        shutil.rmtree(partial, ignore_errors=True)
        raise
    (partial / _MARKS).mkdir()
    replace_file(partial / _PLAN, lambda file: file.write_text(json.dumps(planned), "utf-8"))


def check_plan(folder: Path, planned: Mapping[str, Any]) -> None:
    """Refuse an output, finished or not, of another computation."""
    try:
        plan = json.loads((folder / _PLAN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ValueError(
            f"{folder} has no readable {_PLAN}, so that it cannot be continued; remove it, or choose another path"
        ) from None
    if plan != planned:
        raise ValueError(
            f"{folder} belongs to another computation ({plan}, not {dict(planned)}); resume=True needs the same "
            "table, partitions and settings, and a seed by rng=; to start anew, remove it or choose another path"
        )


def mark(partial: str | Path, piece: str) -> Path:
    """Return the file that stands for a complete piece."""
    return Path(partial) / _MARKS / piece


def finish(partial: Path, final: Path) -> None:
    """Remove what only writers need, and give the folder its name."""
    for left in partial.glob("*.writing"):
        left.unlink()
    shutil.rmtree(partial / _MARKS)
    partial.rename(final)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name, and give it its own when it is complete and on disk."""
    writing = path.with_name(f"{path.name}.{uuid.uuid4().hex}.writing")
    try:
        write(writing)
        with writing.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(writing, path)
    finally:
        writing.unlink(missing_ok=True)
