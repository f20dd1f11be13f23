"""Examples that need an extra say which, in one line."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PAGES = [*EXAMPLES.parent.glob("*.md"), *EXAMPLES.parent.glob("docs/*.md"), *EXAMPLES.parent.glob("docs/guide/*.md")]


@pytest.mark.slow
def test_every_stored_figure_is_made_by_blocks_of_pages_or_by_the_example_that_names_it():
    """`python tests/test_docs.py` draws the figures after blocks; examples say in their docstrings what they write."""
    drawn, written = set(), []
    for page in PAGES:
        after_block = r"^```\n\n!\[[^\]]*\]\([./]*examples/figures/(\w+)\.png\)"
        drawn |= set(re.findall(after_block, page.read_text(encoding="utf-8"), re.MULTILINE))
    for example in EXAMPLES.glob("*.py"):
        docstring = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
        written += re.findall(r"examples/figures/(\w+)\.png", docstring)
    stored = {path.stem for path in (EXAMPLES / "figures").glob("*")}
    assert sorted([*drawn, *written]) == sorted(stored)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "module", "needs", "extra"),
    [
        ("03_sachs.py", "causallearn", "causal-learn", "discovery"),
        ("04_how_the_runs_were_made.py", "causallearn", "causal-learn", "discovery"),
        ("08_causal_kl_alarm.py", "pgmpy", "pgmpy", "io"),
        ("26_report.py", "jinja2", "jinja2", "report"),
        ("scale.py", "dask", "dask", "dask"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(tmp_path, example, module, needs, extra):
    code = f"import runpy, sys; sys.modules[{module!r}] = None; runpy.run_path({str(EXAMPLES / example)!r})"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stderr == f"this example needs {needs}: pip install 'causaleval_pd[{extra}]'\n"
    assert run.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ("28_own_metric.py", [" lingam  0.10 .* better", "ges - lingam    1.90 "]),
        (
            "29_matrices_in_a_file.py",
            [" 100          shd      20         1 15.842 ", "1600 adjacency_f1 .* 0.978 .* better"],
        ),
    ],
)
def test_studies_have_as_many_lines_as_they_say(tmp_path, example, printed):
    """Lines of code from "# the study" on, without docstrings."""
    text = (EXAMPLES / example).read_text(encoding="utf-8")
    [stated] = re.findall(r"The study is (\d+) lines", text)
    study = [line.strip() for line in text.split("# the study\n")[1].splitlines()]
    assert sum(bool(line) and not line.startswith('"""') for line in study) == int(stated)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"{stated} lines |" in next(line for line in readme.splitlines() if f"({example})" in line)
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / example)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert all(re.search(line, run.stdout) for line in printed)
