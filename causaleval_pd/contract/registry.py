"""Registry: declared objects (metrics, null models, fields ...) by name, open to third parties by entry points."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any, TypeVar

from .checks import nearest, shown

T = TypeVar("T")


class Registry(dict[str, T]):
    """Declared objects by name; the same name twice is an error.

    Entry points are loaded once, when a name is not found or all objects are asked for, so that importing the package
    loads no third party.

    Parameters
    ----------
    noun : str
        What the objects are, for messages: "metric", "null model".
    group : str
        Entry-point group whose modules register further objects when they are loaded.

    Examples
    --------
    >>> from causaleval_pd.contract.registry import Registry
    >>> colours = Registry("colour", "example.colours")
    >>> colours.add("red", "#f00")
    '#f00'
    >>> colours.find("rde")
    Traceback (most recent call last):
        ...
    ValueError: unknown colour 'rde'; did you mean 'red'? it is one of red
    """

    def __init__(self, noun: str, group: str) -> None:
        super().__init__()
        self.noun, self.group = noun, group
        self.loaded = False

    def add(self, name: str, new: T) -> T:
        """Register `new` under `name` and return it."""
        if name in self:
            article = "an" if self.noun[0] in "aeiou" else "a"
            raise ValueError(f"{article} {self.noun} called {name!r} is already registered; choose another name")
        self[name] = new
        return new

    def find(self, name: Any) -> T:
        """Return the object called `name`, or raise an error with the nearest names."""
        if not isinstance(name, str) or name not in self:
            self.load()
        if not isinstance(name, str) or name not in self:
            raise ValueError(
                f"unknown {self.noun} {shown(name)}; {nearest(name, self)}it is one of {', '.join(sorted(self))}"
            )
        return self[name]

    def load(self) -> None:
        """Load third parties' entry points, once; one that fails raises at every call."""
        if self.loaded:
            return
        self.loaded = True
        for point in entry_points(group=self.group):
            try:
                point.load()
            except Exception as error:
                self.loaded = False
                error.add_note(
                    f"raised by a third party, the entry point {point.name!r} of {self.group!r}: {point.value}"
                )
                raise

    def every(self) -> Iterator[T]:
        """Yield all objects, those of third parties too, in the order of their registration."""
        self.load()
        yield from list(self.values())
