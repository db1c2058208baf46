#!/bin/sh
# test_vtk.sh PROGRAM -- does VTK read what `stiction export --vtk` writes? Ends with 77 (skipped) where there is no
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
exec "$python" tests/viewer/test_vtk.py "$folder"
