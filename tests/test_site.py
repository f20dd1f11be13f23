"""The generated parts of the site: everything public is on a page, and links lead to pages and files."""

import html
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
CSS = DOCS / "_static/site.css"


def from_docs(name: str) -> ModuleType:
    """Import a module of docs."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))


generate = from_docs("generate")
reference = from_docs("reference")


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


def entries(page: str) -> dict[str, str]:
    """Return what opens on a page, by anchor."""
    return dict(re.findall(r'^<details id="([\w-]+)">\n(.*?)^</details>$', page, re.DOTALL | re.MULTILINE))


def test_every_null_model_has_its_law():
    laws = reference.laws((DOCS / "null_models.md").read_text(encoding="utf-8"))
    assert sorted(laws) == sorted(ce.list_nulls().index)
    assert [key for key, law in laws.items() if not law.startswith(("Law: ", "Nothing is random.", "The graph "))] == []
    assert "only its arcs are random" in laws["network", "dags"], "what the models of a field share"


def test_the_site_has_few_pages(pages, shown):
    assert len(pages) + len(shown) <= 75


def test_every_metric_has_an_entry_on_one_page(shown):
    found = entries(shown["metrics"])
    assert set(found) == set(ce.list_metrics().index)
    for name, row in ce.list_metrics().iterrows():
        assert shows(found[name], "autofunction", name) and html.escape(row["long_name"], quote=False) in found[name]
        assert not row["reference"] or f"(https://doi.org/{row['reference']})" in found[name]
        if isinstance(row["closed_form"], str):
            assert f"(closed_forms.md#{row['closed_form']})" in found[name]
    assert "| metric |" not in shown["metrics"]


def test_metrics_of_marks_have_a_heading_of_their_own(shown):
    parts = dict(re.findall(r"^### ([^\n]+)\n(.*?)(?=^##)", shown["metrics"], re.DOTALL | re.MULTILINE))
    marks, others = (set(entries(parts[x])) for x in ("Marks of edges", "Families of counts and ratios"))
    assert {"arrowhead_f1", "tail_claim_f1", "latent_f1", "edge_confusion", "visible_tp", "directed_f1"} <= marks
    assert {"adjacency_f1", "ancestor_f1", "markov_blanket_f1", "orientation_f1", "skeleton_p"} <= others


def test_metrics_without_a_best_value_name_none(shown):
    found = entries(shown["metrics"])
    assert "higher is better, 0 to ∞" in found["adjacency_tp"] and "lower is better, 0 to ∞" in found["shd"]
    assert "a perfect estimate" not in shown["metrics"] and "inf" not in found["adjacency_tp"]


def test_every_null_model_has_an_entry_with_its_law(shown):
    found = entries(shown["null_models"])
    laws = reference.laws((DOCS / "null_models.md").read_text(encoding="utf-8"))
    assert set(found) == {f"{field}-{name}" for field, name in ce.list_nulls().index}
    assert "Their laws" not in shown["null_models"], "they stand in the entries"
    for (field, name), row in ce.list_nulls().iterrows():
        entry = found[f"{field}-{name}"]
        assert row["long_name"] in entry and laws[field, name] in entry
        assert f'ce.null_model("{name}"' in entry.replace("\n    ", "")
    assert "| a control is |" not in shown["null_models"]


def test_no_text_of_a_page_is_cut_off():
    """Text that may not wrap leaves the page where its parent does not scroll; tables and blocks of code do."""
    style = re.sub(r"/\*.*?\*/", "", CSS.read_text(encoding="utf-8"), flags=re.DOTALL)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", style)
    kept = [selector.strip() for selector, style in rules if re.search(r"white-space:\s*(nowrap|pre)\b", style)]
    assert all(re.search(r" (table|t[hrd]|pre)\b", selector) for selector in kept), kept
    [table] = [style for selector, style in rules if selector.strip() == ".bd-article table"]
    assert "overflow-x: auto" in table and "max-width: 100%" in table


def test_code_of_generated_pages_fits_them(pages):
    """The page of examples is wider than others: it has no sidebar."""
    for name, page in pages.items():
        widest = 120 if name == "examples.md" else 88
        blocks = re.findall(r"^```(?:python|console)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        assert [line for block in blocks for line in block.splitlines() if len(line) > widest] == [], name


def test_no_list_of_the_index_is_empty(pages):
    index = pages["api/index.md"]
    lists = dict(re.findall(r"^## (.+)\n\n\|.*\n\|.*\n((?:\|.*\n)*)", index, re.MULTILINE))
    assert [use for use, rows in lists.items() if not rows] == []
    assert "`skeleton_test <" in lists["Judge printed results"]
    assert "`null_model <" in lists["Score runs and their controls"]


def test_every_public_function_and_class_is_on_a_page(pages):
    for name in dir(ce):
        value = getattr(ce, name)
        assert re.search(rf"^\| (\[`{name}`\]\(|\{{py:obj\}}`{name} )", pages["api/index.md"], re.MULTILINE), name
        if isinstance(value, ModuleType):
            own = [
                key for key in getattr(value, "__all__", []) if not hasattr(ce, key) and key not in vars(ce.accessors)
            ]
            for key in own:
                if inspect.isroutine(getattr(value, key)):
                    assert shows(pages[f"api/{name}.module.md"], "autofunction", key)
        elif inspect.isroutine(value) or inspect.isclass(value):
            kind = "autoclass" if inspect.isclass(value) else "autofunction"
            assert shows(pages["api/functions.md"], kind, name)
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
    """A verb that is a function too is shown there, and linked."""
    name = page.split(".", 1)[1]
    for verb in dir(accessor):
        if not verb.startswith("_"):
            kind = "attribute" if isinstance(inspect.getattr_static(accessor, verb), property) else "method"
            linked = f"| {{py:obj}}`{verb} <causaleval_pd.{verb}>`" in pages[f"api/{page}.md"]
            assert linked != shows(pages[f"api/{page}.md"], f"autoaccessor{kind}", f"{name}.{verb}")
            assert linked == inspect.isroutine(getattr(ce, verb, None))


def test_every_example_is_shown_with_its_code_and_figures(pages):
    for path in (ROOT / "examples").glob("*.py"):
        code = entries(pages["examples.md"])[f"code-{path.stem}"]
        assert code.rstrip().endswith(path.read_text(encoding="utf-8").splitlines()[-1] + "\n```")
    assert "(../../examples/figures/null_models.png)" in pages["examples.md"].split("## 14_null_models")[1]


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    rooms = from_docs("rooms")
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture(), "draw it anew by python docs/rooms.py"


def test_files_to_read_first_exist():
    listed = (DOCS / "architecture.md").read_text(encoding="utf-8").split("## Read first")[1].split("\n## ")[0]
    first = re.findall(r"^\d\. `([\w/.]+)`", listed, re.MULTILINE)
    assert len(first) == 5 and all((ROOT / path).is_file() for path in first)


def test_every_page_is_in_the_navigation(pages, shown):
    generated = {f"generated/{name.removesuffix('.md')}": text for name, text in pages.items()}
    listed = {"index"}
    for name, text in {**shown, **generated}.items():
        folder = (DOCS / name).parent
        listed |= {(folder / x).resolve().relative_to(DOCS).as_posix() for x in in_toctrees(text)}
    assert listed == {*shown, *generated}


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
