#!/bin/sh
# test_vtk.sh PROGRAM -- does VTK read the files of `stiction export --vtk`? Ends with 77 (skipped) where there is no
# Python with VTK (Debian: python3-vtk9).
set -eu
cd "$(dirname "$0")/../.."
program=$1
python=
for candidate in python3 /usr/bin/python3; do
    ! "$candidate" -c 'import vtk' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || {
    echo "vtk: skipped: no Python with VTK here (Debian: python3-vtk9)"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" run examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json -q --rate 5 -o "$folder/run.h5" -o "$folder/run.csv"
"$program" export "$folder/run.h5" --vtk "$folder/vtk" --csv "$folder/frames.csv"
"$python" tests/viewer/test_vtk.py "$folder"

# Grains: spheres, and clumps of two.
cat >"$folder/grains.json" <<'JSON'
{ "simulation": { "h": 0.002, "end": 0.1 }, "ground": [ { "type": "plane" } ],
  "fills": [
    { "name": "ball", "number": 150, "region": { "type": "box", "position": [0, 0, 0.1], "size": [0.1, 0.1, 0.2] },
      "size": { "distribution": "uniform", "min": 0.008, "max": 0.012 }, "arrangement": "dropped",
      "shapes": [ { "type": "sphere", "radius": 0.005 } ] },
    { "name": "twin", "number": 50, "region": { "type": "box", "position": [0.2, 0, 0.1], "size": [0.1, 0.1, 0.2] },
      "size": 0.01, "arrangement": "dropped",
      "shapes": [ { "type": "sphere", "radius": 1 }, { "type": "sphere", "radius": 1, "position": [1, 0, 0] } ] } ] }
JSON
"$program" run "$folder/grains.json" -q --rate 50 -o "$folder/grains.h5"
"$program" export "$folder/grains.h5" --vtk "$folder/vtk" --csv "$folder/frames.csv"
exec "$python" tests/viewer/test_vtk_grains.py "$folder"
