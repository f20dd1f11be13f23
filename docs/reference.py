"""What the registries and docstrings make of the pages of metrics, of null models and of the API."""

from __future__ import annotations

import html
import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import dask.dataframe as dd
import markup
import pandas as pd
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.contract.field import FIELDS
from causaleval_pd.contract.null import Null

USUAL = set(ce.list_metrics().query("usual").index)
#: what is better, by the direction of a metric
BETTER = {"minimize": "lower is better", "maximize": "higher is better", "zero": "0 is best", None: "descriptive"}


# -- metrics and null models -----------------------------------------------------------------------------------------


def metrics(page: str) -> str:
    """Return the page of metrics with an entry that opens for each metric, by field and family, in place of tables."""

    def entries(found: re.Match[str]) -> str:
        families: dict[str, list[str]] = {}
        for name in re.findall(r"^\| `(\w+)` \|", found["tables"], re.MULTILINE):
            families.setdefault(family(ce.get_metric(name)), []).append(metric_entry(ce.get_metric(name)))
        parts = [f"## {found['field']}\n"]
        for title, shown in families.items():
            parts += [f"### {title}\n" * (len(families) > 1), *shown]
        return "\n".join(parts)

    return re.sub(r"^## (?P<field>\w+)\n\n(?P<tables>(?:\|.*\n)+)", entries, page, flags=re.MULTILINE)


def family(metric: ce.Metric) -> str:
    """Return the title of a metric's family: the first words of the docstring of its file, or that of marks."""
    # metrics of marks share a file with those of adjacencies; they are of mixed graphs, and not of skeletons
    if metric.__module__ == ce.structure.families.__name__ and {"mag", "skeleton"} & {*metric.kinds} == {"mag"}:
        return "Marks of edges"
    text = markup.first_sentence(sys.modules[metric.__module__])
    return re.split(r"[:;.,]", text)[0]


def metric_entry(metric: ce.Metric) -> str:
    """Describe a metric: what it declares, its docstring, its source and what is known of its null distribution."""
    low, high = (f"{x:g}".replace("inf", "∞") for x in metric.range)
    usual = " (usual)" * (metric.name in USUAL)
    facts = f"{metric.long_name}: {BETTER[metric.direction]}, {low} to {high}{usual}"
    known = [
        f"Source: [doi:{metric.reference}](https://doi.org/{metric.reference})." * bool(metric.reference),
        f"Null distribution: [{metric.closed_form}](closed_forms.md#{metric.closed_form})." * bool(metric.closed_form),
        f"Defined for {metric.kinds_line()}.",
        *(f"With `{x.option}={x.value!r}` ({x.meaning}) also for {', '.join(x.kinds)}." for x in metric.conventions),
        f"For other kinds: {', '.join(f'[`{x}`](#{x})' for x in metric.instead)}." * bool(metric.instead),
        "0/0 is NaN, or the value of the option `zero_division`." * bool(metric.zero_division),
        "Truth and estimate may change places." * metric.symmetric,
        "A failed run has a value, which depends on the truth alone." * metric.of_truth,
    ]
    shown = [markup.docstring_of("autofunction", metric.name), " ".join(filter(None, known))]
    return markup.fold(metric.name, f"<code>{metric.name}</code> {html.escape(facts, quote=False)}", "\n".join(shown))


#: heading of the laws on the page of null models
LAWS = "## Their laws\n"


def nulls(page: str) -> str:
    """Return the page of null models with an entry that opens for each model, by field, in place of tables."""
    known = laws(page)

    def entries(found: re.Match[str]) -> str:
        names = re.findall(r"^\| `(\w+)`", found["table"], re.MULTILINE)
        field = FIELDS[found["field"]]
        opened = (null_entry(field.name, field.nulls[name], known[field.name, name]) for name in names)
        return "\n".join([f"## {field.name}\n", *opened])

    page = re.sub(rf"^{LAWS}.*?^(?=## |<!-- )", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^## (?P<field>\w+)\n\n(?P<table>\| null \|.*\n(?:\|.*\n)+)", entries, page, flags=re.MULTILINE)


def laws(page: str) -> dict[tuple[str, str], str]:
    """Return the laws that the page of null models states, by field and name."""
    section = re.split(r"^(?=## |<!-- )", page.partition(LAWS)[2], maxsplit=1, flags=re.MULTILINE)[0]
    known = {}
    for field, text in re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", section, re.MULTILINE | re.DOTALL):
        common, *entries = re.split(r"^- (?=\*\*`)", text.strip(), flags=re.MULTILINE)
        for entry in entries:
            names, law = re.fullmatch(r"((?:\*\*`\w+`\*\*(?: and )?)+)\. (.*)", entry.strip(), re.DOTALL).groups()
            shown = f"{inspect.cleandoc(law)}\n\n{common}".strip()
            known |= {(field, name): shown for name in re.findall(r"\w+(?=`)", names)}
    return known


def null_entry(field: str, null: Null, law: str) -> str:
    """Describe a null model: what it declares, how it is chosen, and its law."""
    default = "default; " * (null.name == FIELDS[field].default_null)
    notes = [
        "It is a point of reference, not a random guess: it gives no p-values."
        * bool(null.reference and not null.worse),
        "p is the probability of a control that is at least as bad; there is no skill." * bool(null.worse),
        "Rows with one key are relabelled jointly." * bool(null.joint),
        "Published numbers are enough, for `ce.control_distribution`." * (null.published is not None),
    ]
    arguments = [repr(null.name), *(f"{name}={value!r}" for name, value in null.options.items())]
    call = f"null = ce.null_model({', '.join(arguments)})"
    if len(call) > 88:
        call = "\n    ".join(["null = ce.null_model(", *(f"{argument}," for argument in arguments)]) + "\n)"
    parts = [
        *(" ".join(filter(None, notes)), ""),
        "```python",
        call.replace("'", '"'),
        "```\n",
        law,
    ]
    title = f"<code>{null.name}</code> {html.escape(default + null.long_name, quote=False)}"
    return markup.fold(f"{field}-{null.name}", title, "\n".join(parts))


# -- API -------------------------------------------------------------------------------------------------------------


def public_functions(module: ModuleType) -> dict[str, Any]:
    """Return the public functions and classes of a module by name; without metrics."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return {
        name: value
        for name in names
        if str(getattr(value := getattr(module, name), "__module__", "")).startswith("causaleval_pd")
        and (inspect.isroutine(value) or inspect.isclass(value))
    }


#: what the package adds accessors to, by their public paths
_OWNERS = {
    "pandas.DataFrame": pd.DataFrame,
    "xarray.Dataset": xr.Dataset,
    "xarray.DataArray": xr.DataArray,
    "pandas.Series": pd.Series,
    "dask.dataframe.DataFrame": dd.DataFrame,
}


def accessors() -> dict[str, type]:
    """Return the accessors that the package adds to tables, cubes and columns, as in "pandas.DataFrame.ceval"."""
    return {
        f"{path}.{name}": value
        for path, owner in _OWNERS.items()
        for name in dir(owner)
        if inspect.isclass(value := getattr(owner, name, None)) and value.__module__.startswith("causaleval_pd")
    }


def public_modules() -> dict[str, ModuleType]:
    """Return the public modules, and theirs that have functions of their own, as in "reasoning.reasoners"."""
    found = {name: module for name, module in modules_of(ce).items() if module is not ce.metrics}
    # figures of a field are those of `plot`
    shown = {id(value) for module in found.values() for value in own_functions(module).values()}
    for name, module in list(found.items()):
        for key, inner in modules_of(module).items():
            if {id(value) for value in own_functions(inner).values()} - shown:
                found[f"{name}.{key}"] = inner
    return found


def modules_of(module: ModuleType) -> dict[str, ModuleType]:
    """Return the modules among the public names of a module."""
    names = getattr(module, "__all__", [])
    return {name: value for name in names if isinstance(value := getattr(module, name), ModuleType)}


def own_functions(module: ModuleType) -> dict[str, Any]:
    """Return the functions of a public module that neither the package nor an accessor has."""
    elsewhere = [*public_functions(ce).values(), *accessors().values()]
    found = sorted(public_functions(module).items())
    return {name: value for name, value in found if not any(value is other for other in elsewhere)}


def object_of(name: str, value: Any, module: str = "causaleval_pd") -> str:
    """Show the docstring of a function, or of a class and its members, without those of exceptions."""
    if inspect.isclass(value):
        return markup.docstring_of("autoclass", name, ":members:", ":inherited-members: BaseException", module=module)
    return markup.docstring_of("autofunction", name, module=module)


def accessor_page(path: str, accessor: type) -> str:
    """List the verbs of an accessor that are functions of the package too, and show the others."""
    module, _, name = path.partition(".")
    functions = public_functions(ce)
    verbs = sorted(x for x in dir(accessor) if not x.startswith("_"))
    shared = [x for x in verbs if x in functions]
    parts = [f"# {name}\n", markup.rst([markup.as_text(inspect.getdoc(accessor) or "")])]
    if shared:
        parts += ["## Verbs that are functions too\n", markup.names((x, "", functions[x]) for x in shared)]
    for verb in verbs:
        if verb not in shared:
            kind = "attribute" if isinstance(inspect.getattr_static(accessor, verb), property) else "method"
            shown = markup.docstring_of(f"autoaccessor{kind}", f"{name}.{verb}", module=module)
            parts += [f"## {verb}\n", shown]
    return "\n".join(parts)


def functions_page() -> str:
    """Show the functions and classes of the package."""
    parts = ["# Functions\n", "Attributes of `causaleval_pd`, which pages import as `ce`.\n"]
    for name, value in sorted(public_functions(ce).items(), key=lambda item: item[0].lower()):
        parts += [f"## {name}\n", object_of(name, value)]
    return "\n".join(parts)


def module_page(name: str, module: ModuleType) -> str:
    """Show the functions and classes of a public module, and list those that the package has by the same names."""
    own, every = own_functions(module), public_functions(module)
    parts = [f"# {name}\n", f"{markup.first_sentence(module)}\n"]
    if shared := sorted(every.keys() & public_functions(ce).keys()):
        parts.append(markup.names((key, "", every[key]) for key in shared))
    for key, value in own.items():
        parts += [f"## {key}\n", object_of(key, value, f"causaleval_pd.{name}")]
    return "\n".join(parts)


#: what functions are for, by the rooms, and rooms of fields, that hold them
_USES = {
    "tables": "Score runs and their controls",
    "published": "Judge printed results",
    "cubes": "Make cubes and summarise them",
    "inference": "Compare, rank and model",
    "reports": "Report",
    "structure": "Judge printed results",
    "contract": "List what is registered, extend",
    "execution": "Options and versions",
    "versions": "Options and versions",
}
#: what other functions of fields are for
_COLUMNS = "Make columns and cells"


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield the API: the functions, each accessor and each module on one page, and their index by use."""
    functions, verbs, modules = public_functions(ce), accessors(), public_modules()
    uses: dict[str, list[str]] = {use: [] for use in (_COLUMNS, *_USES.values())}
    for name, value in functions.items():
        room = value.__module__.removeprefix("causaleval_pd.").removeprefix("fields.").split(".")[0]
        uses[_USES.get(room, _COLUMNS)].append(name)
    yield "api/functions.md", functions_page()
    for path, accessor in verbs.items():
        yield f"api/{path}.md", accessor_page(path, accessor)
    for name, module in modules.items():
        yield f"api/{name}.module.md", module_page(name, module)
    parts = [
        "# API\n",
        "Names are attributes of `causaleval_pd`, which pages import as `ce`.",
        "Each [metric](../../metrics.md) is a function of `ce.metrics`, and of `ce` too.\n",
        "## Accessors\n",
        markup.names((path.partition(".")[2], f"{path}.md", accessor) for path, accessor in verbs.items()),
    ]
    for use, members in uses.items():
        parts += [f"## {use}\n", markup.names((x, "", functions[x]) for x in members)]
    linked = [("metrics", "../../metrics.md", ce.metrics)]
    linked += [(name, f"{name}.module.md", module) for name, module in modules.items()]
    parts += ["## Modules\n", markup.names(linked)]
    yield "api/index.md", "\n".join([*parts, markup.toctree(["functions", *verbs, *(f"{x}.module" for x in modules)])])
