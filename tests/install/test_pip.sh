#!/bin/sh
# test_pip.sh BUILD -- `pip install .` into a fresh virtual environment, without network: module, program, examples and
# headers are there and work. The files built in BUILD are put into the wheel. Ends with 77 (skipped) and the reason if
# Python has no venv.
set -eu
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
: "${PYTHON:=python3}"
version=$(sed -n 's/^#define ST_VERSION_[A-Z]* //p' "$source/include/stiction/base.h" | paste -sd.)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

"$PYTHON" -m venv "$work/venv" >"$work/log" 2>&1 || { echo "pip: skipped: $PYTHON -m venv: $(tail -1 "$work/log")" && exit 77; }
bin=$work/venv/bin
# --no-index: nothing may be fetched
"$bin/pip" --disable-pip-version-check install --no-index --config-settings build="$build" "$source" >"$work/log" 2>&1 ||
    { cat "$work/log" && fail "pip install ."; }
cd "$work" # where there is no source tree
unset PYTHONPATH
[ "$("$bin/python" -c 'import stiction; print(stiction.__version__)')" = "$version" ] || fail "the module is not of $version"
[ "$("$bin/stiction" --version)" = "stiction $version" ] || fail "the program is not of $version"
"$bin/stiction" run incline -q || fail "the program does not run an example"
[ "$("$bin/stiction" examples --json | grep -c "$work/venv/share/stiction/examples/")" -gt 50 ] || fail "no examples"
[ -f "$work/venv/include/stiction/stiction.h" ] || fail "no headers"
[ -f "$work/venv/lib/libstiction.so" ] || fail "no library"
"$bin/python" "$work/venv/share/stiction/examples/python/drop.py" >"$work/log" || fail "the module does not run"
"$bin/pip" --disable-pip-version-check uninstall -y stiction >"$work/log" 2>&1 || fail "pip uninstall"
[ ! -e "$bin/stiction" ] || fail "pip uninstall leaves the program"
echo "all is well"
