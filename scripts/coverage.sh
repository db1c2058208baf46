#!/bin/sh
# coverage.sh FOLDER JOBS -- lines and branches of src/ that the plain tests reach, by folder, against scripts/coverage.txt:
# a floor that only rises. `ST_UPDATE_COVERAGE=1` writes what was reached as the new floor where that is higher.
set -eu
cd "$(dirname "$0")/.."
folder=$1 jobs=$2

cmake --log-level=NOTICE -S . -B "$folder" -DST_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS='--coverage -O1'
cmake --build "$folder" --parallel "$jobs" >/dev/null
find "$folder" -name '*.gcda' -delete
(cd "$folder" && ctest --parallel "$jobs" --timeout 1200 ${ST_COVERAGE_TESTS:+-R "$ST_COVERAGE_TESTS"} >ctest.log 2>&1) ||
    tail -20 "$folder/ctest.log"
python3 scripts/coverage.py "$folder" scripts/coverage.txt
