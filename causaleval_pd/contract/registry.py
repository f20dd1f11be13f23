"""Registry: declared objects (metrics, null models, fields ...) by name, open to third parties by entry points."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, TypeVar

import pandas as pd

from .checks import shown, warn

T = TypeVar("T")

#: suggestions that an unknown name gets at most
_MOST_SUGGESTIONS = 5
#: how much worse than the best similarity in spelling (from 0 to 1) others may be
_CLOSE = 0.1


class Registry(dict[str, T]):
    """Declared objects by name; the same name twice is an error, unless the same code declares it again."""

    def __init__(self, noun: str, group: str, listed_by: str = "") -> None:
        super().__init__()
        # entry points of the group, and the call that lists all objects, for messages
        self.noun, self.group, self.listed_by = noun, group, listed_by
        self.loaded = False
        self._others: dict[str, tuple[str, tuple[str, ...]]] = {}

    def add(self, name: str, new: T) -> T:
        """Register `new` under `name` and return it; only the same code, as of a cell run again, replaces an object."""
        old = self.get(name)
        again = type(old) is type(new) and bool(_origins(new)) and _origins(new) == _origins(old)
        if name in self and not again:
            article = "an" if self.noun[0] in "aeiou" else "a"
            raise ValueError(f"{article} {self.noun} called {name!r} is already registered; choose another name")
        self[name] = new
        return new

    def other_names(self, names: Mapping[str, Iterable[str]], note: str = "") -> None:
        """Add names of other tools and papers, each with the names here that messages suggest for it."""
        self._others |= {_plain(other): (note, tuple(meant)) for other, meant in names.items()}

    def find(self, name: Any) -> T:
        """Return the object called `name`, or raise an error with the names that may be meant."""
        if not isinstance(name, str) or name not in self:
            self.load()
        if not isinstance(name, str) or name not in self:
            every = f"{self.listed_by} shows all" if self.listed_by else f"it is one of {', '.join(sorted(self))}"
            raise ValueError(f"unknown {self.noun} {shown(name)}; {self.suggest(name)}{every}")
        return self[name]

    def suggest(self, name: Any, among: Iterable[str] | None = None) -> str:
        """Return a hint `did you mean 'shd'? `, with a space at its end, for a name that may mean known ones."""
        allowed = set(self if among is None else among)
        note, matches = self._meant(str(name), [x for x in self if x in allowed])
        meant = matches[:_MOST_SUGGESTIONS]
        if not meant:
            return ""
        # one name explains itself
        lines = {x: _summary(self[x]) if len(meant) > 1 or note else "" for x in meant}
        words = ", ".join(f"{x!r} ({line})" if line else repr(x) for x, line in lines.items())
        return f"{note} {words}; " if note else f"did you mean {words}? "

    def _meant(self, name: str, known: list[str]) -> tuple[str, list[str]]:
        """Return which known names a name may mean, after a note about them."""
        # case and punctuation do not count; then names of other tools, words of descriptions, names spelled alike
        word = _plain(name)
        words = {x: (note, [y for y in meant if y in known]) for x, (note, meant) in self._others.items()}
        for plain in dict.fromkeys(map(_plain, known)):
            words[plain] = ("", [x for x in known if _plain(x) == plain])
        if words.get(word, ("", []))[1]:
            return words[word]
        texts = {x: " ".join(getattr(self[x], part, "") for part in ("long_name", "tool")) for x in known}
        spoken = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        if word and (matches := [x for x, text in texts.items() if spoken.search(text)]):
            return "", matches
        ratios = {x: difflib.SequenceMatcher(None, word, x).ratio() for x in words}
        least = max([0.7, *ratios.values()]) - _CLOSE
        near = sorted((x for x in words if ratios[x] >= least), key=lambda x: -ratios[x])
        return "", list(dict.fromkeys(x for close in near for x in words[close][1]))

    def load(self) -> None:
        """Load third parties' entry points, once; one that fails is named in a warning and left out."""
        # only when a name is not found or all are asked for, so that importing the package loads no third party
        if self.loaded:
            return
        self.loaded = True
        for point in entry_points(group=self.group):
            try:
                point.load()
            except Exception as error:
                warn(
                    f"the entry point {point.name!r} of {self.group!r} ({point.value}) of another package failed and "
                    f"is left out: {type(error).__name__}: {error}",
                    RuntimeWarning,
                )

    def every(self) -> Iterator[T]:
        """Yield all objects, those of third parties too, in the order of their registration."""
        self.load()
        yield from list(self.values())

    def table(self, *attributes: str) -> pd.DataFrame:
        """Return attributes of all objects, one object per row, indexed by name; several words are joined."""
        columns = ["name", *attributes]
        rows = [[getattr(declared, column) for column in columns] for declared in self.every()]
        rows = [[", ".join(x) if isinstance(x, (tuple, Mapping)) else x for x in row] for row in rows]
        return pd.DataFrame(rows, columns=columns).set_index("name")


def _plain(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(x for x in name.casefold() if x.isalnum())


def _summary(declared: Any) -> str:
    """Describe an object in one line: how its own docstring begins, else its long name."""
    text = getattr(declared, "__dict__", {}).get("__doc__") or getattr(declared, "long_name", "")
    return str(text).partition("\n")[0].rstrip(".")


def _origins(declared: Any) -> set[tuple[str, str]]:
    """Return module and qualified name of an object's functions, those of this package apart."""
    parts = [getattr(declared, part, None) for part in getattr(declared, "__dataclass_fields__", ())]
    parts = [part.func if isinstance(part, functools.partial) else part for part in parts]
    named = {(x.__module__, x.__qualname__) for x in parts if callable(x) and hasattr(x, "__qualname__")}
    return {(module, name) for module, name in named if module.partition(".")[0] != __name__.partition(".")[0]}
