"""The generated pages of the site: everything public has one, and links lead to pages and files."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import causaleval_pd as ce

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def from_docs(name: str) -> ModuleType:
    """Import a module of docs."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))


generate = from_docs("generate")
PAGES = generate.pages()
#: pages of docs as the site shows them
SHOWN = {
    path.relative_to(DOCS).with_suffix("").as_posix(): generate.on_site(
        path.relative_to(DOCS).with_suffix("").as_posix(), path.read_text(encoding="utf-8")
    )
    for path in [*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")]
}


def shows(page: str, directive: str, name: str) -> bool:
    """Return whether a page shows the docstring of an object."""
    return f".. {directive}:: {name}\n" in PAGES[page]


def in_toctrees(text: str) -> set[str]:
    """Return the entries of the hidden lists of pages."""
    trees = re.findall(r"```\{toctree\}\n(?::.*\n)*\n(.*?)```", text, re.DOTALL)
    return {line for tree in trees for line in tree.split()}


def test_every_metric_has_a_page_in_the_list_of_metrics():
    for name, row in ce.list_metrics().iterrows():
        page = PAGES[f"metrics/{name}.md"]
        assert shows(f"metrics/{name}.md", "autofunction", name)
        assert row["reference"] in page and row["field"] in page
        assert f"| [`{name}`](generated/metrics/{name}.md) |" in SHOWN["metrics"]
    assert {f"generated/metrics/{name}" for name in ce.list_metrics().index} == in_toctrees(SHOWN["metrics"])


def test_every_null_model_has_a_page_in_the_list_of_null_models():
    for (field, name), row in ce.list_nulls().iterrows():
        page = PAGES[f"nulls/{field}-{name}.md"]
        assert row["long_name"] in page and (f"[{field}]" in page)
        assert SHOWN["null_models"].count(f"| [`{name}`](generated/nulls/{field}-{name}.md)") == 1
    assert {f"generated/nulls/{x}-{y}" for x, y in ce.list_nulls().index} == in_toctrees(SHOWN["null_models"])


def test_every_closed_form_is_on_the_pages_of_its_metrics():
    forms = ce.list_metrics()["closed_form"].dropna()
    for name, form in forms.items():
        assert f"(../../closed_forms.md#{form}):" in PAGES[f"metrics/{name}.md"]
    assert "Mann-Whitney statistic" in PAGES["metrics/auroc.md"]
    # what all keys of a field share is there too
    assert "(Hoeffding 1951" in PAGES["metrics/correctness_literal.md"]
    edges, degree = (PAGES[f"nulls/graph-{name}.md"].split("this null model: ")[-1] for name in ("edges", "degree"))
    assert re.findall(r"\[(\w+)\]", edges.split("Other closed")[0]) == [
        "hypergeometric",
        "linear",
        "reversal",
        "mean_over_edges",
    ]
    assert "Other closed forms of the field: [hypergeometric]" in degree and "that name" not in degree


def test_every_public_function_and_class_has_a_page():
    index = in_toctrees(PAGES["api/index.md"])
    for name in ce.__all__:
        value = getattr(ce, name)
        if isinstance(value, ModuleType):
            own = [
                key for key in getattr(value, "__all__", []) if not hasattr(ce, key) and key not in vars(ce.accessors)
            ]
            for key in own:
                if inspect.isroutine(getattr(value, key)):
                    assert shows(f"api/{name}.module.md", "autofunction", key) and f"{name}.module" in index
        elif inspect.isroutine(value) or inspect.isclass(value):
            kind = "autoclass" if inspect.isclass(value) else "autofunction"
            assert shows(f"api/{name}.md", kind, name) and name in index
    assert shows("api/datasets.module.md", "autofunction", "runs")


@pytest.mark.parametrize(
    ("page", "accessor"),
    [
        ("pandas.DataFrame.ceval", ce.accessors.FrameAccessor),
        ("xarray.Dataset.ceval", ce.accessors.CubeAccessor),
        ("pandas.Series.graph", ce.accessors.SeriesGraphAccessor),
        ("pandas.Series.lagged", ce.accessors.SeriesLaggedAccessor),
        ("pandas.Series.score", ce.accessors.SeriesScoreAccessor),
    ],
)
def test_every_verb_of_an_accessor_is_on_its_page(page, accessor):
    name = page.split(".", 1)[1]
    for verb in vars(accessor):
        if not verb.startswith("_"):
            kind = "attribute" if isinstance(vars(accessor)[verb], property) else "method"
            assert shows(f"api/{page}.md", f"autoaccessor{kind}", f"{name}.{verb}")
    assert page in in_toctrees(PAGES["api/index.md"])


def test_every_example_has_a_page_with_its_code_and_figures():
    for path in (ROOT / "examples").glob("*.py"):
        page = PAGES[f"examples/{path.stem}.md"]
        assert page.rstrip().endswith(path.read_text(encoding="utf-8").splitlines()[-1] + "\n```")
    assert "(../../../examples/figures/null_models.png)" in PAGES["examples/14_null_models.md"]


def test_every_page_is_in_the_navigation():
    generated = {f"generated/{name.removesuffix('.md')}": text for name, text in PAGES.items()}
    listed = {"index"}
    for name, text in {**SHOWN, **generated}.items():
        folder = (DOCS / name).parent
        listed |= {(folder / x).resolve().relative_to(DOCS).as_posix() for x in in_toctrees(text)}
    assert listed == {*SHOWN, *generated}


def test_links_lead_to_pages_and_files():
    shown = {DOCS / f"{name}.md": text for name, text in SHOWN.items()}
    generated = {DOCS / "generated" / name: text for name, text in PAGES.items()}
    for page, text in {**shown, **generated}.items():
        # code may hold brackets
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\((?!https?:)(?:path:)?([^)#\s]+)[^)]*\)", prose):
            found = (page.parent / target).resolve()
            assert (
                found in shown
                or found in generated
                or (found.suffix != ".md" and found.exists())
                or ("path:" + target in text and found.exists())
            ), (page, target)


def test_pages_are_written_once_and_old_ones_removed(tmp_path):
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics/gone.md").write_text("# gone\n")
    generate.write(tmp_path)
    written = {path.relative_to(tmp_path).as_posix(): path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    assert set(written) == set(PAGES)
    generate.write(tmp_path)
    assert written == {
        path.relative_to(tmp_path).as_posix(): path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")
    }
