#!/bin/sh
# format.sh [--check [--lenient]] -- lay out every C file by .clang-format, or check that it is so.
# --lenient: go without where clang-format is absent or of another version than the layout was made
# with, since versions differ in small things.
set -eu
cd "$(dirname "$0")/.."
version=14

if [ "${2:-}" = --lenient ] && ! clang-format --version 2>/dev/null | grep -q "version $version\."; then
    echo "format: no clang-format $version here, layout not checked"
    exit 0
fi
mode=-i
[ "${1:-}" != --check ] || mode='--dry-run --Werror'
# shellcheck disable=SC2086 # the mode is one or two words
find . -path './build*' -prune -o -name '*.[ch]' -print0 | xargs -0 clang-format $mode
