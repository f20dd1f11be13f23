# shellcheck shell=bash
# What the steps share: an environment, tests that may not be skipped, and interpreters by version.
set -euo pipefail

# tests of one field each, for environments that need not run all
reduced=(tests/graphs/formats tests/graphs/test_*.py tests/tables tests/cubes/test_cube.py tests/plot tests/statistics tests/causal_kl/networks tests/configurational/formulas)

# Activate the environment that steps share, with an extra of the package that no step before has installed.
with_extra() {
    source "$work/env/bin/activate"
    # `dev` holds the others
    [ -e "$work/extra-dev" ] || [ -e "$work/extra-$1" ] || pip install -e ".[$1]"
    touch "$work/extra-$1"
}

# Run a test command; print its end, and fail also if a test was skipped: a skipped comparison compares nothing.
tested() {
    local log="$work/pytest.log"
    PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-} -rsfE" "$@" > "$log" 2>&1 || { tail -n 60 "$log"; return 1; }
    tail -n 3 "$log"
    ! grep '^SKIPPED' "$log" || { echo "no test may be skipped here"; return 1; }
}

# Print the interpreter of a version such as 3.12, if this machine has it.
interpreter() {
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2> /dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}
