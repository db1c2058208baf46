#!/bin/sh
# test_readme.sh -- the C program shown in README.md is examples/hello.c, word for word.
set -eu
# shellcheck disable=SC2016 # these are markdown's backquotes
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' | diff - examples/hello.c
