"""The house: imports run one way between rooms, at every level; rooms and files keep to sizes; tests mirror it."""

import ast
import functools
import graphlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import causaleval_pd as ce

PACKAGE = Path(ce.__file__).parent

# A room may import the rooms before it. Imports for types only and imports inside functions count.
ORDER = """
    versions, statistics, drawing,
    contract, execution,
    graphs, datasets, fields,
    structure, edge_scores, time_series, against_data, causal_kl, configurational, reasoning,
    baselines, interventions, knowledge,
    tables, published, cubes, inference,
    plot, reports,
    metrics, accessors, dask, __main__
"""
ROOMS = [room.strip() for room in ORDER.replace("\n", " ").split(",")]

MOST_MODULES, MOST_FILES, MOST_LINES = 10, 32, 900

#: rooms whose modules each have a test file of their name, in the same folder under tests
MIRRORED = ("contract", "statistics", "execution", "tables", "cubes", "inference", "plot", "reports")

TESTS = Path(__file__).parent
#: folders of measurements, which may read a clock
TIMED = ("benchmarks", "fuzz")
#: methods that named tuples have, and the only attributes with a leading underscore that are public
OF_NAMED_TUPLES = {"_replace", "_fields", "_asdict", "_make"}

Module = tuple[str, ...]


def room(module: Module) -> str:
    """Return the room of a module: each field is one."""
    return module[1] if module[0] == "fields" and module[1] != "__init__" else module[0]


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


@functools.cache
def imports() -> dict[Module, set[Module]]:
    """Return what every module imports; parsed by the test that asks first, not by every process that collects."""
    return {module: set(imported(module)) for module in FILES}


def test_imports_run_one_way_between_rooms():
    assert {room(module) for module in FILES} - {"__init__"} == set(ROOMS), "every room needs a place in ORDER"
    upward = [
        f"{'.'.join(module)} imports {'.'.join(other)}"
        for module, others in sorted(imports().items())
        if module[0] != "__init__"
        for other in sorted(others)
        if other[0] == "__init__" or ROOMS.index(room(other)) > ROOMS.index(room(module))
    ]
    assert upward == []


def test_imports_run_one_way_within_every_room():
    for folder in sorted({module[:depth] for module in FILES for depth in range(1, len(module))}):
        depth, units = len(folder), defaultdict(set)
        for module, others in imports().items():
            if module[:depth] == folder and module[-1] != "__init__":
                inside = {other[depth] for other in others if other[:depth] == folder}
                units[module[depth]] |= inside - {module[depth]}
        # raises CycleError, which names the circle
        assert set(graphlib.TopologicalSorter(units).static_order()) >= set(units)


def test_rooms_and_files_keep_to_their_sizes():
    modules = [path for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES
    for folder in [PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir())]:
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, folder
    for path in FILES.values():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, path


def test_the_check_sees_imports():
    assert ("graphs", "pairs") in imports()["fields", "structure", "families"]
    assert ("datasets",) in imports()["__init__",]
    assert ("execution", "files") in imports()["accessors",], "imports inside functions count"


def test_every_module_has_a_test_of_its_name():
    modules = [module for module in FILES if module[0] in MIRRORED and module[-1] != "__init__"]
    wanted = [Path(*module[:-1], f"test_{module[-1]}.py") for module in modules]
    assert [str(path) for path in wanted if not (TESTS / path).is_file()] == []
    assert len(wanted) > 50


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def private_names(tree: ast.AST) -> Iterator[str]:
    """Yield the private names of the package that a test imports, reads or replaces."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("causaleval_pd"):
            yield from (alias.name for alias in node.names if alias.name.startswith("_"))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "super()"):
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            yield from (
                x.value.rpartition(".")[2]
                for x in node.args[:2]
                if isinstance(x, ast.Constant) and isinstance(x.value, str)
            )


@pytest.mark.slow  # reads all tests; the step `lint` runs it
def test_tests_use_public_names():
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        names = private_names(parsed(path))
        private = {x for x in names if x.startswith("_") and not x.endswith("__")} - OF_NAMED_TUPLES
        found += [f"{path.relative_to(TESTS)}: {name}" for name in sorted(private)]
    assert found == []


def test_the_check_sees_private_names():
    code = """
        from causaleval_pd.tables.simulate import _Job
        monkeypatch.setattr(lazy_cube, "_score", other)
        monkeypatch.setattr("causaleval_pd.cubes.cube._LIMIT", 3)
        values = table._meta
        rows._replace(a=self._state)
    """
    names = {name for name in private_names(ast.parse(textwrap.dedent(code))) if name.startswith("_")}
    assert names == {"_Job", "_score", "_LIMIT", "_meta", "_replace"}


def unchecked(tree: ast.AST) -> Iterator[str]:
    """Yield tests without a check, and assertions that hold whatever the package does."""
    functions = {x.name: x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)}
    for name, test in functions.items():
        asserted = [x.test for x in ast.walk(test) if isinstance(x, ast.Assert)]
        calls = {ast.unparse(x.func).rpartition(".")[2] for x in ast.walk(test) if isinstance(x, ast.Call)}
        # `raises`, `assert_allclose` and others, or a function of the file that checks
        checks = any(x.startswith(("assert_", "raises", "run")) or x in functions for x in calls)
        if name.startswith("test_") and not (checks or asserted):
            yield name
        for found in asserted:
            # `assert x if condition else True` checks nothing where the condition fails
            ends = [found.body, found.orelse] if isinstance(found, ast.IfExp) else [found]
            if any(isinstance(end, ast.Constant) for end in ends):
                yield f"{name}, line {found.lineno}"


@pytest.mark.slow  # reads all tests; the step `lint` runs it
def test_every_test_can_fail():
    found = {str(path.relative_to(TESTS)): list(unchecked(parsed(path))) for path in sorted(TESTS.rglob("test_*.py"))}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_check_sees_idle_tests():
    code = """
        def test_a(): value = 1
        def test_b(): assert True
        def test_c(x): assert x == 1 if x else None
        def test_d(x): assert x == 1 if x else x == 0
        def test_e(x): assert_equal(x, 1)
    """
    assert list(unchecked(ast.parse(textwrap.dedent(code)))) == ["test_a", "test_b, line 3", "test_c, line 4"]


#: clocks of Python, also in scripts that a test starts; a clock that is replaced is a name in quotes
CLOCK = re.compile(
    r"\b(?:process_time|perf_counter|monotonic|thread_time)(?:_ns)?\(|\btime\.time(?:_ns)?\(|\bdatetime\.now\("
    r"|\btimeit\b|from time\s+import(?! sleep)"
)


@pytest.mark.slow  # reads all tests; the step `lint` runs it
def test_tests_read_no_clock():
    """What a test measures depends on the machine; `count_lines` counts work."""
    paths = {path.relative_to(TESTS): path for path in sorted(TESTS.rglob("*.py"))}
    texts = {str(x): path.read_text(encoding="utf-8") for x, path in paths.items() if x.parts[0] not in TIMED}
    assert {path: found for path, text in texts.items() if (found := CLOCK.findall(text))} == {}


def test_the_check_sees_clocks():
    clocks = ["process_time", "perf_counter_ns", "time.time", "time.monotonic"]
    assert all(CLOCK.search(f"start = {clock}()") for clock in clocks)
    assert CLOCK.search(" ".join(["from time", "import time, sleep"]))
    assert not CLOCK.search('time.sleep(1); clock(time, "perf_counter"); from time import sleep')


def test_sections_of_docstrings_have_their_underline_below():
    """A formatter that joins lines makes a heading and its underline part of a sentence, which shows no section."""
    joined = []
    texts = {module: path.read_text(encoding="utf-8") for module, path in FILES.items()}
    for module, text in texts.items():
        for node in ast.walk(ast.parse(text)) if re.search(r"\w -{5}", text) else ():
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                lines = (ast.get_docstring(node) or "").splitlines()
                joined += [f"{'.'.join(module)}: {line}" for line in lines if re.search(r"\w -{5}", line)]
    assert joined == []


def test_no_pattern_repeats_a_group_possessively():
    """Python 3.11.2 matches `(...)*+` wrongly; `(?>(...)*)` says the same."""
    assert [str(path) for path in FILES.values() if re.search(r"\)[*+?]\+", path.read_text(encoding="utf-8"))] == []
