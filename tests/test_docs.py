"""The pages: every Python block runs and gives the output shown, links lead somewhere, tables are those of the package.

`python tests/test_docs.py` writes the generated parts anew: the tables of metrics and null models, the code blocks of
docs/extending.md that are copies of files in tests/extensions, the outputs that pages show, of their blocks or of
examples, and the figures that stand after blocks. `python tests/test_docs.py docs/scores.md` writes those of one page.
"""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

import causaleval_pd as ce
from causaleval_pd.contract.field import FIELDS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "causaleval_pd"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
EXTENDING = ROOT / "docs/extending.md"
GUIDE = ROOT / "docs/guide"
PAGES = [ROOT / "README.md", CONTRIBUTING, *sorted((ROOT / "docs").glob("*.md")), *sorted(GUIDE.glob("*.md"))]
#: a block of code, with the output that it shows if a block `output` follows, and the stored figure that follows
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```output\n(?P<output>.*?)^```$)?"
    r"(?:\n\n!\[[^\]]*\]\((?P<figure>[^)\s]+\.png)\))?",
    re.DOTALL | re.MULTILINE,
)
#: what an example prints: the paragraph that starts with some words
PRINTED_BY = re.compile(r"^<!-- output of (\S+): (.+) -->\n```output\n(?P<output>.*?)^```$", re.DOTALL | re.MULTILINE)
#: letters of a line of code that a page shows without scrolling
WIDEST_CODE = 88
#: letters of a line of output that a page shows without scrolling
WIDEST = 86
#: how tables are printed
PRINTED = ("display.width", WIDEST, "display.max_columns", 20, "display.max_rows", 60)
MARKED = "(?<=<!-- {0}: begin -->\n).*?(?=<!-- {0}: end -->)"
COPY = re.compile(r"<!-- source: (\S+) -->\n(?:```python\n(?P<code>.*?)^```\n)?", re.DOTALL | re.MULTILINE)
REGISTERS = re.compile(r"@ce\.\w+\(|\bregister\w*\(")


def closed_forms() -> pd.Series:
    """Return the closed-form key of every metric, missing where it has none."""
    return ce.list_metrics()["closed_form"]


def null_models() -> list[dict[str, object]]:
    """Return the registered null models, one row per field and model."""
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
    """Render the registered metrics, one table per field."""
    parts = []
    for field in sorted({*ce.list_metrics()["field"]}, key=fields().index):
        rows = []
        listed = ce.list_metrics(field)
        for name, row in pd.concat([listed[listed["usual"]], listed[~listed["usual"]].sort_index()]).iterrows():
            better = {"minimize": "lower", "maximize": "higher", "zero": "near 0"}.get(row["direction"], "")
            source = f"[doi](https://doi.org/{row['reference']})" if row["reference"] else ""
            low, high = (f"{x:g}".replace("inf", "∞") for x in (row["low"], row["high"]))
            key = closed_forms()[name]
            exact = f"[{key}](closed_forms.md#{key})" if isinstance(key, str) else ""
            meaning = row["long_name"] + " (usual)" * row["usual"]
            rows.append([f"`{name}`", meaning, better, f"{low} to {high}", exact, source])
        parts.append(
            f"## {field}\n\n" + markdown(["metric", "meaning", "better", "range", "closed form", "source"], rows)
        )
    return "\n".join(parts)


def null_tables() -> str:
    """Render the registered null models, one table per field."""
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
    "marks": {"cost": "marks"}, "GetPAGSHD (Matlab)": {"cost": "marks+edge"},
    "its wSHD": {"cost": "marks+edge", "circle_cost": 0.5}, "pagSHD (R)": {"cost": "information"},
    "SHD_MAGs (sep-distances)": {"cost": "sep_distances"}, "bnmetrics": {"cost": "bnmetrics"},
}  # fmt: skip
SHD_PAIRS = [("A -> B", "A; B"), ("A -> B", "B -> A"), ("A -> B", "A -- B"), ("A; B", "A -- B")]
SHD_PAIRS += [("A; B", "A o-o B"), ("A o-> B", "A <-o B"), ("A o-> B", "A -> B")]


def shd_conventions() -> str:
    """Compute the SHD of pairs of nodes by each convention, a dash where it does not apply."""
    rows = []
    for name, options in SHD.items():
        cells = [name, ", ".join(f"`{key}={value!r}`" for key, value in options.items())]
        for sides in SHD_PAIRS:
            plain = not any("o" in side for side in sides)
            graphs = [ce.as_graph(side, nodes=["A", "B"], kind="pdag" if plain else "mixed") for side in sides]
            applies = plain or "cost" in options or not options
            cells.append(f"{ce.shd(*graphs, **options):g}" if applies else "-")
        rows.append(cells)
    return markdown(["convention", "options", *(" / ".join(f"`{x}`" for x in sides) for sides in SHD_PAIRS)], rows)


def encoding_table() -> str:
    """Render the registered encodings of graphs."""
    rows = [
        [f"`{name}`" + " (named only)" * row["by_name"], row["tool"], row["meaning"], row["mark"]]
        for name, row in ce.list_encodings().iterrows()
    ]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n" + markdown(["encoding", "tool", "meaning", "where the mark stands"], cells) + "\n"


GENERATED: dict[str, Callable[[], str]] = {
    "metrics": metric_tables, "null_models": null_tables, "mixed_graphs": shd_conventions, "graphs": encoding_table,
}  # fmt: skip


def name_of(page: Path) -> str:
    """Return where a page is."""
    return page.relative_to(ROOT).as_posix()


def with_table(name: str) -> tuple[Path, str]:
    """Return a page with a generated part, and its text with that part made anew."""
    page = ROOT / "docs" / f"{name}.md"
    text, made = page.read_text(encoding="utf-8"), GENERATED[name]()
    return page, re.sub(MARKED.format(name), lambda _: made, text, flags=re.DOTALL)


def with_copies() -> str:
    """Return docs/extending.md with its copied code made anew, as far as the files are there."""

    def copy(found: re.Match[str]) -> str:
        source = ROOT / found[1]
        if not source.exists():
            return found[0]
        return f"<!-- source: {found[1]} -->\n```python\n{source.read_text(encoding='utf-8')}```\n"

    return COPY.sub(copy, EXTENDING.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_tables_are_those_of_the_registry(name):
    page, text = with_table(name)
    assert page.read_text(encoding="utf-8") == text, "write it anew by python tests/test_docs.py"


def test_copied_code_is_that_of_its_file():
    assert EXTENDING.read_text(encoding="utf-8") == with_copies(), "write it anew by python tests/test_docs.py"


def test_every_metric_and_null_model_is_in_its_table():
    metrics = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/metrics.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(metrics) == sorted(ce.list_metrics().index)
    text = (ROOT / "docs/null_models.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| `\w+`", text, re.MULTILINE)) == len(null_models())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_fits_its_page(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^( *)```\w*\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)
    lines = [line for _, block in blocks for line in block.splitlines()]
    assert [line for line in lines if len(line) > WIDEST_CODE] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_outputs_fit_their_pages(page):
    outputs = re.findall(r"^```output\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = "".join(outputs).splitlines()
    assert [line for line in lines if len(line) > WIDEST or line.endswith("\\")] == [], "show fewer columns"


def test_every_closed_form_is_explained():
    keys = set(closed_forms().dropna())
    headings = re.findall(r"^### (\w+)$", (ROOT / "docs/closed_forms.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(keys)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "examples/README.md"], ids=name_of)
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


@pytest.mark.parametrize("folder", [ROOT / "docs", GUIDE], ids=lambda folder: folder.name)
def test_every_page_is_in_the_index(folder):
    index = (folder / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"^\W* \[.*?\]\((\w+\.md)\)|\]\((\w+\.md)\)", index, re.MULTILINE))
    assert {first or second for first, second in linked} == {page.name for page in folder.glob("*.md")} - {"index.md"}


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.md")), ids=lambda page: page.name)
def test_numbers_of_the_guide_are_computed_there(page):
    """Every number of the text that has a point or several digits is, rounded, in an output of the page or its code."""
    text = page.read_text(encoding="utf-8")
    blocks = "".join(found[0] for found in BLOCK.finditer(text))
    computed = {float(x) for x in re.findall(r"(?<![\w.])-?\d*\.?\d+(?:e-?\d+)?(?![\w.]*\w)", blocks)}
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
    for number in re.findall(r"(?<![\w.])(?:\d*\.\d+|\d{2,})(?!\.?\d| %)", prose):
        places = len(number.partition(".")[2])
        near = 0.5 * 10.0**-places + 1e-9 if places else 0
        assert any(abs(abs(x) - float(number)) <= near for x in computed), f"{number} is not computed on {page.name}"


def test_the_map_of_rooms_is_the_folders():
    section = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("## The rooms")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([\w./]+)` \|", section, re.MULTILINE)
    rooms = [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("fields/*/__init__.py")]
    folders = {f"{path.parent.relative_to(PACKAGE)}/" for path in rooms}
    modules = {path.name for path in PACKAGE.glob("*.py")}
    assert sorted(listed) == sorted(folders | modules)
    for name, purpose in re.findall(r"^\| `([\w./]+)/` \|(.*)", section, re.MULTILINE):
        for file in re.findall(r"`(\w+\.py)`", purpose):
            assert [*(PACKAGE / name).rglob(file)], f"{name}/ has no {file}"


def run(page: Path) -> tuple[str, dict[Path, Figure]]:
    """Run a page's blocks in order, in one namespace.

    As in a notebook or a prompt, an expression that stands alone is shown. Lines keep their numbers in tracebacks.

    Returns
    -------
    text, figures
        The page with the outputs that its blocks give, and by their files the figures that it shows after blocks.
    """
    text, shown, parts, end = page.read_text(encoding="utf-8"), io.StringIO(), [], 0
    figures: dict[Path, Figure] = {}

    def show(value: object) -> None:
        """Write what a prompt would print."""
        if value is not None:
            shown.write(f"{value!r}\n")

    namespace: dict[str, object] = {"__name__": "page", "show": show}
    with pd.option_context(*PRINTED):
        for found in BLOCK.finditer(text):
            tree = ast.increment_lineno(ast.parse(found["code"]), text.count("\n", 0, found.start("code")))
            for node in tree.body:
                if isinstance(node, ast.Expr):
                    name = ast.copy_location(ast.Name("show", ast.Load()), node)
                    node.value = ast.copy_location(ast.Call(name, [node.value], []), node)
            with redirect_stdout(shown):
                exec(compile(ast.fix_missing_locations(tree), str(page), "exec"), namespace)
            lines = shown.getvalue().splitlines()
            shown.seek(0)
            shown.truncate()
            if found["output"] is not None:
                parts += text[end : found.start("output")], *(f"{line.rstrip()}\n" for line in lines)
                end = found.end("output")
            if found["figure"]:
                assert plt.get_fignums(), f"{page}: the block before {found['figure']} draws nothing"
                figures[(page.parent / found["figure"]).resolve()] = plt.gcf()
            plt.close("all")
    return "".join([*parts, text[end:]]), figures


def described(figure: Figure) -> str:
    """Return the words of a figure, and the heights of its points and lines, as text beside the stored figure."""
    words = sorted(x.get_text() for x in figure.findobj(Text) if x.get_text().strip())
    heights = [f"{y:.3g}" for line in figure.findobj(Line2D) for y in np.ravel(line.get_ydata()) if np.isreal(y)]
    return "\n".join([*words, " ".join(heights)])


def check_outputs(page: Path) -> None:
    """Run a page and compare the outputs and figures that it shows."""
    text, figures = run(page)
    assert text == page.read_text(encoding="utf-8"), "write it anew by python tests/test_docs.py"
    for file, figure in figures.items():
        with Image.open(file) as stored:
            assert stored.text.get("Description") == described(figure), f"draw {file.name} by python tests/test_docs.py"


def with_printed(page: Path) -> str:
    """Return a page with what it shows of the outputs of examples made anew."""
    text = page.read_text(encoding="utf-8")
    printed = {name: run_example(name) for name in {found[1] for found in PRINTED_BY.finditer(text)}}

    def paragraph(found: re.Match[str]) -> str:
        [part] = [x for x in re.split(r"\n{2,}", printed[found[1]]) if x.lstrip("\n").startswith(found[2])]
        lines = "".join(f"{line.rstrip()}\n" for line in part.strip("\n").splitlines())
        return found[0].replace(f"```output\n{found['output']}", f"```output\n{lines}")

    return PRINTED_BY.sub(paragraph, text)


def run_example(name: str) -> str:
    """Return what an example prints."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": paths, "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as folder:
        # figures go into a folder beside the copy
        example = Path(shutil.copy(ROOT / name, folder))
        command = [sys.executable, str(example)]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


WITH_BLOCKS = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]
#: pages whose blocks take more than a second or two
SLOW = ["comparing_algorithms", "configurational", "extending", "large_studies", "null_models", "published_results"]
SLOW += ["first_study", "reporting", "statistics", "which_null_model"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] * (page.stem in SLOW)) for page in WITH_BLOCKS],
)
def test_blocks_run(page, tmp_path, monkeypatch):
    if not REGISTERS.search("".join(found["code"] for found in BLOCK.finditer(page.read_text(encoding="utf-8")))):
        monkeypatch.chdir(tmp_path)
        check_outputs(page)
        return
    # what a page registers would stay registered for all later tests: such pages run in a process of their own
    command = [sys.executable, "-W", "error", __file__, "--run", str(page)]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if PRINTED_BY.search(page.read_text("utf-8"))], ids=name_of)
def test_pages_show_what_examples_print(page):
    assert with_printed(page) == page.read_text(encoding="utf-8"), "write it anew by python tests/test_docs.py"


def test_outputs_are_those_of_their_blocks(tmp_path):
    page = tmp_path / "page.md"
    code = "```python\nx = 1\n```\n\n```console\nnothing\n```\n\n```python\nx + 1\nNone\nprint(x)\n```\n\n"
    page.write_text(f"Text.\n\n{code}```output\nwrong\n```\n\nEnd.\n", encoding="utf-8")
    assert run(page)[0] == f"Text.\n\n{code}```output\n2\n1\n```\n\nEnd.\n"
    with pytest.raises(AssertionError, match="anew"):
        check_outputs(page)


def test_errors_of_blocks_name_the_line_of_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```python\nx = 1\n```\n\n```python\nx / 0\n```\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError) as error:
        run(page)
    assert (error.traceback[-1].lineno, str(error.traceback[-1].path)) == (7, str(page))


def write_anew(pages: list[Path]) -> None:
    """Write the generated parts of pages."""
    for generated in GENERATED:
        file, content = with_table(generated)
        file.write_text(content, encoding="utf-8")
    EXTENDING.write_text(with_copies(), encoding="utf-8")
    matplotlib.use("agg")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            if any(x["output"] is not None or x["figure"] for x in BLOCK.finditer(page.read_text(encoding="utf-8"))):
                text, figures = run(page)
                page.write_text(text, encoding="utf-8")
                for file, figure in figures.items():
                    described_as = {"Description": described(figure)}
                    figure.savefig(file, dpi=150, bbox_inches="tight", metadata=described_as)
            page.write_text(with_printed(page), encoding="utf-8")
        os.chdir(ROOT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        check_outputs(Path(sys.argv[2]))
    else:
        write_anew([Path(name).resolve() for name in sys.argv[1:]] or PAGES)
