#!/bin/sh
# format.sh [--check [--lenient]] -- formats every C file by .clang-format, or checks the format. --lenient: skips the
# check if clang-format is missing or has another version, because versions differ in details.
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
