"""Run readers and verbs on damaged and random input: `python tests/fuzz/run.py --seconds 60 --seed 0 [module ...]`.

Each other module of this folder has a function `cases(rng)` that yields pairs of a label and a call without arguments.
A call may return. If it raises, then only ValueError or TypeError (or a class derived from them), with a message that
names what was wrong: by default a row or a file, or what the pattern `NAMES` of its module matches. No call may take
more than `--most-seconds` of CPU time, more than `MOST_BYTES` of memory, or end the interpreter.

Every module runs in a process of its own, so that a crash or a call that never ends is noticed and reported by its
label. A failing case is printed with the command that repeats it.
"""

import argparse
import collections
import faulthandler
import importlib.util
import itertools
import mmap
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, AnyStr

import numpy as np

HERE = Path(__file__).parent
NAMES = r"\brows?\b|\bfiles?\b"
MOST_BYTES = 4 << 30
STUCK_SECONDS = 120.0  # of wall time; includes compilation
MOST_SHOWN = 5
#: cases for each second that is asked for, where compilation takes the time
LEAST_CASES = 20
LABEL_BYTES = 4096

Case = tuple[str, Callable[[], object]]


def pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def damaged(text: AnyStr, pieces: Sequence[AnyStr], rng: np.random.Generator) -> AnyStr:
    """Cut, insert, double, move or replace parts of a text or of bytes at random places."""
    for _ in range(int(rng.integers(1, 5))):
        at, to = sorted(rng.integers(len(text) + 1, size=2).tolist())
        piece, end = pick(rng, pieces), min(to, at + 60)
        parts = [text[:at], text[:at] + text[to:], text[:at] + text[at:end] * 2 + text[end:], text[to:] + text[:at]]
        parts += [text[:at] + piece + text[at:], text[:at] + piece + text[at + 1 :]]
        text = pick(rng, [*parts, text.replace(pick(rng, pieces), piece, 1)])
    return text


def load(name: str, folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def all_cases(module: ModuleType, seed: int) -> Iterator[Case]:
    """Yield cases without end; a module that runs out starts again with other random numbers."""
    for turn in itertools.count():
        empty = True
        for case in module.cases(np.random.default_rng([seed, turn])):
            empty = False
            yield case
        if empty:
            raise SystemExit(f"{module.__name__}: cases() yields nothing")


def outcome_of(call: Callable[[], object], names: str, most_seconds: float) -> tuple[str, str]:
    """Run a case; return the name of its outcome, and what is wrong with it, if anything."""
    start = time.process_time()
    try:
        call()
        outcome, fault = "returned", ""
    except (ValueError, TypeError) as error:
        outcome = "ValueError" if isinstance(error, ValueError) else "TypeError"
        fault = "" if re.search(names, str(error)) else f"{outcome} names nothing that {names!r} matches: {error}"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome, fault = "fault", f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {error}"
    seconds = time.process_time() - start
    if not fault and seconds > most_seconds:
        fault = f"took {seconds:.1f} s of CPU time"
    return ("fault" if fault else outcome), fault


def run_module(name: str, options: argparse.Namespace) -> int:
    """Run the cases of one module in this process; return the number of faults."""
    seed, only = options.seed, options.case
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    module = load(name, options.folder)
    names = getattr(module, "NAMES", NAMES)
    counts: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + options.seconds
    with options.alone.open("r+b") as file, mmap.mmap(file.fileno(), LABEL_BYTES) as current:
        for number, (label, call) in enumerate(all_cases(module, seed)):
            if only is not None and number < only:
                continue
            said = f"{number} ({label[:500]})".encode("utf-8", "replace")
            current[: len(said) + 1] = said + b"\0"
            faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
            outcome, fault = outcome_of(call, names, options.most_seconds)
            if fault.startswith("took "):
                outcome, fault = outcome_of(call, names, options.most_seconds)  # the first time may have compiled
            faulthandler.cancel_dump_traceback_later()
            counts[outcome] += 1
            if fault and counts["fault"] <= MOST_SHOWN:
                print(
                    f"{name}: case {number} ({label[:200]}): {fault[:600]}\n  {repeat(name, seed, number)}", flush=True
                )
            if only is not None or (time.monotonic() > end and number + 1 >= LEAST_CASES * options.seconds):
                break
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("returned", "ValueError", "TypeError") if counts[kind])
    print(f"{name}: {counts.total()} cases ({kinds}), {counts['fault']} failed", flush=True)
    return counts["fault"]


def repeat(name: str, seed: int, number: int) -> str:
    return f"repeat: python tests/fuzz/run.py {name} --seed {seed} --case {number}"


def watch(name: str, options: argparse.Namespace, seconds: float) -> bool:
    """Run a module in a process of its own; report what the process was doing if it did not end by itself."""
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "progress"
        progress.write_bytes(bytes(LABEL_BYTES))
        command = [sys.executable, __file__, name, "--alone", str(progress), "--folder", str(options.folder)]
        command += ["--seed", str(options.seed), "--seconds", str(seconds), "--most-seconds", str(options.most_seconds)]
        command += [] if options.case is None else ["--case", str(options.case)]
        done = subprocess.run(command, check=False)
        if done.returncode not in (0, 1):
            said = progress.read_bytes().split(b"\0")[0].decode()
            number = said.split(" ")[0] or "0"
            print(f"{name}: the process ended with {done.returncode} at case {said}")
            print(f"  {repeat(name, options.seed, int(number))}\n{name}: 1 failed", flush=True)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="by default all in the folder")
    parser.add_argument("--seconds", type=float, default=60.0, help="of wall time, shared by the modules")
    parser.add_argument("--jobs", type=int, default=1, help="number of modules at a time")
    parser.add_argument("--most-seconds", type=float, default=3.0, help="of CPU time that a case may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="the number of the only case to run")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the modules are")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    found = sorted(path.stem for path in options.folder.glob("*.py") if path.stem not in ("run", "__init__"))
    if unknown := set(options.modules) - set(found):
        parser.error(f"unknown modules {sorted(unknown)}; there are {found}")
    modules = options.modules or found
    if options.alone is not None:
        warnings.simplefilter("ignore")
        [name] = modules
        return int(run_module(name, options) > 0)
    jobs = min(options.jobs, len(modules))
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda name: watch(name, options, jobs * options.seconds / len(modules)), modules))
    print(f"fuzzed modules: {sum(results)} passed, {results.count(False)} failed")
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
