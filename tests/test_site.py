"""The generated pages of the site: everything public has one, and links lead to pages and files."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import causaleval_pd as ce

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CSS = DOCS / "_static/site.css"


def from_docs(name: str) -> ModuleType:
    """Import a module of docs."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))


generate = from_docs("generate")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the generated pages."""
    return generate.pages()


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """Return the pages of docs as the site shows them, by name."""
    names = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md")}
    return {
        name: generate.on_site(name, path.read_text(encoding="utf-8"))
        for name, path in names.items()
        if not name.startswith("generated/")
    }


def shows(page: str, directive: str, name: str) -> bool:
    """Return whether a page shows the docstring of an object."""
    return f".. {directive}:: {name}\n" in page


def in_toctrees(text: str) -> set[str]:
    """Return the entries of the hidden lists of pages."""
    trees = re.findall(r"```\{toctree\}\n(?::.*\n)*\n(.*?)```", text, re.DOTALL)
    return {line for tree in trees for line in tree.split()}


@pytest.mark.slow
def test_every_metric_has_a_page_in_the_list_of_metrics(pages, shown):
    for name, row in ce.list_metrics().iterrows():
        page = pages[f"metrics/{name}.md"]
        assert shows(pages[f"metrics/{name}.md"], "autofunction", name)
        assert row["reference"] in page and row["field"] in page
        assert f"| [`{name}`](generated/metrics/{name}.md) |" in shown["metrics"]
    assert {f"generated/metrics/{name}" for name in ce.list_metrics().index} == in_toctrees(shown["metrics"])


@pytest.mark.slow
def test_pages_of_metrics_without_a_best_value_name_none(pages):
    bounded = np.isfinite(ce.list_metrics()["optimum"].dropna().astype(float))
    assert 0 < (~bounded).sum() < bounded.sum()
    for name, is_bounded in bounded.items():
        page, doc = pages[f"metrics/{name}.md"], inspect.getdoc(ce.get_metric(name))
        assert ("a perfect estimate has" in page, "with optimum" in doc) == (is_bounded, is_bounded)
        assert "has inf" not in page and "optimum inf" not in doc


def test_no_text_of_a_page_is_cut_off():
    """Text that may not wrap leaves the page where its parent does not scroll; tables and blocks of code do."""
    rules = re.findall(
        r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", CSS.read_text(encoding="utf-8"), flags=re.DOTALL)
    )
    kept = [selector.strip() for selector, style in rules if re.search(r"white-space:\s*(nowrap|pre)\b", style)]
    assert all(re.search(r" (table|t[hrd]|pre)\b", selector) for selector in kept), kept
    [table] = [style for selector, style in rules if selector.strip() == ".bd-article table"]
    assert "overflow-x: auto" in table and "max-width: 100%" in table


@pytest.mark.slow
def test_code_of_generated_pages_fits_them(pages):
    """Pages of examples are wider than others: they have no sidebar."""
    for name, page in pages.items():
        widest = 120 if name.startswith("examples/") else 88
        blocks = re.findall(r"^```(?:python|console)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        assert [line for block in blocks for line in block.splitlines() if len(line) > widest] == [], name


def test_every_null_model_has_a_page_in_the_list_of_null_models(pages, shown):
    for (field, name), row in ce.list_nulls().iterrows():
        page = pages[f"nulls/{field}-{name}.md"]
        assert row["long_name"] in page and (f"[{field}]" in page)
        assert shown["null_models"].count(f"| [`{name}`](generated/nulls/{field}-{name}.md)") == 1
    assert {f"generated/nulls/{x}-{y}" for x, y in ce.list_nulls().index} == in_toctrees(shown["null_models"])


def test_every_closed_form_is_on_the_pages_of_its_metrics(pages):
    forms = ce.list_metrics()["closed_form"].dropna()
    for name, form in forms.items():
        assert f"(../../closed_forms.md#{form}):" in pages[f"metrics/{name}.md"]
    assert "Mann-Whitney statistic" in pages["metrics/auroc.md"]
    # what all keys of a field share is there too
    assert "(Hoeffding 1951" in pages["metrics/correctness_literal.md"]
    edges, degree = (pages[f"nulls/graph-{name}.md"].split("this null model: ")[-1] for name in ("edges", "degree"))
    assert re.findall(r"\[(\w+)\]", edges.split("Other closed")[0]) == [
        "hypergeometric",
        "linear",
        "reversal",
        "mean_over_edges",
    ]
    assert "Other closed forms of the field: [hypergeometric]" in degree and "that name" not in degree


def test_null_laws_are_a_table_of_what_null_models_compute(pages):
    def row(page: str, start: str) -> list[str]:
        [line] = [x for x in pages[page].splitlines() if x.startswith(f"| [{start}]")]
        return [cell.strip() for cell in line.split("|")[2:-1]]

    moments, listed = "exact mean and variance", "up to {} nodes"
    assert row("metrics/shd.md", "`edges`") == [moments, "simulated", "simulated", listed.format(5)]
    assert row("metrics/shd.md", "`permutation`") == [moments, moments, moments, listed.format(7)]
    assert row("metrics/adjacency_f1.md", "`edges`") == ["exact law"] * 3 + [listed.format(5)]
    assert row("metrics/sid.md", "`degree`") == ["simulated", ""]
    assert row("metrics/auroc.md", "`ranking`") == ["exact law", ""]
    assert row("nulls/graph-edges.md", "hypergeometric") == ["exact law"] * 3
    assert row("nulls/scores-permutation.md", "average_precision") == ["exact mean"]
    # the verbs find the same on other graphs
    table = ce.datasets.runs().query("n == 100 and algorithm == 'lingam' and density == 0.2").head(4)
    found = table.ceval.with_controls(["shd", "adjacency_f1"], method="exact", columns="full")
    assert found["shd_mean_method"].eq("exact").all() and found["shd_p_method"].isna().all()
    assert found["adjacency_f1_p_method"].eq("exact").all()


def test_every_public_function_and_class_has_a_page(pages):
    index = in_toctrees(pages["api/index.md"])
    for name in dir(ce):
        value = getattr(ce, name)
        assert f"| [`{name}`](" in pages["api/index.md"]
        if isinstance(value, ModuleType):
            own = [
                key for key in getattr(value, "__all__", []) if not hasattr(ce, key) and key not in vars(ce.accessors)
            ]
            for key in own:
                if inspect.isroutine(getattr(value, key)):
                    assert shows(pages[f"api/{name}.module.md"], "autofunction", key) and f"{name}.module" in index
        elif inspect.isroutine(value) or inspect.isclass(value):
            kind = "autoclass" if inspect.isclass(value) else "autofunction"
            assert shows(pages[f"api/{name}.md"], kind, name) and name in index
    assert shows(pages["api/datasets.module.md"], "autofunction", "runs")


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
def test_every_verb_of_an_accessor_is_on_its_page(page, accessor, pages):
    name = page.split(".", 1)[1]
    for verb in vars(accessor):
        if not verb.startswith("_"):
            kind = "attribute" if isinstance(vars(accessor)[verb], property) else "method"
            assert shows(pages[f"api/{page}.md"], f"autoaccessor{kind}", f"{name}.{verb}")
    assert page in in_toctrees(pages["api/index.md"])


def test_every_example_has_a_page_with_its_code_and_figures(pages):
    for path in (ROOT / "examples").glob("*.py"):
        page = pages[f"examples/{path.stem}.md"]
        assert page.rstrip().endswith(path.read_text(encoding="utf-8").splitlines()[-1] + "\n```")
    assert "(../../../examples/figures/null_models.png)" in pages["examples/14_null_models.md"]


def test_every_page_is_in_the_navigation(pages, shown):
    generated = {f"generated/{name.removesuffix('.md')}": text for name, text in pages.items()}
    listed = {"index"}
    for name, text in {**shown, **generated}.items():
        folder = (DOCS / name).parent
        listed |= {(folder / x).resolve().relative_to(DOCS).as_posix() for x in in_toctrees(text)}
    assert listed == {*shown, *generated}


@pytest.mark.slow
def test_links_lead_to_pages_and_files(pages, shown):
    texts = {DOCS / f"{name}.md": text for name, text in shown.items()}
    texts |= {DOCS / "generated" / name: text for name, text in pages.items()}
    for page, text in texts.items():
        # code may hold brackets
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for is_file, target in re.findall(r"\]\((?!https?:)(path:)?([^)#\s]+)[^)]*\)", prose):
            found = (page.parent / target).resolve()
            # Markdown is a page unless it is marked as a file
            assert found in texts if found.suffix == ".md" and not is_file else found.exists(), (page, target)


@pytest.mark.slow
def test_pages_are_written_once_and_old_ones_removed(tmp_path, pages):
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics/gone.md").write_text("# gone\n", encoding="utf-8")
    generate.write(tmp_path)
    written = {path.relative_to(tmp_path).as_posix(): path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    assert set(written) == set(pages)
    generate.write(tmp_path)
    assert written == {
        path.relative_to(tmp_path).as_posix(): path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")
    }
