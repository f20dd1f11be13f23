"""The package as a whole: importing is light and silent, every public name exists and is documented."""

import contextlib
import inspect
import io
import json
import platform
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

import causaleval_pd as ce
from causaleval_pd import graphs
from causaleval_pd.execution.compilation import NOTICE

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: libraries and parts of them that are imported where they are used
HEAVY = [
    *("bokeh", "causallearn", "dask", "distributed", "h5netcdf", "h5py", "llvmlite", "matplotlib", "networkx"),
    *("numba", "pgmpy", "pyarrow.dataset", "pyarrow.parquet", "scipy.optimize", "scipy.sparse", "scipy.special"),
    *("scipy.stats", "seaborn", "sklearn", "statsmodels", "tqdm", "zarr"),
]


def printed(code: str) -> object:
    """Run code in a fresh process, with warnings as errors, and return the JSON that it prints.

    Kernels may not be in numba's cache yet: the notice of their compilation is the one line that stderr may have.
    """
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr in ("", f"{NOTICE}\n")
    return json.loads(run.stdout)


@pytest.mark.slow
def test_importing_is_light_and_silent():
    code = f"""
import json, sys, pandas, xarray
before = set(sys.modules)
import causaleval_pd
print(json.dumps([m for m in {HEAVY} if m in sys.modules and m not in before]))
"""
    assert printed(code) == []


@pytest.mark.slow
def test_a_first_cube_does_not_import_scipys_distributions():
    code = """
import json, sys
import pandas as pd
import causaleval_pd as ce
runs = pd.DataFrame({"truth": ["A -> B; C", "A; B -> C"] * 3, "estimate": ["A -> B; C"] * 6, "n": [1, 1, 2] * 2})
runs.ceval.cube(["shd"], by=["n"], n_draws=50, rng=1).ceval.summary(columns="full")
print(json.dumps([m for m in ("scipy.stats", "statsmodels", "seaborn") if m in sys.modules]))
"""
    assert printed(code) == []


@pytest.mark.slow
def test_importing_adds_no_warning_filter():
    code = """
import json, warnings, pandas, xarray
before = list(warnings.filters)
import causaleval_pd
print(json.dumps([str(x) for x in warnings.filters if x not in before] + [len(before) - len(warnings.filters)]))
"""
    assert printed(code) == [0]


def test_star_import_gives_every_public_name():
    namespace: dict[str, object] = {}
    exec("from causaleval_pd import *", namespace)
    assert set(ce.__all__) <= set(namespace)
    assert dir(ce) == sorted(set(ce.__all__)) and len(dir(ce)) == len(ce.__all__)


def test_the_package_has_few_names_each_documented():
    assert len(dir(ce)) <= 80
    assert [name for name in dir(ce) if not inspect.getdoc(getattr(ce, name))] == []


def test_every_metric_is_in_metrics_and_a_function_of_the_package():
    names = set(ce.list_metrics().index)
    assert set(dir(ce.metrics)) == names and not names & set(dir(ce))
    assert all(getattr(ce, name) is getattr(ce.metrics, name) is ce.get_metric(name) for name in names)
    assert ce.shd("A -> B", "B -> A") == 1


def test_unknown_names_suggest_metrics():
    with pytest.raises(AttributeError, match="'causaleval_pd' has no attribute 'SHDD'; did you mean 'shd'"):
        ce.SHDD  # noqa: B018
    with pytest.raises(AttributeError, match="unknown metric 'SHDD'; did you mean 'shd'"):
        ce.metrics.SHDD  # noqa: B018
    assert not hasattr(ce, "__wrapped__") and not hasattr(ce.metrics, "__wrapped__")


def test_types_are_declared():
    assert files("causaleval_pd").joinpath("py.typed").is_file()


@pytest.mark.slow
def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['dask.dataframe'] = None; import causaleval_pd.dask"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: tables of dask need dask: pip install 'causaleval_pd[dask]'" in run.stderr


def test_versions_are_shown():
    to_file = io.StringIO()
    ce.show_versions(to_file)
    printed_too = io.StringIO()
    with contextlib.redirect_stdout(printed_too):
        ce.show_versions()
    text = to_file.getvalue()
    shown = dict(line.split(maxsplit=1) for line in text.splitlines() if " " in line)
    assert text == printed_too.getvalue()
    assert shown["causaleval_pd"] == ce.__version__ and shown["python"].startswith(platform.python_version())
    required = [re.split(r"[^\w.-]", line)[0] for line in PROJECT["dependencies"]]
    assert {name: shown[name] for name in required} == {name: version(name) for name in required}
    # an optional library that is present, and no paths
    assert shown["pytest"] == version("pytest")
    assert not set("/\\") & set(text)


@pytest.mark.slow
def test_sources_without_an_installation_show_their_versions():
    code = """
import importlib.metadata, io, json
def requires(name):
    raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.requires = requires
import causaleval_pd as ce
text = io.StringIO()
ce.show_versions(text)
print(json.dumps(text.getvalue()))
"""
    assert f"numpy          {version('numpy')}" in str(printed(code))


def public_objects() -> dict[str, object]:
    """Return public functions, metrics and classes by name; aliases of types have no docstring."""

    def modules_of(module: ModuleType) -> list[ModuleType]:
        names = getattr(module, "__all__", ())
        return [value for name in names if isinstance(value := getattr(module, name), ModuleType)]

    modules = [inner for outer in modules_of(ce) for inner in (*modules_of(outer), outer)]
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
    """Split a numpydoc text at its headings; the part before the first is called Summary."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", "\n" + text, flags=re.MULTILINE)
    assert len(set(parts[1::2])) == len(parts[1::2]), "a section occurs twice"
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


FIELDS = [
    *("reasoning", "configurational", "causal_kl", "edge_scores", "time_series"),
    *("against_data", "baselines", "interventions", "knowledge"),
]


@pytest.mark.parametrize("room", FIELDS)
def test_every_public_name_of_a_field_is_on_a_page(room):
    """A name that neither a page nor an example mentions is documented or removed."""
    root = Path(__file__).parents[1]
    pages = [*root.glob("docs/*.md"), *root.glob("docs/guide/*.md"), root / "README.md", *root.glob("examples/*.py")]
    words = set(re.findall(r"\w+", " ".join(page.read_text(encoding="utf-8") for page in pages)))
    assert sorted(set(getattr(getattr(ce, room), "__all__", ())) - words) == []


def test_options_of_all_calls_are_no_parameters():
    accessors = (ce.accessors.FrameAccessor, ce.accessors.CubeAccessor)
    functions = {name: value for name, value in PUBLIC.items() if inspect.isroutine(value)}
    functions |= {f"{x.__name__}.{verb}": getattr(x, verb) for x in accessors for verb in verbs(x) - {"plot"}}
    options = set(ce.get_options())
    # what a printed table took 0/0 for is a fact about the table
    functions.pop("causaleval_pd.from_published")
    assert [name for name, x in functions.items() if options & set(inspect.signature(x).parameters)] == []


def test_the_check_of_docstrings_sees_names():
    some = ("evaluate", "metrics.f_beta_literal", "fields.reasoning.Tasks")
    assert {f"causaleval_pd.{name}" for name in some} <= set(PUBLIC)
    assert "causaleval_pd.fields.reasoning.reasoners.baselines" in PUBLIC
    assert len(PUBLIC) > len(ce.list_metrics())
    text = "Add.\n\nParameters\n----------\na, b : int\n    Terms.\n**more\n    More.\n"
    assert documented_names(sections(text)["Parameters"]) == {"a", "b", "more"}


def verbs(accessor: type) -> set[str]:
    """Return the public methods and properties of an accessor."""
    return {name for name in vars(accessor) if not name.startswith("_")}


@pytest.mark.parametrize("accessor", [ce.accessors.FrameAccessor, ce.accessors.CubeAccessor])
def test_the_help_of_an_accessor_names_every_verb(accessor):
    overview = accessor.__doc__.split("Parameters\n")[0]
    assert set(re.findall(r"^ *(\w+) {2,}\w", overview, re.MULTILINE)) == verbs(accessor)


def test_tables_of_pandas_and_dask_have_the_same_verbs():
    import causaleval_pd.dask as lazy

    # placebos, ensembles and baselines are of tables in memory
    own = verbs(ce.accessors.FrameAccessor) - {"placebo", "pool", "with_baselines"}
    assert own == verbs(lazy.DaskAccessor) - {"to_parquet"}
    for name in own:
        here, there = (
            set(inspect.signature(getattr(accessor, name)).parameters)
            for accessor in (ce.accessors.FrameAccessor, lazy.DaskAccessor)
        )
        assert there <= here, name
        assert here - there <= {"best_of"}, name


def test_names_of_the_package_are_public():
    assert not [name for name in dir(ce) if name.startswith("_")]
    assert not {"contract", "tables", "cubes", "graphs", "execution", "statistics", "inference", "sys"} & set(dir(ce))
