#!/bin/sh
# demo.sh PROGRAM -- two bars joined at the top, a spring-damper between them, falling apart on a
# table with friction: section 3.3 of Anitescu & Potra 2002. Ends with a report to look at.
set -eu
cd "$(dirname "$0")/.."
program=$1
scene=examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json

mkdir -p demo
rm -f demo/bars.*
"$program" run "$scene" -o demo/bars.csv -o demo/bars.h5 --picture demo/bars.svg || {
    echo "demo: $program run $scene ended with status $?" >&2
    exit 1
}
"$program" report demo/bars.h5 -o demo/bars.html || {
    echo "demo: $program report ended with status $?" >&2
    exit 1
}
for file in demo/bars.csv demo/bars.svg demo/bars.html; do
    [ -s $file ] || { echo "demo: $program did not write $file" >&2 && exit 1; }
done
cat <<END

The results are in
  $PWD/demo/bars.html  the motion in 3-D beside its plots: open it in any web browser, or  xdg-open demo/bars.html
  $PWD/demo/bars.svg   the same as a picture
  $PWD/demo/bars.csv   every step, one line each: any spreadsheet, or  column -s, -t demo/bars.csv | less -S
  $PWD/demo/bars.h5    the recording:  $program info demo/bars.h5
Push it about while it runs, or change something and run it again:
  $program view --live $scene
  $program run $scene --set simulation/h=0.001
END
