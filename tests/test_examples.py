"""Examples that need an extra say which, in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "module", "needs", "extra"),
    [
        ("03_sachs.py", "causallearn", "causal-learn", "discovery"),
        ("04_how_the_runs_were_made.py", "causallearn", "causal-learn", "discovery"),
        ("08_causal_kl_alarm.py", "pgmpy", "pgmpy", "io"),
        ("12_reasoning_real_model.py", "openai", "openai", "llm"),
        ("26_report.py", "jinja2", "jinja2", "report"),
        ("scale.py", "dask", "dask", "dask"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(tmp_path, example, module, needs, extra):
    code = f"import runpy, sys; sys.modules[{module!r}] = None; runpy.run_path({str(EXAMPLES / example)!r})"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stderr == f"this example needs {needs}: pip install 'causaleval_pd[{extra}]'\n"
    assert run.returncode == 1
