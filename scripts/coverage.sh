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
rm -rf "$folder/killed"
mkdir "$folder/killed"
# Messages about damaged counts must not reach the standard error of a program that is tested.
export GCOV_ERROR_FILE="$PWD/$folder/damaged-counts"
rm -f "$GCOV_ERROR_FILE"
run() {
    (cd "$folder" && ctest --parallel "$jobs" --timeout 1200 "$@" >ctest.log 2>&1) || tail -20 "$folder/ctest.log"
}
# Tests that run no C code of ours are left out. A process that is killed while it writes its counts damages those of
# all tests, so tests that kill processes, or refuse them the disk, have counts of their own.
killing='test_faults|test_sweep|test_terminal|mpi|docs_blocks'
run -E "^($killing|test_failing_memory|test_failing_hdf|test_properties|page|install|pip|deb|readme|playground|layers|headers)\$"
(cd "$folder" && find . -name '*.gcno' -path '*/src/*' -not -path './killed/*' -exec cp --parents -t killed {} +)
strip=$(cd "$folder" && pwd | tr -dc / | wc -c)
GCOV_PREFIX="$PWD/$folder/killed" GCOV_PREFIX_STRIP=$strip run -R "^($killing)\$"
# Error paths are reached by refused memory and failed calls of HDF5: here all of them.
ST_TEST_FULL=1 run -R '^(test_failing_memory|test_failing_hdf|test_properties)$'
if [ -s "$GCOV_ERROR_FILE" ]; then
    echo "coverage: some counts were damaged, and the shares below are too low: $GCOV_ERROR_FILE"
fi
python3 scripts/coverage.py "$folder" scripts/coverage.txt
