#!/bin/sh
# coverage.sh FOLDER JOBS -- lines and branches of src/ that the plain tests and all of test_failing_memory and
# test_failing_hdf reach, by folder, compared with scripts/coverage.txt, a floor that only rises.
# `ST_UPDATE_COVERAGE=1` raises the floor to the results that are higher.
set -eu
cd "$(dirname "$0")/.."
folder=$1 jobs=$2

cmake --log-level=NOTICE -S . -B "$folder" -DST_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS='--coverage -O1 -DST_COVERAGE'
cmake --build "$folder" --parallel "$jobs" >/dev/null
find "$folder" -name '*.gcda' -delete
run() {
    (cd "$folder" && ctest --parallel "$jobs" --timeout 1200 "$@" >ctest.log 2>&1) || tail -20 "$folder/ctest.log"
}
# Tests that run no C code of ours are left out.
run -E '^(test_failing_memory|test_failing_hdf|test_properties|page|install|pip|deb|readme|playground|layers|headers)$'
# Error paths are reached by refused memory and failed calls of HDF5: here all of them.
ST_TEST_FULL=1 run -R '^(test_failing_memory|test_failing_hdf|test_properties)$'
python3 scripts/coverage.py "$folder" scripts/coverage.txt
