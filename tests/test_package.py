"""The package as a whole: imports run one way, importing is light and silent, every public name is there."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

import causaleval_pd as ce
from causaleval_pd import graphs

PACKAGE = Path(ce.__file__).parent

# a module or folder may import those before it; a new one needs a place here
LAYERS = """
    messages, stats, ranks, effects, significance, resampling, friedman, engine,
    context, null, field, metric, options, labels,
    graphs, structure,
    causal_kl, configurational, reasoning,
    work_units, evaluate, strata, row_controls, accumulators, streaming, controls, published,
    assembly, cube, blocks, summary, failed_runs, pairwise, control_tests, compare, ranking, meta_analysis, power,
    calibration,
    facets, heat_maps, critical_difference, plot,
    tally, files, partitions, cube_chunks, lazy_cube, dask, accessor, datasets
"""
ORDER = [layer.strip() for layer in LAYERS.split(",")]

HEAVY = ["bokeh", "causallearn", "dask", "h5netcdf", "matplotlib", "numba", "seaborn", "statsmodels", "zarr"]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not is_type_checking(child):
            yield child
            yield from runtime_nodes(child)


def imported_units(path: Path) -> Iterator[str]:
    """Yield the modules and folders of the package that a file imports, also inside functions."""
    folder = path.relative_to(PACKAGE).parent.parts
    for node in runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("causaleval_pd."))
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if node.level:
                parts = folder[: len(folder) - node.level + 1] + tuple(
                    (node.module or "").split(".") if node.module else ()
                )
            elif node.module and node.module.split(".")[0] == "causaleval_pd":
                parts = tuple(node.module.split(".")[1:])
            else:
                continue
            # `from . import x` names modules, or the package's version, which imports nothing
            yield from parts[:1] or [name for name in names if name != "__version__"]


def test_imports_run_one_way():
    units = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert units == set(ORDER), "every module needs a place in LAYERS"
    upward = [
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if (unit := path.relative_to(PACKAGE).parts[0].removesuffix(".py")) != "__init__"
        for other in imported_units(path)
        if other != unit and ORDER.index(other) > ORDER.index(unit)
    ]
    assert upward == []


def test_the_import_check_sees_imports():
    assert set(imported_units(PACKAGE / "__init__.py")) >= {"accessor", "graphs", "metric", "structure"}
    assert "graphs" in set(imported_units(PACKAGE / "structure" / "adjacency.py"))
    assert "metric" not in set(imported_units(PACKAGE / "null.py")), "imports for types only do not count"


def test_importing_is_light_and_silent():
    code = f"import json, sys, causaleval_pd; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert json.loads(run.stdout) == []


def test_star_import_gives_every_public_name():
    namespace: dict[str, object] = {}
    exec("from causaleval_pd import *", namespace)
    assert set(ce.__all__) <= set(namespace)
    assert len(set(ce.__all__)) == len(ce.__all__)


def test_every_public_function_and_class_is_in_all():
    defined = {
        name
        for name, value in vars(ce).items()
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("causaleval_pd")
    }
    assert defined <= set(ce.__all__)
    assert set(ce.list_metrics().index) <= set(ce.__all__)


def test_types_are_declared():
    assert files("causaleval_pd").joinpath("py.typed").is_file()


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['dask.dataframe'] = None; import causaleval_pd.dask"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: tables of dask need dask: pip install 'causaleval_pd[dask]'" in run.stderr


def public_objects() -> dict[str, object]:
    """Public functions, metrics and classes by name; aliases of types have no text."""
    modules = [value for name in ce.__all__ if isinstance(value := getattr(ce, name), ModuleType)]
    found = {
        id(value): (f"{module.__name__}.{name}", value)
        for module in [graphs, *modules, ce]
        for name in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        if str(getattr(value := getattr(module, name), "__module__", "")).startswith("causaleval_pd")
        and (inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, ce.Metric))
    }
    return dict(found.values())


PUBLIC = public_objects()


def sections(text: str) -> dict[str, str]:
    """Take a numpydoc text apart by its headings; what stands before the first is called Summary."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", "\n" + text, flags=re.MULTILINE)
    assert len(set(parts[1::2])) == len(parts[1::2]), "a section is there twice"
    return {"Summary": parts[0].strip(), **dict(zip(parts[1::2], parts[2::2], strict=True))}


def documented_names(section: str) -> set[str]:
    lines = [line for line in section.splitlines() if line.strip() and not line[0].isspace()]
    return {name.strip().lstrip("*") for line in lines for name in line.split(" : ")[0].split(",")}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_documented(name):
    value = PUBLIC[name]
    found = sections(inspect.cleandoc(value.__doc__ or ""))
    summary = found["Summary"].split("\n\n", maxsplit=1)[0]
    assert summary.endswith("."), "a docstring starts with a sentence"
    assert ">>> " in found.get("Examples", ""), "a docstring has an example"
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    parameters = set() if is_error and "__init__" not in vars(value) else set(inspect.signature(value).parameters)
    documented = documented_names(found.get("Parameters", "") + found.get("Attributes", ""))
    assert parameters <= documented if "Attributes" in found else parameters == documented


def test_the_check_of_docstrings_sees_names():
    assert {"causaleval_pd.evaluate", "causaleval_pd.f_beta_literal", "causaleval_pd.reasoning.Task"} <= set(PUBLIC)
    assert len(PUBLIC) > len(ce.list_metrics())
    text = "Add.\n\nParameters\n----------\na, b : int\n    Terms.\n**more\n    More.\n"
    assert documented_names(sections(text)["Parameters"]) == {"a", "b", "more"}
