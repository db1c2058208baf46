#!/bin/sh
# layers.sh -- checks that includes follow the layers. A folder of src/, with its sub-folders, may include the folders
# after its colon, itself and the public headers. The program, the Python module and the examples include public
# headers only.
set -eu
cd "$(dirname "$0")/.."

rules='
base:
math: base
problem: base math
linalg: base math problem
pile: base math problem linalg
reduce: base math problem linalg pile
solve: base math problem linalg pile reduce
fclib: base math problem linalg reduce solve
collide: base math
forest: base math
model: base math collide forest
device: base math
grains: base math collide model
step: base math problem linalg reduce solve fclib collide forest model device grains
batch: base math model step
scene: base math import
import: base math scene
record: base math
draw: base math record
'

# Lines "file:line header" of all includes, in quotes or angle brackets, with any spaces around the #. A system header
# has no folder of ours in its name.
included() {
    grep -HnoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]*[">]' "$@" |
        sed -E 's/^([^:]*):([0-9]*):[^"<]*["<](.*)[">]$/\1:\2 \3/'
}

ours=$(for folder in src/*/; do basename "$folder"; done | tr '\n' ' ')
wrong=$(
    for folder in $ours; do
        allowed=$(echo "$rules" | sed -n "s/^$folder:\(.*\)/\1/p")
        echo "$rules" | grep -q "^$folder:" || echo "src/$folder has no rule in scripts/layers.sh"
        # shellcheck disable=SC2046 # names without spaces
        included $(find src/"$folder" -name '*.[ch]') | awk -v own="$folder" -v allowed=" $allowed " -v ours=" $ours " '
            { split($2, part, "/")
              if (index($2, "/") == 0 || part[1] == own || index(ours, " " part[1] " ") == 0) next
              if (index(allowed, " " part[1] " ") == 0) print $1 " includes " $2 }'
    done
    included cli/*.[ch] python/*.[ch] examples/*.c include/stiction/*.h | awk -v ours=" $ours " '
        { split($2, part, "/")
          if (index($2, "/") > 0 && index(ours, " " part[1] " ") > 0) print $1 " includes " $2 ": it uses public headers only" }'
    grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' include/stiction/*.h examples/*.c | sed 's/:[[:space:]]*#/ has #/' || true
)
if [ -n "$wrong" ]; then
    echo "$wrong"
    exit 1
fi
