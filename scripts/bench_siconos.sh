#!/bin/sh
# bench_siconos.sh FOLDER [TOLERANCE] [LIMIT] -- our auto against every solver of Siconos Numerics on the friction
# problems of a folder, in one run. Needs Debian's libsiconos-numerics-dev; says so where it is missing.
set -eu

folder=${1:?usage: bench_siconos.sh FOLDER [TOLERANCE] [LIMIT in seconds]}
root=$(dirname "$0")/..
cmake --log-level=WARNING -S "$root" -B "$root/build-bench" -DST_TESTS=OFF -DST_BENCH_SICONOS=ON >/dev/null
cmake --build "$root/build-bench" >/dev/null
if [ ! -x "$root/build-bench/bin/compare-siconos" ]; then
    echo "bench_siconos: skipped, Siconos Numerics is not installed (apt-get install libsiconos-numerics-dev)" >&2
    exit 0
fi
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
find "$folder" \( -name '*.hdf5' -o -name '*.h5' \) -print0 | sort -z |
    xargs -0 "$root/build-bench/bin/compare-siconos" "${2:-1e-8}" "${3:-10}"
