# shellcheck shell=bash
# What `.ci/run` and `.ci/deep` share: a place to work, steps one after the other or two at a time, environments.
# Each step is a file in .ci/steps; its second line says what it does. A step that needs what this machine lacks prints
# what was not run, and any other trouble fails the run.
set -euo pipefail

# Make a folder for environments and logs that goes when the run ends.
prepare() {
    root=$PWD
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    export root work
    export MPLBACKEND=Agg MPLCONFIGDIR="$work/matplotlib" NUMBA_CACHE_DIR="$work/numba"
    export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=2 # errors only
    # 0 is pip's way to say no: modules compile when they are imported, most of an environment never is
    export PIP_NO_COMPILE=0
    # and keep what they compile to, or every process compiles all of pandas and scipy again
    unset PYTHONDONTWRITEBYTECODE
    # the versions of a run that passed, so that nothing changes but the code
    export PINNED="$root/.ci/constraints.txt"
    python3 -m venv "$work/env"
}

# Run one step; print what it does, its output and its time.
step() {
    local name=$1 start=$SECONDS status=0
    local log="$work/$name.log"
    export name
    export scratch="$work/scratch-$name" # environments and files of one step; all steps together take more than 10 GB
    mkdir -p "$scratch/tmp"
    # a test that waits for ever must not take the whole run with it
    TMPDIR="$scratch/tmp" timeout --kill-after=30 1800 bash ".ci/steps/$name" > "$log" 2>&1 || status=$?
    rm -rf "$scratch"
    printf '\n== %s: %s\n%s\n' "$name" "$(sed -n '2s/^# //p' ".ci/steps/$name")" "$(cat "$log")"
    if [ "$status" -ne 0 ]; then
        [ "$status" -ne 124 ] || echo "-- ended: it took more than 1800 s"
        echo "== $name failed after $((SECONDS - start)) s"
        return 1
    fi
    [ -z "${passed:-}" ] || touch "$passed/$name" # for `.ci/deep`, which does not run it again
    echo "== $name passed in $((SECONDS - start)) s"
}

# Run steps two at a time: many use one core, or wait for packages.
together() {
    [ "$#" -eq 0 ] || printf '%s\0' "$@" | xargs -0 -P 2 -I {} bash -euo pipefail -c 'source .ci/common.sh; step {}'
}

# Install with the versions that passed before; where one of them is not to be had any more, with the newest.
pinned() {
    PIP_CONSTRAINT="$PINNED" "$@" && return
    echo "-- not all of .ci/constraints.txt can be installed here: the newest versions are tested"
    "$@"
}

# Activate the environment that steps share, with an extra of the package that no step before has installed.
with_extra() {
    source "$work/env/bin/activate"
    (
        flock 9 # steps at the same time share the environment
        # `dev` holds the others
        [ -e "$work/extra-dev" ] || [ -e "$work/extra-$1" ] || pinned pip install -e ".[$1]"
        touch "$work/extra-$1"
    ) 9> "$work/environment.lock"
}

# Run a test command; print its end, and fail also if a test was skipped: a skipped comparison compares nothing.
tested() {
    local log
    log=$(mktemp "$work/pytest-XXXX.log")
    PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-} -rsfE" "$@" > "$log" 2>&1 || { tail -n 60 "$log"; return 1; }
    grep -o "Total coverage: .*" "$log" || true
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

# Fail if a wheel has more than 3 MB.
check_wheel() {
    local size
    size=$(stat -c %s "$1")
    echo "$(basename "$1"): $((size / 1024)) kB"
    [ "$size" -le 3000000 ] || { echo "a wheel has at most 3 MB"; return 1; }
}

# tests of one field each, for environments that need not run all
reduced=(tests/graphs/formats tests/graphs/test_*.py tests/tables tests/cubes/test_cube.py tests/plot tests/statistics tests/inference/test_linear_model.py tests/causal_kl/test_network*.py tests/configurational/test_formula.py)

# Run one example and print the last line of its output, or more if it fails.
example() {
    local options=() log start=$SECONDS
    log="$work/examples/$(basename "$1").log"
    case "$1" in
        */04_* | */16_*) options=(--quick) ;;
    esac
    cd "$work/examples"
    python "$1" "${options[@]}" > "$log" 2>&1 \
        || { echo "-- $(basename "$1") failed"; tail -n 40 "$log"; return 1; }
    echo "-- $(basename "$1") ${options[*]:-}, $((SECONDS - start)) s: $(tail -n 1 "$log")"
}

# Run the examples whose paths are read, some at a time.
run_examples() {
    mkdir -p "$work/examples"
    xargs -P "$1" -I {} bash -euo pipefail -c 'source .ci/common.sh; example "{}"'
}
