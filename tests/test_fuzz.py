"""The fuzz driver: a short run over readers and verbs, and what it reports about calls that misbehave."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).parent / "fuzz" / "run.py"


def fuzz(*options):
    command = [sys.executable, DRIVER, *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(path.stem for path in DRIVER.parent.glob("*.py") if path != DRIVER))
def test_a_short_run_finds_no_fault(module):
    done = fuzz(module, "--seconds", 1, "--seed", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"{module}: [1-9]\d* cases .*, 0 failed", done.stdout)


BAD = {
    "wrong exception": ("{}['absent']", "KeyError at bad.py:"),
    "names nothing": ("int('word')", "ValueError names nothing that"),
    "endless": ("sum(range(10**8))", "took "),
    "ends the interpreter": ("os.abort()", "the process ended with -6 at case 1 (ends the interpreter)"),
    "too much memory": ("bytearray(1 << 40)", "MemoryError at bad.py:"),
}


@pytest.mark.slow
@pytest.mark.parametrize("label", BAD)
def test_misbehaviour_is_reported_with_the_command_that_repeats_it(tmp_path, label):
    call, message = BAD[label]
    lines = ["import os", "def row():", "    raise TypeError('row 3: found a word')", "def cases(rng):"]
    lines += ["    yield 'fine', row", f"    yield {label!r}, lambda: {call}"]
    (tmp_path / "bad.py").write_text("\n".join(lines), encoding="utf-8")
    done = fuzz("bad", "--folder", tmp_path, "--seed", 4, "--case", 1, "--most-seconds", 0.1)
    assert done.returncode == 1
    assert f"{label})" in done.stdout
    assert message in done.stdout
    assert "repeat: python tests/fuzz/run.py bad --seed 4 --case 1" in done.stdout
    assert "0 passed, 1 failed" in done.stdout
    if label == "wrong exception":  # the first case is the same in all
        assert fuzz("bad", "--folder", tmp_path, "--seed", 4, "--case", 0).returncode == 0


@pytest.mark.slow
def test_what_a_message_names_is_the_modules_to_say(tmp_path):
    text = "NAMES = 'whole'\ndef row():\n    raise ValueError('not whole')\ndef cases(rng):\n    yield 'n', row\n"
    (tmp_path / "own.py").write_text(text, encoding="utf-8")
    assert fuzz("--folder", tmp_path, "--seconds", 0.1).returncode == 0
    (tmp_path / "own.py").write_text(text.split("\n", 1)[1], encoding="utf-8")
    assert fuzz("--folder", tmp_path, "--seconds", 0.1).returncode == 1
