#!/bin/sh
# lint.sh BUILD JOBS -- every static check we have; the first kind that complains ends it.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=$2

sources() {
    git ls-files --cached --others --exclude-standard "$@"
}

echo "lint: clang-format"
scripts/format.sh --check

echo "lint: clang-tidy"
sources 'src/*.c' 'cli/*.c' 'examples/*.c' 'tests/*/test_*.c' |
    xargs -P "$jobs" -n 1 clang-tidy --quiet -p "$build" 2>&1 | grep -v 'warnings generated' >"$build/tidy.log" || true
if [ -s "$build/tidy.log" ]; then
    cat "$build/tidy.log"
    exit 1
fi

echo "lint: cppcheck"
cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr --std=c11 -j "$jobs" \
    -I include -I src --suppress=missingIncludeSystem src cli tests examples

echo "lint: shellcheck"
sources '*.sh' .ci/run | xargs shellcheck
