#!/bin/sh
# Piles, walls and many islands by several threads under ThreadSanitizer: threads.sh BUILD_FOLDER JOBS
#
# Uses clang: its OpenMP reports synchronisation to the sanitizer through libarcher. That of gcc does not, and every
# barrier would be reported as a race.
set -eu
folder=$1
jobs=${2:-2}

archer=$(find /usr/lib/llvm-* -name libarcher.so 2>/dev/null | sort | tail -n 1)
if ! command -v clang >/dev/null || [ -z "$archer" ]; then
    echo "threads.sh: needs clang and libomp-dev (scripts/setup.sh threads)" >&2
    exit 1
fi
cmake --log-level=WARNING -S . -B "$folder" -DST_TESTS=ON -DST_SANITIZE=thread -DCMAKE_C_COMPILER=clang \
    -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build "$folder" --parallel "$jobs" --target test_threads test_threads_islands \
    test_islands_threads bench_threads

export OMP_TOOL_LIBRARIES="$archer" OMP_WAIT_POLICY=passive
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66"
for test in test_threads test_threads_islands test_islands_threads; do
    "$folder/tests/$test"
done
"$folder/bench/threads" 2000 3
