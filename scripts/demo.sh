#!/bin/sh
# demo.sh PROGRAM -- two bars joined at the top, a spring-damper between them, falling apart on a
# table with friction: section 3.3 of Anitescu & Potra 2002.
set -eu
cd "$(dirname "$0")/.."
program=$1
scene=examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json

mkdir -p demo
rm -f demo/bars.csv demo/bars.svg
"$program" run "$scene" -o demo/bars.csv --picture demo/bars.svg || {
    echo "demo: $program run $scene ended with status $?" >&2
    exit 1
}
for file in demo/bars.csv demo/bars.svg; do
    [ -s $file ] || { echo "demo: $program did not write $file" >&2 && exit 1; }
done
cat <<END

The results are in
  $PWD/demo/bars.csv   every step, one line each: any spreadsheet, or  column -s, -t demo/bars.csv | less -S
  $PWD/demo/bars.svg   the motion and its energies: any web browser, or  xdg-open demo/bars.svg
Change something and run it again:
  $program run $scene --set simulation/h=0.001
END
