"""The cache of `ask`: an SQLite file of replies that several processes may use at once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from types import TracebackType

from .replies import Reply, check_reply, from_json, to_json

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, about TEXT)"

#: seconds to wait for another process, which holds the file for one reply only
_LONGEST_WAIT = 30.0


class ReplyCache:
    """Replies by key, each written to disk when it arrives.

    Threads share one cache. Text that UTF-8 cannot encode is stored as bytes, so that every reply is read as it was.

    Parameters
    ----------
    path : path, optional
        The file; None keeps replies in memory.

    Raises
    ------
    ValueError
        If the file cannot be opened, is not a cache of replies, or is damaged.
    """

    def __init__(self, path: str | PathLike[str] | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._problems():
            self._store = sqlite3.connect(
                ":memory:" if path is None else Path(path),
                timeout=_LONGEST_WAIT,
                isolation_level=None,  # each statement is a transaction
                check_same_thread=False,
            )
        try:
            with self._problems():
                self._prepare()
        except ValueError:
            self._store.close()
            raise

    def _prepare(self) -> None:
        """Make the table, but change nothing in a database that holds something else."""
        tables = {name for (name,) in self._store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables:
            if "replies" not in tables:
                raise sqlite3.DatabaseError(f"it holds the tables {sorted(tables)}")
            self._store.execute("SELECT key, reply FROM replies LIMIT 1").fetchall()
        # readers and writers do not wait for each other; the mode of a file in use cannot be changed, and need not be
        with suppress(sqlite3.OperationalError):
            self._store.execute("PRAGMA journal_mode = WAL").fetchall()
        # a process that is killed loses nothing; only a power cut can undo the last replies
        self._store.execute("PRAGMA synchronous = NORMAL")
        self._store.execute(_TABLE)
        columns = {row[1] for row in self._store.execute("PRAGMA table_info(replies)")}
        if "about" not in columns:  # a cache of an earlier release
            with suppress(sqlite3.OperationalError):  # another process has just added it
                self._store.execute("ALTER TABLE replies ADD COLUMN about TEXT")

    def __enter__(self) -> ReplyCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._store.close()

    def stored(self, keys: Sequence[str]) -> Iterator[tuple[str, Reply]]:
        """Yield the keys that have a reply, and the replies."""
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            query = f"SELECT key, reply, about FROM replies WHERE key IN ({','.join('?' * len(part))})"
            with self._lock, self._problems(), closing(self._store.execute(query, part)) as rows:
                found = [(key, _reply(reply, about)) for key, reply, about in rows]
            yield from found

    def keep(self, key: str, reply: Reply) -> None:
        """Write a reply to disk."""
        text, about = reply.text or "", to_json(reply)
        try:
            text.encode()
            value: str | bytes = text
        except UnicodeEncodeError:
            value = text.encode("utf-8", "surrogatepass")
        with self._lock, self._problems():
            self._store.execute(
                "INSERT OR REPLACE INTO replies (key, reply, about) VALUES (?, ?, ?)", (key, value, about)
            )

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Name the file in errors of the database."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise ValueError(
                f"the cache {self.path} cannot be used ({error}); check that its folder exists, that it may be written "
                "and that no other program holds it; a damaged file must be moved away"
            ) from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{self.path} is not a cache of replies, or is damaged ({error}); name a new file by cache=, or move "
                "this one away"
            ) from None


def _reply(text: object, about: object) -> Reply:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogatepass")
    if not isinstance(text, str) or not isinstance(about, (str, type(None))):
        raise sqlite3.DataError(f"a reply is stored as {type(text).__name__}, with {type(about).__name__}")
    try:
        return check_reply(from_json(text, about))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise sqlite3.DataError(f"what is known of a reply cannot be read: {error}") from None
