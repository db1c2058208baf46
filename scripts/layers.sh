#!/bin/sh
# layers.sh -- who may include whom: knowledge runs one way. A folder of src/ sees those behind its colon, itself and
# the public headers; the program, the Python module and the examples see public headers alone.
set -eu
cd "$(dirname "$0")/.."

rules='
base:
math: base
solve: base math
collide: base math
model: base math collide
step: base math collide model solve
scene: base math
record: base math
'

# Lines "file: header" of what is included in quotes; a header beside the file has no folder.
included() {
    grep -Hno '^#include "[^"]*"' "$@" | sed 's/^\([^:]*\):\([0-9]*\):#include "\(.*\)"$/\1:\2 \3/'
}

wrong=$(
    for folder in src/*/; do
        folder=$(basename "$folder")
        allowed=$(echo "$rules" | sed -n "s/^$folder:\(.*\)/\1/p")
        echo "$rules" | grep -q "^$folder:" || echo "src/$folder has no rule in scripts/layers.sh"
        included src/"$folder"/*.[ch] | awk -v own="$folder" -v allowed=" $allowed " '
            { split($2, part, "/")
              if (part[1] != own && index(allowed, " " part[1] " ") == 0) print $1 " includes " $2 }'
    done
    included cli/*.[ch] python/*.[ch] | awk '$2 ~ /\// { print $1 " includes " $2 ": it uses public headers only" }'
    grep -Hn '^#include "' include/stiction/*.h examples/*.c | sed 's/:#/ has #/' || true
)
if [ -n "$wrong" ]; then
    echo "$wrong"
    exit 1
fi
