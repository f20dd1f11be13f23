"""CPU seconds of the import beyond pandas and xarray, in fresh processes: `python tests/benchmarks/bench_import.py`.

The first process also writes the bytecode, into an empty folder. Its times are shown apart; the result is the median of
the others.
"""

import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 7

CODE = """
import time
start = time.process_time()
import pandas, xarray
middle = time.process_time()
import causaleval_pd
print(middle - start, time.process_time() - middle)
"""


def measure(environment: dict[str, str]) -> tuple[float, float]:
    """Return the CPU seconds of pandas and xarray, and those of the package after them."""
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    before, own = run.stdout.split()
    return float(before), float(own)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = kept | {"PYTHONPYCACHEPREFIX": folder}
        first = measure(environment)
        others = [measure(environment) for _ in range(ROUNDS)]
    before, own = (statistics.median(times) for times in zip(*others, strict=True))
    print(f"import pandas, xarray                   {before:6.2f} s of CPU (without bytecode {first[0]:.2f})")
    print(f"import causaleval_pd, beyond these      {own:6.2f} s of CPU (without bytecode {first[1]:.2f}; bound 0.50)")
