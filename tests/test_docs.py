"""The pages: every Python block runs, links lead somewhere, tables and sources are those of the package.

`python tests/test_docs.py` writes the generated parts anew: the tables of metrics and null models, and the code blocks
of CONTRIBUTING.md that are copies of files in tests/extensions.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import causaleval_pd as ce

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "causaleval_pd"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [ROOT / "README.md", CONTRIBUTING, *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARKED = "(?<=<!-- {0}: begin -->\n).*?(?=<!-- {0}: end -->)"
COPY = re.compile(r"<!-- source: (\S+) -->\n(?:```python\n(?P<code>.*?)^```\n)?", re.DOTALL | re.MULTILINE)
REGISTERS = re.compile(r"@ce\.\w+\(|\bregister\w*\(")


def closed_forms() -> pd.Series:
    """Return the closed-form key of every metric, missing where it has none."""
    return ce.list_metrics()["closed_form"]


def null_models() -> list[dict[str, object]]:
    """Return the registered null models, one row a field and model."""
    from causaleval_pd.contract.field import FIELDS

    return [
        {
            "field": field.name,
            "name": null.name,
            "long_name": null.long_name,
            "options": dict(null.options),
            "default": null.name == field.default_null,
            "reference": null.reference,
        }
        for field in FIELDS.values()
        for null in field.nulls.values()
    ]


def fields() -> list[str]:
    """Return the names of the fields, graphs first."""
    return sorted({str(row["field"]) for row in null_models()}, key=lambda name: (name != "graph", name))


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Lay out a Markdown table."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, ["---"] * len(head), *rows])


def metric_tables() -> str:
    """Render the registered metrics, a table a field."""
    parts = []
    for field in sorted({*ce.list_metrics()["field"]}, key=fields().index):
        rows = []
        for name, row in ce.list_metrics(field).sort_index().iterrows():
            better = {"minimize": "lower", "maximize": "higher", "zero": "near 0"}.get(row["direction"], "")
            source = f"[doi](https://doi.org/{row['reference']})" if row["reference"] else ""
            low, high = (f"{x:g}".replace("inf", "∞") for x in (row["low"], row["high"]))
            key = closed_forms()[name]
            exact = f"[{key}](closed_forms.md#{key})" if isinstance(key, str) else ""
            rows.append([f"`{name}`", row["long_name"], better, f"{low} to {high}", exact, source])
        parts.append(
            f"## {field}\n\n" + markdown(["metric", "meaning", "better", "range", "closed form", "source"], rows)
        )
    return "\n".join(parts)


def null_tables() -> str:
    """Render the registered null models, a table a field."""
    parts = []
    for field in fields():
        rows = [
            [
                f"`{row['name']}`" + (" (default)" if row["default"] else "") + (" (reference)" * row["reference"]),
                row["long_name"],
                ", ".join(f"`{name}={value!r}`" for name, value in row["options"].items()),
            ]
            for row in null_models()
            if row["field"] == field
        ]
        parts.append(f"## {field}\n\n" + markdown(["null", "a control is", "options"], rows))
    return "\n".join(parts)


#: what programs call SHD, as options of `shd`
SHD = {
    "any difference (pcalg, causal-learn, gadjid, pgmpy)": {},
    "a reversal counts twice (SID package)": {"reversal_cost": 2},
    "entries of the matrices (cdt, dodiscover)": {"reversal_cost": 2, "absent_undirected_cost": 2},
    "undirected agrees with directed (NOTEARS, gCastle)": {"undirected_cost": 0},
    "marks": {"cost": "marks"},
    "GetPAGSHD (Matlab)": {"cost": "marks+edge"},
    "its wSHD": {"cost": "marks+edge", "circle_cost": 0.5},
    "pagSHD (R)": {"cost": "information"},
    "SHD_MAGs (sep-distances)": {"cost": "sep_distances"},
    "bnmetrics": {"cost": "bnmetrics"},
}
SHD_PAIRS = [("A -> B", "A; B"), ("A -> B", "B -> A"), ("A -> B", "A -- B"), ("A; B", "A -- B")]
SHD_PAIRS += [("A; B", "A o-o B"), ("A o-> B", "A <-o B"), ("A o-> B", "A -> B")]


def shd_conventions(*, mixed: bool = True) -> str:
    """Compute the SHD of pairs of nodes by each convention, a dash where it does not apply."""
    rows = []
    pairs = [sides for sides in SHD_PAIRS if mixed or not any("o" in side for side in sides)]
    for name, options in SHD.items():
        if "cost" in options and not mixed:
            continue
        cells = [name, ", ".join(f"`{key}={value!r}`" for key, value in options.items())]
        for sides in pairs:
            plain = not any("o" in side for side in sides)
            graphs = [ce.as_graph(side, nodes=["A", "B"], kind="pdag" if plain else "mixed") for side in sides]
            applies = plain or "cost" in options or not options
            cells.append(f"{ce.shd(*graphs, **options):g}" if applies else "-")
        rows.append(cells)
    return markdown(["convention", "options", *(" / ".join(f"`{x}`" for x in sides) for sides in pairs)], rows)


def encoding_table() -> str:
    """Render the registered encodings of graphs."""
    rows = [
        [f"`{name}`" + " (named only)" * row["by_name"], row["tool"], row["meaning"], row["mark"]]
        for name, row in ce.list_encodings().iterrows()
    ]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n" + markdown(["encoding", "tool", "meaning", "where the mark stands"], cells) + "\n"


GENERATED: dict[str, Callable[[], str]] = {
    "metrics": metric_tables,
    "null_models": null_tables,
    "mixed_graphs": shd_conventions,
    "graphs": encoding_table,
    "README": lambda: shd_conventions(mixed=False),
}


def with_table(name: str) -> tuple[Path, str]:
    """Return a page with a generated part, and its text with that part made anew."""
    page = ROOT / "README.md" if name == "README" else ROOT / "docs" / f"{name}.md"
    text, made = page.read_text(encoding="utf-8"), GENERATED[name]()
    return page, re.sub(MARKED.format(name), lambda _: made, text, flags=re.DOTALL)


def with_copies() -> str:
    """Return CONTRIBUTING.md with its copied code made anew, as far as the files are there."""

    def copy(found: re.Match[str]) -> str:
        source = ROOT / found[1]
        if not source.exists():
            return found[0]
        return f"<!-- source: {found[1]} -->\n```python\n{source.read_text(encoding='utf-8')}```\n"

    return COPY.sub(copy, CONTRIBUTING.read_text(encoding="utf-8"))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", GENERATED)
def test_tables_are_those_of_the_registry(name):
    page, text = with_table(name)
    assert page.read_text(encoding="utf-8") == text, "write it anew by python tests/test_docs.py"


def test_copied_code_is_that_of_its_file():
    assert CONTRIBUTING.read_text(encoding="utf-8") == with_copies(), "write it anew by python tests/test_docs.py"


def test_every_metric_and_null_model_is_in_its_table():
    metrics = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/metrics.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(metrics) == sorted(ce.list_metrics().index)
    text = (ROOT / "docs/null_models.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| `\w+`", text, re.MULTILINE)) == len(null_models())


def test_every_closed_form_is_explained():
    keys = set(closed_forms().dropna())
    headings = re.findall(r"^### (\w+)$", (ROOT / "docs/closed_forms.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(keys)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_exist(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_no_page_has_marks_of_a_merge(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^(?:<{7}|={7}|>{7})(?: .*)?$", text, re.MULTILINE) == []


def test_sections_of_the_changelog_occur_once_a_release():
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for release in releases:
        sections = re.findall(r"^(\w+)$", release, re.MULTILINE)
        assert len(sections) == len(set(sections)), release.partition("\n")[0]


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\((\w+\.md)\)", index))
    assert linked == {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}


def test_the_map_of_rooms_is_the_folders():
    section = CONTRIBUTING.read_text(encoding="utf-8").split("## The rooms")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([\w.]+/?)` \|", section, re.MULTILINE)
    folders = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.name for path in PACKAGE.glob("*.py")}
    assert sorted(listed) == sorted(folders | modules)


def blocks(page: Path) -> str:
    """Return the Python blocks of a page as one program in which every line keeps its number."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for found in BLOCK.finditer(text):
        start = text.count("\n", 0, found.start(1))
        code = found[1].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines) + "\n"


def run(page: Path) -> None:
    """Run a page's blocks in order, in one namespace, in the working directory."""
    tree = ast.parse(blocks(page))
    # what stands alone in a notebook's cell is shown there: format it as well
    namespace: dict[str, object] = {"__name__": "page", "shown": repr}
    for node in tree.body:
        if isinstance(node, ast.Expr):
            node.value = ast.copy_location(
                ast.Call(ast.copy_location(ast.Name("shown", ast.Load()), node), [node.value], []), node
            )
    exec(compile(ast.fix_missing_locations(tree), name_of(page), "exec"), namespace)


WITH_BLOCKS = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] * (page != PAGES[0])) for page in WITH_BLOCKS],
)
def test_blocks_run(page, tmp_path, monkeypatch):
    if not REGISTERS.search(blocks(page)):
        monkeypatch.chdir(tmp_path)
        run(page)
        return
    # what a page registers would stay registered for all later tests: such pages run in a process of their own
    command = [sys.executable, "-W", "error", __file__, "--run", str(page)]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_blocks_keep_their_line_numbers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```python\nx = 1\n```\n\n```console\nnothing\n```\n\n```python\nx + 1\n```\n")
    assert blocks(page).splitlines()[3] == "x = 1" and blocks(page).splitlines()[11] == "x + 1"
    assert "nothing" not in blocks(page)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(Path(sys.argv[2]))
    else:
        for generated in GENERATED:
            file, content = with_table(generated)
            file.write_text(content, encoding="utf-8")
        CONTRIBUTING.write_text(with_copies(), encoding="utf-8")
