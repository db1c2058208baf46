#!/bin/sh
# Every public function has a comment of its own, directly above its declaration.
set -eu
cd "$(dirname "$0")/../.."
awk '/^ST_API/ { n++; if (above !~ /\*\/[ \t]*$/) { print FILENAME ":" FNR ": no comment above: " $0; bare++ } }
     { above = $0 }
     END { if (n < 100) { print "only " n " functions found: the pattern is wrong"; exit 1 } exit bare > 0 }' include/stiction/*.h
