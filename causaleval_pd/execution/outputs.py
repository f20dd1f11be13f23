"""Folders of output while they are written: locked, free of links, each piece with its checksum, renamed when whole."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # not a POSIX system: outputs are not locked there
    flock = None  # type: ignore[assignment]

PLAN = "_plan.json"
LOCK = "_lock"
#: folder, in an unfinished output, of one record a finished piece
RECORDS = "_pieces"
#: what writers left that were killed: ours, and those of Zarr
_LEFT = re.compile(r".*\.[0-9a-f]{32}\.(writing|partial)")


def refuse_links(folder: Path) -> None:
    """Refuse a folder that is or holds a link, which leads out of it, or a pipe or device, which may never end."""
    for found in [folder, *_entries(folder)]:
        if found.is_symlink():
            raise ValueError(f"{found} is a symbolic link and may lead elsewhere; remove it or choose another path")
        if found.exists() and not found.is_dir() and not found.is_file():
            raise ValueError(f"{found} is neither a file nor a folder; remove it or choose another path")


def refuse_files(folder: Path) -> None:
    """Refuse a file where an output has a folder, and a folder where every output has a file."""
    files = [folder / PLAN, folder / LOCK, *(folder / RECORDS).glob("*")]
    for place, is_folder in ((folder, True), (folder / RECORDS, True), *((file, False) for file in files)):
        if os.path.exists(place) and place.is_dir() != is_folder:
            found, wanted = ("a file", "a folder") if is_folder else ("a folder", "a file")
            raise ValueError(
                f"{place} is {found}, and outputs have {wanted} of this name; remove it, or choose another path"
            )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of an existing folder; the system releases it when this process ends, however it ends.

    Raises
    ------
    FileExistsError
        If another writer holds it; names its process and host.
    ValueError
        If the file of the lock is also a file elsewhere.
    """
    file = folder / LOCK
    handle = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        if flock is not None:
            try:
                flock(handle, LOCK_EX | LOCK_NB)
            except OSError:
                holder = os.read(handle, 300).decode("utf-8", "replace") or "another process"
                raise FileExistsError(
                    f"{folder} is being written by {holder}; wait for it to end, or choose another path"
                ) from None
            if not file.exists() or not os.path.samestat(file.stat(), os.fstat(handle)):
                raise FileExistsError(f"{folder} was finished by another process just now")
        if os.fstat(handle).st_nlink > 1:
            raise ValueError(f"{file} is a hard link to another file, which a lock would overwrite; remove it")
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {platform.node()}".encode())
        yield
    finally:
        os.close(handle)


def replace_file(path: Path, write: Callable[[Path], object]) -> str:
    """Write a file under another name, give it its own when it is complete and on disk, and return its checksum."""
    writing = path.with_name(f"{path.name}.{uuid.uuid4().hex}.writing")
    try:
        write(writing)
        with writing.open("rb") as file:
            os.fsync(file.fileno())
        found = checksum(writing)
        os.replace(writing, path)
    finally:
        writing.unlink(missing_ok=True)
    return str(found)


def checksum(path: Path) -> str | None:
    """Return the BLAKE2b digest of a file, or None if it does not exist."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except FileNotFoundError:
        return None


def open_plan(folder: Path, planned: Mapping[str, Any]) -> None:
    """Write the plan of a new folder, or check that of one to continue; refuse a folder that has none but files."""
    if (folder / PLAN).exists():
        read_plan(folder, planned)
        return
    strange = [found.name for found in folder.iterdir() if found.name != LOCK and not _LEFT.fullmatch(found.name)]
    if strange:
        raise ValueError(
            f"{folder} has no {PLAN}, so it is not an interrupted output, but holds {strange[0]!r}; move it, or choose "
            "another path"
        )
    _write_json(folder / PLAN, planned)


def read_plan(folder: Path, planned: Mapping[str, Any]) -> dict[str, str | None]:
    """Check that a folder belongs to the planned computation, and return the checksums in its plan, by file."""
    remedy = "to start anew, remove it or choose another path"
    try:
        found = json.loads((folder / PLAN).read_text("utf-8"))
    except FileNotFoundError:
        found = {}
    except (ValueError, RecursionError):
        raise ValueError(f"{folder / PLAN} is damaged, so {folder} cannot be continued; {remedy}") from None
    checksums = found.pop("checksums", {}) if isinstance(found, dict) else {}
    if found != planned:
        raise ValueError(
            f"{folder} belongs to another computation ({found}, not {dict(planned)}); resume=True needs the same "
            f"table, partitions and settings, and a seed by rng=; {remedy}"
        )
    if not isinstance(checksums, dict):
        raise ValueError(f"{folder / PLAN} is damaged, so {folder} cannot be continued; {remedy}")
    return checksums


def add_folder(folder: Path, fill: Callable[[Path], object]) -> dict[str, str | None]:
    """Fill a folder of another name, move its files into this one, and return their checksums."""
    writing = folder / f"folder.{uuid.uuid4().hex}.writing"
    writing.mkdir()
    fill(writing)
    names = stored_files(writing)
    for name in names:
        _refuse_folders(folder, [name])
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(writing / name, folder / name)
    shutil.rmtree(writing)
    return {name: checksum(folder / name) for name in names}


def record(folder: Path, piece: str, checksums: Mapping[str, str | None]) -> None:
    """Record that a piece is complete, with the checksums of its files (None for one that is not stored)."""
    (folder / RECORDS).mkdir(exist_ok=True)
    _write_json(folder / RECORDS / f"{piece}.json", checksums)


def recorded(folder: Path, piece: str) -> dict[str, str | None]:
    """Return the recorded checksums of a piece, none if it has no record or a damaged one."""
    try:
        found = json.loads((folder / RECORDS / f"{piece}.json").read_text("utf-8"))
    except (FileNotFoundError, IsADirectoryError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def differing(
    folder: Path, stored: Collection[str], checksums: Mapping[str, str | None], files: Iterable[str]
) -> list[str]:
    """Return those of some files that are not what their checksums stand for; only stored files are read."""
    found = {name: checksum(folder / name) if name in stored else None for name in files}
    return [name for name, one in found.items() if name not in checksums or one != checksums[name]]


def stored_files(folder: Path) -> list[str]:
    """Return the files of a folder that are neither its plan, lock and records nor left by writers that were killed."""
    names = [found.relative_to(folder) for found in _entries(folder) if not found.is_dir()]
    stored = [name.as_posix() for name in names if not any(_LEFT.fullmatch(part) for part in name.parts)]
    return sorted(name for name in stored if name not in (PLAN, LOCK) and not name.startswith(f"{RECORDS}/"))


def refuse_strangers(folder: Path, known: Collection[str]) -> None:
    """Refuse files in an output that are not its own: a reader would take them for parts of it."""
    records = [found.relative_to(folder).as_posix() for found in _entries(folder / RECORDS)]
    others = {name for name in records if not name.endswith(".json") and not _LEFT.fullmatch(name)}
    strange = sorted((set(stored_files(folder)) - set(known)) | others)
    if strange:
        raise ValueError(f"{folder} holds {strange[0]!r}, which is not part of this output; move it elsewhere")
    _refuse_folders(folder, known)


def _refuse_folders(folder: Path, files: Iterable[str]) -> None:
    for name in files:
        if (folder / name).is_dir():
            raise ValueError(f"{folder / name} is a folder, and this output has a file of that name; remove it")


def check_whole(folder: Path, planned: Mapping[str, Any]) -> None:
    """Refuse a finished output that is of another computation, or not as it was written."""
    checksums = read_plan(folder, planned)
    damaged = differing(folder, set(stored_files(folder)), checksums, sorted(checksums))
    if damaged or not checksums:
        named = f"{damaged[0]!r} is not as it was written" if damaged else f"its {PLAN} has no checksums"
        raise ValueError(f"{folder} is damaged: {named}; remove the folder and compute it again")
    refuse_strangers(folder, checksums)


def finish(partial: Path, final: Path, planned: Mapping[str, Any], checksums: Mapping[str, str | None]) -> None:
    """Write the checksums into the plan, remove what only writers need, and give the folder its name."""
    _write_json(partial / PLAN, {**planned, "checksums": checksums})
    for found in [found for found in _entries(partial) if _LEFT.fullmatch(found.name)]:
        if found.is_dir():
            shutil.rmtree(found)
        else:
            found.unlink(missing_ok=True)
    if (partial / RECORDS).is_dir():
        for found in (partial / RECORDS).glob("*.json"):
            found.unlink()
        (partial / RECORDS).rmdir()
    (partial / LOCK).unlink()
    partial.rename(final)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    replace_file(path, lambda writing: writing.write_text(json.dumps(content), "utf-8"))


def _entries(folder: Path) -> Iterator[Path]:
    """Yield all that is in a folder, links themselves and not what they lead to."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for found in sorted(folder.iterdir()):
        yield found
        yield from _entries(found)
