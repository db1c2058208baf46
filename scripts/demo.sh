#!/bin/sh
# demo.sh PROGRAM -- two scenes. Two bars joined at the top, a spring-damper between them, falling apart on a table
# with friction: section 3.3 of Anitescu & Potra 2002, as a table and a picture. And a house of cards that is held
# by friction until a marble hits it: as a report.
set -eu
cd "$(dirname "$0")/.."
program=$1
bars=examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json
cards=examples/toys/card-house.json

must() {
    "$@" || {
        echo "demo: $* ended with status $?" >&2
        exit 1
    }
}

mkdir -p demo
rm -f demo/bars.* demo/cards.*
must "$program" run "$bars" -o demo/bars.csv --picture demo/bars.svg
echo
must "$program" run "$cards" -o demo/cards.h5
must "$program" report demo/cards.h5 -o demo/cards.html
for file in demo/bars.csv demo/bars.svg demo/cards.html; do
    [ -s $file ] || { echo "demo: $program did not write $file" >&2 && exit 1; }
done
cat <<END

The results are in
  $PWD/demo/cards.html  the house of cards in 3-D beside its plots: open it in any web browser, or  xdg-open demo/cards.html
  $PWD/demo/cards.h5    its recording:  $program info demo/cards.h5
  $PWD/demo/bars.svg    the bars as a picture
  $PWD/demo/bars.csv    every step of theirs, one line each: any spreadsheet, or  column -s, -t demo/bars.csv | less -S
Push the cards about while they run, or take away a little of what holds them:
  $program view $cards
  $program run $cards --set ground/table/friction=0.05
More scenes, with a picture each: docs/gallery.md, or  $program examples
END
