"""The house: imports run one way between rooms, at every level; rooms, files and functions keep to their sizes."""

from __future__ import annotations

import ast
import graphlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import causaleval_pd as ce

PACKAGE = Path(ce.__file__).parent

# A room may import the rooms before it. Imports for types only and imports inside functions count.
ORDER = """
    versions, statistics, drawing,
    contract, execution,
    graphs, datasets,
    structure, causal_kl, configurational, reasoning,
    tables, cubes, inference,
    plot,
    accessors, dask
""".replace("\n", " ").split(",")
ROOMS = [room.strip() for room in ORDER]

MOST_MODULES, MOST_FILES, MOST_LINES = 10, 24, 450

Module = tuple[str, ...]
FILES: dict[Module, Path] = {path.relative_to(PACKAGE).with_suffix("").parts: path for path in PACKAGE.rglob("*.py")}


def module_at(parts: Module) -> Module | None:
    """Return the file that a dotted path names: a module, or a folder's `__init__`."""
    return next((found for found in (parts, (*parts, "__init__")) if found in FILES), None)


def imported(module: Module) -> Iterator[Module]:
    """Yield the modules of the package that a module imports, wherever the import stands."""
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            paths = [tuple(alias.name.split(".")) for alias in node.names]
            paths = [path[1:] for path in paths if path[0] == "causaleval_pd" and len(path) > 1]
        elif isinstance(node, ast.ImportFrom):
            said = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                said = (*module[: len(module) - node.level], *said)
            elif said[:1] == ("causaleval_pd",):
                said = said[1:]
            else:
                continue
            paths = [(*said, alias.name) for alias in node.names]
            paths = [path if module_at(path) else path[:-1] for path in paths]
        else:
            continue
        yield from (found for path in paths if path and (found := module_at(path)) and found != module)


IMPORTS = {module: set(imported(module)) for module in FILES}


def test_imports_run_one_way_between_rooms():
    assert {module[0] for module in FILES} - {"__init__"} == set(ROOMS), "every room needs a place in ORDER"
    upward = [
        f"{'.'.join(module)} imports {'.'.join(other)}"
        for module, others in sorted(IMPORTS.items())
        if module[0] != "__init__"
        for other in sorted(others)
        if other[0] == "__init__" or ROOMS.index(other[0]) > ROOMS.index(module[0])
    ]
    assert upward == []


def test_imports_run_one_way_within_every_room():
    for folder in sorted({module[:depth] for module in FILES for depth in range(1, len(module))}):
        depth, units = len(folder), defaultdict(set)
        for module, others in IMPORTS.items():
            if module[:depth] == folder and module[-1] != "__init__":
                inside = {other[depth] for other in others if other[:depth] == folder}
                units[module[depth]] |= inside - {module[depth]}
        # raises CycleError, which names the circle
        list(graphlib.TopologicalSorter(units).static_order())


def test_rooms_and_files_keep_to_their_sizes():
    modules = [path for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES
    for folder in [PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir())]:
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, folder
    for path in FILES.values():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, path


def test_the_check_sees_imports():
    assert ("graphs", "pairs") in IMPORTS["structure", "adjacency"]
    assert ("datasets",) in IMPORTS["__init__",]
    assert ("execution", "files") in IMPORTS["accessors",], "imports inside functions count"
