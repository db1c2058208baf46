#!/bin/sh
# bench_siconos.sh FOLDER [LIMIT] [--race] -- our solvers against every solver of Siconos Numerics on the friction
# problems of a folder, in one run; the tables of docs/solvers.md. LIMIT: seconds per solve, 10. --race: minutes
# instead of hours, finds only the best of theirs. Needs Debian's libsiconos-numerics-dev; prints a message if it is
# missing.
set -eu

folder=${1:?usage: bench_siconos.sh FOLDER [LIMIT in seconds] [--race]}
root=$(dirname "$0")/..
cmake --log-level=WARNING -S "$root" -B "$root/build-bench" -DST_TESTS=OFF -DST_BENCH_SICONOS=ON >/dev/null
cmake --build "$root/build-bench" >/dev/null
if [ ! -x "$root/build-bench/bin/compare-siconos" ]; then
    echo "bench_siconos: skipped, Siconos Numerics is not installed (apt-get install libsiconos-numerics-dev)" >&2
    exit 0
fi
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
find "$folder" \( -name '*.hdf5' -o -name '*.h5' \) -print0 | sort -z |
    xargs -0 "$root/build-bench/bin/compare-siconos" ${3:+"$3"} "${2:-10}"
