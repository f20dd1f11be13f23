"""Pages of the reference, made of the registries and docstrings: metrics, null models, public functions."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import dask.dataframe as dd
import markup
import null_laws as laws
import numpy as np
import pandas as pd
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.contract.closed_form import CLOSED_FORMS
from causaleval_pd.contract.field import FIELDS
from causaleval_pd.contract.null import Null

CLOSED_FORMS_PAGE = markup.DOCS / "closed_forms.md"
#: what is better, by the direction of a metric
BETTER = {"minimize": "lower", "maximize": "higher", "zero": "near 0", None: "a description without better or worse"}


def metric_names() -> list[str]:
    """Return the names of all metrics."""
    return sorted(ce.list_metrics().index)


def null_names() -> list[tuple[str, str]]:
    """Return all null models by the names of their fields and their own."""
    return [(str(field), str(name)) for field, name in ce.list_nulls().index]


def pages() -> Iterator[tuple[str, str]]:
    """Yield the pages by their paths in the folder of generated pages."""
    for name in metric_names():
        yield f"metrics/{name}.md", metric_page(ce.get_metric(name))
    for field, name in null_names():
        yield f"nulls/{field}-{name}.md", null_page(field, FIELDS[field].nulls[name])
    yield from api_pages()


# -- metrics and null models -----------------------------------------------------------------------------------------


def metric_page(metric: ce.Metric) -> str:
    """Describe a metric: what it declares, its docstring, and what is known of it under null models."""
    field = FIELDS[metric.field]
    low, high = (f"{x:g}".replace("inf", "∞") for x in metric.range)
    has_optimum = metric.direction is not None and np.isfinite(metric.optimum)
    optimum = f"; a perfect estimate has {metric.optimum:g}" if has_optimum else ""
    words = "" if metric.dtype == "float64" else metric.dtype
    dims = [f"{name} ({', '.join(map(str, labels or ['0', '1', '...']))})" for name, labels in metric.dims.items()]
    declared = [
        ("field", f"[{field.name}](../../metrics.md#{field.name})"),
        ("better", BETTER[metric.direction]),
        ("range", f"{low} to {high}{optimum}"),
        ("defined for", metric.kinds_line()),
        *((f"with `{x.option}={x.value!r}`", f"{x.meaning}; also {', '.join(x.kinds)}") for x in metric.conventions),
        ("other kinds", ", ".join(f"[`{name}`]({name}.md)" for name in metric.instead)),
        ("default metric", "of its field" if metric.name in field.default_metrics else ""),
        ("values", words if isinstance(words, str) else ", ".join(words)),
        ("dimensions", "; ".join(dims)),
        ("symmetric", "truth and estimate may change places" if metric.symmetric else ""),
        ("0/0", "NaN, or the value of the option `zero_division`" if metric.zero_division else ""),
        ("failed runs", "have a value, which depends on the truth alone" if metric.of_truth else ""),
        ("source", f"[doi:{metric.reference}](https://doi.org/{metric.reference})" if metric.reference else ""),
    ]
    parts = [
        f"# {metric.name}\n",
        f"{metric.long_name[:1].upper()}{metric.long_name[1:]}.\n",
        markup.facts(declared),
        "## Definition\n",
        markup.docstring_of("autofunction", metric.name),
        "## Null distributions\n",
        null_laws(metric),
    ]
    return "\n".join(parts)


def null_laws(metric: ce.Metric) -> str:
    """Describe what is known about a metric without drawing, in the words of the page of closed forms."""
    models = FIELDS[metric.field].nulls.every()
    links = ", ".join(f"[`{x.name}`](../nulls/{metric.field}-{x.name}.md)" for x in models)
    listed = f"Null models of the field: {links}.\n"
    if metric.closed_form is None:
        return (
            "The metric declares no closed form. Its distribution is exact where a null model lists all controls, and "
            f"simulated elsewhere ([closed forms](../../closed_forms.md)).\n\n{laws_by_null(metric)}{listed}"
        )
    law = markup.moved(closed_form(metric.closed_form), CLOSED_FORMS_PAGE, markup.GENERATED / "metrics/page.md")
    form = f"Closed form [{metric.closed_form}](../../closed_forms.md#{metric.closed_form}):\n\n{law}"
    return f"{laws_by_null(metric)}{form}\n\n{listed}"


def laws_by_null(metric: ce.Metric) -> str:
    """Lay out what each null model computes of a metric without drawing; nothing where none can be asked."""
    if metric.direction is None or metric.dims:
        return ""
    classes, rows = laws.words_of(metric)
    if not rows:
        return ""
    linked = [[f"[`{null}`](../nulls/{metric.field}-{null}.md)", *words] for null, *words in rows]
    head = ["null model", *(classes if len(classes) > 1 else ["computed"]), "lists all controls"]
    by_class = ", by the class of the estimates" if len(classes) > 1 else ""
    return (
        f"What each null model computes without drawing{by_class}: found for a pair of ten nodes, whose controls are "
        "too many to list, and the same for larger graphs unless the closed form has a limit. A dash stands where the "
        "metric is not defined or takes data. Where all controls are listed, the law of every metric is exact.\n\n"
        f"{markup.table(head, linked)}\n"
    )


def closed_form(key: str) -> str:
    """Return what the page of closed forms has about a key, after what it has about all keys of the field."""
    for section in markup.sections(CLOSED_FORMS_PAGE).values():
        shared, *parts = re.split(r"^### ", section, flags=re.MULTILINE)
        for part in parts:
            heading, _, text = part.partition("\n")
            if heading == key:
                return f"{shared.strip()}\n\n{text.strip()}".strip()
    raise KeyError(f"docs/closed_forms.md has no section {key}")


def null_page(field: str, null: Null) -> str:
    """Describe a null model: what it declares, its law where a docstring has it, and how it is chosen."""
    arguments = [repr(null.name), *(f"{name}={value!r}" for name, value in null.options.items())]
    call = f"null = ce.null_model({', '.join(arguments)})"
    if len(call) > 88:
        call = "\n    ".join(["null = ce.null_model(", *(f"{argument}," for argument in arguments)]) + "\n)"
    is_guess = not null.reference
    declared = [
        ("field", f"[{field}](../../null_models.md#{field})"),
        ("default", "of its field" if null.name == FIELDS[field].default_null else ""),
        ("p-values", "" if is_guess or null.worse else "none: it is a point of reference, not a random guess"),
        ("p is the probability of", "a control that is at least as bad; there is no skill" if null.worse else ""),
        ("rows with one key", "are relabelled jointly" if null.joint else ""),
        ("published numbers", "are enough, for `ce.control_distribution`" if null.published is not None else ""),
    ]
    law = inspect.getdoc(null.controls) if inspect.isfunction(null.controls) else None
    # sources stand in the docstring of the module
    lines = (inspect.getdoc(inspect.getmodule(null.controls)) or "").splitlines() if law else []
    sources = [x for x in lines if (key := re.match(r"\.\. (\[\d\]) ", x)) and f"{key[1]}_" in (law or "")]
    parts = [
        f"# {null.name} ({field})\n",
        f"A control is: {null.long_name}.\n",
        markup.facts(declared),
        "```python",
        call.replace("'", '"'),
        "```\n",
        *(["## Law\n", markup.rst([markup.as_text(law), "", *sources])] if law else []),
        "## Closed forms\n",
        exact_forms(field, null),
        "[Which null model](../../null_models.md) answers which question.\n",
    ]
    return "\n".join(parts)


def exact_forms(field: str, null: Null) -> str:
    """List the closed forms of a null model's field, first those that name it."""
    keys = [rule.name for rule in CLOSED_FORMS.every() if rule.field == field]
    if not keys:
        return "No metric of the field has a closed form.\n"
    named = [key for key in keys if re.search(rf"[`\"]{null.name}[`\"]", closed_form(key))]
    others = [key for key in keys if key not in named]
    starts = {"Closed forms that name this null model": named, "Other closed forms of the field": others}
    classes, rows = laws.by_form(field, null.name)
    linked = [[f"[{key}](../../closed_forms.md#{key})", *words] for key, *words in rows] if classes else []
    sizes = laws.sizes(field, null.name)
    head = ["closed form", *(classes if len(classes) > 1 else ["computed"])]
    known = (
        f"Computed without drawing, as found for a pair of ten nodes:\n\n{markup.table(head, linked)}\n"
        if linked
        else ""
    )
    known += f"All controls are listed for {sizes}, which gives the exact law of every metric.\n\n" if sizes else ""
    links = {
        start: ", ".join(f"[{key}](../../closed_forms.md#{key})" for key in found) for start, found in starts.items()
    }
    return known + "\n".join(f"{start}: {found}.\n" for start, found in links.items() if found)


# -- API reference ---------------------------------------------------------------------------------------------------


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
    """Show the docstring of a function, or of a class and its members."""
    if inspect.isclass(value):
        return markup.docstring_of("autoclass", name, ":members:", module=module)
    return markup.docstring_of("autofunction", name, module=module)


def accessor_page(path: str, accessor: type) -> str:
    """Show the verbs of an accessor."""
    module, _, name = path.partition(".")
    parts = [f"# {name}\n", markup.rst([markup.as_text(inspect.getdoc(accessor) or "")])]
    for verb in sorted(x for x in dir(accessor) if not x.startswith("_")):
        kind = "attribute" if isinstance(inspect.getattr_static(accessor, verb), property) else "method"
        shown = markup.docstring_of(f"autoaccessor{kind}", f"{name}.{verb}", module=module)
        parts += [f"## {verb}\n", shown]
    return "\n".join(parts)


def module_page(name: str, module: ModuleType) -> str:
    """Show the functions and classes of a public module, and list those that the package has by the same names."""
    own, every = own_functions(module), public_functions(module)
    parts = [f"# {name}\n", f"{markup.first_sentence(module)}\n"]
    if shared := sorted(every.keys() & public_functions(ce).keys()):
        parts.append(markup.names((key, key, every[key]) for key in shared))
    for key, value in own.items():
        parts += [f"## {key}\n", object_of(key, value, f"causaleval_pd.{name}")]
    return "\n".join(parts)


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield the API reference: one page per function, an accessor and a module, and their index by room."""
    functions, verbs, modules = public_functions(ce), accessors(), public_modules()
    rooms: dict[str, list[str]] = {}
    for name, value in functions.items():
        rooms.setdefault(value.__module__.split(".")[1], []).append(name)
        yield f"api/{name}.md", f"# {name}\n\n{object_of(name, value)}"
    for path, accessor in verbs.items():
        yield f"api/{path}.md", accessor_page(path, accessor)
    for name, module in modules.items():
        yield f"api/{name}.module.md", module_page(name, module)
    parts = [
        "# API reference\n",
        "Names are attributes of `causaleval_pd`, which pages import as `ce`.",
        "Each [metric](../../metrics.md) is a function of `ce.metrics`, and of `ce` too, with a page of its own.\n",
        "## Accessors\n",
        markup.names((path.partition(".")[2], path, accessor) for path, accessor in verbs.items()),
    ]
    for room, members in rooms.items():
        title = markup.first_sentence(sys.modules[f"causaleval_pd.{room}"]).split(". ")[0].rstrip(".")
        parts += [f"## {title}\n", markup.names((name, name, functions[name]) for name in members)]
    linked = [("metrics", "../../metrics", ce.metrics)]
    linked += [(name, f"{name}.module", module) for name, module in modules.items()]
    parts += ["## Modules\n", markup.names(linked)]
    order = [*verbs, *(name for members in rooms.values() for name in members), *(f"{x}.module" for x in modules)]
    yield "api/index.md", "\n".join([*parts, markup.toctree(order)])
