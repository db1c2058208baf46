#!/bin/sh
# lint.sh BUILD JOBS -- runs every static check; it ends at the first kind with errors.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=$2

echo "lint: clang-format"
scripts/format.sh --check

echo "lint: layers"
scripts/layers.sh

echo "lint: clang-tidy"
# Findings are printed to stdout; stderr only has the number of warnings in foreign headers. Files that need the headers
# of peers are left out, because these may be missing. The Python module is checked if it is built.
python=
[ ! -d "$build/python" ] || python=python
# shellcheck disable=SC2086 # one word or none
find src cli $python examples tests bench -name '*.c' ! -path 'tests/install/*' ! -path '*/engines/*' ! -path 'bench/siconos/*' \
    -print0 |
    xargs -0 -P "$jobs" -n 1 clang-tidy --quiet -p "$build" 2>/dev/null

echo "lint: cppcheck"
# unknownEvaluationOrder takes the `.name = value` of compound literals for assignments.
cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr --std=c11 -j "$jobs" \
    -I include -I src --suppress=unknownEvaluationOrder --library=scripts/cppcheck.cfg src cli python tests examples bench

echo "lint: shellcheck"
shellcheck scripts/*.sh tests/*/*.sh .ci/run
