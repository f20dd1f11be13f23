"""An installed package adds to every registry by entry points: its modules are loaded when a name needs them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/extending.md"

REGISTERS = {
    "metrics": """
        @ce.metric(field="graph", kinds=("dag",), direction="minimize", range=(0, 9), optimum=0, long_name="theirs")
        def their_metric(pairs):
            return pairs.counts.fp
    """,
    "nulls": """
        from causaleval_pd.contract.null import Null, register_null
        register_null("graph", Null("their_null", "theirs", ce.structure.GRAPHS.nulls["edges"].controls))
    """,
    "closed_forms": """
        ce.register_closed_form(ce.ClosedFormRule("their_rule", "graph", "Nothing."))
    """,
    "tests": """
        from dataclasses import replace
        from causaleval_pd.inference.statistical_test import TESTS
        ce.register_test(replace(TESTS["t"], name="their_test"))
    """,
    "encodings": """
        from dataclasses import replace
        from causaleval_pd.contract.encoding import ENCODINGS
        ce.register_encoding(replace(ENCODINGS["row->column"], name="their_encoding"))
    """,
    "figures": """
        @ce.figure("theirs", of="cube", concludes="nothing")
        def their_figure(cube):
            return "drawn"
    """,
    "fields": """
        from dataclasses import replace
        from causaleval_pd.contract.registry import Registry
        ce.register_field(replace(ce.structure.GRAPHS, name="their_field", nulls=Registry("null model", "none")))
    """,
}

#: what a user writes that needs each group, with the answer
USES = {
    "metrics": ("ce.get_metric('their_metric').long_name", "theirs"),
    "nulls": (
        "runs.ceval.with_controls(['shd'], null='their_null', n_draws=3, rng=1)['control_null'][0]",
        "their_null",
    ),
    "closed_forms": ("ce.list_closed_forms().loc['their_rule', 'explanation']", "Nothing."),
    "tests": ("cube.ceval.compare('a', test='their_test', columns='full')['test'][0]", "their_test"),
    "encodings": ("str(ce.as_graph(np.array([[0, 1], [0, 0]]), encoding='their_encoding').kind)", "dag"),
    "figures": ("cube.ceval.plot.their_figure()", "drawn"),
    "fields": ("ce.contract.field.get_field('their_field').name", "their_field"),
}

CODE = """
import sys
import numpy as np, pandas as pd
import causaleval_pd as ce
import causaleval_pd.contract.field

assert not [name for name in sys.modules if name.startswith("their_")], "importing the package loads no third party"
runs = pd.DataFrame({"truth": ["A -> B; C"] * 4, "estimate": ["A; B; C", "A -> B; C"] * 2, "a": list("xyxy")})
cube = runs.ceval.cube(["shd"], by=["a"], n_draws=None)
uses = %r
for group, (code, answer) in uses.items():
    found = eval(code)
    assert found == answer, (group, found)
    assert sys.modules[f"their_{group}"].times == [1]
"""


def write_metadata(folder: Path, name: str, entry_points: str) -> None:
    """Write what pip would record of a package."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")


def run(folder: Path, code: str) -> None:
    """Run code in a process of its own that finds the packages of a folder; warnings are errors."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}"
    found = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def install(folder: Path) -> None:
    """Write a package with an entry point in every group, as pip would lay it out."""
    lines = []
    for group, code in REGISTERS.items():
        body = "\n".join(line[8:] for line in code.splitlines())
        text = f"import causaleval_pd as ce\n{body}\ntimes = [*globals().get('times', []), 1]\n"
        (folder / f"their_{group}.py").write_text(text, encoding="utf-8")
        lines.append(f"[causaleval_pd.{group}]\ntheirs = their_{group}\n")
    write_metadata(folder, "theirs", "\n".join(lines))


@pytest.mark.slow
def test_what_is_installed_is_found_when_it_is_named(tmp_path):
    install(tmp_path)
    run(tmp_path, CODE % USES)


@pytest.mark.slow
def test_the_package_of_the_page_registers_its_metric(tmp_path):
    declared = tomllib.loads(re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1])
    points = declared["project"]["entry-points"]["causaleval_pd.metrics"]
    (tmp_path / "my_lab").mkdir()
    (tmp_path / "my_lab/metrics.py").write_text(
        (Path(__file__).parent / "metric.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    lines = [f"{name} = {module}" for name, module in points.items()]
    write_metadata(tmp_path, "my_lab", "\n".join(["[causaleval_pd.metrics]", *lines]))
    run(
        tmp_path,
        "import causaleval_pd as ce\nassert 'my_lab' not in sys.modules\n"
        "assert ce.get_metric('right_directions').optimum == 1 and 'my_lab.metrics' in sys.modules",
    )


def test_every_group_of_the_package_has_its_case():
    from causaleval_pd.contract import encoding, field, figure, law, metric
    from causaleval_pd.inference import statistical_test

    registries = [
        *(metric.METRICS, law.CLOSED_FORMS, encoding.ENCODINGS, figure.FIGURES, field.FIELDS),
        *(statistical_test.TESTS, field.FIELDS["graph"].nulls),
    ]
    groups = {registry.group for registry in registries}
    assert groups == {f"causaleval_pd.{group}" for group in USES} and set(USES) == set(REGISTERS)
    listed = re.findall(r"^\| `(causaleval_pd\.\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(listed) == groups
